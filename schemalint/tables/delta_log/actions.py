"""The actions that describe a table, not its files (PROTOCOL.md, "Actions"), parsed into values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Final, TypeAlias

from schemalint.base.values import field, frozen
from schemalint.delta.datatype import Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.schema_faults import LogFault
from schemalint.delta.schema_json import ReadSchema, SchemaError, SchemaReader
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.jsontext import JsonError, read_json_object, require_bounded

CLUSTERING_DOMAIN: Final = "delta.clustering"

Body: TypeAlias = Mapping[str, object]
PhysicalPath: TypeAlias = tuple[str, ...]

_NO_PART: Final = "INTERNAL_ERROR"

_COMPARED: Final = {
    "id": "table_id",
    "name": "name",
    "schemaString": "schema",
    "description": "description",
    "partitionColumns": "partition_columns",
    "configuration": "configuration",
}

# Milliseconds of the years 1 to 9999: Python has no dates outside of them, so other values are ignored.
_EARLIEST: Final = -62_135_596_800_000
_LATEST: Final = 253_402_300_799_999


@lru_cache(maxsize=16)
def _schemas_of(table_id: str) -> SchemaReader:  # noqa: ARG001 (the key of the cache)
    return SchemaReader()


class ActionError(ValueError):
    """An action, or the text of an action, cannot be read.

    Attributes:
        line: The line in a file of JSON lines, from 1.
        is_text: Whether the text itself is damaged, so that Spark refuses the whole file.
        is_limit: Whether the action exceeds a limit of schemalint and may be healthy.
    """

    def __init__(
        self, message: str, line: int | None = None, *, is_text: bool = False, is_limit: bool = False
    ) -> None:
        super().__init__(message)
        self.line = line
        self.is_text = is_text and not is_limit
        self.is_limit = is_limit


@frozen
class MetadataAction:
    """The ``metaData`` action; its schema is None if the action has no ``schemaString``.

    Attributes:
        faults: What Delta Spark cannot read of it.
    """

    table_id: str
    schema: Struct | None
    name: str | None
    description: str | None
    partition_columns: tuple[str, ...]
    configuration: Mapping[str, str]
    created_time: int | None
    faults: tuple[LogFault, ...] = ()


@frozen
class CommitInfo:
    """The ``commitInfo`` action; every part is optional, times are milliseconds since the epoch.

    Attributes:
        timestamp: The in-commit timestamp, or the time of the writer's clock.
        parameters: ``operationParameters``, with values as text.
        user: ``userName``, or ``userId`` if that is missing.
        engine: ``engineInfo``, or what older releases of delta-rs call ``clientVersion``.
        in_commit_timestamp: The commit's time if the feature inCommitTimestamp is enabled.
        is_missing: Whether the commit has no such action.
    """

    operation: str | None = None
    timestamp: int | None = None
    user_metadata: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    engine: str | None = None
    in_commit_timestamp: int | None = None
    is_missing: bool = field(default=True, compare=False)


@frozen
class TableActions:
    """The actions about a table in one or more commits or in a checkpoint; None for missing actions.

    Attributes:
        clustering: Clustering columns by physical names, empty if clustering was removed.
        repeated: Actions that a commit may contain once but contains more often: name and last line.
        removes_files: Whether the commit removes data files; only set if another action is about the table.
        adds_files: Whether the commit adds data files; set as `removes_files` is.
        transactions: Version of each transaction identifier by application id, within the limits of
            `log_limits.KEPT_APP_IDS` and `log_limits.MAX_TRANSACTIONS`.
        size: Bytes of the ``metaData`` actions in a file of JSON lines.
    """

    protocol: Protocol | None = None
    metadata: MetadataAction | None = None
    clustering: tuple[PhysicalPath, ...] | None = None
    info: CommitInfo = CommitInfo()
    repeated: tuple[tuple[str, int], ...] = ()
    removes_files: bool = False
    adds_files: bool = False
    transactions: Mapping[str, int] = field(default_factory=dict)
    size: int = field(default=0, compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether the actions change at most the table's data."""
        return self.protocol is None and self.metadata is None and self.clustering is None

    @property
    def is_complete(self) -> bool:
        """Whether older actions cannot add anything but transaction identifiers."""
        if self.protocol is None or self.metadata is None:
            return False
        return self.clustering is not None or "clustering" not in self.protocol.features

    def completed_by(self, older: TableActions) -> TableActions:
        """Return these actions, with missing ones taken from older actions."""
        return TableActions(
            protocol=self.protocol or older.protocol,
            metadata=self.metadata or older.metadata,
            clustering=older.clustering if self.clustering is None else self.clustering,
            transactions=highest({**older.transactions, **self.transactions}),
        )

    def differences(self, other: TableActions) -> tuple[str, ...]:
        """Return the log's names of the parts that differ; missing clustering equals no clustering."""
        pairs: list[tuple[str, object, object]] = [
            ("protocol", self.protocol, other.protocol),
            ("clustering", self.clustering or (), other.clustering or ()),
        ]
        if self.metadata and other.metadata:
            pairs += [
                (name, getattr(self.metadata, attribute), getattr(other.metadata, attribute))
                for name, attribute in _COMPARED.items()
            ]
        return tuple(name for name, own, others in pairs if own != others)


NOTHING: Final = TableActions()
"""The actions of a commit that only changes data files."""


def read_protocol(body: Body) -> Protocol:
    """Parse the ``protocol`` action.

    Raises:
        ActionError: The versions are missing, or the features are not lists of names.
    """
    reader, writer = body.get("minReaderVersion"), body.get("minWriterVersion")
    if type(reader) is not int or type(writer) is not int:
        raise ActionError("the protocol has no minReaderVersion and minWriterVersion")
    lists = (body.get("readerFeatures") is not None, body.get("writerFeatures") is not None)
    return Protocol(
        reader,
        writer,
        frozenset(_names(body, "readerFeatures")),
        frozenset(_names(body, "writerFeatures")),
        lists,
    )


def read_metadata(body: Body) -> MetadataAction:
    """Parse the ``metaData`` action.

    Raises:
        ActionError: The schema cannot be read, or a value has the wrong type.
    """
    schema = body.get("schemaString")
    if not (schema is None or isinstance(schema, str)):
        raise ActionError("schemaString is not a string")
    table_id = _text(body, "id") or ""
    columns, faults = _columns(schema, table_id) if schema else (None, ())
    return MetadataAction(
        table_id=table_id,
        schema=columns,
        name=_text(body, "name"),
        description=_text(body, "description"),
        partition_columns=_names(body, "partitionColumns"),
        configuration=_configuration(body.get("configuration") or {}),
        created_time=_time(body, "createdTime"),
        faults=faults,
    )


def missing_parts(body: Body) -> Iterator[LogFault]:
    """Yield the parts that Delta Spark needs in the ``metaData`` action of a commit, and that it lacks.

    Source: what Delta 4.4.0 does without each of the keys of PROTOCOL.md, "Change Metadata", as measured. A
    Parquet checkpoint may have the columns of other writers.
    """
    if body.get("id") is None:
        yield LogFault("the metaData action has no id", "DELTA_STATE_RECOVER_ERROR")
    for key in ("configuration", "partitionColumns"):
        if body.get(key) is None:
            yield LogFault(f"the metaData action has no {key}", _NO_PART)
    file_format = body.get("format")
    if not isinstance(file_format, dict):
        yield LogFault("the metaData action has no format", _NO_PART)
    elif file_format.get("options") is None:
        yield LogFault("the format of the metaData action has no options", _NO_PART)
    created = body.get("createdTime")
    if created is not None and type(created) is not int:
        yield LogFault("createdTime of the metaData action is no number", "FAILED_READ_FILE.NO_HINT")


def read_clustering(body: Body) -> tuple[PhysicalPath, ...] | None:
    """Return the clustering columns that a ``domainMetadata`` action sets; None for other domains.

    Raises:
        ActionError: The clustering cannot be read.
    """
    if body.get("domain") != CLUSTERING_DOMAIN:
        return None
    if body.get("removed") is True:
        return ()
    columns = _json_object(_text(body, "configuration") or "{}").get("clusteringColumns") or []
    if not isinstance(columns, list):
        raise ActionError("clusteringColumns is not a list")
    return tuple(_name_list(path, "clusteringColumns") for path in columns)


def read_transaction(body: Body) -> Mapping[str, int]:
    """Return application id and version of a ``txn`` action; nothing if it is not kept, or malformed."""
    app_id, version = body.get("appId"), body.get("version")
    if isinstance(app_id, str) and is_kept(app_id) and type(version) is int:
        return {app_id: version}
    return {}


def is_kept(app_id: object) -> bool:
    """Whether a transaction identifier is kept; a table has one for each stream that ever wrote it."""
    return isinstance(app_id, str) and app_id.startswith(log_limits.KEPT_APP_IDS)


def highest(transactions: Mapping[str, int]) -> Mapping[str, int]:
    """Return the transaction identifiers that are kept of many."""
    if len(transactions) <= log_limits.MAX_TRANSACTIONS:
        return transactions
    newest_first = sorted(transactions.items(), key=itemgetter(1), reverse=True)
    return dict(newest_first[: log_limits.MAX_TRANSACTIONS])


def read_info(body: Body) -> CommitInfo:
    """Parse the ``commitInfo`` action; it is free-form, so unexpected values are ignored."""
    in_commit = _time(body, "inCommitTimestamp")
    parameters = body.get("operationParameters")
    return CommitInfo(
        operation=_text(body, "operation"),
        timestamp=_time(body, "timestamp") if in_commit is None else in_commit,
        user_metadata=_text(body, "userMetadata"),
        parameters=_texts(parameters) if isinstance(parameters, dict) else {},
        user=_text(body, "userName") or _text(body, "userId"),
        engine=_text(body, "engineInfo") or _text(body, "clientVersion"),  # of delta-rs before 0.27
        in_commit_timestamp=in_commit,
        is_missing=False,
    )


def _columns(schema: str, table_id: str) -> ReadSchema:
    try:
        require_bounded(schema, log_limits.MAX_ACTION)
        return _schemas_of(table_id).read(schema)
    except JsonError as error:
        raise ActionError(f"schemaString cannot be read: it {error}", is_limit=error.is_limit) from None
    except SchemaError as error:
        raise ActionError(f"schemaString cannot be read: {error}", is_limit=error.is_limit) from None


def _json_object(text: str) -> Body:
    try:
        return read_json_object(text, log_limits.MAX_ACTION)
    except JsonError as error:
        raise ActionError(
            f"the configuration of {CLUSTERING_DOMAIN} {error}", is_limit=error.is_limit
        ) from None


def _configuration(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ActionError("the configuration of metaData is not an object")
    return _texts(value)


def _texts(values: Mapping[object, object]) -> dict[str, str]:
    return {
        str(key): value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
        if value is not None
    }


def _names(body: Body, key: str) -> tuple[str, ...]:
    return _name_list(body.get(key) or [], key)


def _name_list(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ActionError(f"{key} is not a list of names")
    return tuple(value)


def _text(body: Body, key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) else None


def _time(body: Body, key: str) -> int | None:
    value = body.get(key)
    return value if type(value) is int and _EARLIEST <= value <= _LATEST else None
