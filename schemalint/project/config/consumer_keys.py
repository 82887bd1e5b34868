"""Who reads and writes tables: ``[consumers.<name>]``, and ``[[clients]]`` for rows of the client table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, Required

from schemalint.base.errors import ConfigError
from schemalint.delta.column_names import nearest_name
from schemalint.delta.path import Path, split_path
from schemalint.model.consumer import Consumer, declared_stream, stream_faults
from schemalint.project.config.toml_text import Positions, locate

if sys.version_info >= (3, 12):
    from typing import TypedDict
else:  # pydantic refuses typing.TypedDict before Python 3.12
    from typing_extensions import TypedDict


class UnblockKeys(TypedDict, total=False):
    """``[consumers.<name>.stream.unblock]``."""

    rename: Literal["always"] | int
    """Value of `allowSourceColumnRename`: `always` or a table version."""
    drop: Literal["always"] | int
    """Value of `allowSourceColumnDrop`: `always` or a table version."""
    type_change: Literal["always"] | int
    """Value of `allowSourceColumnTypeChange`: `always` or a table version."""


class StreamKeys(TypedDict, total=False):
    """``[consumers.<name>.stream]``."""

    checkpoint: Required[str]
    """The query's `checkpointLocation`."""
    schema_tracking_location: str
    """The query's `schemaTrackingLocation`."""
    source: int
    """Index of the table among the query's sources, from 0."""
    checkpoint_scheme: str
    """Scheme by which the query's Spark names the checkpoint, such as `s3a`."""
    unblock: UnblockKeys
    """Schema changes that the query accepts."""


class ConsumerKeys(TypedDict, total=False):
    """``[consumers.<name>]``."""

    client: str
    """Client program, such as `trino`."""
    version: str
    """Client version, or a range such as `>=1.6,<2`."""
    read_path: str
    """Read path of the client, if the client has several."""
    access: Literal["read", "write"]
    """Whether the consumer reads or writes the tables; `read` by default."""
    columns: list[str]
    """Columns that the consumer uses; all by default."""
    owner: str
    """Person or team responsible for the consumer."""
    cdf: bool
    """Whether the consumer reads the change data feed; false by default."""
    stream: StreamKeys
    """Settings of a consumer that reads the tables as a stream."""


def declared_consumers(file: str, text: str, declared: Mapping[str, ConsumerKeys]) -> dict[str, Consumer]:
    """Return the consumers by name.

    Raises:
        ConfigError: A path of a column or a number of a stream is not valid.
    """
    return {name: _consumer(file, text, name, keys) for name, keys in declared.items()}


def require_declared(file: str, text: str, names: Iterable[str], declared: Mapping[str, Consumer]) -> None:
    """Refuse the name of a consumer under ``[[tables]]`` that the configuration does not declare.

    Raises:
        ConfigError: There is such a name.
    """
    for name in names:
        if name not in declared:
            close = nearest_name(name, declared)
            raise ConfigError(
                f"tables.consumers names {name!r}, which is not declared",
                help=f"did you mean {close!r}?" if close else f"declare it: [consumers.{name}]",
                location=Positions(file, text).locate(("tables", "consumers"), name),
            )


def _consumer(file: str, text: str, name: str, keys: ConsumerKeys) -> Consumer:
    stream = declared_stream(keys["stream"]) if "stream" in keys else None
    for path, message in stream_faults(stream):
        where = ("consumers", name, "stream", *path)
        raise ConfigError(f"{'.'.join(where)} {message}", location=locate(file, text, where))
    return Consumer(
        name,
        client=keys.get("client"),
        version=keys.get("version"),
        read_path=keys.get("read_path"),
        access=keys.get("access", "read"),
        columns=tuple(_paths(file, text, name, keys.get("columns", ()))),
        owner=keys.get("owner"),
        cdf=keys.get("cdf", False),
        stream=stream,
    )


def _paths(file: str, text: str, name: str, columns: Iterable[str]) -> Iterator[Path]:
    for column in columns:
        try:
            yield split_path(column)
        except ValueError as error:
            raise ConfigError(
                f"consumers.{name}.columns: {column!r} is not a column path: {error}",
                help="back-quote a name that contains a dot",
                location=locate(file, text, ("consumers", name, "columns")),
            ) from error


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

    A row needs ``feature``, ``type_change``, ``type``, ``reader``, ``writer``, ``format``, ``names`` or
    ``finding``; a table must meet all of the conditions. The first row of a client that applies decides.
    """

    feature: str | list[str]
    """Table features that the row is about."""
    type_change: str | list[str]
    """Type changes that the row is about, such as `int -> bigint`."""
    type: str | list[str]
    """Types that no feature stands for and that the row is about: `time`, or `void` of a column."""
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
    finding: str | list[str]
    """Findings about the table itself that the row is about: a rule's code, and Delta's error class."""
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
