from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded, TableAdded, TypeChanged
from schemalint.delta.datatype import DataType, Decimal, walk
from schemalint.delta.path import Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import MAX_PRECISION, least_decimal, refusal
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW004",
    on=(TypeChanged, FieldAdded, TableAdded),
    severity=Severity.ERROR,
    delta_errors=(
        "NOT_SUPPORTED_CHANGE_COLUMN",
        "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
        "_LEGACY_ERROR_TEMP_1228",
    ),
)
def decimal_over_38(change: TypeChanged | FieldAdded | TableAdded, _ctx: RuleContext) -> Iterator[Problem]:
    """A column would need a decimal of more than 38 digits, which does not exist.

    ## What it does

    Finds a change to a decimal that could hold the old values only with more than 38 digits in all, and every
    new decimal that is none: with a precision over 38, or a scale over its precision.

    ## Why is this bad?

    A Delta decimal has at most 38 digits (PROTOCOL.md, "Primitive Types"). A column that is `decimal(38,s)`
    can never gain scale; an `int` needs ten whole digits and so reaches at most `decimal(38,28)`, a `bigint`
    needs twenty and reaches `decimal(38,18)`. No wider type is left: `ALTER TABLE`
    fails with `NOT_SUPPORTED_CHANGE_COLUMN`, and a type that does not exist with
    `DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION`, or with "Decimal scale (13) cannot be greater than precision
    (12)", which Spark 4.2 calls `_LEGACY_ERROR_TEMP_1228`.

    ## What to do

    Give up scale: the finding names the largest one that leaves room for the whole digits. Or add a new
    column with another unit, for example cents instead of euros.

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
            yield from _changed(path, old, new)
        case FieldAdded(path=path, field=field):
            yield from _declared(field.type, path)
        case TableAdded(state=state):
            yield from _declared(state.columns, ())


def _changed(path: Path, old: DataType, new: DataType) -> Iterator[Problem]:
    nested = len(path) > 1
    if classify(old, new, nested=nested) != TypeVerdict.OVER_38:
        return
    least = least_decimal(old, new)
    if isinstance(new, Decimal) and not _exists(new):
        yield _impossible(path, new, least)
    elif least is not None:
        yield Problem(
            f"{format_path(path)} changes from {print_type(old)} to {print_type(new)}, "
            f"which takes {least.precision} digits: a decimal has at most {MAX_PRECISION}",
            help=_largest_scale(old, least) or f"keep {print_type(old)}, or add a new column in another unit",
            delta_error=refusal(old, new, nested=nested),
        )


def _declared(type_: DataType, path: Path) -> Iterator[Problem]:
    for below, leaf in walk(type_, path):
        if isinstance(leaf, Decimal) and not _exists(leaf):
            yield _impossible(below, leaf)


def _impossible(path: Path, type_: Decimal, least: Decimal | None = None) -> Problem:
    """The problem with a type that does not exist; `least` is the smallest that the old values fit into."""
    if type_.precision > MAX_PRECISION:
        return Problem(
            f"{format_path(path)} is declared {print_type(type_)}: a decimal has at most {MAX_PRECISION} "
            "digits",
            help=f"declare a precision of at most {MAX_PRECISION}",
            path=path,
            new=print_type(type_),
            delta_error="DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
        )
    least = least or Decimal(type_.scale, type_.scale)
    works = f"the smallest decimal that works is {print_type(least)}"
    return Problem(
        f"{format_path(path)} is declared {print_type(type_)}: more digits after the point than digits "
        "in all",
        help=works
        if _exists(least)
        else "no decimal of that scale holds the old values: take a smaller scale",
        path=path,
        new=print_type(type_),
        delta_error="_LEGACY_ERROR_TEMP_1228",
    )


def _exists(type_: Decimal) -> bool:
    return type_.scale <= type_.precision <= MAX_PRECISION


def _largest_scale(old: DataType, least: Decimal) -> str:
    """What fits when all whole digits are kept, if that is more scale than there was."""
    scale = MAX_PRECISION - (least.precision - least.scale)
    had = old.scale if isinstance(old, Decimal) else 0
    if scale <= had:
        return ""
    widest = print_type(Decimal(MAX_PRECISION, scale))
    return f"the largest scale that leaves room for the whole digits is that of {widest}"
