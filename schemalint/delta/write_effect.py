"""What a write does to a table: the schema after it, or the error with which Delta refuses it.

Columns are matched and cast (`Casts`), the two schemas become one (`Merge`), and what the data lacks is
filled (`ValueNotes`). Sources: ``ImplicitMetadataOperation``, ``DeltaInsertCastSupport``,
``ResolveDeltaMergeInto``, ``DeltaSink`` and ``WriteIntoDelta`` of Delta Spark 4.4.0; measured on Delta
3.3.2, 4.0.1 and 4.4.0: the tests compare every answer in ``tests/engine/answers/*/writes.csv``.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from schemalint.base.values import frozen, replace
from schemalint.delta import writes
from schemalint.delta.datatype import (
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Array,
    DataType,
    Identity,
    Map,
    Struct,
    field_at,
    stored,
    walk,
    walk_fields,
)
from schemalint.delta.engine import delta_spark
from schemalint.delta.engine_answers import changes_type
from schemalint.delta.path import Part, Path
from schemalint.delta.properties import APPEND_ONLY
from schemalint.delta.table import TableState
from schemalint.delta.write_casts import Casts
from schemalint.delta.write_columns import (
    are_all,
    first_difference,
    has_void,
    is_computed,
    is_new,
    is_same,
    like_before,
    require_names,
    require_partitions,
    require_unique,
    struct_at,
    with_static_partitions,
)
from schemalint.delta.write_errors import (
    ALL_PARTITIONS,
    DUPLICATE_IN_NEW_SCHEMA,
    MISMATCH,
    NULL_IN_ROW,
    UNRESOLVED,
    class_on,
    duplicate_in_merge,
)
from schemalint.delta.write_notes import ValueNotes
from schemalint.delta.write_types import (
    Merge,
    RefusedWrite,
    UnknownWrite,
    Widens,
    automatic_widening,
    never,
    nullable_field,
)
from schemalint.delta.writes import Effect, Kind, Method, Mode, Note, Write

_STRUCT: Final = "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION"

_AS_GIVEN: Final = (Method.SAVE, Method.SAVE_AS_TABLE, Method.STREAM)
"""The methods that fill no partition column which the data lacks, but for ``saveAsTable`` that appends."""

_MERGE_EVOLVES: Final = (4, 4)
"""The first release for which WITH SCHEMA EVOLUTION of a MERGE counts: 4.0.1 reads it, and ignores it."""

_UNCLUSTERS: Final = (4, 4)
"""The releases that were asked what an overwrite does to clustering."""

_MERGES_VOID: Final = (4, 4)
"""The first release whose MERGE adds a void column."""

_REPLACES: Final = (4,)
"""The first release that was asked for ``saveAsTable`` in mode overwrite: Spark 3.5.7 refuses it."""

_WIDENS_OTHER_KINDS: Final = (4, 1)
"""The first release that widens to ``double`` and decimals by itself (``allowAutomaticWidening``, 4.1)."""


def effect_of(table: TableState | None, features: frozenset[str], data: Struct, write: Write) -> Effect:
    """Return what a write does to a table.

    Args:
        table: The table before the write; None if there is none.
        features: The table's supported features.
        data: The schema of the DataFrame, or of the query.
        write: How it is written.
    """
    before = table or TableState()
    try:
        return _effect(table, features, data, write)
    except RefusedWrite as refused:
        return Effect(before, error=class_on(write.delta, refused.error), path=refused.path)
    except UnknownWrite as unknown:
        return Effect(before, unknown=str(unknown))


def _effect(table: TableState | None, features: frozenset[str], data: Struct, write: Write) -> Effect:
    if write.method is Method.SAVE_AS_TABLE and write.mode is Mode.OVERWRITE and write.delta < _REPLACES:
        raise UnknownWrite("Spark 3.5.7 refuses saveAsTable in this mode, and older ones may not")
    if write.method is Method.MERGE and write.delta < _MERGE_EVOLVES:
        write = replace(write, evolves=False)
    merges = write.evolves or _flag(write, writes.MERGE_SCHEMA, write.setting(writes.AUTO_MERGE, "false"))
    overwrites = _flag(write, writes.OVERWRITE_SCHEMA, "false") and write.mode is Mode.OVERWRITE
    if writes.REPLACE_WHERE in write.options and write.mode is not Mode.OVERWRITE:
        raise UnknownWrite("nobody has asked what replaceWhere does without the mode overwrite")
    if table is None:
        return _created(data, write)
    data = with_static_partitions(data, table, write)
    if write.setting(writes.CASE_SENSITIVE, "false") == "true":
        _require_same_case(table.columns, data, write)
    if write.mode is Mode.IGNORE:
        return Effect(table)
    if write.mode is Mode.ERROR:
        exists = write.method is Method.SAVE_AS_TABLE
        raise RefusedWrite("TABLE_OR_VIEW_ALREADY_EXISTS" if exists else "DELTA_PATH_EXISTS")
    case = _Case(
        table, features, data, write, merges, overwrites and writes.REPLACE_WHERE not in write.options
    )
    return _without_clustering(case.effect, table, write)


def _without_clustering(effect: Effect, table: TableState, write: Write) -> Effect:
    """Return the effect of an overwrite on a clustered table: the clustering goes with it (Delta 4.4.0)."""
    if effect.error is not None or write.mode is not Mode.OVERWRITE or not table.clustering_columns:
        return effect
    is_asked = write.method in (Method.SAVE, Method.SAVE_AS_TABLE) and write.delta >= _UNCLUSTERS
    if not is_asked or writes.REPLACE_WHERE in write.options:
        raise UnknownWrite("nobody has asked what this overwrite does to the clustering of the table")
    return replace(effect, after=replace(effect.after, clustered_by=()))


def _flag(write: Write, option: str, default: str) -> bool:
    """Return the value of an option that is true or false (``DeltaOptions.toBoolean``)."""
    value = write.options.get(option, default).lower()
    if value not in {"true", "false"}:
        raise RefusedWrite("DELTA_ILLEGAL_OPTION")
    return value == "true"


def _created(data: Struct, write: Write) -> Effect:
    """Return the effect of a write that creates the table: without properties, constraints and clustering."""
    if write.method in (Method.INSERT_INTO, Method.WRITE_TO):
        raise RefusedWrite("TABLE_OR_VIEW_NOT_FOUND")
    columns = Struct(tuple(map(nullable_field, data.fields)))
    require_unique(data)
    require_names(columns, "none")
    created = TableState(columns, None, tuple(write.partition_by), ())
    return Effect(created)


def _require_same_case(table: Struct, data: Struct, write: Write) -> None:
    """Require names in the same case, where a session that tells them apart was not asked."""
    if write.method in (Method.SAVE, Method.INSERT_INTO):
        return  # Delta does not tell them apart (measured)
    for new in data.fields:
        old = table.get(new.name)
        if old is not None and old.name != new.name:
            raise UnknownWrite(f"the session tells {new.name} and {old.name} apart")


@frozen
class _Case:
    """A write into a table that exists."""

    table: TableState
    features: frozenset[str]
    data: Struct
    write: Write
    merges: bool
    overwrites: bool

    @property
    def effect(self) -> Effect:
        """The effect of the write."""
        if self.write.method is Method.MERGE:
            return self._of_merge()
        if self.write.method is Method.STREAM and has_void(self.data):
            raise RefusedWrite("DELTA_NULL_SCHEMA_IN_STREAMING_WRITE")
        given = self._casts.given(self.data)
        self._require_no_identity(given)
        if self.overwrites:
            return self._overwritten(given)
        self._require_free(given)
        merged = self._merged(given)
        partitions = tuple(name.lower() for name in self.write.partition_by)
        if partitions and partitions != tuple(name.lower() for name in self.table.partition_columns):
            raise RefusedWrite(MISMATCH)
        self._require_appendable()
        is_filled = self.write.method is Method.SAVE_AS_TABLE and self.write.mode is Mode.APPEND
        if self.write.method in _AS_GIVEN and not is_filled:
            require_partitions(given, self.table)
        return self._done(given, merged)

    @property
    def _casts(self) -> Casts:
        return Casts(self.table.columns, self.write, self._widens, self.merges, self.overwrites)

    @cached_property
    def _widens(self) -> Widens:
        """Which types the write changes: those of the release, if the table has type widening."""
        if not self.table.enabled("delta.enableTypeWidening"):
            return never
        mode = "same_family_type"
        if self.write.delta >= _WIDENS_OTHER_KINDS:
            mode = self.write.setting(writes.AUTOMATIC_WIDENING, "always")
        automatic = automatic_widening(mode)
        engine = delta_spark(self.write.delta)

        def widens(old: DataType, new: DataType) -> bool:
            if not automatic(old, new):
                return False
            if "iceberg" in (self.table.properties.get("delta.universalFormat.enabledFormats") or ""):
                raise UnknownWrite("the table is read as Iceberg, which has fewer types to widen to")
            return changes_type(engine, old, new, nested=True).does is not False

        return widens

    def _merged(self, given: Struct) -> Struct:
        """Return the columns of the table after the write.

        Raises:
            RefusedWrite: They would change, and the write may not change them.
        """
        require_unique(given)
        merged = Merge(self._widens).structs(self.table.columns, given)
        if merged != self.table.columns:
            if not self.merges:
                raise RefusedWrite(MISMATCH, first_difference(self.table.columns, merged))
            self._require_changeable(merged)
        return merged

    def _require_changeable(self, merged: Struct) -> None:
        new = Struct(tuple(field for field in merged.fields if self.table.columns.get(field.name) is None))
        require_names(new, self.table.column_mapping)
        self._require_features(merged)
        for column in merged.fields:
            old = self.table.columns.get(column.name)
            is_partition = column.name.lower() in self.table.partition_keys
            if old is not None and is_partition and old.type != column.type:
                raise UnknownWrite(f"the type of the partition column {column.name} would change")

    def _require_features(self, columns: Struct) -> None:
        """Refuse a type whose feature no write adds by itself."""
        types = {type_ for _, type_ in walk(columns)}
        for type_, feature in ((TIMESTAMP_NTZ, "timestampNtz"), (VARIANT, "variantType")):
            if type_ in types and feature not in self.features:
                raise RefusedWrite("DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT")

    def _overwritten(self, given: Struct) -> Effect:
        require_unique(given, DUPLICATE_IN_NEW_SCHEMA)
        columns = Struct(tuple(map(nullable_field, given.fields)))
        require_names(columns, self.table.column_mapping)
        self._require_features(columns)
        self._require_appendable()
        is_dynamic = self._is_dynamic and bool(self.write.partition_by)
        if is_dynamic:
            raise RefusedWrite("DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE")
        kept = tuple(like_before(old, self.table.columns) for old in columns.fields)
        partitions = self.table.partitioned_by
        if isinstance(partitions, tuple):
            partitions = self.write.partition_by
            if are_all(columns, partitions):
                raise RefusedWrite(ALL_PARTITIONS)
        notes = ValueNotes(columns, self.data, self.write, never).all(columns)
        return Effect(replace(self.table, columns=Struct(kept), partitioned_by=partitions), notes=notes)

    @property
    def _is_dynamic(self) -> bool:
        default = self.write.setting(writes.DYNAMIC_OVERWRITE, "static")
        return self.write.options.get(writes.PARTITION_OVERWRITE, default).lower() == "dynamic"

    def _require_no_identity(self, given: Struct) -> None:
        for column in self.table.columns.fields:
            if given.get(column.name) is None or not isinstance(column.identity, Identity):
                continue
            if not column.identity.allow_explicit_insert:
                error = "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED"
                raise RefusedWrite(error, (column.name,))

    def _require_free(self, given: Struct) -> None:
        """Refuse another type for a column that a constraint or a generated column uses, wider or not."""
        if not (self.table.constraints or any(column.generated for column in self.table.columns.fields)):
            return
        for path, old in walk_fields(self.table.columns):
            new = field_at(given, path)
            if new is None or isinstance(old.type, Struct) or is_same(old.type, new.type):
                continue
            if self.table.constraint_users.of(path):
                raise RefusedWrite("DELTA_CONSTRAINT_DATA_TYPE_MISMATCH", path)
            if self.table.generated_users.of(path):
                raise RefusedWrite("DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH", path)

    def _require_appendable(self) -> None:
        if self.write.mode is Mode.OVERWRITE and self.table.enabled(APPEND_ONLY):
            raise RefusedWrite("DELTA_CANNOT_MODIFY_APPEND_ONLY")

    def _done(self, given: Struct, merged: Struct) -> Effect:
        widens = self._widens if self.merges else never
        known = self.data if self.write.method is Method.STREAM else given
        data = given if self.write.method is Method.MERGE else self.data
        notes = ValueNotes(self.table.columns, data, self.write, widens).all(known)
        return Effect(replace(self.table, columns=merged), notes=notes)

    def _of_merge(self) -> Effect:
        """Return the effect of a MERGE whose clauses say ``*`` or name columns."""
        require_unique(self.data, duplicate_in_merge(self.write.delta, merges=self.merges))
        for column in self.table.columns.fields:
            if column.identity is not None and self._assigns(column.name) and self.data.get(column.name):
                raise RefusedWrite("DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED", (column.name,))
        source = Struct(tuple(new for new in self.data.fields if self._assigns(new.name)))
        if self.merges and self.write.assigned is not None:
            self._require_same_types(source)
        if not self.merges or self.write.assigned is not None:
            return self._aligned(source)
        merged = Merge(self._widens, casts=True).structs(self.table.columns, source)
        if merged != self.table.columns:
            adds_void = any(
                type_ == VOID and is_new(path, self.table.columns) for path, type_ in walk(merged)
            )
            if adds_void and self.write.delta < _MERGES_VOID:
                raise RefusedWrite("DELTA_MERGE_ADD_VOID_COLUMN")
            self._require_free(source if self._changes_types(merged) else merged)
            self._require_changeable(merged)
        for path, column in walk_fields(self.table.columns):
            parent = struct_at(source, path[:-1])
            is_missing = parent is not None and parent.get(column.name) is None
            if is_missing and not column.nullable and not is_computed(column):
                raise RefusedWrite(NULL_IN_ROW, path)
        return self._done(source, merged)

    def _require_same_types(self, source: Struct) -> None:
        """Require that a clause which names columns cannot change the schema by them."""
        for new in source.fields:
            old = self.table.columns.get(new.name)
            if old is None or not is_same(old.type, new.type):
                text = f"what a MERGE that may change the schema, and names {new.name}, does to its type"
                raise UnknownWrite(f"nobody has asked {text}")

    def _changes_types(self, merged: Struct) -> bool:
        pairs = ((old.type, merged.get(old.name)) for old in self.table.columns.fields)
        return any(new is not None and not is_same(old, new.type) for old, new in pairs)

    def _assigns(self, name: str) -> bool:
        assigned = self.write.assigned
        return assigned is None or name.lower() in {column.lower() for column in assigned}

    def _aligned(self, source: Struct) -> Effect:
        """Return the effect of a MERGE that keeps the schema: each column of the table is assigned."""
        for column in self.table.columns.fields:
            new = source.get(column.name)
            if new is None:
                if self.write.assigned is None:
                    raise RefusedWrite(UNRESOLVED, (column.name,))
                continue
            self._require_aligned(new.type, column.type, (column.name,))
        lost = tuple(
            Note(Kind.LOSES, (new.name,), "of the source is dropped: the table has no such column")
            for new in self.data.fields
            if self.write.assigned is None and self.table.columns.get(new.name) is None
        )
        effect = self._done(source, self.table.columns)
        return replace(effect, notes=(*lost, *effect.notes))

    def _require_aligned(self, new: DataType, old: DataType, path: Path) -> None:
        match new, old:
            case Struct(), Struct():
                names = {field.name.lower() for field in new.fields}
                if names != {field.name.lower() for field in old.fields}:
                    raise RefusedWrite(_STRUCT, path)
                for field in old.fields:
                    inner = new.get(field.name)
                    if inner is not None:
                        self._require_aligned(inner.type, field.type, (*path, field.name))
            case Array(), Array():
                self._require_aligned(new.element, old.element, (*path, Part.ELEMENT))
            case Map(), Map():
                self._require_aligned(new.key, old.key, (*path, Part.KEY))
                self._require_aligned(new.value, old.value, (*path, Part.VALUE))
            case _ if stored(new) != stored(old):
                self._casts.require(new, old, path)
