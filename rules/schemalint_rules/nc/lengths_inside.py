from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import (
    CommentChanged,
    DefaultChanged,
    FieldAdded,
    FieldRenamed,
    NullabilityChanged,
)
from schemalint.delta.datatype import Field, Unmanaged
from schemalint.delta.lengths import is_lost_if_altered
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_Change = FieldRenamed | FieldAdded | CommentChanged | DefaultChanged | NullabilityChanged


@rule(
    "NC015",
    on=(FieldRenamed, FieldAdded, CommentChanged, DefaultChanged, NullabilityChanged),
    severity=Severity.ERROR,
)
def lengths_inside(change: _Change, ctx: RuleContext) -> Iterator[Problem]:
    """A column with `char(n)` or `varchar(n)` inside is altered itself, by which Delta loses what is in it.

    ## What it does

    Finds a column of a table, a struct, array or map with fields and with a length inside, that

    - gets another name,
    - gets another comment, or another default,
    - becomes nullable;

    and a new one with a default, which takes a statement of its own. What is done to the fields inside is no
    finding, nor is an array or a map of plain values, unless its types were widened.

    ## Why is this bad?

    Delta has no types with lengths: what is in the column stands in one text beside it
    (`__CHAR_VARCHAR_TYPE_STRING`), and a statement about the column itself makes its type anew from that. It
    reports success. With column mapping all fields inside have other ids from then on, so that their
    values are NULL, in every row; a type that was widened is narrow again, and files cannot be read;
    and comments, defaults, NOT NULL and recorded type changes inside are gone. Measured on Delta 4.4.0.

    ## What to do

    Leave the column as it is, and say what has to be said on the fields inside of it; or add a new column
    with `string` inside, and move the values there.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: address, type: "struct<zip: varchar(10), city: string>"}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shipping, type: "struct<zip: varchar(10), city: string>", renamed_from: address}
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: address, type: "struct<zip: varchar(10), city: string comment 'where it is shipped to'>"}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    column = _altered_itself(change, ctx)
    if column is not None and is_lost_if_altered(column):
        yield Problem(
            f"{format_path((column.name,))} has lengths inside: altering it itself makes Delta lose what "
            "is in it",
            help="alter what is inside of it only, or make a new column with strings",
        )


def _altered_itself(change: _Change, ctx: RuleContext) -> Field | None:
    """The column that a statement would name, where it names a column and nothing inside of one."""
    columns = ctx.before.columns
    match change:
        case FieldRenamed(path=(_,), old_name=name) if ctx.alters(change):
            return columns.get(name)
        case FieldAdded(path=(_,), field=new) if isinstance(new.default, str) and not ctx.is_new_table:
            return new
        case NullabilityChanged(path=(str() as name,), new=True):
            return columns.get(name)
        case CommentChanged(path=(str() as name,)) | DefaultChanged(path=(str() as name,)):
            return columns.get(name) if _is_another(change) else None
        case _:
            return None


def _is_another(change: CommentChanged | DefaultChanged) -> bool:
    """Whether it is to be altered; what was not managed is taken for none."""
    old = None if isinstance(change.old, Unmanaged) else change.old
    return not isinstance(change.new, Unmanaged) and (change.new or None) != (old or None)
