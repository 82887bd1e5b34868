from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import (
    CommentChanged,
    DefaultChanged,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    NullabilityChanged,
)
from schemalint.delta.datatype import Field, Unmanaged
from schemalint.delta.lengths import is_lost_if_altered, loses_lengths
from schemalint.delta.path import format_path, lowercased
from schemalint.plugin import Problem, RuleContext, Severity, rule

_Change = FieldRenamed | FieldAdded | FieldRemoved | CommentChanged | DefaultChanged | NullabilityChanged


@rule(
    "NC015",
    on=(FieldRenamed, FieldAdded, FieldRemoved, CommentChanged, DefaultChanged, NullabilityChanged),
    severity=Severity.ERROR,
    verdict="impossible",
)
def lengths_inside(change: _Change, ctx: RuleContext) -> Iterator[Problem]:
    """A statement alters a column with `char(n)` or `varchar(n)` inside, which makes Delta lose its content.

    ## What it does

    Finds a top-level column (a struct, array or map with fields and with a length inside) that

    - gets another name,
    - gets another comment, or another default,
    - becomes nullable;

    a new one with a default, because the default takes a separate statement; a new field with a length inside
    a column that has a length already; and a field that is dropped or added so that a field with a length has
    another place in its struct. Other changes to the fields inside are fine. So is an array or a map of plain
    values, unless its types were widened.

    ## Why is this bad?

    Delta has no types with lengths: it stores the column's type as text in the column's metadata
    (`__CHAR_VARCHAR_TYPE_STRING`), and a statement on the column itself rebuilds the type from that text. The
    statement reports success. With column mapping, all fields inside get new ids, so their values are NULL in
    every row; a widened type is narrow again, and files cannot be read; and comments, defaults, NOT NULL and
    recorded type changes inside are gone. A new field with a length rebuilds the text from types that have
    lost theirs, so only the new length remains. Dropping or adding other fields leaves the text as it is, and
    writers find the lengths in it by position: afterwards they check another field, so that values are
    refused or accepted wrongly, or every INSERT fails (`ArrayIndexOutOfBoundsException`). Measured on Delta
    4.4.0.

    ## What to do

    Leave the column itself unchanged, and put comments on the fields inside it; or add a new column with
    `string` inside, and move the values there. Declare a new field inside as `string`, as the last one of
    its struct; keep a field that is no longer needed.

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
    if (
        isinstance(change, FieldAdded)
        and not ctx.is_new_table
        and loses_lengths(change, ctx.columns_with_lengths)
    ):
        yield Problem(
            f"{format_path(change.path)} has a length, and would make Delta lose the other lengths in "
            f"{format_path(change.path[:1])}",
            help="declare the new field as string",
        )
    elif _shifts_lengths(change, ctx):
        is_removed = isinstance(change, FieldRemoved)
        yield Problem(
            f"{format_path(change.path)} is {'dropped' if is_removed else 'added'} in a struct with char or "
            "varchar: writers find lengths by position, and will check another field or fail",
            help="keep the field" if is_removed else "add it as the last field of the struct",
        )
    column = _altered_column(change, ctx)
    if column is not None and is_lost_if_altered(column):
        yield Problem(
            f"{format_path((column.name,))} contains char or varchar: altering the column itself makes "
            "Delta lose its content",
            help="alter only the fields inside it, or add a new column with strings",
        )


def _shifts_lengths(change: _Change, ctx: RuleContext) -> bool:
    """Return whether a statement adds or drops a field, and fields with a length change their places."""
    is_made = ctx.alters(change) if isinstance(change, FieldRemoved) else isinstance(change, FieldAdded)
    return is_made and not ctx.is_new_table and lowercased(change.path[:-1]) in ctx.shifted_structs


def _altered_column(change: _Change, ctx: RuleContext) -> Field | None:
    """Return the column that the statement alters itself, if any; a nested field does not count."""
    columns = ctx.before.columns
    match change:
        case FieldRenamed(path=(_,), old_name=name) if ctx.alters(change):
            return columns.get(name)
        case FieldAdded(path=(_,), field=new) if isinstance(new.default, str) and not ctx.is_new_table:
            return new
        case NullabilityChanged(path=(str() as name,), new=True):
            return columns.get(name)
        case CommentChanged(path=(str() as name,)) | DefaultChanged(path=(str() as name,)):
            if _is_new_value(change):
                return columns.get(name)
            return None
        case _:
            return None


def _is_new_value(change: CommentChanged | DefaultChanged) -> bool:
    """Return whether the change needs a statement; an unmanaged old value counts as none."""
    old = None if isinstance(change.old, Unmanaged) else change.old
    return not isinstance(change.new, Unmanaged) and (change.new or None) != (old or None)
