"""Files of contracts: their names from the names of tables, and how they are written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from schemalint.delta.path import split_path
from schemalint.document.review import unified_diff
from schemalint.errors import UsageError
from schemalint.git import DEFAULT_GLOBS
from schemalint.printable import visible
from schemalint.values import frozen

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_BRACES: Final = re.compile(r"\{[^{}]*\}?|\}")
_PARTS: Final = ("table", "schema", "catalog")
_NOT_IN_NAMES: Final = frozenset('<>:"/\\|?*')


@frozen
class PulledFile:
    """A file to be written, or a new contract for standard output.

    Attributes:
        path: None for standard output.
        before: None if there was none.
    """

    path: Path | None
    before: str | None
    after: str

    @property
    def name(self) -> str:
        """For people."""
        return "standard output" if self.path is None else shown(self.path)

    @property
    def diff(self) -> str:
        """What changes."""
        return unified_diff(self.name, self.before, self.after)

    def write(self) -> None:
        """Write the whole file at once; whoever reads it meanwhile sees the old one, or the new one.

        Raises:
            UsageError: It cannot be written.
        """
        if self.path is None:
            return
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                draft.write_bytes(self.after.encode())
                if self.path.exists():
                    draft.chmod(self.path.stat().st_mode)
                draft.replace(self.path)
            finally:
                draft.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"{self.name} cannot be written: {error.strerror}") from error


def shown(file: Path) -> str:
    """A file as messages name it: from the working directory."""
    return visible(os.path.relpath(file))


def require_pattern(pattern: str) -> None:
    """Raise `UsageError` if a pattern for `file_name` has anything else in braces than parts of a name."""
    known = {f"{{{part}}}" for part in _PARTS}
    unknown = [found for found in _BRACES.findall(pattern) if found not in known]
    if unknown:
        raise UsageError(
            f"unknown placeholder {unknown[0]} in {pattern!r}", help="{catalog}, {schema}, {table}"
        )


def require_contract_name(pattern: str, globs: Iterable[str]) -> None:
    """Raise `UsageError` if no check ever looks at files that are called so.

    Args:
        pattern: As `require_pattern` allows it, or a file.
        globs: The configured ones: where they include something, they say what is looked at.
    """
    name = pattern.rstrip("/").rpartition("/")[2].lower()
    is_yaml = any(fnmatchcase(name, glob.rpartition("/")[2]) for glob in DEFAULT_GLOBS)
    if not is_yaml and all(glob.startswith("!") for glob in globs):
        raise UsageError(
            f"no check would look at {pattern}: contracts are YAML files",
            help="call it .yml or .yaml; or say in the configuration which files are `contracts`",
        )


def file_name(pattern: str, table: str, catalog: str | None = None) -> Path:
    """The file of a table by a pattern such as ``contracts/{schema}/{table}.yml``.

    A part of the name is one name of a file at most, whatever it holds: a catalog's names are not to be
    trusted with the file system. A folder of a part that the table has not is left out.

    Args:
        pattern: As `require_pattern` allows it.
        table: Its full name, dotted.
        catalog: The target's, for a table that is named without one.
    """
    parts = split_path(table)
    values = dict(zip(_PARTS, (*reversed(parts), "", ""), strict=False))
    values["catalog"] = values["catalog"] or catalog or ""
    folders = (
        _PLACEHOLDER.sub(lambda found: _file_safe(values[found[1]]), folder) for folder in pattern.split("/")
    )
    start = "/" if pattern.startswith("/") else ""
    return Path(start + "/".join(folder for folder in folders if folder))


def _file_safe(name: str) -> str:
    """A name without what leads elsewhere, hides a file, or cannot be written on some system."""
    safe = "".join(char if char.isprintable() and char not in _NOT_IN_NAMES else "_" for char in name).strip(
        ". "
    )
    return safe or ("_" if name else "")
