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

    A row needs ``feature``, ``type_change``, ``reader``, ``writer``, ``format`` or ``names``; a table must
    meet all of the conditions. The first row of a client that applies decides.
    """

    feature: str | list[str]
    """Table features that the row is about."""
    type_change: str | list[str]
    """Type changes that the row is about, such as `int -> bigint`."""
    mapping: Literal["none", "name", "id"]
    """Column mapping mode that the row is about."""
    reader: Literal[1, 2, 3]
    """Reader version of the protocol that the row is about."""
    writer: Literal[1, 2, 3, 4, 5, 6, 7]
    """Writer version of the protocol that the row is about."""
    format: str
    """Format of files that the row is about."""
    names: Literal["repeated"]
    """The row is about tables with names that differ only in case."""
    versions: str
    """Versions of the client, as a range; all by default."""
    read_path: str
    """Read path of the client; all by default."""
    access: Literal["read", "write"]
    """Access that the row is about; both by default."""
    verdict: Required[Literal["ok", "refuses", "wrong", "unknown"]]
    """What the client does with such a table."""
    detail: str
    """More about the verdict, for messages."""
    evidence: Required[EvidenceKeys]
    """Where the verdict comes from: exactly one of its keys."""
    as_of: str
    """Day of the verdict (ISO 8601)."""


class UserRowKeys(RowKeys, total=False):
    """``[[clients]]``: a row of the user's own; it precedes the shipped ones."""

    client: Required[str]
