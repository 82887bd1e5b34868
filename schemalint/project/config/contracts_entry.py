"""Files that declare tables in other formats than schemalint's own: ``contracts`` with a format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from schemalint.base.errors import UsageError
from schemalint.base.values import field, frozen
from schemalint.model.contract import ManagedHow

MOST_MIB: Final = 256
"""MiB of a file with declarations, unless its entry says otherwise."""


@frozen
class ContractsEntry:
    """An entry of ``contracts`` that names a format: one file of another tool, or the files of a glob.

    Attributes:
        path: Its path: from the repository's top, or as the command line gives it.
        format: The name of the format.
        models: Globs of models that count although nothing enforces what they declare.
        project: The folder of the project that the file is made from, from the repository's top; None for
            the folder above that of the file.
        catalog: The file with the observed types of columns; None for ``catalog.json`` beside the file.
        most_mib: The most MiB that are read; each allows so many models and columns, too.
        variables: Values of the variables in the files of a glob, by name.
        using: The format of a table whose statement says none.
        managed_by: What brings the tables of a glob to their declaration; None where their files say it.
        how: How another tool does that.
    """

    path: str
    format: str
    models: tuple[str, ...] = ()
    project: str | None = None
    catalog: str | None = None
    most_mib: int = MOST_MIB
    variables: Mapping[str, str] = field(default_factory=dict)
    using: str | None = None
    managed_by: str | None = None
    how: ManagedHow | None = None

    @property
    def folder(self) -> str:
        """The folder of the project, from the repository's top; empty for the top."""
        if self.project is not None:
            return self.project.strip("/")
        folder = str(PurePosixPath(self.path).parent.parent)
        return "" if folder == "." else folder

    @property
    def catalog_path(self) -> str:
        """The path of the file with observed types."""
        return self.catalog or str(PurePosixPath(self.path).parent / "catalog.json")


def given_made_file(option: str, value: str) -> ContractsEntry:
    """Return the file that a ``FORMAT:FILE`` of the command line names.

    Raises:
        UsageError: The value has no format.
    """
    match = re.fullmatch(r"([a-z][a-z0-9_-]+):(.+)", value, re.DOTALL)
    if match is None:
        raise UsageError(f"{option} {value!r} names no format", help=f"write {option} dbt:FILE")
    return ContractsEntry(match[2], match[1])
