from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded, TypeChanged
from schemalint.delta.datatype import TIMESTAMP_NTZ, DataType, walk
from schemalint.delta.path import format_path
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.plugin import Problem, RuleContext, Severity, rule

_FEATURE = "timestampNtz"


@rule(
    "TW008",
    on=(TypeChanged, FieldAdded),
    severity=Severity.ERROR,
    delta_errors=("DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",),
)
def timestamp_ntz_feature_missing(change: TypeChanged | FieldAdded, ctx: RuleContext) -> Iterator[Problem]:
    """The first timestamp_ntz comes into a table that does not support the feature for it.

    ## What it does

    Finds a new column of type `timestamp_ntz` (or with one inside), and a column that becomes one, where the
    table does not support the feature `timestampNtz` and the contract does not ask for it.

    ## Why is this bad?

    A new table gets the feature by itself, an existing one does not: it is the one feature that Delta adds
    to existing tables only when told to. `ALTER TABLE` fails with `DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT`,
    "Your table schema requires manually enablement of the following table feature(s): timestampNtz".

    ## What to do

    Ask for the feature: `features: [timestampNtz]`. `apply` sets it in a statement of its own, before the
    column changes. Readers must know the feature then (it is a reader feature), and it cannot be dropped.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: local_time, type: timestamp_ntz}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: local_time, type: timestamp_ntz}
    features: [timestampNtz]
    protocol: {allow_upgrade: true}
    ```
    """
    if _FEATURE in ctx.features or _FEATURE in ctx.after.features:
        return
    type_ = change.field.type if isinstance(change, FieldAdded) else _reached(change, ctx)
    if type_ is not None and any(inner == TIMESTAMP_NTZ for _path, inner in walk(type_)):
        yield Problem(
            f"{format_path(change.path)} brings timestamp_ntz into a table that does not support {_FEATURE}",
            help=f"ask for the feature: `features: [{_FEATURE}]`",
            delta_error="DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
        )


def _reached(change: TypeChanged, ctx: RuleContext) -> DataType | None:
    """The new type, if nothing else stands in its way: Delta looks at the widening first."""
    match classify(change.old, change.new, nested=len(change.path) > 1):
        case TypeVerdict.FREE:
            return change.new
        case TypeVerdict.WIDENING if ctx.after.enabled("delta.enableTypeWidening"):
            return change.new
        case _:
            return None
