"""Contract files: derive their names from table names, and write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from schemalint.base.document import decode
from schemalint.base.document.edit_review import unified_diff
from schemalint.base.errors import UsageError
from schemalint.base.files import rewrite_text, shown, write_text
from schemalint.base.untrusted_files import read_given
from schemalint.base.values import frozen
from schemalint.delta.path import split_path
from schemalint.project.git import DEFAULT_GLOBS, MAX_SIZE

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_BRACES: Final = re.compile(r"\{[^{}]*\}?|\}")
_PARTS: Final = ("table", "schema", "catalog")
_MAX_NAME: Final = 240
"""Bytes in a file's name: 255 on most file systems, less a number and what git or an editor adds to it."""
_NOT_IN_NAMES: Final = frozenset('<>:"/\\|?*')


@frozen
class PulledFile:
    """A file to write, or a new contract for standard output.

    Attributes:
        path: The file; None for standard output.
        before: The current text; None for a new file.
        after: The new text.
    """

    path: Path | None
    before: str | None
    after: str

    @property
    def name(self) -> str:
        """The name for messages."""
        if self.path is None:
            return "standard output"
        return shown(self.path)

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return unified_diff(self.name, self.before, self.after)

    def write(self) -> None:
        """Write the file, if the contract is not for standard output.

        Raises:
            UsageError: The file cannot be written, or has another text now.
        """
        if self.path is None:
            return
        if self.before is None:
            write_text(self.path, self.after, parents=True)
        else:
            rewrite_text(self.path, self.before, self.after)


def read_text(file: Path, name: str) -> str:
    """Return the text of a contract file that is there.

    Raises:
        UsageError: It cannot be read.
        ContractError: It is not UTF-8.
    """
    try:
        return decode(read_given(file, MAX_SIZE), name)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from error


def require_pattern(pattern: str) -> None:
    """Raise a `UsageError` if a pattern for `file_name` has unknown placeholders."""
    placeholders = {f"{{{part}}}" for part in _PARTS}
    unknown = [name for name in _BRACES.findall(pattern) if name not in placeholders]
    if unknown:
        raise UsageError(
            f"unknown placeholder {unknown[0]} in {pattern!r}", help="use {catalog}, {schema} or {table}"
        )


def require_contract_name(pattern: str, globs: Iterable[str]) -> None:
    """Raise a `UsageError` if `check` does not read files with such names.

    Args:
        pattern: A pattern that `require_pattern` accepts, or a file.
        globs: The configured globs; if they include files, they define the contract files.
    """
    name = pattern.rstrip("/").rpartition("/")[2].lower()
    is_yaml = any(fnmatchcase(name, glob.rpartition("/")[2]) for glob in DEFAULT_GLOBS)
    if not is_yaml and all(glob.startswith("!") for glob in globs):
        raise UsageError(
            f"`check` would not read {pattern}: contracts are YAML files",
            help="use .yml or .yaml; or set `contracts` in the configuration",
        )


def file_name(pattern: str, table: str, catalog: str | None) -> Path:
    """Return the file of a table for a pattern such as ``contracts/{schema}/{table}.yml``.

    A part of the table name gives at most one path component: names from a catalog must not lead to other
    folders. A folder for a part that the table name lacks is left out.

    Args:
        pattern: A pattern that `require_pattern` accepts.
        table: The full name, dotted.
        catalog: The target's catalog, for a name without one.
    """
    parts = split_path(table)
    values = dict(zip(_PARTS, (*reversed(parts), "", ""), strict=False))
    values["catalog"] = values["catalog"] or catalog or ""
    folders = (
        _PLACEHOLDER.sub(lambda match: _file_safe(values[match[1]]), folder) for folder in pattern.split("/")
    )
    start = "/" if pattern.startswith("/") else ""
    return Path(start + "/".join(_shortened(folder) for folder in folders if folder))


def _shortened(name: str) -> str:
    """Return a name that a file can have: a table's may be as long, and there is the suffix."""
    stem, dot, suffix = name.rpartition(".")
    end = f"{dot}{suffix}".encode() if stem else b""
    begin = (stem or name).encode()[: _MAX_NAME - len(end)]
    return (begin + end).decode(errors="ignore")


def _file_safe(name: str) -> str:
    """Return a name that stays in its folder, is not hidden, and is valid on every file system."""
    safe = "".join(char if char.isprintable() and char not in _NOT_IN_NAMES else "_" for char in name).strip(
        ". "
    )
    return safe or ("_" if name else "")
