"""The format of a file with contracts, and what the configuration says of the files of one entry."""

from __future__ import annotations

from typing import Final, TypeAlias

from schemalint.base.values import frozen
from schemalint.model.contract import NATIVE, ManagedHow

Variables: TypeAlias = tuple[tuple[str, str], ...]


@frozen
class FileFormat:
    """How a file is read.

    Attributes:
        name: The name of the format.
        variables: Names and values of variables in the file, as one target has them, sorted.
        shared: Those of the entry, if `variables` are a target's and differ; what a contract beside the file
            calls its tables.
        targets: Those of each target that has other ones, if `variables` are the entry's.
        using: The format of a table whose statement says none; None to leave such tables out.
        managed_by: What brings the tables to their declaration; None where the file itself says it.
        how: How another tool does that; None where the file itself says it.
    """

    name: str = NATIVE
    variables: Variables = ()
    shared: Variables = ()
    targets: tuple[tuple[str, Variables], ...] = ()
    using: str | None = None
    managed_by: str | None = None
    how: ManagedHow | None = None


NATIVE_FORMAT: Final = FileFormat()
"""schemalint's own format, which needs no settings."""
