from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import DataType, Decimal, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.delta.properties import ICEBERG_COMPAT_KEYS, is_true
from schemalint.delta.type_history import record_of
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_ERROR = "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING"
_WIDENING = "delta.enableTypeWidening"
_NTZ = "timestampNtz"

# Iceberg reads its int as a long and its float as a double (Iceberg table spec, "Schema Evolution"); Delta's
# byte and short are ints there (TypeWidening.isTypeChangeSupportedByIceberg).
_INTEGERS = ("tinyint", "smallint", "int", "bigint")


@rule(
    "RD007",
    on=(TypeChanged, Contract),
    severity=Severity.ERROR,
    delta_errors=(_ERROR,),
    live=True,
    verdict="impossible",
)
def iceberg_incompatible_widening(fact: TypeChanged | Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column is widened in a way that Iceberg does not support.

    ## What it does

    If `delta.enableIcebergCompatV1`, `V2` or `V3` is enabled, finds a widening that Delta supports and
    Iceberg does not: `int` to `double` or `decimal`, a `decimal` that gains scale, `date` to `timestamp_ntz`.
    The rule also finds such a change in the table's past, as recorded in the log or in the base's
    `type_changes`.

    ## Why is this bad?

    Iceberg widens integers, `float` to `double`, and decimals that gain precision but no scale. Delta refuses
    the rest with `DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING`: at the widening, or when the
    compatibility is enabled later, because the changes recorded in `delta.typeChanges` count.

    ## What to do

    Keep the type, and add a column of the new type. Only a rewrite of the table removes a recorded change.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: int}
    properties:
      delta.enableIcebergCompatV2: true
      delta.columnMapping.mode: name
      delta.enableTypeWidening: true
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: double, type_changes: [{from: int, to: double}]}
    properties:
      delta.enableIcebergCompatV2: true
      delta.columnMapping.mode: name
      delta.enableTypeWidening: true
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: bigint, type_changes: [{from: int, to: bigint}]}
    properties:
      delta.enableIcebergCompatV2: true
      delta.columnMapping.mode: name
      delta.enableTypeWidening: true
    ```
    """
    enabled = [key for key in ICEBERG_COMPAT_KEYS if is_true(ctx.after.properties.get(key))]
    if not enabled:
        return
    if isinstance(fact, TypeChanged):
        if _reaches_iceberg(fact, ctx):
            yield Problem(
                f"{format_path(fact.path)} is widened from {print_type(fact.old)} to {print_type(fact.new)}, "
                f"which {enabled[0]} forbids",
                help=f"keep {print_type(fact.old)}, and add a column of type {print_type(fact.new)}",
                delta_error=_ERROR,
            )
    elif recorded := [*_recorded(ctx)]:
        path, old, new = recorded[0]
        yield Problem(
            f"{enabled[0]} cannot be true: {format_path(path)} was widened from {print_type(old)} to "
            f"{print_type(new)}, which Iceberg does not support",
            help="do without the compatibility, or rewrite the table with its current types",
            object=ObjectRef("property", enabled[0]),
            delta_error=_ERROR,
        )


def _reaches_iceberg(change: TypeChanged, ctx: RuleContext) -> bool:
    """Return whether Iceberg is what refuses the change: Delta checks the property and the feature first."""
    if classify(change.old, change.new, nested=len(change.path) > 1) != TypeVerdict.WIDENING:
        return False
    if not ctx.after.enabled(_WIDENING) or _iceberg_widens(change.old, change.new):
        return False
    supported = ctx.features | ctx.after.features
    return print_type(change.new) != "timestamp_ntz" or _NTZ in supported


def _recorded(ctx: RuleContext) -> Iterator[tuple[Path, DataType, DataType]]:
    """Yield the recorded type changes that Iceberg does not support."""
    side = ctx.live or ctx.base
    before = side.state if side else None
    if before is None:
        return
    for path, field in walk_fields(before.columns):
        for entry in record_of(field):
            if classify(entry.from_type, entry.to_type) != TypeVerdict.WIDENING:
                continue
            if not _iceberg_widens(entry.from_type, entry.to_type):
                yield (*path, *entry.at), entry.from_type, entry.to_type


def _iceberg_widens(old: DataType, new: DataType) -> bool:
    """Return whether Iceberg also supports a change that Delta can widen."""
    if isinstance(old, Decimal) and isinstance(new, Decimal):
        return old.scale == new.scale
    return print_type(new) in _INTEGERS or print_type(old) == "float"
