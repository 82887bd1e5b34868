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
from schemalint.delta.type_history import PartPath, Record, carrier_of, is_subsequence, record_of
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.plugin import Fix, Problem, RecordTypeChanges, RuleContext, Severity, rule


@rule(
    "TH009", on=(TypeChanged, TypeHistoryChanged), severity=Severity.WARNING, scope="contract", fixable=True
)
def type_change_not_recorded(change: TypeChanged | TypeHistoryChanged, ctx: RuleContext) -> Iterator[Problem]:
    """The contract does not record a type change as Delta will record it.

    ## What it does

    Compares `type_changes` of a column with its base. A widened type needs one more entry, from the old type
    to the new one, after the existing entries; several entries that lead from the old type to the new one in
    legal steps are equally valid. Entries must not be removed or reordered, and they must lead to the
    column's type.

    Changes that Delta does not record need no entry: `void` to anything, `varchar` to a longer one. The TW
    rules report changes that Delta refuses.

    ## Why is this bad?

    Delta writes the history of a column's type into the column's metadata, as `delta.typeChanges`, because
    files with the old types stay in the table for years. The contract keeps the same history: its text shows
    which types the files may hold, and schemalint notices a lost or forged history in the log. Delta itself
    works without these entries.

    ## What to do

    Let `--fix` write the entry. A chain of changes on one branch becomes one entry, because Delta will see
    one change.

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
    if ctx.base is None or not ctx.contract.says("type_changes"):
        return
    path, at = carrier_of(change.path)
    new = field_at(ctx.contract.state.columns, path)
    old = _base_field(ctx.base.state.columns, ctx.contract.state.columns, path)
    if new is None or old is None:
        return
    if isinstance(change, TypeHistoryChanged):
        yield from _check_history(path, old, new)
    elif _is_recordable(change, ctx) and not _is_correct(old, new, at):
        yield Problem(
            f"{format_path(change.path)} is widened from {print_type(change.old)} to "
            f"{print_type(change.new)}, "
            f"which type_changes of {format_path(path)} does not record",
            help=_help(change, at, ctx),
            fix=_fix(path, old, new),
        )


def _help(change: TypeChanged, at: PartPath, ctx: RuleContext) -> str:
    fix = "let `schemalint check --fix` add the entry"
    if at:
        return fix
    entry = ctx.wording.entry([("from", print_type(change.old)), ("to", print_type(change.new))])
    return f"add `{entry}` to its `type_changes`, or {fix}"


def _is_recordable(change: TypeChanged, ctx: RuleContext) -> bool:
    """Return whether Delta will record the change; without type widening only TW006 reports it."""
    return ctx.widening_enabled and step(change.old, change.new) == TypeStep.WIDENING


def _check_history(path: Path, old: Field, new: Field) -> Iterator[Problem]:
    """Check the entries for the types that did not change."""
    for at in dict.fromkeys(entry.at for entry in (*record_of(old), *record_of(new))):
        if type_at(old.type, at) == type_at(new.type, at) and not _is_correct(old, new, at):
            is_extended = is_subsequence(record_of(old, at), record_of(new, at))
            what = "does not lead to its type" if is_extended else "removes or reorders entries of the base"
            yield Problem(
                f"type_changes of {format_path((*path, *at))} {what}",
                help="only add entries, oldest first, each starting from the type that the one before led to",
                path=(*path, *at),
                fix=None if old.type_changes is UNMANAGED else _fix(path, old, new),
            )


def _is_correct(old: Field, new: Field, at: PartPath) -> bool:
    """Return whether the entries for one type extend the base's, and lead to the new type in legal steps."""
    old_type, new_type = type_at(old.type, at), type_at(new.type, at)
    record = record_of(new, at)
    if old.type_changes is UNMANAGED:
        if old_type == new_type:
            return not record or _leads_to(record, new_type)
        return _leads_to(record, new_type) and any(entry.from_type == old_type for entry in record)
    base_record = record_of(old, at)
    if old_type == new_type:
        return is_subsequence(base_record, record) and (record == base_record or _leads_to(record, new_type))
    added = record[len(base_record) :]
    is_extended = record[: len(base_record)] == base_record and bool(added)
    return is_extended and added[0].from_type == old_type and _leads_to(added, new_type)


def _leads_to(record: Record, type_: DataType | None) -> bool:
    is_linked = all(entry.to_type == following.from_type for entry, following in pairwise(record))
    is_legal = all(step(entry.from_type, entry.to_type) == TypeStep.WIDENING for entry in record)
    return bool(record) and is_linked and is_legal and record[-1].to_type == type_


def _fix(path: Path, old: Field, new: Field) -> Fix:
    return Fix("Record the type change", (RecordTypeChanges(path, _repaired_record(old, new)),))


def _repaired_record(old: Field, new: Field) -> Record:
    """Return the field's whole record, repaired for each of its types; correct entries stay unchanged."""
    paths = dict.fromkeys((*(entry.at for entry in (*record_of(new), *record_of(old))), *_leaves(new.type)))
    return tuple(entry for at in paths for entry in _repaired_entries(old, new, at))


def _repaired_entries(old: Field, new: Field, at: PartPath) -> Record:
    if _is_correct(old, new, at):
        return record_of(new, at)
    old_type, new_type = type_at(old.type, at), type_at(new.type, at)
    is_unmanaged = old.type_changes is UNMANAGED
    record = _prefix_to(record_of(new, at), old_type) if is_unmanaged else record_of(old, at)
    if old_type is None or new_type is None or step(old_type, new_type) != TypeStep.WIDENING:
        return record
    return (*record, RecordedChange(old_type, new_type, at))


def _prefix_to(record: Record, type_: DataType | None) -> Record:
    """Return the record's longest beginning that leads to the type; empty if there is none."""
    return next((record[:end] for end in range(len(record), 0, -1) if _leads_to(record[:end], type_)), ())


def _leaves(type_: DataType) -> Iterator[PartPath]:
    """Yield the paths of a field's own types: the field itself and collection parts, but no nested fields."""
    for path, _inner in walk(type_):
        parts = tuple(path_step for path_step in path if isinstance(path_step, Part))
        if len(parts) == len(path):
            yield parts


def _base_field(before: Struct, after: Struct, path: Path) -> Field | None:
    """Return the base's field at a path of new names."""
    old: DataType | None = before
    new: DataType | None = after
    field: Field | None = None
    for path_step in path:
        if isinstance(path_step, Part):
            old, new = (type_at(side, (path_step,)) if side is not None else None for side in (old, new))
            continue
        if not isinstance(old, Struct) or not isinstance(new, Struct):
            return None
        if (declared := new.get(path_step)) is None:
            return None
        base_field = old.get(path_step)
        renamed_from = declared.renamed_from
        if renamed_from and (base_field is None or base_field.renamed_from != renamed_from):
            base_field = old.get(renamed_from) or base_field
        if base_field is None:
            return None
        field, old, new = base_field, base_field.type, declared.type
    return field
