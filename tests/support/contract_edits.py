"""Random edits of a contract for `pairs`, one function per kind, valid or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemalint.base.values import replace
from schemalint.contract.dialects.native.declared_types import declared_type
from schemalint.delta.datatype import (
    BOOLEAN,
    UNMANAGED,
    Array,
    DataType,
    Field,
    Identity,
    Managed,
    Map,
    Struct,
    type_at,
    walk,
    walk_fields,
)
from schemalint.delta.feature import FEATURES
from schemalint.delta.patch import update_field, update_type
from schemalint.delta.path import Part, Path
from schemalint.delta.table import Deletion
from schemalint.delta.type_text import print_type
from schemalint.model.contract import Contract, WriterPermissions
from support.contract_pairs import CONTAINERS, DEFAULTS, LEAVES, MAPPING, NAMES, bare, quoted, readable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from support.contract_pairs import Edit, Maker

_TYPES: Final = (
    *LEAVES,
    *LEAVES,
    *CONTAINERS,
    "struct<é: varchar(3)>",
    "void",
    "decimal(38,38)",
    "interval year",
    "time(6)",
)
_WIDER: Final[Mapping[str, Sequence[str]]] = {
    "tinyint": ("smallint", "int", "bigint", "double", "decimal(10,0)"),
    "smallint": ("int", "bigint", "decimal(12,2)"),
    "int": ("bigint", "double", "decimal(10,0)", "decimal(12,2)"),
    "bigint": ("decimal(38,18)",),
    "float": ("double",),
    "date": ("timestamp_ntz",),
    "decimal(10,0)": ("decimal(12,2)",),
    "decimal(10,2)": ("decimal(12,2)", "decimal(12,4)"),
    "decimal(12,2)": ("decimal(38,18)",),
    "char(3)": ("varchar(3)", "varchar(5)", "string"),
    "varchar(3)": ("varchar(5)", "string"),
    "varchar(5)": ("string",),
}
_NEW_NAMES: Final = (*NAMES, "f", "h", "A", "two words", "x")
_DEFAULTS: Final = (None, "NULL", "id", "nope(", "nope()", "uuid()", "(SELECT 1)")
_IDENTITIES: Final = (Identity(), Identity(5, -2), Identity(1, 0), Identity(1, 1, allow_explicit_insert=True))
_BOOLEAN: Final = ("true", "false", None)
_PROPERTIES: Final[Mapping[str, Sequence[str | None]]] = {
    "delta.enableTypeWidening": _BOOLEAN,
    MAPPING: ("none", "name", "id", "bogus", None),
    "delta.appendOnly": _BOOLEAN,
    "delta.checkpointPolicy": ("classic", "v2", "bogus", None),
    "delta.enableChangeDataFeed": _BOOLEAN,
    "delta.enableRowTracking": _BOOLEAN,
    "delta.enableDeletionVectors": _BOOLEAN,
    "delta.enableInCommitTimestamps": _BOOLEAN,
    "delta.enableIcebergCompatV1": ("true",),
    "delta.enableIcebergCompatV2": ("true", "false"),
    "delta.isolationLevel": ("Serializable", "WriteSerializable", "SnapshotIsolation", "bogus"),
    "delta.logRetentionDuration": ("interval 7 days", "7 days", "interval 1 month", "bogus"),
    "delta.checkpointInterval": ("10", "0", "x"),
    "delta.dataSkippingNumIndexedCols": ("0", "3", "-1", "-2"),
    "delta.dataSkippingStatsColumns": ("id", "a", "a,b", "zz"),
    "delta.columnMapping.maxColumnId": ("99",),
    "delta.unknown": ("x",),
    "delta.constraints.extra": ("id > 0",),
    "delta.feature.appendOnly": ("supported", "enabled"),
    "delta.feature.deletionVectors": ("supported",),
    "delta.minWriterVersion": ("5", "7"),
    "team": ("sales", None),
    "owner": ("me",),
    "location": ("/elsewhere",),
    "comment": ("y",),
    "schemalint.pending": ("x",),
}  # fmt: skip


def type_changed(maker: Maker, before: Contract) -> Contract | None:
    """Change the type of a column, a field, an element, a key or a value."""
    path, old = maker.one_of(list(walk(before.state.columns))[1:])
    wider = _WIDER.get(print_type(old), ())
    text = maker.one_of(wider if wider and maker.chance() else _TYPES)
    return _with_columns(before, update_type(before.state.columns, path, lambda _old: declared_type(text)))


def widened(maker: Maker, before: Contract) -> Contract | None:
    """Widen a type as Delta allows it in some position."""
    types = ((path, print_type(old)) for path, old in walk(before.state.columns))
    widenable = [(path, old) for path, old in types if old in _WIDER]
    if not widenable:
        return None
    path, old = maker.one_of(widenable)
    text = maker.one_of(_WIDER[old])
    return _with_columns(before, update_type(before.state.columns, path, lambda _old: declared_type(text)))


def nullability_changed(maker: Maker, before: Contract) -> Contract | None:
    """Change the nullability of a field, of array elements or of map values."""
    columns = before.state.columns
    path, old = maker.one_of(list(walk(columns))[1:])
    if isinstance(old, Array | Map) and maker.chance():
        return _with_columns(before, update_type(columns, path, _set_contains_null(allowed=maker.chance())))
    return _update(before, maker, lambda field: replace(field, nullable=not field.nullable))


def comment_changed(maker: Maker, before: Contract) -> Contract | None:
    text = maker.one_of((None, "", "y", "it's; --", "${x}"))
    return _update(before, maker, lambda field: replace(field, comment=text))


def default_changed(maker: Maker, before: Contract) -> Contract | None:
    return _update(before, maker, lambda field: replace(field, default=_default(maker, field.type)))


def generation_changed(maker: Maker, before: Contract) -> Contract | None:
    """Add, change or remove a generation expression."""
    booleans = [path for path, field in walk_fields(before.state.columns) if field.type == BOOLEAN]
    path = maker.one_of(booleans or [_any_field(maker, before)[0]])
    text = _generated(maker, before) if booleans else None
    columns = update_field(before.state.columns, path, lambda field: replace(field, generated=text))
    return _with_columns(before, columns)


def identity_changed(maker: Maker, before: Contract) -> Contract | None:
    new = maker.one_of((None, *_IDENTITIES))
    return _update(before, maker, lambda field: replace(field, identity=new))


def column_added(maker: Maker, before: Contract) -> Contract | None:
    """Add a column at any level and position, with any one setting."""
    parent = _struct(maker, before)
    field = bare(maker.one_of(_NEW_NAMES), declared_type(maker.one_of(_TYPES)))
    match maker.one_of(("", "", "default", "comment", "not null", "generated", "identity")):
        case "default":
            field = replace(field, default=_default(maker, field.type))
        case "comment":
            field = replace(field, comment="y")
        case "not null":
            field = replace(field, nullable=False)
        case "generated":
            field = replace(field, type=BOOLEAN, generated=_generated(maker, before))
        case "identity":
            field = replace(field, type=declared_type("bigint"), identity=maker.one_of(_IDENTITIES))
    return _inserted(maker, before, parent, field)


def column_dropped(maker: Maker, before: Contract) -> Contract | None:
    """Remove a column and list it under `dropped`."""
    path, _field = _any_field(maker, before)
    return _listed(_without(before, path), Deletion(path))


def column_left_out(maker: Maker, before: Contract) -> Contract | None:
    """Remove a column without listing it, so that it is no longer managed."""
    path, _field = _any_field(maker, before)
    return _without(before, path)


def column_recreated(maker: Maker, before: Contract) -> Contract | None:
    """Drop a column and add another one with its name."""
    path, field = _any_field(maker, before)
    new = bare(field.name, declared_type(maker.one_of(_TYPES)))
    return _listed(_inserted(maker, _without(before, path), path[:-1], new), Deletion(path, field.type))


def column_renamed(maker: Maker, before: Contract) -> Contract | None:
    """Rename a column; references to it usually follow, sometimes not."""
    path, field = _any_field(maker, before)
    name = maker.one_of([name for name in _NEW_NAMES if name != field.name])
    return _renamed(before, {path: name}, follow=maker.chance(4) is False)


def rename_written(maker: Maker, before: Contract) -> Contract | None:
    """Declare that a column had another name, which the table has not."""
    return _update(before, maker, lambda field: replace(field, renamed_from=maker.one_of(_NEW_NAMES)))


def column_added_as_renamed(maker: Maker, before: Contract) -> Contract | None:
    """Add a column that is renamed from any name, or a struct with such a field."""
    field = replace(bare("new", declared_type("int")), renamed_from=maker.one_of(_NEW_NAMES))
    if maker.chance():
        field = bare("added", Struct((field,)))
    return _inserted(maker, before, _struct(maker, before), field)


def columns_swapped(maker: Maker, before: Contract) -> Contract | None:
    parent = type_at(before.state.columns, path := _struct(maker, before))
    if not isinstance(parent, Struct) or len(parent.fields) < len(("first", "second")):
        return None
    first, second = maker.random.sample(parent.fields, 2)
    names = {(*path, first.name): second.name, (*path, second.name): first.name}
    return _renamed(before, names, follow=maker.chance(4) is False)


def columns_moved(maker: Maker, before: Contract) -> Contract | None:
    path = _struct(maker, before)

    def shuffled(old: DataType) -> DataType:
        assert isinstance(old, Struct)
        return Struct(tuple(maker.random.sample(old.fields, len(old.fields))))

    return _with_columns(before, update_type(before.state.columns, path, shuffled))


def partitioning_changed(maker: Maker, before: Contract) -> Contract | None:
    names = [field.name for field in before.state.columns.fields]
    choices: Sequence[Managed[tuple[str, ...]]] = (UNMANAGED, (), tuple(maker.sample(names, most=2)))
    partitioned_by = maker.one_of(choices)
    return replace(before, state=replace(before.state, partitioned_by=partitioned_by))


def clustering_changed(maker: Maker, before: Contract) -> Contract | None:
    """Change the clustering columns, also to columns that Delta refuses."""
    leaves = [path for path, _field in readable(before.state.columns)]
    anything = [path for path, _type in walk(before.state.columns) if path]
    keys = tuple(maker.sample(leaves if maker.chance(3) is False else anything, most=3))
    choices: Sequence[Managed[tuple[Path, ...]]] = (UNMANAGED, (), keys, keys)
    clustered_by = maker.one_of(choices)
    return replace(before, state=replace(before.state, clustered_by=clustered_by))


def constraint_changed(maker: Maker, before: Contract) -> Contract | None:
    """Add, change or remove a constraint; some expressions are no conditions or use unknown columns."""
    name = _any_name(maker, before)
    valid = (f"{name} IS NOT NULL", f"{name} IS NOT NULL", f"{name} IS NULL OR TRUE", None)
    texts = (*valid, "zz > 0", name, f"nope({name}) > 0")
    constraints = {**before.state.constraints, maker.one_of(("guard", "other")): maker.one_of(texts)}
    return replace(before, state=replace(before.state, constraints=constraints))


def property_changed(maker: Maker, before: Contract) -> Contract | None:
    key = maker.one_of(tuple(_PROPERTIES))
    properties = {**before.state.properties, key: maker.one_of(_PROPERTIES[key])}
    return replace(before, state=replace(before.state, properties=properties))


def mode_changed(maker: Maker, before: Contract) -> Contract | None:
    """Change column mapping or type widening, on which column changes depend."""
    key = maker.one_of((MAPPING, "delta.enableTypeWidening"))
    properties = {**before.state.properties, key: maker.one_of(_PROPERTIES[key])}
    return replace(before, state=replace(before.state, properties=properties))


def feature_added(maker: Maker, before: Contract) -> Contract | None:
    name = maker.one_of((*sorted(FEATURES), "bogus"))
    return replace(before, state=replace(before.state, features=before.state.features | {name}))


def feature_left_out(maker: Maker, before: Contract) -> Contract | None:
    """Remove a feature without listing it, so that it is no longer managed."""
    if not before.state.features:
        return None
    name = maker.one_of(sorted(before.state.features))
    return replace(before, state=replace(before.state, features=before.state.features - {name}))


def feature_dropped(maker: Maker, before: Contract) -> Contract | None:
    """Move a feature from `features` to `drop_features`."""
    names = (*sorted(FEATURES), "bogus", *("columnMapping", "typeWidening", "checkConstraints") * 8)
    name = maker.one_of(names)
    state = replace(before.state, features=before.state.features - {name})
    return replace(before, drop_features=before.drop_features | {name}, state=state)


def description_changed(maker: Maker, before: Contract) -> Contract | None:
    text = maker.one_of((UNMANAGED, None, "", "y", "it's"))
    return replace(before, state=replace(before.state, description=text))


def permissions_changed(maker: Maker, before: Contract) -> Contract | None:
    return replace(before, open=WriterPermissions(columns=maker.chance(), widening=maker.chance()))


EDITS: Final[Sequence[Edit]] = (
    *(type_changed, type_changed, widened, nullability_changed, comment_changed, default_changed),
    *(generation_changed, identity_changed, column_added, column_added, column_dropped, column_dropped),
    *(column_left_out, column_recreated, column_renamed, column_renamed, columns_swapped, columns_moved),
    *(rename_written, column_added_as_renamed),
    *(partitioning_changed, clustering_changed, clustering_changed, constraint_changed, constraint_changed),
    *(property_changed, property_changed, mode_changed, feature_added, feature_left_out, feature_dropped),
    *(description_changed, permissions_changed),
)


def _default(maker: Maker, type_: DataType) -> str | None:
    """Return a default that usually fits the type; otherwise any, which Spark may refuse."""
    fitting = DEFAULTS.get(print_type(type_))
    anything = (*_DEFAULTS, *dict.fromkeys(DEFAULTS.values()))
    return fitting if fitting and maker.chance(3) is False else maker.one_of(anything)


def _generated(maker: Maker, before: Contract) -> str | None:
    name = _any_name(maker, before)
    return maker.one_of((None, f"{name} IS NULL", f"{name} IS NULL", f"{name} IS NOT NULL", "zz > 1"))


def _set_contains_null(*, allowed: bool) -> Callable[[DataType], DataType]:
    """Return an update of a collection type that allows or forbids null elements or values."""

    def updated(old: DataType) -> DataType:
        match old:
            case Array():
                return replace(old, contains_null=allowed)
            case Map():
                return replace(old, value_contains_null=allowed)
            case _:
                return old

    return updated


def _any_name(maker: Maker, before: Contract) -> str:
    """Return a quoted column that expressions can address by names alone."""
    paths = [path for path, _field in walk_fields(before.state.columns)]
    return quoted(maker.one_of([path for path in paths if not any(isinstance(step, Part) for step in path)]))


def _any_field(maker: Maker, before: Contract) -> tuple[Path, Field]:
    return maker.one_of(list(walk_fields(before.state.columns)))


def _struct(maker: Maker, before: Contract) -> Path:
    """Return the path of a random struct; often the table itself."""
    paths = [path for path, type_ in walk(before.state.columns) if isinstance(type_, Struct)]
    return maker.one_of((*[()] * 2, *paths))


def _with_columns(before: Contract, columns: Struct) -> Contract:
    return replace(before, state=replace(before.state, columns=columns))


def _update(before: Contract, maker: Maker, update: Callable[[Field], Field]) -> Contract:
    path, _field = _any_field(maker, before)
    return _with_columns(before, update_field(before.state.columns, path, update))


def _inserted(maker: Maker, before: Contract, parent: Path, field: Field) -> Contract:
    def inserted(old: DataType) -> DataType:
        assert isinstance(old, Struct)
        position = maker.random.randint(0, len(old.fields))
        return Struct((*old.fields[:position], field, *old.fields[position:]))

    return _with_columns(before, update_type(before.state.columns, parent, inserted))


def _without(before: Contract, path: Path) -> Contract:
    def remaining(old: DataType) -> DataType:
        assert isinstance(old, Struct)
        return Struct(tuple(field for field in old.fields if field.name != path[-1]))

    return _with_columns(before, update_type(before.state.columns, path[:-1], remaining))


def _listed(before: Contract, entry: Deletion) -> Contract:
    return replace(before, state=replace(before.state, dropped=(*before.state.dropped, entry)))


def _renamed(before: Contract, names: Mapping[Path, str], *, follow: bool) -> Contract:
    """Rename the columns; with `follow`, also update everything that refers to them."""
    parent = next(iter(names))[:-1]

    def named(old: DataType) -> DataType:
        assert isinstance(old, Struct)
        return Struct(tuple(_with_name(field, names.get((*parent, field.name))) for field in old.fields))

    after = _with_columns(before, update_type(before.state.columns, parent, named))
    return _following(after, names) if follow else after


def _with_name(field: Field, name: str | None) -> Field:
    return field if name is None else replace(field, name=name, renamed_from=field.renamed_from or field.name)


def _following(before: Contract, names: Mapping[Path, str]) -> Contract:
    state = before.state
    clustered, partitioned = state.clustered_by, state.partitioned_by
    new = {path: (*path[:-1], name) for path, name in names.items()}

    def moved(path: Path) -> Path:
        return next((to + path[len(old) :] for old, to in new.items() if path[: len(old)] == old), path)

    def renamed_in(text: Managed[str | None]) -> Managed[str | None]:
        if not isinstance(text, str):
            return text
        for number, old in enumerate(new):  # temporary names, because two columns may swap names
            text = text.replace(quoted(old), f"\0{number}")
        for number, to in enumerate(new.values()):
            text = text.replace(f"\0{number}", quoted(to))
        return text

    columns = Struct(
        tuple(replace(field, generated=renamed_in(field.generated)) for field in state.columns.fields)
    )
    constraints = {key: str(renamed_in(text)) if text else None for key, text in state.constraints.items()}
    if isinstance(partitioned, tuple):
        partitioned = tuple(str(moved((name,))[0]) for name in partitioned)
    if isinstance(clustered, tuple):
        clustered = tuple(map(moved, clustered))
    return replace(
        before,
        state=replace(
            state,
            columns=columns,
            constraints=constraints,
            partitioned_by=partitioned,
            clustered_by=clustered,
        ),
    )
