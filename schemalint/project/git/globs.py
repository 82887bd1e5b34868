"""Match paths with globs as git does, in time linear in the length of both.

git's own matching tries every combination of the folders that several ``**`` can stand for: ten of them keep
it busy for hours. So git gets a pathspec with at most one ``**`` that includes all matching files, and
`Globs` selects from these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from posixpath import normpath
from typing import Final

from schemalint.base import limits
from schemalint.base.errors import ConfigError
from schemalint.base.redaction import without_secrets
from schemalint.base.values import frozen

_ASCII_FOLDED: Final = re.IGNORECASE | re.ASCII | re.DOTALL  # as git: É is not é
_SPECIAL: Final = r"[*?\[\\]"
_SUFFIX: Final = r"(?a)\*(\.[\w.-]+)"
_ELEMENT: Final = r"(?s)\\(?P<escaped>.)|\[(?P<set>[!^]?\]?(?:\[:\w+:\]|\\.|[^]\\])*)\]|(?P<other>.)"
_MEMBER: Final = r"(?s)\[:(?P<name>\w+):\]|\\?(?P<first>.)(?:-\\?(?P<last>[^]]))?"
_CLASSES: Final = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "digit": "0-9", "lower": "a-zA-Z",
    "punct": "!-/:-@\\[-`{-~", "space": "\\s", "upper": "a-zA-Z", "word": "\\w", "xdigit": "0-9a-fA-F",
}  # fmt: skip
_NOTHING: Final = "(?!)"


@frozen
class Glob:
    """A glob relative to the repository's root.

    Attributes:
        text: The glob as it is written.
        pathspec: A pathspec of git for all paths that match, and perhaps others.
        pattern: Matches exactly the paths that match.
        literal: The first names of the path that have no special character, for pathspecs.
    """

    text: str
    pathspec: str
    pattern: re.Pattern[str]
    literal: tuple[str, ...] = ()

    def matches(self, path: str) -> bool:
        """Whether a path from the repository's root matches, or is below the folder that the glob names."""
        return self.pattern.fullmatch(path) is not None


def parse_glob(text: str) -> Glob:
    """Parse a glob: ``*`` and ``?`` within a name, ``[…]``, ``**`` for any folders; the case is ignored.

    Raises:
        ConfigError: The glob is longer than any path, has a NUL character, or leads out of the repository.
    """
    if len(text) > limits.MAX_GLOB or "\0" in text:
        reason = "has a NUL character" if "\0" in text else f"is longer than {limits.MAX_GLOB} characters"
        raise ConfigError(f"the glob {without_secrets(text)[:40]!r} … {reason}", help="correct or remove it")
    name = normpath(text) if text else "."
    if name.startswith(("/", "../")) or name == "..":
        raise ConfigError(f"the glob {text!r} leads out of the repository", help="begin at the top folder")
    if name == ".":
        return Glob(text, ":(glob)**", re.compile(".+", _ASCII_FOLDED))
    if not re.search(_SPECIAL, name):
        pattern = f"{re.escape(name)}/.+" if text.endswith("/") else f"{re.escape(name)}(?:/.*)?"
    else:  # a file can have the glob itself as its name
        wild = _NOTHING if text.endswith("/") else _path(name.split("/"))
        pattern = f"{re.escape(name)}|{wild}"
    return Glob(text, _pathspec(name), re.compile(pattern, _ASCII_FOLDED), _literal(name))


def escape_glob(text: str) -> str:
    """Return the glob that matches exactly a text."""
    return re.sub(_SPECIAL, r"\\\g<0>", text)


def _literal(name: str) -> tuple[str, ...]:
    return tuple(takewhile(lambda part: not re.search(_SPECIAL, part), name.split("/")))


def _pathspec(name: str) -> str:
    if not re.search(_SPECIAL, name):
        return f":(glob,icase){name}"
    parts = name.split("/")
    suffix = re.fullmatch(_SUFFIX, parts[-1])
    rest = f"**/*{suffix[1]}" if suffix else "**"
    return ":(glob,icase)" + "/".join((*_literal(name), rest))


def _path(parts: Sequence[str]) -> str:
    """Return the pattern of a path: between two ``**`` the first match leaves most to the rest.

    So no later attempt can succeed where the first one does not: atomic groups give up the others.
    """
    *groups, last = _groups(parts)
    if not groups:
        return _names(last)
    first, *middle = groups
    start = "".join(f"{_name(part)}/" for part in first)
    between = "".join(f"(?>(?:[^/]+/)*?{''.join(f'{_name(part)}/' for part in group)})" for group in middle)
    if last:
        return f"{start}{between}(?:[^/]+/)*{_names(last)}"
    return f"{start}{between}.+"


def _groups(parts: Sequence[str]) -> list[list[str]]:
    """Split the parts of a path at each ``**``; several in a row are one."""
    groups: list[list[str]] = [[]]
    for number, part in enumerate(parts):
        if len(part) < len("**") or part.strip("*"):
            groups[-1].append(part)
        elif number == 0 or groups[-1] or len(groups) == 1:
            groups.append([])
    return groups


def _names(parts: Sequence[str]) -> str:
    """Return the pattern of the last names of a path; as in git, ``**`` at the end crosses folders."""
    *folders, last = parts
    end = f"{_name(last.rstrip('*'))}.*" if last.endswith("**") else _name(last)
    return "".join(f"{_name(folder)}/" for folder in folders) + end


def _name(text: str) -> str:
    """Return the pattern of one name; the same holds for ``*`` as for ``**`` in `_path`."""
    chunks = [""]
    for token in re.finditer(_ELEMENT, text):
        if token["other"] == "*":
            chunks.append("")
        else:
            chunks[-1] += _character(token)
    first, *middle = chunks
    if not middle:
        return first
    last = middle.pop()
    return first + "".join(f"(?>[^/]*?{chunk})" for chunk in middle) + f"[^/]*{last}"


def _character(token: re.Match[str]) -> str:
    if token["escaped"] is not None:
        return re.escape(token["escaped"])
    if token["set"] is not None:
        negated = "^" if token["set"][:1] in ("!", "^") else ""
        members = "".join(_members(token["set"][len(negated) :]))
        if members:
            return f"(?!/)[{negated}{members}]"
        if not negated:
            return _NOTHING
        return "[^/]"
    if token["other"] in ("[", "\\"):  # a set that is not closed, an escape of nothing
        return _NOTHING
    if token["other"] == "?":
        return "[^/]"
    return re.escape(token["other"])


def _members(text: str) -> Iterator[str]:
    for member in re.finditer(_MEMBER, text):
        first, last = member["first"], member["last"]
        if member["name"] is not None:
            yield _CLASSES.get(member["name"], "")
        elif last is None:
            yield re.escape(first)
        elif first <= last:
            yield f"{re.escape(first)}-{re.escape(last)}"
