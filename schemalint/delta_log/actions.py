"""The actions of a log that say what a table is (PROTOCOL.md, "Actions"): their bodies, as values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from schemalint.delta.datatype import Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.schema_json import SchemaError, parse_schema
from schemalint.delta_log import limits
from schemalint.delta_log.jsontext import JsonError, read_json, require_bounded
from schemalint.values import field, frozen

CLUSTERING_DOMAIN: Final = "delta.clustering"

Body: TypeAlias = Mapping[str, object]
PhysicalPath: TypeAlias = tuple[str, ...]

_COMPARED: Final = {
    "id": "table_id",
    "name": "name",
    "schemaString": "schema",
    "description": "description",
    "partitionColumns": "partition_columns",
    "configuration": "configuration",
}

# The milliseconds of the years 1 to 9999: what is no date is left out.
_EARLIEST: Final = -62_135_596_800_000
_LATEST: Final = 253_402_300_799_999

# Commits repeat the schema that they do not change.
_parse_schema = lru_cache(maxsize=16)(parse_schema)


class ActionError(ValueError):
    """An action, or the text that should be one, cannot be read.

    Attributes:
        line: Where it stands in a file of JSON lines, from 1.
        is_text: Whether the text itself is damaged; Spark then refuses the whole file.
        is_limit: Whether nothing is damaged, but more than is read.
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
    """The ``metaData`` action; its schema is None where it has none."""

    table_id: str
    schema: Struct | None
    name: str | None
    description: str | None
    partition_columns: tuple[str, ...]
    configuration: Mapping[str, str]
    created_time: int | None


@frozen
class CommitInfo:
    """What ``commitInfo`` says about a commit, all of it optional; times are milliseconds since the epoch.

    Attributes:
        timestamp: The in-commit timestamp, or else what the writer's clock said.
        parameters: ``operationParameters``, values as text.
        user: ``userName`` or else ``userId``.
        engine: ``engineInfo``.
        in_commit_timestamp: Written where the feature is enabled, and then the commit's time.
    """

    operation: str | None = None
    timestamp: int | None = None
    user_metadata: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    engine: str | None = None
    in_commit_timestamp: int | None = None


@frozen
class TableActions:
    """What a commit, a checkpoint, or several commits say about a table; None where they say nothing.

    Attributes:
        clustering: Clustering columns by their physical names, empty where clustering was removed.
        repeated: Actions of which a commit may have one, and this one has more: name, and line of the last.
        removes_files: Whether the commit takes data files away; only told if it says something.
        size: Bytes of the ``metaData`` actions, as they stand in a file of JSON lines.
    """

    protocol: Protocol | None = None
    metadata: MetadataAction | None = None
    clustering: tuple[PhysicalPath, ...] | None = None
    info: CommitInfo = CommitInfo()
    repeated: tuple[tuple[str, int], ...] = ()
    removes_files: bool = False
    size: int = field(default=0, compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether they leave the table as it was, but for its data."""
        return self.protocol is None and self.metadata is None and self.clustering is None

    @property
    def is_complete(self) -> bool:
        """Whether nothing older can add anything."""
        if self.protocol is None or self.metadata is None:
            return False
        return self.clustering is not None or "clustering" not in self.protocol.features

    def over(self, older: TableActions) -> TableActions:
        """Both together; the newer ones count."""
        return TableActions(
            protocol=self.protocol or older.protocol,
            metadata=self.metadata or older.metadata,
            clustering=older.clustering if self.clustering is None else self.clustering,
        )

    def differences(self, other: TableActions) -> tuple[str, ...]:
        """What two states of a table disagree about, in the log's own words; nothing is no clustering."""
        pairs: list[tuple[str, object, object]] = [
            ("protocol", self.protocol, other.protocol),
            ("clustering", self.clustering or (), other.clustering or ()),
        ]
        if self.metadata and other.metadata:
            pairs += [
                (name, getattr(self.metadata, attribute), getattr(other.metadata, attribute))
                for name, attribute in _COMPARED.items()
            ]
        return tuple(name for name, one, another in pairs if one != another)


NOTHING: Final = TableActions()
"""Of commits that are only about files."""


def read_protocol(body: Body) -> Protocol:
    """The ``protocol`` action.

    Raises:
        ActionError: It has no versions, or its features are no names.
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
    """The ``metaData`` action.

    Raises:
        ActionError: Its schema cannot be read, or a part is of the wrong kind.
    """
    schema = body.get("schemaString")
    if not (schema is None or isinstance(schema, str)):
        raise ActionError("schemaString is no string")
    columns = _columns(schema) if schema else None
    return MetadataAction(
        table_id=_text(body, "id") or "",
        schema=columns,
        name=_text(body, "name"),
        description=_text(body, "description"),
        partition_columns=_names(body, "partitionColumns"),
        configuration=_configuration(body.get("configuration") or {}),
        created_time=_time(body, "createdTime"),
    )


def read_clustering(body: Body) -> tuple[PhysicalPath, ...] | None:
    """The clustering columns that a ``domainMetadata`` action sets; None if it is of another domain.

    Raises:
        ActionError: The clustering cannot be read.
    """
    if body.get("domain") != CLUSTERING_DOMAIN:
        return None
    if body.get("removed") is True:
        return ()
    columns = _json_object(_text(body, "configuration") or "{}").get("clusteringColumns") or []
    if not isinstance(columns, list):
        raise ActionError("clusteringColumns is no list")
    return tuple(_name_list(path, "clusteringColumns") for path in columns)


def read_info(body: Body) -> CommitInfo:
    """The ``commitInfo`` action: free-form, so what is not as usual is left out."""
    in_commit = _time(body, "inCommitTimestamp")
    parameters = body.get("operationParameters")
    return CommitInfo(
        operation=_text(body, "operation"),
        timestamp=_time(body, "timestamp") if in_commit is None else in_commit,
        user_metadata=_text(body, "userMetadata"),
        parameters=_texts(parameters) if isinstance(parameters, dict) else {},
        user=_text(body, "userName") or _text(body, "userId"),
        engine=_text(body, "engineInfo"),
        in_commit_timestamp=in_commit,
    )


def _columns(schema: str) -> Struct:
    try:
        require_bounded(schema, limits.MAX_ACTION)
        return _parse_schema(schema)
    except JsonError as error:
        raise ActionError(f"schemaString cannot be read: it {error}", is_limit=error.is_limit) from None
    except SchemaError as error:
        raise ActionError(f"schemaString cannot be read: {error}") from None


def _json_object(text: str) -> Body:
    try:
        found = read_json(text, limits.MAX_ACTION)
    except JsonError as error:
        raise ActionError(
            f"the configuration of {CLUSTERING_DOMAIN} {error}", is_limit=error.is_limit
        ) from None
    if not isinstance(found, dict):
        raise ActionError(f"the configuration of {CLUSTERING_DOMAIN} is no JSON object")
    return found


def _configuration(found: object) -> dict[str, str]:
    if not isinstance(found, dict):
        raise ActionError("the configuration of metaData is no object")
    return _texts(found)


def _texts(found: Mapping[object, object]) -> dict[str, str]:
    return {
        str(key): value if isinstance(value, str) else json.dumps(value)
        for key, value in found.items()
        if value is not None
    }


def _names(body: Body, key: str) -> tuple[str, ...]:
    return _name_list(body.get(key) or [], key)


def _name_list(found: object, key: str) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ActionError(f"{key} is no list of names")
    return tuple(found)


def _text(body: Body, key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) else None


def _time(body: Body, key: str) -> int | None:
    value = body.get(key)
    return value if type(value) is int and _EARLIEST <= value <= _LATEST else None
