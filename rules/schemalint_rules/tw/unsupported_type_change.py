from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import field_at
from schemalint.delta.engine_answers import has_own_types, parses_type
from schemalint.delta.path import format_path
from schemalint.delta.type_history import carrier_of, record_of
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import TypeStep, nearest_widening, refusal, step, storage_error
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW002",
    on=TypeChanged,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
        "NOT_SUPPORTED_CHANGE_COLUMN",
        "CANNOT_UPDATE_FIELD.INTERVAL_TYPE",
        "DELTA_UNSUPPORTED_DATA_TYPES",
        "DELTA_GEOSPATIAL_NOT_SUPPORTED",
    ),
    verdict="impossible",
)
def unsupported_type_change(change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    """A column changes to a type that Delta cannot change it to in place.

    ## What it does

    Finds type changes that Delta's type widening does not allow and that no other TW rule describes better:
    anything to or from `string`, `bigint` to `double`, `date` to `timestamp`, `timestamp` to `timestamp_ntz`,
    `decimal` to `double`, a different collation, and any type that Delta does not store (see TW012). In a
    target whose engine is Databricks, a collation is no finding: what it does with one is its own. A
    type that the engine lacks is EN003's.

    ## Why is this bad?

    Delta keeps the files unchanged and converts values while reading. It does so only for the changes listed
    under "Type Widening" in its PROTOCOL.md. For all other changes `ALTER TABLE` fails: with
    `DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP` if Spark considers the cast lossless, such as `bigint` to
    `double` or `int` to `string`, otherwise with `NOT_SUPPORTED_CHANGE_COLUMN`; for an interval with
    `CANNOT_UPDATE_FIELD.INTERVAL_TYPE`, and for a void column that becomes another type that Delta does not
    store with `DELTA_UNSUPPORTED_DATA_TYPES` or `DELTA_GEOSPATIAL_NOT_SUPPORTED`. An append with
    `mergeSchema` fails with `DELTA_FAILED_TO_MERGE_FIELDS`, which older versions worded "Failed to merge
    fields … Failed to merge incompatible data types".

    `char(n)` and `varchar(n)` widen only as top-level columns. Inside a struct, an array or a map Delta
    refuses a longer `varchar`. A change to `string` there is worse: the statement reports success and changes
    nothing.

    ## What to do

    Add a column of the new type, backfill it, move the readers to it, and list the old one under `dropped`
    once it has no readers. If Delta widens the old type to one of the same family, the help names the nearest
    one: `double` for `int` to `float`, `decimal(20,0)` for `bigint` to `double`.

    Sometimes an earlier change rules out the new type, for example `int` to `double` where `decimal` was
    intended. Such a change cannot be reverted either: Delta widens from the current type only. If
    `type_changes` records such a change, the help names it.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: double}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: bigint}
      - {name: quantity_exact, type: double}
    ```
    """
    nested = len(change.path) > 1
    if classify(change.old, change.new, nested=nested) != TypeVerdict.UNSUPPORTED or ctx.rewrites(change):
        return
    if has_own_types(ctx.engine, change.old, change.new) or not parses_type(ctx.engine, change.new):
        return
    error = refusal(change.old, change.new, nested=nested)
    old, new = print_type(change.old), print_type(change.new)
    reason = "which Delta reports as successful but does not perform"
    if error:
        reason = f"which Delta {'does not store' if storage_error(change.new) else 'cannot do in place'}"
    backfill = f"; add a new column of type {new} and backfill it"
    yield Problem(
        f"{format_path(change.path)} changes from {old} to {new}, {reason}",
        help=f"keep {old}{_alternative(change)}{'' if storage_error(change.new) else backfill}"
        f"{_wrong_turn(change, ctx)}",
        delta_error=error,
    )


def _alternative(change: TypeChanged) -> str:
    """Return the nearest legal type as a part of the help; empty if there is none."""
    nearest = nearest_widening(change.old, change.new, nested=len(change.path) > 1)
    if nearest:
        return f" or change to {print_type(nearest)}, the nearest type that Delta widens it to"
    return ""


def _wrong_turn(change: TypeChanged, ctx: RuleContext) -> str:
    """Return a text about the recorded change that made the new type unreachable; empty if there is none."""
    path, inside = carrier_of(change.path)
    for columns in (ctx.before.columns, *([ctx.base.state.columns] if ctx.base else [])):
        field = field_at(columns, path)
        for entry in reversed(record_of(field, inside) if field is not None else ()):
            if step(entry.from_type, change.new) == TypeStep.WIDENING:
                old, current, new = map(print_type, (entry.from_type, entry.to_type, change.new))
                return f"; the column was {old} before it became {current}, which cannot widen to {new}"
    return ""
