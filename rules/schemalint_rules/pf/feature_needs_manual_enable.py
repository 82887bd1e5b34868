from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Struct, walk_fields
from schemalint.delta.path import format_path, lowercased
from schemalint.plugin import Contract, Problem, RuleContext, Severity, replace, rule

_FEATURE = "allowColumnDefaults"


@rule(
    "PF009",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",),
    verdict="impossible",
)
def feature_needs_manual_enable(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has a default, but the contract does not request the feature that defaults need.

    ## What it does

    Finds columns with a `default` if neither the table supports `allowColumnDefaults` nor the contract
    requests it. A live table that has the default already needs no statement: Delta reads and writes it, and
    takes every other one (measured on Delta 4.4.0). TW008 covers timestampNtz, the other feature that Delta
    does not add by itself.

    ## Why is this bad?

    Delta adds most features with the property or the column that needs them. It never adds this one, not even
    when it creates the table: `WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED`, "Failed to execute …
    because it assigned a column DEFAULT value, but the corresponding table feature was not enabled".

    ## What to do

    Request it: `features: [allowColumnDefaults]`. Writers must then support the feature, and it cannot be
    dropped.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: created_at, type: timestamp, default: current_timestamp()}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: created_at, type: timestamp, default: current_timestamp()}
    features: [allowColumnDefaults]
    ```
    """
    if _FEATURE in ctx.features | contract.state.requested_features:
        return
    live = ctx.live.state.columns if ctx.live is not None else Struct()
    in_table = {lowercased(path): field.default for path, field in walk_fields(live)}
    with_default = [
        path
        for path, field in walk_fields(contract.state.columns)
        if isinstance(field.default, str) and in_table.get(lowercased(path)) != field.default
    ]
    if with_default:
        yield Problem(
            f"the default of {', '.join(map(format_path, with_default))} needs the feature {_FEATURE}, "
            "which the table does not support",
            help=ctx.wording.request_feature.format(name=_FEATURE),
            path=with_default[0],
            remedy=lambda: replace(contract.state, features=contract.state.features | {_FEATURE}),
            delta_error="WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
        )
