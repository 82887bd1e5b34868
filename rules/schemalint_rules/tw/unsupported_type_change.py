from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import field_at
from schemalint.delta.path import Part, format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import TypeStep, refusal, step
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW002",
    on=TypeChanged,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "NOT_SUPPORTED_CHANGE_COLUMN"),
)
def unsupported_type_change(change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    """A column changes to a type that Delta cannot reach in place.

    ## What it does

    Finds changes between types that Delta's type widening does not connect, and that no other TW rule
    describes better: anything to or from `string`, `bigint` to `double`, `date` to `timestamp`,
    `timestamp` to `timestamp_ntz`, `decimal` to `double`, another collation.

    ## Why is this bad?

    Delta keeps the files as they are and converts values while it reads. It does so only for the changes
    listed under "Type Widening" in its PROTOCOL.md. For all others `ALTER TABLE` fails: with
    `DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP` if Spark would cast the one to the other without loss, as
    `bigint` to `double` or `int` to `string`, else with `NOT_SUPPORTED_CHANGE_COLUMN`. An append with
    `mergeSchema` fails with `DELTA_FAILED_TO_MERGE_FIELDS`, which older versions worded "Failed to merge
    fields … Failed to merge incompatible data types".

    `char(n)` and `varchar(n)` widen only as columns of their own. Inside a struct, an array or a map a
    longer `varchar` is refused, and the change to `string` is worse: the statement reports success and
    changes nothing.

    ## What to do

    Add a column of the new type, backfill it, move the readers over, and list the old one under `dropped`
    when nobody reads it any more.

    If an earlier change took the wrong turn, as `int` to `double` where `decimal` was wanted, there is no way
    back either: Delta widens from what the column is now. Where `type_changes` tells of such a turn, the help
    says so.

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
    if classify(change.old, change.new, nested=nested) != TypeVerdict.UNSUPPORTED:
        return
    error = refusal(change.old, change.new, nested=nested)
    old, new = print_type(change.old), print_type(change.new)
    verdict = "which Delta cannot do in place" if error else "which Delta reports as done and does not do"
    yield Problem(
        f"{format_path(change.path)} changes from {old} to {new}, {verdict}",
        help=f"keep {old}, and add a new column of type {new} that is backfilled{_wrong_turn(change, ctx)}",
        delta_error=error,
    )


def _wrong_turn(change: TypeChanged, ctx: RuleContext) -> str:
    """The recorded change without which the wanted type could have been reached; empty if there is none."""
    path = change.path
    while isinstance(path[-1], Part):
        path = path[:-1]  # the history of an array's element stands on the array
    inside = change.path[len(path) :]
    for columns in (ctx.before.columns, *([ctx.base.state.columns] if ctx.base else [])):
        field = field_at(columns, path)
        recorded = field.type_changes if field is not None and isinstance(field.type_changes, tuple) else ()
        for one in reversed(recorded):
            if one.at == inside and step(one.from_type, change.new) == TypeStep.WIDENING:
                was, became = print_type(one.from_type), print_type(one.to_type)
                return f"; it was {was} once, and became {became}, from which there is no way"
    return ""
