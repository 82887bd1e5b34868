from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RuleContext, Severity, WritersLost, rule


@rule(
    "EN006",
    on=WritersLost,
    severity=Severity.ERROR,
    scope="effect",
    delta_errors=(
        "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
        "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
        "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_PREVIEW",
    ),
)
def writer_shut_out(lost: WritersLost, ctx: RuleContext) -> Iterator[Problem]:
    """An engine that writes the table could no longer use it after this change.

    ## What it does

    Asks each of the target's and the table's `writers`, beside the engine that runs the statements, whether
    it can read and write what a change leaves behind: the features that the table gains, and the type
    changes that its log records. There is one finding for each edit, with all engines that it shuts out.
    What the engine of `apply_with` cannot do is the subject of EN001 to EN005.

    ## Why is this bad?

    The statement succeeds, and the jobs of another team fail from then on: Delta refuses a table with a
    feature that it does not know (`DELTA_UNSUPPORTED_FEATURES_FOR_READ`,
    `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE`). Delta 3.3 knows `typeWidening`, and refuses a table whose log
    has a type change that it does not make itself (`DELTA_UNSUPPORTED_TYPE_CHANGE_IN_PREVIEW`).

    ## What to do

    Upgrade the engines that the message names, to the version that it names, and `writers` with them; merge
    that first. If one no longer writes the table, take it out of `writers`. Else do without the change:
    keep the type, and add a column of the new one.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: int}
    properties: {delta.enableTypeWidening: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, type_changes: [{from: int, to: bigint}]}
    properties: {delta.enableTypeWidening: true}
    ```

    ```toml title="engine"
    databricks 16.4
    delta-spark 3.3.2
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: int}
      - {name: order_id_long, type: bigint}
    properties: {delta.enableTypeWidening: true}
    ```
    """
    certain = [loss for loss in lost.losses if loss.answer.does is False]
    if not certain:
        engines = " and ".join(str(loss.engine) for loss in lost.losses)
        yield Problem(
            f"{lost.what}: it is unknown whether {engines} can then use the table", severity=Severity.INFO
        )
        return
    texts = [
        f"{loss.engine} cannot {loss.access} the table{loss.answer.note(ctx.today)}"
        + (f"; {loss.answer.since}" if loss.answer.since else "")
        for loss in certain
    ]
    targets = ctx.contract.engine_targets
    where = f" in target{'s'[: len(targets) > 1]} {', '.join(targets)}" if targets else ""
    engines = " and ".join(str(loss.engine) for loss in certain)
    yield Problem(
        f"{lost.what}: then {'; '.join(texts)}",
        help=f"upgrade {engines}{where} first, or {lost.instead}",
        severity=None if any(not loss.engine.is_hosted for loss in certain) else Severity.WARNING,
        path=lost.path or None,
        delta_error=_error(lost),
    )


def _error(lost: WritersLost) -> str:
    if lost.path:
        return "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_PREVIEW"
    is_read = any(loss.access == "read" for loss in lost.losses)
    return f"DELTA_UNSUPPORTED_FEATURES_FOR_{'READ' if is_read else 'WRITE'}"
