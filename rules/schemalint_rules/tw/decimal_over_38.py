from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded, TableAdded, TypeChanged
from schemalint.delta.datatype import DataType, Decimal, walk
from schemalint.delta.path import Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import MAX_PRECISION, refusal, smallest_decimal
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW004",
    on=(TypeChanged, FieldAdded, TableAdded),
    severity=Severity.ERROR,
    live=True,
    delta_errors=(
        "NOT_SUPPORTED_CHANGE_COLUMN",
        "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
        "NEGATIVE_SCALE_DISALLOWED",
        "_LEGACY_ERROR_TEMP_1228",
    ),
    verdict="impossible",
)
def decimal_over_38(change: TypeChanged | FieldAdded | TableAdded, _ctx: RuleContext) -> Iterator[Problem]:
    """A column needs a decimal of more than 38 digits, which does not exist.

    ## What it does

    Finds a change to a decimal that needs more than 38 digits to hold the old values, and every new column or
    field with an invalid decimal type: a precision over 38, a scale over the precision, or, in a log, a
    negative scale.

    ## Why is this bad?

    A Delta decimal has at most 38 digits (PROTOCOL.md, "Primitive Types"). A `decimal(38,s)` column can never
    gain scale. An `int` needs ten whole digits and reaches at most `decimal(38,28)`; a `bigint` needs twenty
    and reaches at most `decimal(38,18)`. No wider type exists, so `ALTER TABLE` fails with
    `NOT_SUPPORTED_CHANGE_COLUMN`. An invalid decimal type fails with
    `DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION`, or with "Decimal scale (13) cannot be greater than precision
    (12)", an error without a name. Nobody can read a table with such a type, or one with a negative scale
    (`NEGATIVE_SCALE_DISALLOWED`; measured on Delta 4.4.0).

    ## What to do

    Reduce the scale; the finding names the largest scale that leaves room for the whole digits. Or add a new
    column in another unit, for example cents instead of euros.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: weight, type: "decimal(38,2)"}
    properties: {delta.enableTypeWidening: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: weight, type: "decimal(38,3)"}
    properties: {delta.enableTypeWidening: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: weight, type: "decimal(38,2)"}
      - {name: weight_grams, type: "decimal(38,0)"}
    properties: {delta.enableTypeWidening: true}
    ```
    """
    match change:
        case TypeChanged(path=path, old=old, new=new):
            yield from _check_change(path, old, new)
        case FieldAdded(path=path, field=field):
            yield from _check_declared(field.type, path)
        case TableAdded(state=state):
            yield from _check_declared(state.columns, ())


def _check_change(path: Path, old: DataType, new: DataType) -> Iterator[Problem]:
    nested = len(path) > 1
    if classify(old, new, nested=nested) != TypeVerdict.OVER_38:
        return
    least = smallest_decimal(old, new)
    if isinstance(new, Decimal) and not _is_valid(new):
        yield _invalid_decimal(path, new, least)
    elif least is not None:
        yield Problem(
            f"{format_path(path)} changes from {print_type(old)} to {print_type(new)}, "
            f"which needs {least.precision} digits: a decimal has at most {MAX_PRECISION}",
            help=_largest_scale(old, least) or f"keep {print_type(old)}, or add a new column in another unit",
            delta_error=refusal(old, new, nested=nested),
        )


def _check_declared(type_: DataType, path: Path) -> Iterator[Problem]:
    for leaf_path, leaf in walk(type_, path):
        if isinstance(leaf, Decimal) and not _is_valid(leaf):
            yield _invalid_decimal(leaf_path, leaf)


def _invalid_decimal(path: Path, type_: Decimal, least: Decimal | None = None) -> Problem:
    """Return the problem of an invalid type; `least` is the smallest decimal that holds the old values."""
    if type_.precision > MAX_PRECISION:
        return Problem(
            f"{format_path(path)} is declared {print_type(type_)}: a decimal has at most {MAX_PRECISION} "
            "digits",
            help=f"declare a precision of at most {MAX_PRECISION}",
            path=path,
            new=print_type(type_),
            delta_error="DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
            unreadable=True,
        )
    if type_.scale < 0:
        return Problem(
            f"{format_path(path)} is declared {print_type(type_)}: a scale below 0 does not exist",
            help="write the table again with a scale of 0",
            path=path,
            new=print_type(type_),
            delta_error="NEGATIVE_SCALE_DISALLOWED",
            unreadable=True,
        )
    least = least or Decimal(type_.scale, type_.scale)
    help_ = f"the smallest decimal that works is {print_type(least)}"
    if not _is_valid(least):
        help_ = "no decimal of that scale holds the old values: use a smaller scale"
    return Problem(
        f"{format_path(path)} is declared {print_type(type_)}: more digits after the point than digits "
        "in all",
        help=help_,
        path=path,
        new=print_type(type_),
        delta_error="_LEGACY_ERROR_TEMP_1228",
        unreadable=True,
    )


def _is_valid(type_: Decimal) -> bool:
    return 0 <= type_.scale <= type_.precision <= MAX_PRECISION


def _largest_scale(old: DataType, least: Decimal) -> str:
    """Return the help for a smaller scale; empty if it would not exceed the old scale."""
    scale = MAX_PRECISION - (least.precision - least.scale)
    old_scale = old.scale if isinstance(old, Decimal) else 0
    if scale <= old_scale:
        return ""
    widest = print_type(Decimal(MAX_PRECISION, scale))
    return f"{widest} has the largest scale that leaves room for the whole digits"
