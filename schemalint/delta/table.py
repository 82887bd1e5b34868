"""The content of a Delta log as frozen values: a table's state, metadata, protocol and history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property
from typing import Final

from schemalint.base.phrases import affixed
from schemalint.base.values import field, frozen, grouped, replace
from schemalint.delta import properties, protocol
from schemalint.delta.column_users import ColumnUsers
from schemalint.delta.datatype import UNMANAGED, DataType, Managed, Struct, items_of, walk_fields
from schemalint.delta.invariants import invariants_of
from schemalint.delta.path import Path, PathIndex, field_names, path_key
from schemalint.delta.protocol import Protocol


@frozen
class Deletion:
    """An approval to drop a column or a nested field.

    Attributes:
        path: The field to drop.
        type: The type of the field to drop, if the contract declares a new field with the same name.
    """

    path: Path
    type: DataType | None = None


@frozen
class TableState:
    """The comparable part of a table: as a contract declares it, or as the live table is.

    Attributes:
        columns: The columns in order.
        description: The table comment.
        partitioned_by: The names of the partition columns.
        clustered_by: The paths of the clustering columns.
        constraints: SQL expression of each CHECK constraint by name in lower case; None declares that the
            constraint is absent.
        properties: Value of each table property by key; None declares that the property is absent.
        features: Of a contract: the features that it requests by name. Of a live table: all features that its
            protocol supports.
        dropped: The drops that a contract approves.
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
        """The properties without those that are declared absent."""
        return {key: value for key, value in self.properties.items() if value is not None}

    def with_property(self, key: str, value: str) -> TableState:
        """Return the state with this property set."""
        return replace(self, properties={**self.properties, key: value})

    def enabled(self, key: str) -> bool:
        """Whether a boolean property is set to ``true``, in any case; defaults are ignored."""
        return properties.is_true(self.properties.get(key))

    @cached_property
    def dropped_by_key(self) -> Mapping[tuple[str, ...], tuple[Deletion, ...]]:
        """The drops that a contract approves, by the key of their path (`path_key`)."""
        return grouped((path_key(entry.path), entry) for entry in self.dropped)

    @cached_property
    def renamed(self) -> PathIndex[Path]:
        """The old paths of the columns with a declared rename, by their names in lower case."""
        old_paths = (
            (*path[:-1], field.renamed_from)
            for path, field in walk_fields(self.columns)
            if field.renamed_from
        )
        return PathIndex((field_names(path), path) for path in old_paths)

    @cached_property
    def partition_keys(self) -> frozenset[str]:
        """The names of the partition columns in lower case."""
        return frozenset(name.lower() for name in self.partition_columns)

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The names of the partition columns, none if they are unmanaged."""
        return items_of(self.partitioned_by)

    @property
    def clustering_columns(self) -> tuple[Path, ...]:
        """The paths of the clustering columns, none if they are unmanaged."""
        return items_of(self.clustered_by)

    @cached_property
    def clustering(self) -> PathIndex[Path]:
        """The paths of the clustering columns by their keys (`path_key`)."""
        return PathIndex((path_key(path), path) for path in self.clustering_columns)

    @cached_property
    def constraint_users(self) -> ColumnUsers[str]:
        """The names of the constraints by the columns that they use."""
        return ColumnUsers((name, text) for name, text in self.constraints.items() if text is not None)

    @cached_property
    def invariant_users(self) -> ColumnUsers[Path]:
        """The paths of the columns whose invariants use columns, by these."""
        return ColumnUsers(
            (path, invariant.expression)
            for path, invariant in invariants_of(self.columns)
            if invariant.expression is not None
        )

    @cached_property
    def generated_users(self) -> ColumnUsers[Path]:
        """The paths of the generated columns by the columns that they use."""
        return ColumnUsers(
            (path, column.generated)
            for path, column in walk_fields(self.columns)
            if isinstance(column.generated, str)
        )

    @property
    def column_mapping(self) -> str:
        """The column mapping mode in lower case: ``none``, ``name`` or ``id``."""
        return (self.properties.get(properties.COLUMN_MAPPING_MODE) or "none").lower()

    @property
    def requested_features(self) -> frozenset[str]:
        """The requested features, from `features` and from ``delta.feature.<name>``, in Delta's spelling."""
        requested = [
            key.removeprefix(properties.FEATURE_PREFIX)
            for key in self.set_properties
            if key.startswith(properties.FEATURE_PREFIX)
        ]
        return frozenset(protocol.canonical(name) for name in (*self.features, *requested))

    @cached_property
    def active_features(self) -> frozenset[str]:
        """The features that columns, properties, constraints and clustering enable."""
        constraints = [name for name, expression in self.constraints.items() if expression is not None]
        active = protocol.activated(self.columns, self.properties, constraints)
        if self.clustering_columns:
            return active | protocol.CLUSTERING
        return active


@frozen
class Metadata:
    """The ``metaData`` action of the log.

    Attributes:
        table_id: ``id``: Delta's own id of the table, a GUID.
        state: The columns, settings and description.
        name: ``name``; rarely set.
        created_time: ``createdTime``, in milliseconds since the epoch.
    """

    table_id: str
    state: TableState
    name: str | None = None
    created_time: int | None = None


@frozen
class HistoryEntry:
    """A commit that changes metadata or protocol.

    The values of ``commitInfo`` are the writer's free choice; Delta does not check them.

    Attributes:
        version: The version that the commit creates.
        timestamp: Time of the commit, in milliseconds since the epoch.
        operation: ``operation`` of ``commitInfo``, e.g. ``CHANGE COLUMN``.
        parameters: ``operationParameters`` of ``commitInfo``, with values as text.
        user: The user who committed, if ``commitInfo`` has one.
        engine: ``engineInfo`` of ``commitInfo``, e.g. ``Apache-Spark/4.2.0 Delta-Lake/4.4.0``.
        user_metadata: ``userMetadata`` of ``commitInfo``.
        metadata: The ``metaData`` action of the commit; None if it has none.
        protocol: The ``protocol`` action of the commit; None if it has none.
        removes_files: Whether the commit removes data files.
        adds_files: Whether the commit adds data files.
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
    adds_files: bool = False


@frozen
class History:
    """The changes of metadata and protocol, oldest first, from the oldest commit that the log still has.

    Attributes:
        entries: The commits. If `known_from` is not 0, the first entry is the complete state at that version,
            and the commits that led to it are unknown.
        known_from: The oldest version that is known.
        file_versions: For each live data file, the entry in effect when it was written, each version once;
            empty if no data file is live. None if unknown: schemalint finds out only if a commit may have
            left files under a schema that does not fit them.
    """

    entries: tuple[HistoryEntry, ...] = ()
    known_from: int = 0
    file_versions: frozenset[int] | None = None


class LogDefectKind(Enum):
    """The kind of a defect in a log that schemalint can still read."""

    REPEATED_ACTION = "a commit holds an action twice"
    CHECKSUM_DIFFERS = "a version checksum contradicts the log"
    CHECKPOINT_DIFFERS = "a checkpoint contradicts the commits"
    COMMIT_MISSING = "a commit is missing"
    SIDECAR_MISSING = "a sidecar of a checkpoint is missing"
    FILE_UNREADABLE = "a file cannot be read"
    NO_SCHEMA = "the table has no schema"
    METADATA_INCOMPLETE = "the metadata is not as Delta writes it"
    LENGTH_AS_TYPE = "a length of char or varchar is stored as a type"
    NO_COMMIT_TIMESTAMP = "a commit has no in-commit timestamp"


@frozen
class LogDefect:
    """A defect in a log that other readers may fail on.

    Attributes:
        kind: The kind of the defect.
        message: One sentence, without the file name.
        file: Path of the file relative to ``_delta_log``.
        line: Line number from 1, in a file of JSON lines.
        delta_error: The error class that Spark raises, as measured on Delta 4.4.0; None if it raises none.
        only_history: Whether it is in older files than those that Spark reads for the newest version.
    """

    kind: LogDefectKind
    message: str
    file: str
    line: int | None = None
    delta_error: str | None = None
    only_history: bool = False

    @property
    def location(self) -> str:
        """The file, with the line if it is known."""
        return f"{self.file}{affixed(', line ', self.line)}"


@frozen
class CatalogTable:
    """A table as a catalog describes it.

    Attributes:
        name: The full name, e.g. ``main.sales.orders``.
        catalog: A description of the catalog for messages.
        location: The URI of the table.
        columns: The columns; None if the catalog does not store them.
        properties: The table properties, by key.
        table_id: The catalog's id of the table, not Delta's. The log of a table that Unity Catalog manages
            repeats it as the property ``io.unitycatalog.tableId``.
        managed_commits: Whether the catalog decides which commits are part of the table (``catalogManaged``).
    """

    name: str
    catalog: str
    location: str
    columns: Struct | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    table_id: str | None = None
    managed_commits: bool = False


RECENT: Final = 100
"""Commits that are looked at, newest first, to explain what a snapshot does not tell."""


@frozen
class LiveTable:
    """A snapshot of a Delta table, with its history.

    Attributes:
        uri: The location of the table.
        version: The version of the snapshot.
        protocol: The ``protocol`` action in effect.
        metadata: The ``metaData`` action in effect.
        history: The changes of metadata and protocol up to `version`, as far as they were read.
        warnings: Harmless peculiarities of the log, one sentence each.
        defects: Defects of the log.
        catalog: The table in the catalog through which schemalint found it; None if it read the location
            directly.
        transactions: Version of each transaction identifier of schemalint (``txn`` actions), by application
            id; those of other applications are not kept.
        writers: Who wrote the commits that were read, by ``engineInfo``, and when last, in milliseconds since
            the epoch; without OPTIMIZE and VACUUM. The JSON of ``show`` has none.
        older: Reads the history since a version, where `history` does not reach back to it: from then on, or
            from the oldest version that is known. None if `history` has all that the log has.
        older_writers: Reads who wrote since a time in milliseconds, as `writers`, from older commits too.
            None if `writers` has all.
        size: Asks the log for the bytes of the live data files; None from it, or in its place, if unknown.
    """

    uri: str
    version: int
    protocol: Protocol
    metadata: Metadata
    history: History = History()
    warnings: tuple[str, ...] = ()
    defects: tuple[LogDefect, ...] = ()
    catalog: CatalogTable | None = None
    transactions: Mapping[str, int] = field(default_factory=dict)
    writers: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    older: Callable[[int], History] | None = field(default=None, compare=False, repr=False)
    older_writers: Callable[[int], Mapping[str, int]] | None = field(default=None, compare=False, repr=False)
    size: Callable[[], int | None] | None = field(default=None, compare=False, repr=False)

    @property
    def state(self) -> TableState:
        """The comparable part of the table."""
        return self.metadata.state

    def history_since(self, version: int) -> History:
        """Return the history since a version, or from the oldest version on that is known; maybe more of it.

        Raises:
            LiveError: The log cannot be read.
        """
        if self.older is None or self.history.known_from <= version:
            return self.history
        return self.older(version)

    def writers_since(self, at: int) -> Mapping[str, int]:
        """Return `writers` with those of older commits, since a time in milliseconds since the epoch."""
        return self.writers if self.older_writers is None else self.older_writers(at)

    @property
    def recent_history(self) -> History:
        """The history of the newest commits, `RECENT` of them, or of more if it was read."""
        return self.history_since(max(0, self.version - RECENT))
