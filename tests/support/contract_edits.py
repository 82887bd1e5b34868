"""Edits of a contract, one function for each kind, lawful or not: what `pairs` makes declarations with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemalint.contract.dialects.native.declared import declared_type
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
from schemalint.values import replace
from support.contract_pairs import CONTAINERS, DEFAULTS, LEAVES, MAPPING, NAMES, bare, quoted, readable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from support.contract_pairs import Edit, Maker

_TYPES: Final = (*LEAVES, *LEAVES, *CONTAINERS, "void", "decimal(38,38)", "interval year", "time(6)")
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
    "schemalint.applied": ("x",),
}  # fmt: skip


def type_changed(maker: Maker, before: Contract) -> Contract | None:
    """At any place: a column's, a field's, an element's."""
    path, old = maker.one_of(list(walk(before.state.columns))[1:])
    wider = _WIDER.get(print_type(old), ())
    text = maker.one_of(wider if wider and maker.chance() else _TYPES)
    return _with_columns(before, update_type(before.state.columns, path, lambda _old: declared_type(text)))


def widened(maker: Maker, before: Contract) -> Contract | None:
    """As Delta allows it at least somewhere."""
    may = [(path, print_type(old)) for path, old in walk(before.state.columns) if print_type(old) in _WIDER]
    if not may:
        return None
    path, old = maker.one_of(may)
    text = maker.one_of(_WIDER[old])
    return _with_columns(before, update_type(before.state.columns, path, lambda _old: declared_type(text)))


def nullability_changed(maker: Maker, before: Contract) -> Contract | None:
    """Of a field, or of what is inside of an array or a map."""
    columns = before.state.columns
    path, old = maker.one_of(list(walk(columns))[1:])
    if isinstance(old, Array | Map) and maker.chance():
        return _with_columns(before, update_type(columns, path, _holding_nulls(allowed=maker.chance())))
    return _update(before, maker, lambda field: replace(field, nullable=not field.nullable))


def comment_changed(maker: Maker, before: Contract) -> Contract | None:
    text = maker.one_of((None, "", "y", "it's; --", "${x}"))
    return _update(before, maker, lambda field: replace(field, comment=text))


def default_changed(maker: Maker, before: Contract) -> Contract | None:
    return _update(before, maker, lambda field: replace(field, default=_default(maker, field.type)))


def generation_changed(maker: Maker, before: Contract) -> Contract | None:
    """Added, changed or removed."""
    fits = [path for path, field in walk_fields(before.state.columns) if field.type == BOOLEAN]
    path = maker.one_of(fits or [_any_field(maker, before)[0]])
    text = _generated(maker, before) if fits else None
    columns = update_field(before.state.columns, path, lambda field: replace(field, generated=text))
    return _with_columns(before, columns)


def identity_changed(maker: Maker, before: Contract) -> Contract | None:
    new = maker.one_of((None, *_IDENTITIES))
    return _update(before, maker, lambda field: replace(field, identity=new))


def column_added(maker: Maker, before: Contract) -> Contract | None:
    """At any level and place, with anything that a column may have."""
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
    """As a deletion has to be declared."""
    path, _field = _any_field(maker, before)
    return _listed(_without(before, path), Deletion(path))


def column_left_out(maker: Maker, before: Contract) -> Contract | None:
    """Not managed any longer."""
    path, _field = _any_field(maker, before)
    return _without(before, path)


def column_made_anew(maker: Maker, before: Contract) -> Contract | None:
    """Dropped, and another one takes its name."""
    path, field = _any_field(maker, before)
    new = bare(field.name, declared_type(maker.one_of(_TYPES)))
    return _listed(_inserted(maker, _without(before, path), path[:-1], new), Deletion(path, field.type))


def column_renamed(maker: Maker, before: Contract) -> Contract | None:
    """What names it follows, or does not."""
    path, field = _any_field(maker, before)
    name = maker.one_of([name for name in _NEW_NAMES if name != field.name])
    return _renamed(before, {path: name}, follow=maker.chance(4) is False)


def columns_swapped(maker: Maker, before: Contract) -> Contract | None:
    parent = type_at(before.state.columns, path := _struct(maker, before))
    if not isinstance(parent, Struct) or len(parent.fields) < len(("one", "other")):
        return None
    one, other = maker.random.sample(parent.fields, 2)
    names = {(*path, one.name): other.name, (*path, other.name): one.name}
    return _renamed(before, names, follow=maker.chance(4) is False)


def columns_moved(maker: Maker, before: Contract) -> Contract | None:
    path = _struct(maker, before)

    def shuffled(old: DataType) -> DataType:
        assert isinstance(old, Struct)
        return Struct(tuple(maker.random.sample(old.fields, len(old.fields))))

    return _with_columns(before, update_type(before.state.columns, path, shuffled))


def partitioning_changed(maker: Maker, before: Contract) -> Contract | None:
    names = [field.name for field in before.state.columns.fields]
    wanted: Sequence[Managed[tuple[str, ...]]] = (UNMANAGED, (), tuple(maker.some(names, most=2)))
    found = maker.one_of(wanted)
    return replace(before, state=replace(before.state, partitioned_by=found))


def clustering_changed(maker: Maker, before: Contract) -> Contract | None:
    """Also by what a table cannot be clustered by."""
    leaves = [path for path, _field in readable(before.state.columns)]
    anything = [path for path, _type in walk(before.state.columns) if path]
    keys = tuple(maker.some(leaves if maker.chance(3) is False else anything, most=3))
    wanted: Sequence[Managed[tuple[Path, ...]]] = (UNMANAGED, (), keys, keys)
    found = maker.one_of(wanted)
    return replace(before, state=replace(before.state, clustered_by=found))


def constraint_changed(maker: Maker, before: Contract) -> Contract | None:
    """Added, changed, taken off; also of what is not there, and of what is no condition."""
    name = _any_name(maker, before)
    lawful = (f"{name} IS NOT NULL", f"{name} IS NOT NULL", f"{name} IS NULL OR TRUE", None)
    texts = (*lawful, "zz > 0", name, f"nope({name}) > 0")
    constraints = {**before.state.constraints, maker.one_of(("guard", "other")): maker.one_of(texts)}
    return replace(before, state=replace(before.state, constraints=constraints))


def property_changed(maker: Maker, before: Contract) -> Contract | None:
    key = maker.one_of(tuple(_PROPERTIES))
    properties = {**before.state.properties, key: maker.one_of(_PROPERTIES[key])}
    return replace(before, state=replace(before.state, properties=properties))


def mode_changed(maker: Maker, before: Contract) -> Contract | None:
    """The properties that columns depend on."""
    key = maker.one_of((MAPPING, "delta.enableTypeWidening"))
    properties = {**before.state.properties, key: maker.one_of(_PROPERTIES[key])}
    return replace(before, state=replace(before.state, properties=properties))


def feature_asked(maker: Maker, before: Contract) -> Contract | None:
    name = maker.one_of((*sorted(FEATURES), "bogus"))
    return replace(before, state=replace(before.state, features=before.state.features | {name}))


def feature_left_out(maker: Maker, before: Contract) -> Contract | None:
    """Not managed any longer."""
    name = maker.one_of(sorted(before.state.features))
    return replace(before, state=replace(before.state, features=before.state.features - {name}))


def feature_dropped(maker: Maker, before: Contract) -> Contract | None:
    """Listed under `drop_features`, and no longer under `features`."""
    names = (*sorted(FEATURES), "bogus", *("columnMapping", "typeWidening", "checkConstraints") * 8)
    name = maker.one_of(names)
    state = replace(before.state, features=before.state.features - {name})
    return replace(before, drop_features=before.drop_features | {name}, state=state)


def description_changed(maker: Maker, before: Contract) -> Contract | None:
    text = maker.one_of((UNMANAGED, None, "", "y", "it's"))
    return replace(before, state=replace(before.state, description=text))


def opened(maker: Maker, before: Contract) -> Contract | None:
    return replace(before, open=WriterPermissions(columns=maker.chance(), widening=maker.chance()))


EDITS: Final[Sequence[Edit]] = (
    *(type_changed, type_changed, widened, nullability_changed, comment_changed, default_changed),
    *(generation_changed, identity_changed, column_added, column_added, column_dropped, column_dropped),
    *(column_left_out, column_made_anew, column_renamed, column_renamed, columns_swapped, columns_moved),
    *(partitioning_changed, clustering_changed, clustering_changed, constraint_changed, constraint_changed),
    *(property_changed, property_changed, mode_changed, feature_asked, feature_left_out, feature_dropped),
    *(description_changed, opened),
)


def _default(maker: Maker, type_: DataType) -> str | None:
    """Mostly one that the type takes; else one of any type, or none that Spark takes at all."""
    fits = DEFAULTS.get(print_type(type_))
    anything = (*_DEFAULTS, *dict.fromkeys(DEFAULTS.values()))
    return fits if fits and maker.chance(3) is False else maker.one_of(anything)


def _generated(maker: Maker, before: Contract) -> str | None:
    name = _any_name(maker, before)
    return maker.one_of((None, f"{name} IS NULL", f"{name} IS NULL", f"{name} IS NOT NULL", "zz > 1"))


def _holding_nulls(*, allowed: bool) -> Callable[[DataType], DataType]:
    """Says of a collection whether what is inside may be null."""

    def said(old: DataType) -> DataType:
        match old:
            case Array():
                return replace(old, contains_null=allowed)
            case Map():
                return replace(old, value_contains_null=allowed)
            case _:
                return old

    return said


def _any_name(maker: Maker, before: Contract) -> str:
    """Of what expressions reach by names alone."""
    paths = [path for path, _field in walk_fields(before.state.columns)]
    return quoted(maker.one_of([path for path in paths if not any(isinstance(step, Part) for step in path)]))


def _any_field(maker: Maker, before: Contract) -> tuple[Path, Field]:
    return maker.one_of(list(walk_fields(before.state.columns)))


def _struct(maker: Maker, before: Contract) -> Path:
    """The table itself, or a struct in it."""
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
        place = maker.random.randint(0, len(old.fields))
        return Struct((*old.fields[:place], field, *old.fields[place:]))

    return _with_columns(before, update_type(before.state.columns, parent, inserted))


def _without(before: Contract, path: Path) -> Contract:
    def taken_out(old: DataType) -> DataType:
        assert isinstance(old, Struct)
        return Struct(tuple(field for field in old.fields if field.name != path[-1]))

    return _with_columns(before, update_type(before.state.columns, path[:-1], taken_out))


def _listed(before: Contract, entry: Deletion) -> Contract:
    return replace(before, state=replace(before.state, dropped=(*before.state.dropped, entry)))


def _renamed(before: Contract, names: Mapping[Path, str], *, follow: bool) -> Contract:
    """The columns under their new names, and with `follow` all that names them."""
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

    def said(text: Managed[str | None]) -> Managed[str | None]:
        if not isinstance(text, str):
            return text
        for number, old in enumerate(new):  # over names in between, as two may change places
            text = text.replace(quoted(old), f"\0{number}")
        for number, to in enumerate(new.values()):
            text = text.replace(f"\0{number}", quoted(to))
        return text

    columns = Struct(tuple(replace(field, generated=said(field.generated)) for field in state.columns.fields))
    constraints = {key: str(said(text)) if text else None for key, text in state.constraints.items()}
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
