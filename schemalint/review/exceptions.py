"""The exceptions of a run: those in contracts, and those in ``exceptions.yaml``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from schemalint import contract as contracts
from schemalint.base.errors import ContractError, SchemalintError
from schemalint.base.printable import visible
from schemalint.base.values import field, frozen, replace
from schemalint.model.contract import Contract
from schemalint.model.exception import ExceptionsFile, ExceptionSource, WrittenException
from schemalint.project.git import Revision

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

    @property
    def as_file(self) -> ExceptionsFile:
        """The file, as an entry is added to it."""
        return ExceptionsFile(visible(self.file), len(self.of_file) if self.texts else None)

    def with_contracts(
        self, pairs: Iterable[tuple[Contract | None, Contract | None]]
    ) -> tuple[WrittenException, ...]:
        """Return all exceptions; those that the change adds may not count."""
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
        of_file = tuple(replace(entry, added=identity(entry) not in self.known) for entry in written)
        return replace(self, of_file=of_file, errors=(), texts={name: data.decode("utf-8", "replace")})


def identity(entry: WrittenException) -> object:
    """Return what tells an exception from others, wherever it is written."""
    return entry.table.casefold(), entry.exception


def _of_contract(before: Contract | None, after: Contract) -> Iterator[WrittenException]:
    at_base = frozenset(before.exceptions if before else ())
    for index, exception in enumerate(after.exceptions):
        location = after.locate(("exception", index))
        added = exception not in at_base
        yield WrittenException(exception, after.table, ExceptionSource.CONTRACT, location, added, index)
