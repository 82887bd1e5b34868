from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.engine import DELTA_SPARK, Engine
from schemalint.delta.engine_answers import knows_property
from schemalint.delta.properties import PROPERTIES, canonical, is_refused_by
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule


@rule("EN008", on=LiveTable, severity=Severity.INFO, engine=True)
def property_ignored_by_engine(table: LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """The table has a property that an engine of the target ignores.

    ## What it does

    Finds `delta.` properties of the live table that one of the target's engines, or that of
    `audit --engine`, does not know: they came to Delta after it, or belong to Databricks.
    [Engines](../engines.md) has the first version of each. EN002 and TP008 report a contract that
    sets one.

    ## Why is this bad?

    An engine refuses to set a property that it does not know, but it reads and writes a table that has one,
    without a word: what it writes is as if the property were not set. Some of its files then have other
    statistics, another format or no row ids, depending on who wrote them.

    ## What to do

    If the property must hold for all files, write the table only with engines that know it. Else nothing.

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData:
        fields: [{name: order_id, type: long}]
        configuration: {delta.parquet.format.version: 2.12.0}
    ```

    ```toml title="engine"
    delta-spark 3.3.2
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: long}]}
    ```
    """
    of_contract = ctx.contract.state.set_properties if ctx.contract.file else {}
    for key, value in table.state.properties.items():
        if key in of_contract and _is_foreign(key):
            continue
        ignoring = [engine for engine in ctx.contract.engines.all if value and _ignores(engine, key)]
        if ignoring:
            verb = "ignores" if len(ignoring) == 1 else "ignore"
            answer = knows_property(ignoring[0], canonical(key))
            since = f"; {answer.since.replace('can', 'knows it')}" if answer.since else ""
            yield Problem(
                f"{' and '.join(map(str, ignoring))} {verb} the property {key}"
                f"{answer.note(ctx.today)}{since}",
                help="write the table only with engines that know it, if it must hold for all files",
                object=ObjectRef("property", key),
            )


def _is_foreign(key: str) -> bool:
    """Whether only another engine than Delta Spark knows the property: TP008 is about such a contract."""
    row = PROPERTIES.get(canonical(key))
    return row is not None and row.engine != DELTA_SPARK


def _ignores(engine: Engine, key: str) -> bool:
    return canonical(key) in PROPERTIES and (
        is_refused_by(engine, key) or knows_property(engine, canonical(key)).does is False
    )
