from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.engine import DELTA_SPARK
from schemalint.delta.engine_answers import asks_for_iceberg_first
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_FORMATS = "delta.universalFormat.enabledFormats"


@rule(
    "EN009",
    on=Contract,
    severity=Severity.WARNING,
    delta_errors=("DELTA_MISSING_ICEBERG_CLASS", "DELTA_UNIVERSAL_FORMAT_CONVERSION_FAILED"),
    engine=True,
)
def iceberg_beyond_session(_contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The table gets a copy for Iceberg, which Delta Spark writes only with the jar delta-iceberg.

    ## What it does

    Finds contracts that bring `iceberg` into `delta.universalFormat.enabledFormats`, for a target whose
    `engine` is `delta-spark`. RD008 reports what else Iceberg needs of the table.

    ## Why is this bad?

    The jar is not part of Delta Spark, and a check cannot see what the sessions of a target have. Measured
    without it: Delta 3.2.1, 3.3.2 and 4.0.1 refuse to create the table (`DELTA_MISSING_ICEBERG_CLASS`). They
    commit an `ALTER TABLE`, and report `DELTA_UNIVERSAL_FORMAT_CONVERSION_FAILED` after that. From then on
    each write of a session without the jar is committed and reports that error too (asked of 3.3.2): a job
    that tries again writes its rows twice. Delta 4.4.0 refuses to alter a table of a catalog before the
    commit, creates one, and then refuses its writes, all with `DELTA_MISSING_ICEBERG_CLASS`; a table that is
    written by its path gets no copy, without a word.

    ## What to do

    Give the jar to each session that writes the table, `io.delta:delta-iceberg_2.13` in Delta's own version,
    and approve the finding with `allow`. Or leave the format out.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableIcebergCompatV2: true, delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties:
      delta.enableIcebergCompatV2: true
      delta.columnMapping.mode: name
      delta.universalFormat.enabledFormats: iceberg
    ```

    ```toml title="engine"
    delta-spark 3.3.2
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableIcebergCompatV2: true, delta.columnMapping.mode: name}
    ```
    """
    engine = ctx.engine
    had = _names_iceberg(ctx.before.properties.get(_FORMATS))
    if (
        engine is None
        or engine.name != DELTA_SPARK
        or had
        or not _names_iceberg(ctx.after.properties.get(_FORMATS))
    ):
        return
    answer = asks_for_iceberg_first(engine)
    late = answer.does is not True and not ctx.is_new_table
    happens = (
        "commits, and then reports an error for this and each later write" if late else "refuses to write"
    )
    yield Problem(
        f"without the jar delta-iceberg, {ctx.writer} {happens}{answer.note(ctx.today)}",
        help="give the jar to each session that writes the table, or leave the format out",
        object=ObjectRef("property", _FORMATS),
        delta_error="DELTA_UNIVERSAL_FORMAT_CONVERSION_FAILED" if late else "DELTA_MISSING_ICEBERG_CLASS",
    )


def _names_iceberg(formats: str | None) -> bool:
    return "iceberg" in (formats or "").split(",")
