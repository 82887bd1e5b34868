"""What can go wrong, and where: one error family; every class knows its exit status."""

from __future__ import annotations

from typing import ClassVar

from schemalint.values import frozen


@frozen
class Location:
    """A stretch of a text file.

    Lines and columns count from 1, columns in code points; the end is exclusive. The file is relative to
    the repository's root, with ``/``.
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
    """schemalint could not judge, or could not do, what it was asked to.

    Args:
        message: One sentence that says what is wrong.
        help: What to do about it, or empty.
        location: The place in the user's own file, where there is one.
    """

    exit_status: ClassVar[int] = 2

    def __init__(self, message: str, *, help: str = "", location: Location | None = None) -> None:  # noqa: A002
        super().__init__(message)
        self.message = message
        self.help = help
        self.location = location

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.message}" + (f" ({self.help})" if self.help else "")


class UsageError(SchemalintError):
    """The command line, or the environment, asks for something that makes no sense."""


class ConfigError(SchemalintError):
    """The configuration cannot be used."""


class ContractError(SchemalintError):
    """A file that should be a contract cannot become one."""


class GitError(SchemalintError):
    """git, or the state of the repository, does not give what is needed."""


class LiveError(SchemalintError):
    """A table, or its log, cannot be reached or read."""


class PluginError(SchemalintError):
    """A package of rules cannot be used, or one of its rules failed."""


class ApplyError(SchemalintError):
    """A table could not be brought to its declared state."""


class InternalError(SchemalintError):
    """A bug in schemalint itself, its built-in rules included."""

    exit_status = 3
