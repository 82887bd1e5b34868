"""What `init` does to files: it writes new ones, and says what to add to those of others."""

from __future__ import annotations

from pathlib import Path

from schemalint.base.document import decode
from schemalint.base.document.edit_review import unified_diff
from schemalint.base.errors import UsageError
from schemalint.base.files import shown
from schemalint.base.untrusted_files import read_plain
from schemalint.base.values import frozen
from schemalint.project.git import MAX_SIZE


@frozen
class FileChange:
    """A new file.

    Attributes:
        path: The file.
        after: Its text.
        about: What to say of it beside its name.
    """

    path: Path
    after: str
    about: str = ""

    @property
    def name(self) -> str:
        """The name for messages."""
        return shown(self.path)

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return unified_diff(self.name, None, self.after)


@frozen
class UnchangedFile:
    """A file that stays as it is.

    Attributes:
        path: The file.
        reason: Why.
        snippet: What to add to it by hand, if anything.
    """

    path: Path
    reason: str
    snippet: str = ""

    @property
    def name(self) -> str:
        """The name for messages."""
        return shown(self.path)


def new_file(path: Path, text: str) -> FileChange | UnchangedFile:
    """Return a file to write, unless it is there."""
    if read_existing(path) is not None:
        return UnchangedFile(path, "it is there already")
    return FileChange(path, text)


def read_existing(path: Path) -> str | None:
    """Return the text of a file; None if there is none.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        return decode(read_plain(path, MAX_SIZE), shown(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"{shown(path)} cannot be read: {error.strerror}") from error
