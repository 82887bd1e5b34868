"""What `init` writes for a project of dbt: its models are declared already, and get no new contracts."""

from __future__ import annotations

import re
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
from schemalint.contract.contract_files import made_files
from schemalint.contract.made_files.dbt.manifest import Json, mapping, mappings, parse_manifest, text
from schemalint.project.config import Config
from schemalint.project.config.contracts_entry import MOST_MIB
from schemalint.project.git import Repository, Worktree, list_files
from schemalint.tables.storage import location_key

_PROJECT: Final = "dbt_project.yml"
_CHECK: Final = "schemalint check "
_PROFILES: Final = "profiles.yml"
_PACKAGES: Final = ("packages.yml", "dependencies.yml")


def dbt_project(repository: Repository, config: Config) -> str | None:
    """Return the folder of the only dbt project of a working tree, empty for the top; None for none.

    Where there is a configuration, it must name the project's manifest.
    """
    listing = list_files(repository, Worktree(), [_PROJECT, f"**/{_PROJECT}"])
    projects = [path for path in (*listing.blobs, *listing.on_disk) if "dbt_packages/" not in path]
    if len(projects) != 1:
        return None
    folder = str(PurePosixPath(projects[0]).parent)
    folder = "" if folder == "." else folder
    known = {entry.path for entry in made_files(config)}
    return folder if config.file is None or manifest_of(folder) in known else None


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
    changes = tuple(
        _with_dbt(request.repository, change, request.service, folder) for change in adoption.changes
    )
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
    changes += [_with_dbt(repository, job, service, folder)] if job else []
    return Adoption((), tuple(changes), 0, (), ())


def _with_dbt(
    repository: Repository, job: FileChange | UnchangedFile, service: Service, folder: str
) -> FileChange | UnchangedFile:
    """Return a job that makes the manifests of base and change."""
    indent, run = ("      ", "- run: ") if service is Service.GITHUB else ("    ", "- ")
    line = re.compile(rf"^{indent}{re.escape(run)}{re.escape(_CHECK)}(.*)\n", re.MULTILINE)

    def edited(text: str) -> str:
        return line.sub(lambda found: _steps(repository, folder, found[1], f"{indent}{run}", indent), text)

    if isinstance(job, FileChange):
        return replace(job, after=edited(job.after))
    if job.snippet:
        return replace(job, snippet=edited(job.snippet))
    return job


def _steps(repository: Repository, folder: str, options: str, run: str, indent: str) -> str:
    """Return the lines of a job in place of the one that checks."""
    script = "".join(f"{indent}    {line}\n" for line in script_of(repository, folder, options))
    profile = ""
    if not (repository.root / folder / _PROFILES).exists():
        profile = f"{indent}# dbt parse connects to nothing, but needs a {_PROFILES}: without secrets.\n"
    return f"{profile}{run}pip install dbt-core dbt-spark # the adapter of the project\n{run}|\n{script}"


def _in_quotes(path: str) -> str:
    return re.sub(r'([\\"$`])', r"\\\1", path)


def script_of(repository: Repository, folder: str, options: str = "") -> tuple[str, ...]:
    """Return the lines of a shell that check a change: both manifests are made here, without a connection.

    The base is the commit that `schemalint check` compares with, so production need not have run since.
    """
    has_packages = any((repository.root / folder / name).exists() for name in _PACKAGES)
    parse = "dbt deps && dbt parse" if has_packages else "dbt parse"
    # dbt looks for profiles.yml in the working folder, not in that of --project-dir.
    inside = f"/{shlex.quote(folder)}" if folder else ""
    here = f"(cd {shlex.quote(folder)} && {parse})" if folder else parse
    return (
        'base="$(mktemp -d)"',
        'git worktree add --detach "$base" "$(schemalint check --show-base)"',
        f'(cd "$base"{inside} && {parse})',
        here,
        f'{_CHECK}--base-from "dbt:$base/{_in_quotes(manifest_of(folder))}" {options}'.rstrip(),
    )
