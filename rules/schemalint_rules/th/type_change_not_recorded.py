from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from schemalint.delta.change import TypeChanged, TypeHistoryChanged
from schemalint.delta.datatype import (
    UNMANAGED,
    DataType,
    Field,
    RecordedChange,
    Struct,
    field_at,
    type_at,
    walk,
)
from schemalint.delta.path import Part, Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.plugin import Fix, Problem, RecordTypeChanges, RuleContext, Severity, rule

At = tuple[Part, ...]
Record = tuple[RecordedChange, ...]


@rule(
    "TH009", on=(TypeChanged, TypeHistoryChanged), severity=Severity.WARNING, scope="contract", fixable=True
)
def type_change_not_recorded(change: TypeChanged | TypeHistoryChanged, ctx: RuleContext) -> Iterator[Problem]:
    """The contract does not record a change of type as Delta will.

    ## What it does

    Compares `type_changes` of a column with its base. A type that is widened needs one more entry, from the
    old type to the new one, behind those that are there; several entries that lead from the one to the other
    in legal steps are as good. Entries must not be removed or put into another order, and have to lead to
    the type that the column has.

    Changes that Delta does not record need no entry: `void` to anything, `varchar` to a longer one. A change
    that Delta refuses is the business of the TW rules.

    ## Why is this bad?

    Delta writes the history of a column's type into its metadata, as `delta.typeChanges`, because files with
    the old types stay in the table for years. The contract keeps the same record, so that one can see from
    the text which types the files may hold, and so that a lost or forged history in the log is noticed.
    Nothing in Delta fails without it.

    ## What to do

    Let `--fix` write the entry. A chain of changes that was made on one branch becomes one entry, since Delta
    will see one change.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: int}
    properties: {delta.enableTypeWidening: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableTypeWidening: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, type_changes: [{from: int, to: bigint}]}
    properties: {delta.enableTypeWidening: true}
    ```
    """
    if ctx.against == "live" or ctx.base is None:
        return
    path, where = _carrier(change.path)
    new = field_at(ctx.contract.state.columns, path)
    old = _before(ctx.base.state.columns, ctx.contract.state.columns, path)
    if new is None or old is None:
        return
    if isinstance(change, TypeHistoryChanged):
        yield from _history(path, old, new)
    elif _is_made(change, ctx) and not _is_kept(old, new, where):
        yield Problem(
            f"{format_path(change.path)} is widened from {print_type(change.old)} to "
            f"{print_type(change.new)}, "
            f"which type_changes of {format_path(path)} does not record",
            help="`schemalint check --fix` adds the entry",
            fix=_fix(path, old, new),
        )


def _is_made(change: TypeChanged, ctx: RuleContext) -> bool:
    """Whether there will be something to record: a widening that is barred is TW006's, and only its."""
    return ctx.widening_enabled and step(change.old, change.new) == TypeStep.WIDENING


def _history(path: Path, old: Field, new: Field) -> Iterator[Problem]:
    """What became of the entries for types that are what they were."""
    for where in dict.fromkeys(entry.at for entry in (*_record(old), *_record(new))):
        if type_at(old.type, where) == type_at(new.type, where) and not _is_kept(old, new, where):
            told = _is_within(_entries(old, where), _entries(new, where))
            what = "does not lead to its type" if told else "lacks entries of the base, or their order"
            yield Problem(
                f"type_changes of {format_path((*path, *where))} {what}",
                help="only add entries, oldest first, each from the type that the one before led to",
                path=(*path, *where),
                fix=None if old.type_changes is UNMANAGED else _fix(path, old, new),
            )


def _is_kept(old: Field, new: Field, where: At) -> bool:
    """Whether the record for one type is the base's, and then leads to the new type in legal steps."""
    was, now = type_at(old.type, where), type_at(new.type, where)
    record = _entries(new, where)
    if old.type_changes is UNMANAGED:
        if was == now:
            return not record or _leads_to(record, now)
        return _leads_to(record, now) and any(entry.from_type == was for entry in record)
    known = _entries(old, where)
    if was == now:
        return _is_within(known, record) and (record == known or _leads_to(record, now))
    rest = record[len(known) :]
    return record[: len(known)] == known and bool(rest) and rest[0].from_type == was and _leads_to(rest, now)


def _leads_to(record: Record, now: DataType | None) -> bool:
    linked = all(one.to_type == following.from_type for one, following in pairwise(record))
    legal = all(step(one.from_type, one.to_type) == TypeStep.WIDENING for one in record)
    return bool(record) and linked and legal and record[-1].to_type == now


def _is_within(known: Record, record: Record) -> bool:
    """Whether all that was known is still there, in its order."""
    left = iter(record)
    return all(entry in left for entry in known)


def _fix(path: Path, old: Field, new: Field) -> Fix:
    return Fix("Record the change of type", (RecordTypeChanges(path, _mended(old, new)),))


def _mended(old: Field, new: Field) -> Record:
    """The whole record of a field, right for each of its types; what is right already is left as it is."""
    places = dict.fromkeys((*(entry.at for entry in (*_record(new), *_record(old))), *_leaves(new.type)))
    return tuple(entry for where in places for entry in _mended_at(old, new, where))


def _mended_at(old: Field, new: Field, where: At) -> Record:
    if _is_kept(old, new, where):
        return _entries(new, where)
    was, now = type_at(old.type, where), type_at(new.type, where)
    unknown = old.type_changes is UNMANAGED
    record = _beginning(_entries(new, where), was) if unknown else _entries(old, where)
    if was is None or now is None or step(was, now) != TypeStep.WIDENING:
        return record
    return (*record, RecordedChange(was, now, where))


def _beginning(record: Record, was: DataType | None) -> Record:
    """How a record begins, up to the type of the base; nothing if it does not lead there."""
    return next((record[:end] for end in range(len(record), 0, -1) if _leads_to(record[:end], was)), ())


def _leaves(type_: DataType) -> Iterator[At]:
    """Where a field has types of its own: itself, and the parts of collections down to the next field."""
    for path, _inner in walk(type_):
        parts = tuple(one for one in path if isinstance(one, Part))
        if len(parts) == len(path):
            yield parts


def _record(field: Field) -> Record:
    return field.type_changes if isinstance(field.type_changes, tuple) else ()


def _entries(field: Field, where: At) -> Record:
    return tuple(entry for entry in _record(field) if entry.at == where)


def _carrier(path: Path) -> tuple[Path, At]:
    """The field that carries the record, as in the log, and where in it the type is."""
    end = len(path)
    while isinstance(path[end - 1], Part):
        end -= 1
    return path[:end], tuple(one for one in path[end:] if isinstance(one, Part))


def _before(before: Struct, after: Struct, path: Path) -> Field | None:
    """The base's field for a path of the new names."""
    old: DataType | None = before
    new: DataType | None = after
    found: Field | None = None
    for one in path:
        if isinstance(one, Part):
            old, new = (type_at(side, (one,)) if side is not None else None for side in (old, new))
            continue
        if not isinstance(old, Struct) or not isinstance(new, Struct) or (declared := new.get(one)) is None:
            return None
        namesake = old.get(one)
        if declared.renamed_from and (namesake is None or namesake.renamed_from != declared.renamed_from):
            namesake = old.get(declared.renamed_from) or namesake
        if namesake is None:
            return None
        found, old, new = namesake, namesake.type, declared.type
    return found
