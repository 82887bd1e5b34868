from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature_drop import DropVerdict, drop_obstacles
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule(
    "PF017",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE",
        "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION",
        "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED",
        "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE",
        "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING",
    ),
    verdict="impossible",
)
def feature_not_droppable(_contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract drops a feature that Delta cannot drop, or that the contract needs.

    ## What it does

    Finds entries of `drop_features` that no `ALTER TABLE … DROP FEATURE` can carry out, or whose feature
    would come back: features that Delta never drops, features that a declared property, a constraint or
    `features` needs, and `truncate_history` where Delta does not allow it. With `--live` it also sees the
    constraints and the columns of the table. PF005 reports unknown names, PF008 features that another feature
    requires.

    ## Why is this bad?

    Delta refuses the drop, or the next statement adds the feature again. Measured on Delta 4.4.0:

    - Delta never drops appendOnly, invariants, changeDataFeed, generatedColumns, identityColumns,
      timestampNtz, allowColumnDefaults, clustering, catalogManaged, nor the features of variants and of
      Iceberg (`DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE`).
    - It does not drop checkConstraints while the table has a constraint
      (`DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE`), and not columnMapping while a column has a name such as
      `order id` (`DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING`).
    - It drops checkpointProtection only with `truncate_history`
      (`DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION`), and the features that no
      older version needs only without it (`DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED`).
    - It drops a feature together with its property; a declared property then adds the feature again.
    - The drop of rowTracking and materializePartitionColumns, and of typeWidening after a widening, removes
      the property even if it is `false`.

    ## What to do

    Remove the entry, or what needs the feature: declare the property or the constraint as `null`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: bigint}
    constraints: {positive: amount > 0}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: bigint}
    constraints: {positive: amount > 0}
    drop_features: [checkConstraints]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: bigint}
    constraints: {positive: null}
    drop_features: [checkConstraints]
    ```
    """
    for obstacle in drop_obstacles(ctx.drop_requests):
        if obstacle.verdict == DropVerdict.REFUSED:
            yield Problem(
                obstacle.reason,
                help=obstacle.help,
                object=ObjectRef("feature", obstacle.feature),
                delta_error=obstacle.delta_error,
            )
