"""Who owns what in the repository: the file that GitHub and GitLab read for reviews."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from schemalint.base.errors import ConfigError
from schemalint.base.values import frozen
from schemalint.project.git.globs import parse_glob

_PLACES: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
# https://docs.gitlab.com/user/project/codeowners/reference/: an optional section (^) blocks nothing.
_SECTION: Final = re.compile(r"(?P<optional>\^?)(?P<name>\[[^\]]+\])(?:\[\d+\])?(?P<owners>.*)")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_BLANK: Final = re.compile(r"(?<!\\)\s+")
_LITERAL: Final = re.compile(r"[\w.-]+")
# To compile a pattern takes about half a millisecond. Each path looks at as many, those of the last lines.
_MOST_PATTERNS: Final = 5_000


@frozen
class _Line:
    """A pattern with its owners; `section` is the header of its section, empty above the first."""

    pattern: str
    owners: tuple[str, ...]
    section: str

    def may_own(self, path: str) -> bool:
        """Whether the path has all that the pattern spells out; quick, so that few patterns are compiled."""
        if re.search(r"[\[\\]", self.pattern):
            return True
        return all(word in path.lower() for word in _LITERAL.findall(self.pattern.lower()))

    def owns(self, path: str) -> bool:
        """Whether the pattern names a file, or a folder above it."""
        pattern = self.pattern.removesuffix("/")
        if "/" not in pattern:
            pattern = f"**/{pattern}"
        pattern = pattern.removeprefix("/")
        try:
            glob = parse_glob(pattern)
        except ConfigError:
            return False
        folders = [parent.as_posix() for parent in PurePosixPath(path).parents][:-1]
        # `folder/*` owns only the files directly in the folder.
        above = [] if pattern.endswith("/*") and pattern != "**/*" else folders
        return any(map(glob.matches, above if self.pattern.endswith("/") else [path, *above]))


@frozen
class CodeOwners:
    """The file of a repository."""

    file: str
    text: str

    def lines_for(self, names: Sequence[str], contract: str) -> list[str]:
        """Return the lines that give files to the owners of the contracts, unless lines do so or name them.

        Args:
            names: The files, from the top of the repository.
            contract: The path of a contract.
        """
        entries = list(self._entries())
        line = _last(entries, contract)
        owners, section = (line.owners, line.section) if line else ((), "")
        patterns = {entry.pattern.lstrip("/") for entry in entries if entry.owners}
        missing = [
            f"/{_escaped(name)} {' '.join(owners) or '@your-team'}"
            for name in names
            if _escaped(name) not in patterns and not (owners and _last(entries, name) == line)
        ]
        if section and missing:
            return [section, *missing]
        return missing

    def without_owner(self, names: Iterable[str]) -> list[str]:
        """Return the files that nobody owns."""
        entries = list(self._entries())
        lines = {name: _last(entries, name) for name in names}
        return [name for name, line in lines.items() if line is None or not line.owners]

    def _entries(self) -> Iterator[_Line]:
        section, is_optional = "", False
        defaults: tuple[str, ...] = ()
        for line in self.text.splitlines():
            content = _COMMENT.sub("", line).strip()
            if header := _SECTION.fullmatch(content):
                section, is_optional = header["name"], bool(header["optional"])
                defaults = tuple(header["owners"].split())
            elif content and not is_optional:
                pattern, *owners = _BLANK.split(content)
                yield _Line(pattern, tuple(owners) or defaults, section)


def _last(entries: Sequence[_Line], path: str) -> _Line | None:
    """Return the line that decides: the last that matches; None also if too many lines may match."""
    possible = (line for line in reversed(entries) if line.may_own(path))
    return next((line for line in islice(possible, _MOST_PATTERNS) if line.owns(path)), None)


def code_owners(read: Callable[[str], str | None]) -> CodeOwners | None:
    """Return the first file that the services look for; None if there is none.

    Args:
        read: Returns the text of a file of the repository; None if there is none.
    """
    for place in _PLACES:
        text = read(place)
        if text is not None:
            return CodeOwners(place, text)
    return None


def _escaped(name: str) -> str:
    return name.replace(" ", "\\ ")
