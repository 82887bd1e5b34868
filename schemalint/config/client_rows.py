"""The keys of a row of the client table: in the shipped files, and under ``[[clients]]``."""

import sys
from typing import Literal, Required

if sys.version_info >= (3, 12):
    from typing import TypedDict
else:  # pydantic refuses typing.TypedDict before Python 3.12
    from typing_extensions import TypedDict


class EvidenceKeys(TypedDict, total=False):
    """Where a verdict comes from: exactly one of these keys."""

    run: str
    """The client was run: its version, and on what."""
    read: str
    """The source or a release was read: artifact, version and file."""
    documented: str
    """The vendor says so: the address of the page."""
    inferred: str
    """It follows from something else."""


class RowKeys(TypedDict, total=False):
    """One verdict: which tables, which versions of the client, and what it does with them.

    A row needs ``feature``, ``type_change``, ``reader``, ``writer`` or ``format``; a table must meet all of
    the conditions. The first row of a client that applies decides.
    """

    feature: str | list[str]
    type_change: str | list[str]
    mapping: Literal["none", "name", "id"]
    reader: Literal[1, 2, 3]
    writer: Literal[1, 2, 3, 4, 5, 6, 7]
    format: str
    versions: str
    read_path: str
    access: Literal["read", "write"]
    verdict: Required[Literal["ok", "refuses", "wrong", "unknown"]]
    detail: str
    evidence: Required[EvidenceKeys]
    as_of: str


class UserRowKeys(RowKeys, total=False):
    """``[[clients]]``: a row of the user's own; it precedes the shipped ones."""

    client: Required[str]
