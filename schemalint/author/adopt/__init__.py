"""`init` decides here what protects the tables of a repository without schemalint; nothing is written here.

Contracts are as `pull` makes them, the configuration is the one that the run itself obeys, and for the
baseline the rules judge what is about to be written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemalint.author.adopt.configuration import BASELINE, CONFIGURATION, CONTRACTS, EXCEPTIONS
from schemalint.author.adopt.file_changes import FileChange, UnchangedFile, new_file
from schemalint.author.adopt.initial_findings import baseline_of
from schemalint.author.adopt.pipelines import Service, hook_change, job_change
from schemalint.author.adopt.writers import Writers, writers_of
from schemalint.author.pull import pull
from schemalint.author.pull.pull_input import PullFailure, PullInput, PullResult, declared_contracts, find
from schemalint.base.errors import SchemalintError, UsageError
from schemalint.base.phrases import counted
from schemalint.base.values import frozen, replace
from schemalint.delta.commit_engines import WHO_WROTE, as_setting, recent_since
from schemalint.delta.path import split_path
from schemalint.project.code_owners import CodeOwners
from schemalint.project.config.trust import Trusted, TrustedTarget, with_writers
from schemalint.project.git import Repository
from schemalint.tables.catalog import Catalog
from schemalint.tables.storage import location_key
from schemalint.tables.storage.table_workers import TableWorkers

if TYPE_CHECKING:
    from schemalint.author.adopt.pipelines import Source

_FILES: Final = "{schema}/{table}.yml"
_WILD: Final = frozenset("*?[")


@frozen
class AdoptionInput:
    """What `init` knows before it reads a table.

    Attributes:
        repository: The repository.
        settings: The configuration: the one that is there, or the new one.
        new_settings: The text of the new one; None if one is there.
        target: The target with the tables.
        source: Where hook and pipeline get schemalint.
        service: The CI service.
        owners: Who owns what in the repository; None if no file says so.
        via: The catalogs of a running Spark session.
        workers: How many tables are read at the same time.
        of_dbt: The tables that a dbt project declares: schema and name in lower case, and the keys of
            locations (`location_key`) of those that have their own; None outside of one.
    """

    repository: Repository
    settings: Trusted
    new_settings: str | None
    target: TrustedTarget
    source: Source
    service: Service
    owners: CodeOwners | None
    via: Catalog | None
    workers: TableWorkers
    of_dbt: frozenset[tuple[str, ...]] | None = None


@frozen
class Adoption:
    """What there is to write and to say.

    Attributes:
        contracts: The new contracts.
        changes: What happens to other files.
        declared: How many tables had a contract already, or are those of dbt.
        failed: The tables that got none, with the error.
        unjudged: Why the baseline may lack findings.
        by_dbt: How many of the declared tables are those of dbt; None outside of a dbt project.
    """

    contracts: tuple[FileChange, ...]
    changes: tuple[FileChange | UnchangedFile, ...]
    declared: int
    failed: tuple[PullFailure, ...]
    unjudged: tuple[SchemalintError, ...]
    by_dbt: int | None = None

    @property
    def others(self) -> tuple[FileChange, ...]:
        """The other files to write."""
        return tuple(change for change in self.changes if isinstance(change, FileChange))

    @property
    def left(self) -> tuple[UnchangedFile, ...]:
        """The files that stay as they are."""
        return tuple(change for change in self.changes if isinstance(change, UnchangedFile))

    @property
    def files(self) -> tuple[FileChange, ...]:
        """All files to write."""
        return (*self.contracts, *self.others)


def adopt(request: AdoptionInput) -> Adoption:
    """Read the tables, and return what protects them from now on.

    Raises:
        UsageError: There are no tables, or a file in the way cannot be read.
    """
    root, config = request.repository.root, request.settings.config
    home = root / (config.folder or "")
    of_dbt: list[str] = []
    pulled = _pulled(request, home, of_dbt)
    writers = writers_of(pulled.writers, int(time.time() * 1000))
    if request.new_settings is not None and (writers.engines or writers.clients):
        request = _with_writers(request, writers)
    contracts = tuple(
        FileChange(Path(os.path.abspath(file.path)), file.after)  # noqa: PTH100 (follows no link)
        for file in pulled.files
        if file.path is not None and file.before is None
    )
    declared = len(pulled.files) + len(pulled.unchanged) + len(of_dbt) - len(contracts)
    if not contracts and not declared:
        if pulled.failed:  # the root is no good, or nothing there can be read: that comes first
            return Adoption((), (), 0, pulled.failed, ())
        where = request.target.root or request.target.catalog
        raise UsageError(
            f"no tables found in {where}",
            help="a table is a folder that holds a _delta_log; say where they are: --root PATH or URI",
        )
    baseline, unjudged = _baseline(request, contracts)
    changes = [*_configuration(request, writers), *baseline]
    if request.of_dbt is None:  # `dbt parse` takes too long for a hook
        changes.append(hook_change(root, request.source))
    job = job_change(root, request.service, request.source)
    changes += [job] if job else []
    changes += _exceptions(request, home)
    return Adoption(
        contracts,
        tuple(changes),
        declared,
        pulled.failed,
        unjudged,
        None if request.of_dbt is None else len(of_dbt),
    )


def _pulled(request: AdoptionInput, home: Path, of_dbt: list[str]) -> PullResult:
    root = request.repository.root
    declared, unreadable = declared_contracts(request.repository, request.settings.config)
    errors: list[PullFailure] = []
    result = pull(
        PullInput(
            root=root,
            declared=declared,
            unreadable=unreadable,
            target=request.target,
            into=f"{os.path.relpath(_folder(request, home))}/{_FILES}",
            via=request.via,
            workers=request.workers,
            numbers=True,
            writers_since=recent_since(int(time.time() * 1000)),
        ),
        _without_dbt(request, errors, of_dbt),
    )
    return replace(result, failed=(*result.failed, *errors))


def _folder(request: AdoptionInput, home: Path) -> Path:
    """Return the folder of new contracts: the first that the configuration reads them from."""
    for glob in request.settings.config.contracts:
        folders = glob.split("/")[:-1]
        fixed = [folder for folder in folders if not _WILD.intersection(folder)]
        if not glob.startswith("!") and fixed == folders[: len(fixed)]:
            return home.joinpath(*fixed)
    return home / CONTRACTS


def _without_dbt(request: AdoptionInput, errors: list[PullFailure], of_dbt: list[str]) -> Iterator[str]:
    """Yield the tables, except those of dbt, which are kept; an error ends the search, and is kept."""
    is_path = request.target.catalog is None
    for table in find(request.target, "*", request.repository.root, request.via, errors):
        parts = table.replace(".db/", "/").split("/") if is_path else split_path(table)
        keys = {tuple(part.casefold() for part in parts[-2:]), (location_key(table),) if is_path else ()}
        if not keys.isdisjoint(request.of_dbt or ()):
            of_dbt.append(table)
        else:
            yield table


def _with_writers(request: AdoptionInput, writers: Writers) -> AdoptionInput:
    """Return the request with who wrote the tables in the settings, by which the baseline is made."""
    text = writers.added_to(request.new_settings or "")
    settings = with_writers(request.settings, request.target.name, CONFIGURATION, text)
    target = settings.targets[request.target.name]
    return replace(request, new_settings=text, settings=settings, target=target)


def _configuration(request: AdoptionInput, writers: Writers) -> Iterator[FileChange | UnchangedFile]:
    engines = writers.engines
    if request.new_settings is not None:
        yield new_file(request.repository.root / CONFIGURATION, request.new_settings)
        return
    file, config = request.repository.root / (request.settings.config.file or ""), request.settings.config
    is_undeclared = bool(engines) and not request.target.engines.all
    if config.baseline is None:
        line = f'baseline = "{BASELINE}"'
        yield UnchangedFile(file, "it is there already; without this line, there is no baseline", line)
    if is_undeclared:
        yield UnchangedFile(
            file,
            f"it is there already; target {request.target.name} names no engine. This is {WHO_WROTE}",
            as_setting(engines),
        )
    if config.baseline is not None and not is_undeclared:
        yield UnchangedFile(file, "it is there already")


def _baseline(
    request: AdoptionInput, contracts: tuple[FileChange, ...]
) -> tuple[list[FileChange | UnchangedFile], tuple[SchemalintError, ...]]:
    """Return the baseline that the configuration names, unless it is there."""
    root, name = request.repository.root, request.settings.config.baseline
    if name is None:
        return [], ()
    file = root / name
    if os.path.lexists(file):
        return [
            UnchangedFile(file, "it is there already: `check --all --write-baseline --grow` adds to it")
        ], ()
    texts = {file.path.relative_to(root).as_posix(): file.after for file in contracts}
    text, count, unjudged = baseline_of(
        request.repository, request.settings, request.target, texts, request.via, request.workers
    )
    about = f"{counted(count, 'finding')} of today, which fail nothing"
    return [FileChange(file, text, about)], unjudged


def _exceptions(request: AdoptionInput, home: Path) -> Iterator[FileChange | UnchangedFile]:
    """Yield the file of exceptions, and the lines that give it the owners of the contracts."""
    if request.owners is None or request.new_settings is None:
        return
    file = home / "exceptions.yaml"
    yield new_file(file, EXCEPTIONS)
    root = request.repository.root
    names = tuple(path.relative_to(root).as_posix() for path in (file, home / BASELINE))
    contract = (_folder(request, home) / "schema/table.yml").relative_to(root).as_posix()
    if lines := request.owners.lines_for(names, contract):
        yield UnchangedFile(root / request.owners.file, "add who approves exceptions", "\n".join(lines))
