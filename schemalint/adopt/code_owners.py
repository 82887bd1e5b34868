"""Who owns what in the repository: the file that GitHub and GitLab read for reviews."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from schemalint.adopt.changes import FileChange, Left, joined_lines, read_existing
from schemalint.values import frozen

_PLACES: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")


@frozen
class CodeOwners:
    """The file of a repository.

    Attributes:
        file: Its path.
        text: Its text.
    """

    file: Path
    text: str

    def with_files(self, names: tuple[str, ...]) -> FileChange | Left | None:
        """Return the file with lines that give files to the owners of everything; None if it names them.

        Args:
            names: The files, from the top of the repository.
        """
        named = {line.split()[0].lstrip("/") for line in self._lines()}
        missing = [name for name in names if name not in named]
        if not missing:
            return None
        owners = next((line.split()[1:] for line in reversed(self._lines()) if line.split()[0] == "*"), [])
        lines = [f"/{_escaped(name)} {' '.join(owners) or '@your-team'}" for name in missing]
        if not owners:
            # A line without owners would take the owners of the file away.
            return Left(self.file, "it gives `*` no owner: add who may approve exceptions", "\n".join(lines))
        return FileChange(self.file, self.text, joined_lines(self.text, lines))

    def _lines(self) -> list[str]:
        lines = (line.partition(" #")[0].strip() for line in self.text.splitlines())
        return [line for line in lines if line and not line.startswith(("#", "[", "^"))]


def code_owners(root: Path) -> CodeOwners | None:
    """Return the first file that the services look for; None if there is none.

    Raises:
        UsageError: It cannot be read.
    """
    for place in _PLACES:
        text = read_existing(root / place)
        if text is not None:
            return CodeOwners(root / place, text)
    return None


def _escaped(name: str) -> str:
    return name.replace(" ", "\\ ")
