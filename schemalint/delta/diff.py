"""Compare two states of a table: return the flat list of changes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from schemalint.base.values import replace
from schemalint.delta import change
from schemalint.delta.change import Change, renames_of
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Managed,
    Map,
    Struct,
    Unmanaged,
    type_at,
)
from schemalint.delta.equivalence import same_comment, same_expression, same_property, with_names_of
from schemalint.delta.path import Part, Path, lowercased, path_key
from schemalint.delta.statistics import STATISTICS_COLUMNS, with_renamed_columns, without_columns
from schemalint.delta.table import Deletion, TableState
from schemalint.delta.widening import is_container


def diff(before: TableState, after: TableState) -> tuple[Change, ...]:
    """Return all changes, in an order in which they can be applied.

    Fields are paired by column mapping id if both sides have one, else by a rename that ``after`` declares
    and ``before`` does not, else by name, ignoring case.
    """
    columns = tuple(_struct(before.columns, after.columns, (), recreated_columns(before, after)))
    return (*columns, *_table(with_keys_followed(before, columns), after))


def with_keys_followed(state: TableState, changes: Iterable[Change]) -> TableState:
    """Let what names columns follow their renames and drops, as Delta does by itself.

    Keys of partitioning and clustering are renamed; the list of columns with statistics loses the dropped
    ones too (measured on Delta 4.4.0).
    """
    all_changes = tuple(changes)
    renames = renames_of(all_changes)
    drops = [change_.path for change_ in all_changes if isinstance(change_, change.FieldRemoved)]
    if not renames.new_names and not drops:
        return state
    partitioned_by, clustered_by = state.partitioned_by, state.clustered_by
    properties, listed = state.properties, state.properties.get(STATISTICS_COLUMNS)
    if not isinstance(partitioned_by, Unmanaged):
        partitioned_by = tuple(str(renames.forward((name,))[0]) for name in partitioned_by)
    if not isinstance(clustered_by, Unmanaged):
        clustered_by = tuple(renames.forward(path) for path in clustered_by)
    if listed is not None:
        kept = without_columns(listed, map(renames.parents_back, drops))
        properties = {**properties, STATISTICS_COLUMNS: with_renamed_columns(kept, renames)}
    return replace(state, partitioned_by=partitioned_by, clustered_by=clustered_by, properties=properties)


def recreated_columns(before: TableState, after: TableState) -> set[tuple[str, ...]]:
    """Return the recreated columns: newly listed as dropped with their old type, and declared again."""
    return {path_key(entry.path) for entry in newly_listed(before, after) if entry.type is not None}


def newly_listed(before: TableState, after: TableState) -> Iterator[Deletion]:
    """Yield the deletions that the later state lists and the earlier one does not.

    The name of a column that was dropped can be taken by another column, and that one be dropped too: by an
    entry with another type, or without one.
    """
    listed_before = before.dropped_by_key
    for entry in after.dropped:
        listed = listed_before.get(path_key(entry.path), ())
        is_new = all(entry.type != other.type for other in listed)
        if not listed or (is_new and _is_of(entry, type_at(before.columns, entry.path))):
            yield entry


def _is_of(entry: Deletion, declared: DataType | None) -> bool:
    """Whether a deletion is that of a column with the declared type; containers differ in details."""
    if declared is None or entry.type is None:
        return declared is not None
    return entry.type == declared or (type(entry.type) is type(declared) and is_container(declared))


def _struct(before: Struct, after: Struct, path: Path, recreated: set[tuple[str, ...]]) -> Iterator[Change]:
    if not recreated and _has_same_names(before, after):
        for was, is_ in zip(before.fields, after.fields, strict=True):
            if was is not is_ and was != is_:  # most columns of most tables stay as they are
                yield from _field(was, is_, (*path, is_.name), recreated)
        return
    pairs = pair_fields(before, after, path, recreated)
    # Delta ignores case: of two columns that differ in nothing else, none is gone while the other is there.
    kept = {old.name.lower() for old in pairs.values()}
    for removed in before.fields:
        if removed.name.lower() not in kept:
            yield change.FieldRemoved((*path, removed.name), removed)
    for new in after.fields:
        if (old := pairs.get(new.name)) is not None and old.name != new.name and _renamed(old, new):
            yield change.FieldRenamed((*path, new.name), old.name)
    yield from _positions(before, after, path, pairs)
    for new in after.fields:
        if (old := pairs.get(new.name)) is not None:
            yield from _field(old, new, (*path, new.name), recreated)


def _has_same_names(before: Struct, after: Struct) -> bool:
    """Return whether each field is paired with the one in the same position."""
    if after.renamed or after.by_id or not after.has_unique_names:
        return False
    return [field.name for field in before.fields] == [field.name for field in after.fields]


def pair_fields(
    before: Struct, after: Struct, path: Path, recreated: set[tuple[str, ...]]
) -> dict[str, Field]:
    """Return the old field of each new field that has one, by the new field's name."""
    by_id = _by_id(before) if _by_id(after) else {}
    by_name = {old.name.lower(): old for old in reversed(before.fields)}
    by_spelling = {old.name: old for old in before.fields}
    pairs: dict[str, Field] = {}
    taken: set[str] = set()
    for new in after.fields:
        old: Field | None = None
        if by_id and new.column_id is not None:
            old = by_id.get(new.column_id)
        elif new.renamed_from is not None and _declares_rename(by_name.get(new.name.lower()), new):
            old = by_spelling.get(new.renamed_from) or by_name.get(new.renamed_from.lower())
        if old is not None and old.name not in taken:
            pairs[new.name] = old
            taken.add(old.name)
    for new in after.fields:
        namesake = by_spelling.get(new.name) or by_name.get(new.name.lower())
        if new.name in pairs or namesake is None or namesake.name in taken:
            continue
        ids_differ = bool(by_id) and _both_have_ids(namesake, new)
        if not ids_differ and path_key((*path, new.name)) not in recreated:
            pairs[new.name] = namesake
    return pairs


def _by_id(struct: Struct) -> dict[int, Field]:
    """Return the fields by column mapping id; none if a broken writer used an id twice."""
    ids = [(field.column_id, field) for field in struct.fields if field.column_id is not None]
    by_id = dict(ids)
    return by_id if len(by_id) == len(ids) else {}


def _declares_rename(namesake: Field | None, new: Field) -> bool:
    """Return whether a declared rename is new: the old field of that name does not declare it."""
    return namesake is None or namesake.renamed_from != new.renamed_from


def _both_have_ids(old: Field, new: Field) -> bool:
    return old.column_id is not None and new.column_id is not None


def _renamed(old: Field, new: Field) -> bool:
    """Return whether a paired field is renamed; a mere change of case must be declared or be in the log."""
    return old.name.lower() != new.name.lower() or _both_have_ids(old, new) or new.renamed_from == old.name


def _positions(before: Struct, after: Struct, path: Path, pairs: dict[str, Field]) -> Iterator[Change]:
    """Yield additions and moves in the new order: each puts a field directly after its predecessor."""
    index = {old.name: position for position, old in enumerate(before.fields)}
    paired = [new.name for new in after.fields if new.name in pairs]
    stays = longest_increasing([index[pairs[name].name] for name in paired])
    fixed = {name for name, stay in zip(paired, stays, strict=True) if stay}
    previous: str | None = None
    for new in after.fields:
        if new.name not in pairs:
            yield change.FieldAdded((*path, new.name), new, previous)
        elif new.name not in fixed:
            yield change.FieldMoved((*path, new.name), previous)
        previous = new.name


def longest_increasing(numbers: list[int]) -> list[bool]:
    """Return for each number whether it belongs to a longest increasing subsequence (patience sorting)."""
    tails: list[int] = []
    tail_positions: list[int] = []
    previous: list[int] = []
    for position, number in enumerate(numbers):
        pile = bisect_left(tails, number)
        previous.append(tail_positions[pile - 1] if pile else -1)
        tails[pile : pile + 1] = [number]
        tail_positions[pile : pile + 1] = [position]
    chosen = [False] * len(numbers)
    position = tail_positions[-1] if tail_positions else -1
    while position >= 0:
        chosen[position] = True
        position = previous[position]
    return chosen


def _field(old: Field, new: Field, path: Path, recreated: set[tuple[str, ...]]) -> Iterator[Change]:
    yield from _type(old.type, new.type, path, recreated)
    if old.type_changes != new.type_changes:
        yield change.TypeHistoryChanged(path, old.type_changes, new.type_changes)
    if old.nullable != new.nullable:
        yield change.NullabilityChanged(path, old.nullable, new.nullable)
    if not same_comment(old.comment, new.comment):
        yield change.CommentChanged(path, old.comment, new.comment)
    if not same_expression(old.default, new.default):
        yield change.DefaultChanged(path, old.default, new.default)
    if not same_expression(old.generated, new.generated):
        yield change.GeneratedChanged(path, old.generated, new.generated)
    if old.identity != new.identity:
        yield change.IdentityChanged(path, old.identity, new.identity)


def _type(old: DataType, new: DataType, path: Path, recreated: set[tuple[str, ...]]) -> Iterator[Change]:
    match old, new:
        case Struct(), Struct():
            yield from _struct(old, new, path, recreated)
        case Array(), Array():
            element = (*path, Part.ELEMENT)
            yield from _type(old.element, new.element, element, recreated)
            if old.contains_null != new.contains_null:
                yield change.NullabilityChanged(element, old.contains_null, new.contains_null)
        case Map(), Map():
            value = (*path, Part.VALUE)
            yield from _type(old.key, new.key, (*path, Part.KEY), recreated)
            yield from _type(old.value, new.value, value, recreated)
            if old.value_contains_null != new.value_contains_null:
                yield change.NullabilityChanged(value, old.value_contains_null, new.value_contains_null)
        case _ if old != new:
            yield change.TypeChanged(path, old, new)


def _table(before: TableState, after: TableState) -> Iterator[Change]:
    if not same_comment(before.description, after.description):
        yield change.DescriptionChanged(before.description, after.description)
    for key in _keys(before.properties, after.properties):
        old, new = before.properties.get(key, UNMANAGED), after.properties.get(key, UNMANAGED)
        if not same_property(key, old, new):
            yield change.PropertyChanged(key, old, new)
    for name in sorted(before.features ^ after.features):
        yield change.FeatureChanged(name, name in after.features)
    old_checks = with_names_of(before.constraints, after.constraints)
    new_checks = with_names_of(after.constraints, before.constraints)
    for name in _keys(old_checks, new_checks):
        old, new = old_checks.get(name, UNMANAGED), new_checks.get(name, UNMANAGED)
        if not same_expression(old, new):
            yield change.ConstraintChanged(name, old, new)
    if _lower(before.partitioned_by) != _lower(after.partitioned_by):
        yield change.PartitioningChanged(before.partitioned_by, after.partitioned_by)
    if _lower_paths(before.clustered_by) != _lower_paths(after.clustered_by):
        yield change.ClusteringChanged(before.clustered_by, after.clustered_by)
    yield from _deletions(before.dropped, after.dropped)


def _lower(names: Managed[tuple[str, ...]]) -> Managed[tuple[str, ...]]:
    if isinstance(names, Unmanaged):
        return names
    return tuple(name.lower() for name in names)


def _lower_paths(paths: Managed[tuple[Path, ...]]) -> Managed[tuple[Path, ...]]:
    if isinstance(paths, Unmanaged):
        return paths
    return tuple(lowercased(path) for path in paths)


def _deletions(before: tuple[Deletion, ...], after: tuple[Deletion, ...]) -> Iterator[Change]:
    listed, still_listed = set(before), set(after)
    for entry in before:
        if entry not in still_listed:
            yield change.DeletionUnlisted(entry.path)
    for entry in after:
        if entry not in listed:
            yield change.DeletionListed(entry.path, entry.type)


def _keys(*sides: Mapping[str, str | None]) -> list[str]:
    return sorted({key for side in sides for key in side})
