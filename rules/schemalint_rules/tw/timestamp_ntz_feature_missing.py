from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded, TypeChanged
from schemalint.delta.datatype import TIMESTAMP_NTZ, DataType, walk
from schemalint.delta.path import format_path
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.plugin import Problem, RuleContext, Severity, replace, rule

_FEATURE = "timestampNtz"


@rule(
    "TW008",
    on=(TypeChanged, FieldAdded),
    severity=Severity.ERROR,
    delta_errors=("DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",),
    verdict="impossible",
)
def timestamp_ntz_feature_missing(change: TypeChanged | FieldAdded, ctx: RuleContext) -> Iterator[Problem]:
    """A table without the feature timestampNtz gets its first timestamp_ntz column.

    ## What it does

    Finds a new column of type `timestamp_ntz` (or with such a field inside), and a column that changes to
    this type, if the table does not support the feature `timestampNtz` and the contract does not request it.

    ## Why is this bad?

    A new table gets the feature automatically; an existing table does not. It is the only feature that Delta
    adds to an existing table on explicit request only. `ALTER TABLE` fails with
    `DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT`, "Your table schema requires manually enablement of the
    following table feature(s): timestampNtz".

    ## What to do

    Request the feature: `features: [timestampNtz]`. `apply` adds it in a separate statement, before the
    column changes. It is a reader feature, so readers must support it from then on, and it cannot be dropped.

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
    type_ = change.field.type if isinstance(change, FieldAdded) else _new_type(change, ctx)
    if type_ is not None and any(inner == TIMESTAMP_NTZ for _path, inner in walk(type_)):
        yield Problem(
            f"{format_path(change.path)} uses timestamp_ntz, but the table does not support {_FEATURE}",
            help=ctx.wording.request_feature.format(name=_FEATURE),
            remedy=lambda: replace(ctx.contract.state, features=ctx.contract.state.features | {_FEATURE}),
            delta_error="DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
        )


def _new_type(change: TypeChanged, ctx: RuleContext) -> DataType | None:
    """Return the new type, or None if Delta refuses the change earlier: it checks the widening first."""
    match classify(change.old, change.new, nested=len(change.path) > 1):
        case TypeVerdict.FREE:
            return change.new
        case TypeVerdict.WIDENING if ctx.after.enabled("delta.enableTypeWidening"):
            return change.new
        case _:
            return None
