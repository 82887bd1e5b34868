"""The errors that schemalint reports to its users: one family, and each class has its exit status."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from schemalint.base.phrases import affixed
from schemalint.base.redaction import without_secrets
from schemalint.base.values import frozen


@frozen
class Location:
    """A range in a text file.

    Attributes:
        file: Path relative to the repository root, with ``/``.
        line: Line of the first character, from 1.
        column: Column of the first character, from 1, in code points.
        end_line: Line of the end.
        end_column: Column of the end, exclusive.
    """

    file: str
    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def __lt__(self, other: Location) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[str, int, int, int, int]:
        return self.file, self.line, self.column, self.end_line, self.end_column


class SchemalintError(Exception):
    """The base class of all errors that schemalint reports instead of a result.

    Args:
        message: One sentence that states the problem.
        help: How to solve the problem; may be empty.
        location: The range in the user's file that causes the problem, if there is one.
    """

    exit_status: ClassVar[int] = 2
    """Exit status of the command: 2 unless the class sets another one."""

    def __init__(self, message: str, *, help: str = "", location: Location | None = None) -> None:  # noqa: A002
        self.message = without_secrets(message)
        self.help = without_secrets(help)
        super().__init__(self.message)
        self.location = location

    def __str__(self) -> str:
        return f"{affixed('', self.location, ': ')}{self.message}{affixed(' (', self.help, ')')}"


class UsageError(SchemalintError):
    """The command line or the environment is invalid."""


class ConfigError(SchemalintError):
    """The configuration is invalid or cannot be read."""


class ContractError(SchemalintError):
    """A file cannot be read as a contract."""


class GitError(SchemalintError):
    """git fails, or the repository lacks something that the command needs."""


class LiveError(SchemalintError):
    """A live table or its log cannot be reached or read."""


class MissingEntry(LiveError):  # noqa: N818 (an answer more than an error)
    """A file of live tables has no entry for this table."""


class PluginError(SchemalintError):
    """A rule package cannot be loaded, or one of its rules raises an exception."""


class ApplyError(SchemalintError):
    """`apply` cannot bring a table to its declared state."""


class WaitingError(ApplyError):
    """`apply` did what it can do now; a later run does the rest."""

    exit_status = 4


class UnfilledError(WaitingError):
    """A table is as declared, but has rows that wait for a value."""


class UnrewrittenError(WaitingError):
    """A table is as declared, but for what only a rewrite changes, which nobody has approved."""


class InternalError(SchemalintError):
    """A bug in schemalint or in its built-in rules."""

    exit_status = 3


_WORST_FIRST: Final = (143, 130, 3, 2, 1, 4, 0)


def worst_status(statuses: Iterable[int]) -> int:
    """Return the most severe exit status of the parts of a run; 0 if there are none.

    Descending severity: a signal (143, 130), a bug (3), an error (2), findings (1), pending changes (4).
    """
    return min((0, *statuses), key=_WORST_FIRST.index)
