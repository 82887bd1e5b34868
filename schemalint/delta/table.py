"""A table's state, its metadata, its history: what a log tells, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from schemalint.delta import properties, protocol
from schemalint.delta.datatype import UNMANAGED, DataType, Managed, Struct
from schemalint.delta.path import Path
from schemalint.delta.protocol import Protocol
from schemalint.values import field, frozen


@frozen
class Deletion:
    """A column that may go; with its old type where the name is made anew."""

    path: Path
    type: DataType | None = None


@frozen
class TableState:
    """What a contract declares, or what a live table is: the values that are compared.

    Attributes:
        properties: Value by key; None declares that the property is to be absent.
        constraints: Expression by name in lower case; None as above.
        features: Asked for by name; for a live table, all that its protocol supports.
        dropped: Columns that may go.
    """

    columns: Struct = field(default_factory=Struct)
    description: Managed[str | None] = UNMANAGED
    partitioned_by: Managed[tuple[str, ...]] = UNMANAGED
    clustered_by: Managed[tuple[Path, ...]] = UNMANAGED
    constraints: Mapping[str, str | None] = field(default_factory=dict)
    properties: Mapping[str, str | None] = field(default_factory=dict)
    features: frozenset[str] = frozenset()
    dropped: tuple[Deletion, ...] = ()

    @property
    def set_properties(self) -> dict[str, str]:
        """The properties that are there, without those that are declared absent."""
        return {key: value for key, value in self.properties.items() if value is not None}

    def enabled(self, key: str) -> bool:
        """Whether a boolean property is ``true`` (in any case, as Delta reads it)."""
        return properties.is_true(self.properties.get(key))

    @property
    def asked_features(self) -> frozenset[str]:
        """The features that are asked for, in the list of features or as properties, by Delta's names."""
        named = [
            key.removeprefix(properties.FEATURE_PREFIX)
            for key in self.set_properties
            if key.startswith(properties.FEATURE_PREFIX)
        ]
        return frozenset(protocol.canonical(name) for name in (*self.features, *named))

    @property
    def active_features(self) -> frozenset[str]:
        """The features that schema, properties, constraints and clustering switch on."""
        named = [name for name, expression in self.constraints.items() if expression is not None]
        clustering = (
            protocol.CLUSTERING if isinstance(self.clustered_by, tuple) and self.clustered_by else frozenset()
        )
        return protocol.activated(self.columns, self.properties, named) | clustering


@frozen
class Metadata:
    """The ``metaData`` action: its columns and settings as a state, and what belongs to the table alone."""

    table_id: str
    state: TableState
    name: str | None = None
    created_time: int | None = None


@frozen
class HistoryEntry:
    """A commit that changed metadata or protocol.

    Attributes:
        timestamp: Milliseconds since the epoch.
        operation: As ``commitInfo`` names it, e.g. ``CHANGE COLUMN``; the writer's free choice.
        parameters: ``operationParameters``, values as text.
        user: Who committed, as far as the commit says so.
        engine: ``engineInfo``, e.g. ``Apache-Spark/4.2.0 Delta-Lake/4.4.0``.
        removes_files: Whether the commit takes data files away.
    """

    version: int
    timestamp: int | None = None
    operation: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    engine: str | None = None
    user_metadata: str | None = None
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    removes_files: bool = False


@frozen
class History:
    """The changes of metadata and protocol, oldest first, as far back as the log is known.

    Attributes:
        entries: If `known_from` is not 0, the first one is the state at that version, of unknown origin.
    """

    entries: tuple[HistoryEntry, ...] = ()
    known_from: int = 0


class LogDefectKind(Enum):
    """What is wrong with a log that could be read all the same."""

    REPEATED_ACTION = "a commit holds an action twice"
    CHECKSUM_DIFFERS = "a version checksum contradicts the log"
    CHECKPOINT_DIFFERS = "a checkpoint contradicts the commits"
    COMMIT_MISSING = "a commit is missing"
    FILE_UNREADABLE = "a file cannot be read"
    NO_SCHEMA = "the table has no schema"


@frozen
class LogDefect:
    """Something in a log that other readers may stumble over.

    Attributes:
        message: A sentence, without the name of the file.
        file: Relative to ``_delta_log``.
        line: From 1, in a file of JSON lines.
        delta_error: What Spark says to it, measured; None if it reads on.
    """

    kind: LogDefectKind
    message: str
    file: str
    line: int | None = None
    delta_error: str | None = None


@frozen
class CatalogTable:
    """What a catalog says about a table.

    Attributes:
        name: Full, e.g. ``main.sales.orders``.
        catalog: The catalog itself, for people.
        columns: None if it keeps none.
        table_id: The catalog's own, which is not Delta's: the log of a table that Unity Catalog manages
            repeats it as the property ``io.unitycatalog.tableId``.
        managed_commits: Whether the catalog decides which commits count (``catalogManaged``).
    """

    name: str
    catalog: str
    location: str
    columns: Struct | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    table_id: str | None = None
    managed_commits: bool = False


@frozen
class LiveTable:
    """A snapshot of a Delta table.

    Attributes:
        uri: Where it lies.
        warnings: What was odd about its log, in sentences.
        defects: What is wrong with its log; `warnings` says the harmless rest.
        catalog: What the catalog says that led to it.
    """

    uri: str
    version: int
    protocol: Protocol
    metadata: Metadata
    history: History = History()
    warnings: tuple[str, ...] = ()
    defects: tuple[LogDefect, ...] = ()
    catalog: CatalogTable | None = None

    @property
    def state(self) -> TableState:
        """What is compared."""
        return self.metadata.state
