"""What `init` writes for a project of dbt: its models are declared already, and get no new contracts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from schemalint.author.adopt import Adoption, AdoptionInput, adopt
from schemalint.author.adopt.configuration import CONFIGURATION
from schemalint.author.adopt.file_changes import FileChange, UnchangedFile, new_file
from schemalint.author.adopt.pipelines import Service, Source, job_change
from schemalint.base.errors import UsageError
from schemalint.base.untrusted_files import read_plain
from schemalint.base.values import replace
from schemalint.contract.made_files.dbt.manifest import Json, mapping, mappings, parse_manifest, text
from schemalint.project.config.declaration_files import MOST_MIB
from schemalint.project.git import Repository, Worktree, list_files
from schemalint.tables.storage import location_key

_PROJECT: Final = "dbt_project.yml"
_CHECK: Final = "schemalint check "


def dbt_project(repository: Repository) -> str | None:
    """Return the folder of the only dbt project of a working tree, empty for the top; None for none."""
    listing = list_files(repository, Worktree(), [_PROJECT, f"**/{_PROJECT}"])
    projects = [path for path in (*listing.blobs, *listing.on_disk) if "dbt_packages/" not in path]
    if len(projects) != 1:
        return None
    folder = str(PurePosixPath(projects[0]).parent)
    return "" if folder == "." else folder


def manifest_of(folder: str) -> str:
    """Return the path of the manifest of a project from the repository's top."""
    if folder:
        return f"{folder}/target/manifest.json"
    return "target/manifest.json"


def tables_of_dbt(repository: Repository, folder: str) -> frozenset[tuple[str, ...]]:
    """Return the tables of models, snapshots and seeds: see `AdoptionInput.of_dbt`.

    Raises:
        UsageError: There is no manifest that can be read.
        ContractError: It is none of dbt.
    """
    name = manifest_of(folder)
    try:
        data = read_plain(repository.root / name, MOST_MIB << 20)
    except OSError as error:
        raise UsageError(
            f"{name}, which says which tables are those of dbt, cannot be read: {error.strerror}",
            help="run `dbt parse` before, or leave out where tables are, to declare none beside dbt",
        ) from error
    return frozenset(
        key
        for node in mappings(parse_manifest(data, name, MOST_MIB), "nodes")
        if text(node, "resource_type") in ("model", "snapshot", "seed")
        for key in _keys_of(node)
    )


def _keys_of(node: Json) -> Iterator[tuple[str, ...]]:
    """Yield the name of a table, and the location that it gets from a model (``location_clause``)."""
    schema, alias, config = text(node, "schema"), text(node, "alias"), mapping(node, "config")
    yield schema.casefold(), alias.casefold()
    if root := text(config, "location_root").rstrip("/"):
        is_full = config.get("include_full_name_in_path") is True
        parts = (text(node, "database"), schema, alias) if is_full else (alias,)
        yield (location_key("/".join((root, *filter(None, parts)))),)


def adopt_beside_dbt(request: AdoptionInput, folder: str) -> Adoption:
    """Return what `adopt` does for tables that no model makes, with the job that checks both.

    Raises:
        UsageError: There are no tables, or a file in the way cannot be read.
    """
    # The Action has no step between its checkout and the check.
    adoption = adopt(replace(request, source=replace(request.source, repository=None)))
    changes = tuple(_with_dbt(change, request.service, folder) for change in adoption.changes)
    return replace(adoption, changes=changes)


def adopt_dbt_project(repository: Repository, folder: str, source: Source, service: Service) -> Adoption:
    """Return the configuration and the job that check a dbt project.

    Raises:
        UsageError: A file in the way cannot be read.
    """
    manifest = manifest_of(folder)
    settings = (
        f'# All keys: `schemalint schema config`\ncontracts = [{{path = "{manifest}", format = "dbt"}}]\n'
    )
    changes: list[FileChange | UnchangedFile] = [new_file(repository.root / CONFIGURATION, settings)]
    # The Action has no step between its checkout and the check.
    job = job_change(repository.root, service, replace(source, repository=None))
    changes += [_with_dbt(job, service, folder)] if job else []
    return Adoption((), tuple(changes), 0, (), ())


def _with_dbt(job: FileChange | UnchangedFile, service: Service, folder: str) -> FileChange | UnchangedFile:
    """Return a job that makes the manifest of the change, and fetches that of the base."""
    # dbt looks for profiles.yml in the working folder, not in that of --project-dir.
    parse = f"(cd {shlex.quote(folder)} && dbt parse)" if folder else "dbt parse"
    indent, run = ("      ", "- run: ") if service is Service.GITHUB else ("    ", "- ")
    steps = [
        "# Before it: fetch manifest.json of the newest production run into state/, from its artifact.",
        f"{run}pip install dbt-core dbt-spark # the adapter of the project",
        f"{run}{parse}",
    ]
    added = "".join(f"{indent}{step}\n" for step in steps)
    line = f"{indent}{run}{_CHECK}"

    def edited(text: str) -> str:
        return text.replace(line, f"{added}{line}--base-from dbt:state/manifest.json ")

    if isinstance(job, FileChange):
        return replace(job, after=edited(job.after))
    if job.snippet:
        return replace(job, snippet=edited(job.snippet))
    return job
