"""The made files of one side, and the tables that they declare with what contracts add to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemalint.base.errors import ConfigError, ContractError, GitError, Location
from schemalint.base.printable import visible
from schemalint.contract.contract_files import made_files
from schemalint.contract.contract_revisions import Declarations
from schemalint.contract.dialects import dialects
from schemalint.contract.made_files import MadeReading, Source, formats, read_made
from schemalint.contract.overlay import with_overlays
from schemalint.model.contract import NATIVE, Contract
from schemalint.project import git
from schemalint.project.config import Config
from schemalint.project.config.contracts_entry import ContractsEntry
from schemalint.project.git import Repository, Side

_MOST_BESIDE = 1 << 20
"""Bytes of a YAML file of the project that a position points into."""


def require_known(file: ContractsEntry, config: Config, option: str = "") -> None:
    """Refuse a format that schemalint does not have.

    Args:
        file: An entry of the configuration, or the file that an option names.
        config: The configuration.
        option: That option.

    Raises:
        ConfigError: There is no such format.
    """
    if file.format not in formats():
        known = sorted({*formats(), *dialects()} - {NATIVE})
        raise ConfigError(
            f"{option or 'contracts'}: {file.format!r} is no format of schemalint",
            help=f"known formats: {', '.join(known)}; native contracts need none",
            location=None if option else Location(config.file or ""),
        )


def read_file(
    repository: Repository,
    side: Side,
    file: ContractsEntry,
    data: bytes,
    catalog: bytes | None,
    name: str = "",
) -> MadeReading:
    """Return what a file declares; positions lead into other files of its side.

    Args:
        repository: The repository.
        side: The side.
        file: The file, as the configuration names it.
        data: Its content.
        catalog: The observed types.
        name: Where the content is from, if not from that side.
    """

    def beside(path: str) -> bytes | None:
        if path == file.catalog_path:
            return catalog
        try:
            return git.large_file_at(repository, side, path, _MOST_BESIDE)
        except GitError:
            return None

    return read_made(Source(name or file.path, data, file, beside))


def with_made_tables(
    repository: Repository, side: Side, config: Config, native: Declarations
) -> Declarations:
    """Return the contracts of one side with the tables that made files declare there.

    Raises:
        ConfigError: A format is unknown.
    """
    tables: dict[str, Contract] = {}
    uncontracted: dict[str, Contract] = {}
    errors = [*native.errors]
    notes: list[str] = []
    for file in made_files(config):
        require_known(file, config)
        try:
            reading = _reading_at(repository, side, file)
        except GitError as error:
            errors.append(error)
            continue
        tables = {**{contract.key: contract for contract in reading.contracts}, **tables}
        uncontracted = {**{contract.key: contract for contract in reading.uncontracted}, **uncontracted}
        errors += reading.errors
        notes += notes_of(file, reading, is_live=True)
    joined, faults = with_overlays(tables, native.contracts.values())
    own = {key: contract for key, contract in native.contracts.items() if contract.extends is None}
    twice = sorted(own.keys() & joined.keys())
    errors += (*faults, *(_twice(own[key], joined[key]) for key in twice))
    contracts = {key: contract for key, contract in (*joined.items(), *own.items()) if key not in twice}
    declared = contracts.keys() | own.keys()
    return Declarations(
        contracts,
        tuple(errors),
        tuple(notes),
        {key: contract for key, contract in uncontracted.items() if key not in declared},
    )


def notes_of(
    file: ContractsEntry, reading: MadeReading, more: Iterable[str] = (), *, is_live: bool
) -> Iterator[str]:
    """Yield what a file declares and nobody compares, and other notes about it.

    Args:
        file: The file.
        reading: What it declares.
        more: The other notes.
        is_live: Whether live tables are read.
    """
    left_out, lines = [*reading.left_out], list[str]()
    if is_live and reading.without_contract:
        lines.append(f"judged with the columns of their live tables: {', '.join(reading.without_contract)}")
    else:
        left_out += reading.without_contract
    if left_out:
        lines.insert(0, f"not compared: {', '.join(left_out)}")
    yield from (f"note: {visible(file.path)}: {line}" for line in (*lines, *more))


def _reading_at(repository: Repository, side: Side, file: ContractsEntry) -> MadeReading:
    most = file.most_mib << 20
    data = git.large_file_at(repository, side, file.path, most)
    if data is None:
        raise GitError(f"{visible(file.path)} does not exist", help="make it first: dbt parse")
    catalog = git.large_file_at(repository, side, file.catalog_path, most)
    return read_file(repository, side, file, data, catalog)


def _twice(contract: Contract, other: Contract) -> ContractError:
    return ContractError(
        f"{contract.table} is declared twice",
        help=f"the other declaration is at {other.locate(('table',))}",
        location=contract.locate(("table",)),
    )
