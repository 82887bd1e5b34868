"""The tables that a command is asked about, by place or by name, and what they are."""

from __future__ import annotations

import datetime as dt
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemalint import git
from schemalint.catalog.table_location import (
    absolute_location,
    choose_target,
    require_reachable,
    table_location,
)
from schemalint.config import Target, resolve_storage
from schemalint.config.project import Project
from schemalint.delta.path import format_path, split_path
from schemalint.delta_log.store import NoTable
from schemalint.errors import LiveError, SchemalintError, UsageError
from schemalint.model.contract import Contract, table_key
from schemalint.storage import NO_OPTIONS, is_place, parse_reference, read_many, read_table
from schemalint.storage.requests import concurrently
from schemalint.table_json import TableDocument, TableFailure
from schemalint.values import field, frozen, replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from schemalint.catalog import Catalog, NamingCatalog
    from schemalint.delta.table import LiveTable

_AT_ONCE: Final = 64
"""Tables that are read, and held, together."""


@frozen
class TableRequest:
    """A table to read.

    Attributes:
        uri: Where it lies; its name, if a catalog knows the place.
        table: Its name, where it is known by one.
        target: The environment in which it was looked up.
        version: None is the latest, or that `at` an instant (milliseconds since the epoch).
        storage: What opens its store.
        catalog: The target whose catalog is asked for it.
        via: What a Spark session knows of that catalog.
        contract: Effective for the target, where one declares it.
        error: Why nobody knows where it lies.
    """

    uri: str
    table: str | None = None
    version: int | None = None
    at: int | None = None
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)
    target: str | None = None
    catalog: Target | None = None
    contract: Contract | None = None
    via: Catalog | None = field(default=None, repr=False)
    error: LiveError | None = None

    @property
    def is_latest(self) -> bool:
        """Whether its latest version is to be read."""
        return self.error is None and self.version is None and self.at is None


@frozen
class Environment:
    """A target, and the contracts that say what lies in it.

    Attributes:
        via: What a Spark session knows of the target's catalog.
    """

    here: Project
    target: Target
    via: Catalog | None = field(default=None, repr=False)

    @property
    def storage(self) -> Mapping[str, str]:
        """What opens the target's stores."""
        return resolve_storage(self.target)

    def declared(self) -> dict[str, Contract]:
        """The contracts of the working tree that the target has, by table key."""
        from schemalint import contract as contracts  # noqa: PLC0415 (only where names are looked up)
        from schemalint.contract.revisions import contracts_at  # noqa: PLC0415

        found = contracts_at(self.here.repository, git.Worktree(), self.here.config.contracts)
        effective = {key: contracts.effective(one, self.target.name) for key, one in found.items()}
        return {key: one for key, one in effective.items() if not one.absent}

    def asked(self, contract: Contract) -> TableRequest:
        """A declared table, where it lies."""
        if contract.location is None and self.target.catalog is not None:
            return replace(self.named(contract.table), contract=contract)
        uri = table_location(contract, self.target, self.here.repository.root)
        return TableRequest(
            uri, contract.table, storage=self.storage, target=self.target.name, contract=contract
        )

    def root(self) -> str | None:
        """Where the target's tables lie; None if it has no root."""
        root = self.target.root
        return None if root is None else absolute_location(root, self.here.repository.root)

    def named(self, name: str) -> TableRequest:
        """A table of the target's catalog."""
        from schemalint import catalog  # noqa: PLC0415 (only where there is one)

        full_name = catalog.full_name(name, self.target)
        return TableRequest(full_name, name, target=self.target.name, catalog=self.target, via=self.via)


def open_environment(
    here: Project | None, target_name: str | None, via: Catalog | None = None
) -> Environment | None:
    """The target that is asked for; None if none is.

    Raises:
        UsageError: There is no such target.
    """
    if target_name is None:
        return None
    if here is None:
        raise UsageError(
            f"target {target_name} is not known: this is no git repository",
            help="run it inside of the project that has the target",
        )
    target = choose_target(here.config, target_name)
    require_reachable(target, here.repository.root)
    return Environment(here, target, via)


def table_requests(
    references: Sequence[str], where: Environment | None, via: NamingCatalog | None = None
) -> list[TableRequest]:
    """What references stand for: with a target, the names of declared tables too.

    Without one, names are those that a Spark session knows, if there is one. Of a name that is not known,
    or of which the contract has no place in the target, the error is kept: it stops no other.

    Raises:
        SchemalintError: The contracts cannot be read, or a version makes no sense.
    """
    declared = where.declared() if where else {}
    found = []
    for reference in references:
        parsed = parse_reference(reference, lambda place: Path(place).is_dir())
        try:
            asked = _asked(parsed.table, where, declared) if where else _asked_of_session(parsed.table, via)
        except SchemalintError as error:
            kept = LiveError(error.message, help=error.help, location=error.location)
            asked = TableRequest(parsed.table, target=where.target.name if where else None, error=kept)
        found.append(replace(asked, version=parsed.version, at=parsed.at))
    return found


def read_tables(
    asked: Sequence[TableRequest], *, history: bool = True
) -> Iterator[TableDocument | TableFailure]:
    """Read the tables, some at the same time, in their order; one that cannot be read stops no other."""
    for start in range(0, len(asked), _AT_ONCE):
        some = asked[start : start + _AT_ONCE]
        found = _read(some, history=history)
        read_at = dt.datetime.now(tz=dt.UTC)
        yield from (_result(one, table, read_at) for one, table in zip(some, found, strict=True))


def _asked(place: str, where: Environment, declared: Mapping[str, Contract]) -> TableRequest:
    if (contract := declared.get(table_key(place))) is not None:
        return where.asked(contract)
    if is_place(place):
        return TableRequest(place, storage=where.storage)
    if where.target.catalog is not None:
        return where.named(place)
    close = get_close_matches(table_key(place), declared, n=1)
    hint = f"did you mean {declared[close[0]].table}?" if close else "give a place, or a declared name"
    raise UsageError(f"no contract declares {place} in target {where.target.name}", help=hint)


def _asked_of_session(reference: str, via: NamingCatalog | None) -> TableRequest:
    if via is None or is_place(reference):
        return TableRequest(reference)
    catalog, *name = split_path(via.full_name(reference))
    return TableRequest(
        format_path((catalog, *name)), reference, catalog=Target("", catalog=catalog), via=via
    )


def _read(some: Sequence[TableRequest], *, history: bool) -> list[LiveTable | LiveError]:
    """The latest versions together, those at places and those of catalogs; the others each for itself."""
    places = [one for one in some if one.is_latest and one.catalog is None]
    storage = places[0].storage if places else NO_OPTIONS
    by_place = iter(read_many([one.uri for one in places], history=history, storage=storage))
    names = [one for one in some if one.is_latest and one.catalog]
    by_name = iter(concurrently(partial(_read_one, history=history), names))
    return [
        next(by_name if one.catalog else by_place) if one.is_latest else _read_one(one, history=history)
        for one in some
    ]


def _read_one(one: TableRequest, *, history: bool) -> LiveTable | LiveError:
    if one.error is not None:
        return one.error
    try:
        if one.catalog is not None:
            from schemalint import catalog  # noqa: PLC0415 (only where there is one)

            return catalog.read(
                one.uri, one.catalog, one.via, version=one.version, at=one.at, history=history
            )
        return read_table(one.uri, version=one.version, at=one.at, history=history, storage=one.storage)
    except LiveError as error:
        return error


def _result(
    one: TableRequest, found: LiveTable | LiveError, read_at: dt.datetime
) -> TableDocument | TableFailure:
    if isinstance(found, LiveError):
        missing = isinstance(found, NoTable)
        return TableFailure(one.uri, found.message, read_at, found.help, one.table, one.target, missing)
    return TableDocument(found, read_at, one.table, one.target, one.is_latest)
