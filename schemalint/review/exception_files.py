"""The exceptions of a run: those in contracts, and those in ``exceptions.yaml``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Final

from schemalint import contract as contracts
from schemalint.base.errors import ConfigError, ContractError, SchemalintError
from schemalint.base.printable import visible
from schemalint.base.values import field, frozen, replace
from schemalint.model.contract import Contract
from schemalint.model.exception import ExceptionSource, WrittenException
from schemalint.project import git
from schemalint.project.config import Config
from schemalint.project.config.trust import Trusted
from schemalint.project.git import EmptyTree, Repository, Revision, Side
from schemalint.review.sides import Sides, reviewed_commit

FILE: Final = "exceptions.yaml"


@frozen
class Exceptions:
    """The exceptions of a run.

    Attributes:
        of_file: Those of ``exceptions.yaml`` at the head; those that the base lacks are ``added``.
        errors: Why the file cannot be read.
        texts: The file's text by its name.
        file: The path of the file in the repository.
        known: What identifies the exceptions of the file that the base has.
        void: Return why exceptions of a kind that the change adds do not count; None if they do.
        reviewed: The commit whose exceptions count by themselves, in a command that deploys or reads what is
            live; None if those of the head do.
        today: The date of the run.
    """

    of_file: tuple[WrittenException, ...] = ()
    errors: tuple[SchemalintError, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    file: str = FILE
    known: frozenset[object] = frozenset()
    void: Callable[[ExceptionSource], str | None] = lambda _source: None
    reviewed: Revision | None = None
    today: dt.date = field(default_factory=lambda: dt.datetime.now(tz=dt.UTC).date())

    @property
    def accepts(self) -> frozenset[ExceptionSource]:
        """Where the change may write exceptions that count."""
        return frozenset(source for source in ExceptionSource if self.void(source) is None)

    def with_contracts(
        self, pairs: Iterable[tuple[Contract | None, Contract | None]]
    ) -> tuple[WrittenException, ...]:
        """Return all exceptions; those that the change adds may not count.

        Args:
            pairs: The contracts of each table: of the base, and of the head.
        """
        of_contracts = (
            written for before, after in pairs if after for written in _of_contract(before, after)
        )
        return tuple(
            replace(written, void=self.void(written.source)) if written.added else written
            for written in (*of_contracts, *self.of_file)
        )

    def with_text(self, data: bytes) -> Exceptions:
        """Return the exceptions with another text of their file at the head."""
        name = visible(self.file)
        try:
            written = contracts.read_exceptions(name, data)
        except ContractError as error:
            return replace(self, of_file=(), errors=(error,), texts={})
        of_file = tuple(replace(entry, added=_identity(entry) not in self.known) for entry in written)
        return replace(self, of_file=of_file, errors=(), texts={name: data.decode("utf-8", "replace")})


def exceptions_name(config: Config) -> str:
    """Return the path of ``exceptions.yaml`` in the repository: beside the configuration."""
    folder = PurePosixPath(config.file or "").parent
    return FILE if folder.is_absolute() else (folder / FILE).as_posix()


def files_without_owner(sides: Sides) -> str | None:
    """Return a warning where reviews have owners, and a file that approves findings has none."""
    from schemalint.project.code_owners import code_owners  # noqa: PLC0415 (only in CI)

    def read(name: str) -> str | None:
        try:
            data = sides.read(name)
        except SchemalintError:  # a link, or too large: whoever needs the file reports it
            return None
        return None if data is None else data.decode(errors="replace")

    config = sides.at_head
    names = (exceptions_name(config), config.baseline, config.file)
    approving = [name for name in names if name and not name.startswith("/")]
    existing = [name for name in approving if read(name) is not None]
    owners = code_owners(read)
    if owners is None or not (unowned := owners.without_owner(existing)):
        return None
    return f"{owners.file} names no owner of {', '.join(unowned)}: whoever may merge approves findings"


def exceptions_of(sides: Sides, accepted: Collection[str], foreign: str | None) -> Exceptions:
    """Read ``exceptions.yaml`` of both sides.

    Args:
        sides: The sides; what the base lacks is added by the change.
        accepted: See `_void_reasons`.
        foreign: See `_void_reasons`.
    """
    name = exceptions_name(sides.at_head)
    exceptions = Exceptions(file=name, void=_void_reasons(accepted, foreign))
    try:
        data = sides.read(name)
    except ConfigError as error:
        return replace(exceptions, errors=(error,))
    if data is None:
        return exceptions
    at_base: bytes | None = None
    if sides.base == sides.head:
        at_base = data
    elif not isinstance(sides.base, EmptyTree):
        at_base = git.file_at(sides.repository, sides.base, name)
    with suppress(ContractError):  # what cannot be read approves nothing
        known = frozenset(map(_identity, contracts.read_exceptions(name, at_base or b"")))
        exceptions = replace(exceptions, known=known)
    return exceptions.with_text(data)


def merged_exceptions(
    repository: Repository, head: Side, settings: Trusted, env: Mapping[str, str]
) -> Exceptions:
    """Read the exceptions for a command that deploys or reads what is live, instead of comparing two sides.

    Args:
        repository: The repository.
        head: The side with the contracts.
        settings: The configuration that counts.
        env: The environment with the CI variables.

    Raises:
        SchemalintError: The file of the exceptions cannot be read.
    """
    config, reviewed = settings.config, reviewed_commit(settings)
    sides = Sides(repository, reviewed or head, head, config, config)
    exceptions = exceptions_of(sides, config.accepted, git.foreign_head(env))
    for error in exceptions.errors:
        raise error
    return replace(exceptions, reviewed=reviewed)


def _void_reasons(accepted: Collection[str], foreign: str | None) -> Callable[[ExceptionSource], str | None]:
    """Return why exceptions that the change adds do not count, by their kind.

    Args:
        accepted: What ``exceptions.accept`` of the base lists.
        foreign: Why the change may be a stranger's: see `schemalint.project.git.foreign_head`.
    """

    def void(source: ExceptionSource) -> str | None:
        if source.value not in accepted:
            return f"this change adds it, and exceptions.accept of the base leaves out {source.value}"
        return None if foreign is None else f"this change adds it, and {foreign}"

    return void


def _identity(entry: WrittenException) -> object:
    return entry.table.casefold(), entry.exception


def _of_contract(before: Contract | None, after: Contract) -> Iterator[WrittenException]:
    at_base = frozenset(before.exceptions if before else ())
    for index, exception in enumerate(after.exceptions):
        location = after.locate(("exception", index))
        added = exception not in at_base
        yield WrittenException(
            exception, after.table, ExceptionSource.CONTRACT, location, added, index, after.document
        )
