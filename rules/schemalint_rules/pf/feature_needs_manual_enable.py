from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import walk_fields
from schemalint.delta.path import format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule

_FEATURE = "allowColumnDefaults"


@rule(
    "PF009",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",),
)
def feature_needs_manual_enable(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has a default, and nobody asks for the feature that defaults need.

    ## What it does

    Finds columns with `default` where neither the table supports `allowColumnDefaults` nor the contract asks
    for it. The other feature that Delta does not add by itself, timestampNtz, is TW008's.

    ## Why is this bad?

    Most features come with the property or the column that needs them. This one never does, not even when
    the table is created: `WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED`, "Failed to execute … because
    it assigned a column DEFAULT value, but the corresponding table feature was not enabled".

    ## What to do

    Ask for it: `features: [allowColumnDefaults]`. Writers must know the feature then, and it cannot be
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
    if _FEATURE in ctx.features | contract.state.asked_features:
        return
    with_default = [
        path for path, field in walk_fields(contract.state.columns) if isinstance(field.default, str)
    ]
    if with_default:
        yield Problem(
            f"{', '.join(map(format_path, with_default))} with a default: the table does not support "
            f"{_FEATURE}",
            help=f"ask for the feature: `features: [{_FEATURE}]`",
            path=with_default[0],
            delta_error="WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
        )
