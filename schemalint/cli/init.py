"""``schemalint init``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from schemalint.author.adopt import Adoption, AdoptionInput, adopt
from schemalint.author.adopt.configuration import CONFIGURATION, NewTarget, configuration_text, is_folder_free
from schemalint.author.adopt.dbt_project import (
    adopt_beside_dbt,
    adopt_dbt_project,
    dbt_project,
    manifest_of,
    script_of,
    tables_of_dbt,
)
from schemalint.author.adopt.file_changes import read_existing
from schemalint.author.adopt.pipelines import Service, Source, given_source, installed_source, service_of
from schemalint.base.errors import UsageError
from schemalint.base.files import write_all
from schemalint.base.printable import document_text, terminal_text
from schemalint.base.redaction import without_secrets
from schemalint.base.values import frozen
from schemalint.cli import print_error, print_note
from schemalint.cli._connection import catalog_of, connecting_settings, spark_for, via_options
from schemalint.cli._options import PENDING, examples
from schemalint.cli._output import show
from schemalint.cli._progress import table_workers, workers_options
from schemalint.cli._typed import Connection, takes
from schemalint.project import git
from schemalint.project.code_owners import code_owners
from schemalint.project.config.trust import SESSION_CATALOG, Trusted, find_trusted, proposed
from schemalint.project.git import Repository
from schemalint.tables.catalog.table_location import choose_target, require_reachable
from schemalint.tables.storage import find_tables, is_remote

_TARGET = "lake"


@frozen
class InitOptions:
    """The options of ``init``."""

    root: str | None
    catalog: str | None
    ci: str | None
    source: str | None
    show_diff: bool
    connection: Connection

    @property
    def names_tables(self) -> bool:
        """Whether the options say where tables are."""
        return bool(self.root or self.catalog or self.connection.via or self.connection.target)

    def require_consistent(self) -> None:
        """Refuse a catalog without a session, or beside a root."""
        if self.catalog is not None and (self.root is not None or not self.connection.via):
            raise UsageError("--catalog needs --via spark, and no --root", help="see --help")
        self.connection.require_session()


@click.command(
    "init",
    epilog=examples(
        "schemalint init --root lake --diff",
    ),
)
@click.option("--root", metavar="PATH", help="Declare all tables at or below a path or URI")
@click.option("--catalog", metavar="NAME", help="With --via spark: declare all tables of this catalog")
@click.option("--target", metavar="NAME", help=f"Name the target of the tables; default: {_TARGET}")
@click.option(
    "--ci",
    type=click.Choice(["github", "gitlab", "none"]),
    help="Write the job of this CI service; default: the one that the repository uses",
)
@click.option(
    "--source",
    metavar="REQUIREMENT",
    help="Install this in the hook and the job; default: what this schemalint was installed from",
)
@click.option("--diff", "show_diff", is_flag=True, help="Show the changes; write nothing")
@via_options
@workers_options()
@takes(InitOptions)
def command(options: InitOptions) -> int:
    """Write contracts and settings for the tables of a repository.

    It writes a contract for each table, the configuration, a baseline with the findings of today, the hook of
    pre-commit and the job of the CI service. Files that are there stay as they are; for those of other tools
    it prints what to add. Where CODEOWNERS exists, exceptions count only in exceptions.yaml.

    Without --root, the tables are those of the configuration's target, else those below the working folder.
    In a project of dbt, which declares its tables itself, it writes only the configuration and the job; with
    --root, also contracts for the tables that no model of the manifest makes.

    With --diff the command exits with 4 if it would write.
    """
    repository = _repository()
    adoption, source = _adoption(repository, options)
    for failure in adoption.failed:
        print_error(failure.error, failure.table)
    for error in adoption.unjudged:
        print_error(error)
    if options.show_diff:
        for file in adoption.files:
            show(document_text(file.diff))
    else:
        write_all({file.path: (None, file.after) for file in adoption.files})
        show(terminal_text(_report(adoption)))
    for left in adoption.left:
        print_note(f"{left.name} stays: {left.reason}")
        if left.snippet:
            show(terminal_text(["", *(f"    {line}" for line in left.snippet.splitlines()), ""]), err=True)
    if options.ci is None and service_of(repository) is Service.NONE:
        _say_that_no_job_was_written(repository)
    if source.problem:
        print_note(f"note: {source.problem}")
    errors = [*(failure.error for failure in adoption.failed), *adoption.unjudged]
    if errors:
        return max(error.exit_status for error in errors)
    if options.show_diff and adoption.files:
        return PENDING
    return 0


def _repository() -> Repository:
    repository = git.find_repository(Path.cwd(), os.environ)
    if repository is None or repository.bare:
        raise UsageError("this is no working tree of git", help="go to the repository, or make one: git init")
    return repository


def _adoption(repository: Repository, options: InitOptions) -> tuple[Adoption, Source]:
    source = given_source(options.source) if options.source else installed_source()
    owners = code_owners(lambda place: read_existing(repository.root / place))
    settings, new_settings = find_trusted(repository, os.environ), None
    service = Service(options.ci) if options.ci else service_of(repository)
    folder = dbt_project(repository, settings.config)
    if folder is not None and not options.names_tables:
        return adopt_dbt_project(repository, folder, source, service), source
    of_dbt = None if folder is None else tables_of_dbt(repository, folder)
    if settings.config.file is None:
        new = _new_target(repository, options)
        new_settings = configuration_text(
            new,
            has_folder=is_folder_free(repository),
            has_owners=owners is not None,
            manifest=None if folder is None else manifest_of(folder),
        )
        settings = proposed(CONFIGURATION, new_settings)
        name: str | None = new.name
    else:
        name = _configured(settings, repository, options)
    settings = connecting_settings(settings, options.connection)
    with spark_for(settings, options.connection) as spark, table_workers(options.connection) as workers:
        target = choose_target(settings, name)
        require_reachable(target, repository.root)
        request = AdoptionInput(
            repository,
            settings,
            new_settings,
            target,
            source,
            service,
            owners,
            catalog_of(spark),
            workers,
            of_dbt,
        )
        adoption = adopt(request) if folder is None else adopt_beside_dbt(request, folder)
        return adoption, source


def _new_target(repository: Repository, options: InitOptions) -> NewTarget:
    """Return the target that the options describe, or that of the tables below the working folder."""
    name, root = options.connection.target or _TARGET, options.root
    if options.connection.via:
        if root is not None:
            raise UsageError("--catalog needs --via spark, and no --root", help="see --help")
        return NewTarget(name, catalog=options.catalog or SESSION_CATALOG)
    if root is None:
        return NewTarget(name, _local(_root_below(Path.cwd()), repository))
    if without_secrets(root) != root:
        raise UsageError(
            "--root holds credentials, which do not belong in a repository",
            help="leave them out: the environment has them (AWS_*, AZURE_*, GOOGLE_*)",
        )
    is_uri = is_remote(root) or root.lower().startswith("file:")
    return NewTarget(name, root if is_uri else _local(Path(root), repository))


def _local(root: Path, repository: Repository) -> str:
    """Return a folder as the configuration names it: from the top of the repository.

    A path that is given relative stays so: `../lake` is beside the clone, wherever that is.
    """
    path = Path(os.path.abspath(root))  # noqa: PTH100 (follows no link)
    if path.is_relative_to(repository.root):
        return path.relative_to(repository.root).as_posix()
    if root.is_absolute():
        return path.as_posix()
    return Path(os.path.relpath(path, repository.root)).as_posix()


def _root_below(folder: Path) -> Path:
    """Return the folder directly below the given one that holds all tables there, else that one itself."""
    parents = {
        Path(table).parent.relative_to(folder) for table in find_tables(str(folder)) if table != str(folder)
    }
    if not parents:
        raise UsageError(
            "no tables found below the working folder",
            help="say where they are: --root PATH, --root s3://bucket/path, or --via spark; for CREATE TABLE "
            'in SQL files, write contracts = [{path = "ddl/**/*.sql", format = "sql"}] into schemalint.toml',
        )
    tops = {parent.parts[:1] for parent in parents}
    if len(tops) == 1:
        return folder.joinpath(*tops.pop())
    return folder


def _configured(settings: Trusted, repository: Repository, options: InitOptions) -> str | None:
    """Return the name of the target of an existing configuration, which stays as it is."""
    name = options.connection.target
    if options.root is None and options.catalog is None:
        return name
    new_target = _new_target(repository, options)
    for target in settings.targets.values():
        is_wanted = (target.root, target.catalog) == (new_target.root, new_target.catalog)
        if is_wanted and name in (None, target.name):
            return target.name
    key = "root" if new_target.root is not None else "catalog"
    raise UsageError(
        f"{settings.source} has no target with the {key} {new_target.root or new_target.catalog}",
        help=f"leave --{key} out; or add the target: [targets.NAME] with {key} = …, and give --target NAME",
    )


def _say_that_no_job_was_written(repository: Repository) -> None:
    print_note(
        "note: no job of CI was written: no file and no remote says for which service, so name it with --ci"
    )
    folder = dbt_project(repository, find_trusted(repository, os.environ).config)
    if folder is not None:
        print_note("note: another service checks a change by these lines:")
        script = (f"    {line}" for line in script_of(repository, folder))
        show(terminal_text(["", *script, ""]), err=True)


def _report(adoption: Adoption) -> list[str]:
    lines = [*_written(adoption)]
    tables = len(adoption.contracts) + adoption.declared
    if not lines:
        return [f"nothing to write: {_count(tables, 'table')} declared"]
    errors = f", {_count(len(adoption.failed), 'error')} above" if adoption.failed else ""
    declared = f"{_count(tables, 'table')} declared" if tables or errors else "dbt declares the tables"
    declared += "" if adoption.by_dbt is None else f", {adoption.by_dbt:,} of them by dbt"
    lines += ["", f"{declared}{errors}. Commit this, and open a pull request:"]
    return [*lines, *(f"  {step}" for step in _next_steps(adoption))]


def _written(adoption: Adoption) -> Iterator[str]:
    for folder in _folders(adoption):
        yield f"wrote {_count(len(adoption.contracts), 'contract')} in {folder}/"
    for file in adoption.others:
        about = f": {file.about}" if file.about else ""
        yield f"wrote {file.name}{about}"


def _folders(adoption: Adoption) -> list[str]:
    """Return the folder of all new contracts, if there are any."""
    folders = [file.path.parent for file in adoption.contracts]
    if folders:
        return [os.path.relpath(os.path.commonpath(folders))]
    return []


def _next_steps(adoption: Adoption) -> Sequence[str]:
    names = [*_folders(adoption), *(file.name for file in adoption.others)]
    return (
        "git switch --create schemalint",
        f"git add {shlex.join(names)}",
        "git commit --message 'Check the schemas of the tables'",
        "git push --set-upstream origin schemalint",
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else f'{noun}s'}"
