"""What RB006 says of `on_schema_change`, and what the statements of dbt-spark and dbt-databricks do."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from support.skipping import skip_or_fail

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.project import Project

FOLLOWS: Final = {
    "append_new_columns": "append",
    "sync_all_columns": "sync",
    "ignore": "ignore",
    "fail": "fail",
}
OLD: Final = {"id": "BIGINT", "kind": "STRING", "n": "INT", "s": "STRUCT<a: INT, b: INT>"}
CHANGES: Final = {
    "a new column": {**OLD, "note": "STRING"},
    "a column that is gone": {name: type_ for name, type_ in OLD.items() if name != "kind"},
    "a wider type": {**OLD, "n": "BIGINT"},
    "a new field": {**OLD, "s": "STRUCT<a: INT, b: INT, c: INT>"},
    "a field that is gone": {**OLD, "s": "STRUCT<a: INT>"},
    "a wider field": {**OLD, "s": "STRUCT<a: BIGINT, b: INT>"},
}
PROPERTIES: Final = {"delta.columnMapping.mode": "name", "delta.enableTypeWidening": "true"}

ADD: Final = "alter table {{table}} add columns {columns}"
DROP: Final = "ALTER TABLE {{table}} DROP COLUMNS ({columns})"
TYPE: Final = "alter table {{table}} alter column {column} type {type}"
INSERT: Final = "insert into table {{table}} select {columns} from changed"
INSERT_COMMON: Final = "insert into {{table}} ({columns}) select {columns} from changed"
MERGE: Final = (
    "merge into {{table}} as DBT_INTERNAL_DEST using changed as DBT_INTERNAL_SOURCE "
    "on DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id "
    "when matched then update set {update} when not matched then insert {insert}"
)
"""The statements of dbt-spark 1.11.0 (`spark__alter_column_type`, `spark__alter_relation_add_remove_columns`,
`get_insert_into_sql`, `spark__get_merge_sql`) and of dbt-databricks 1.12.4 (`drop_columns_sql`,
`insert_into_sql_impl`, `databricks__get_merge_sql`)."""


def statements(adapter: str, strategy: str, follows: str, new: dict[str, str]) -> tuple[str, ...] | None:
    """Return the statements of one run; None if dbt itself ends it."""
    added = [name for name in new if name not in OLD]
    gone = [name for name in OLD if name not in new]
    if follows == "fail" or (follows == "sync" and gone and adapter == "spark"):
        return None
    made: list[str] = []
    columns = dict(OLD)
    if follows == "sync" and gone:
        made.append(DROP.format(columns=", ".join(f"`{name}`" for name in gone)))
        columns = {name: type_ for name, type_ in columns.items() if name in new}
    if follows in ("append", "sync") and added:
        made.append(ADD.format(columns=", ".join(f"`{name}` {new[name]}" for name in added)))
        columns |= {name: new[name] for name in added}
    if follows == "sync":
        changed = [name for name in new if name in OLD and new[name] != OLD[name]]
        made += [TYPE.format(column=name, type=new[name]) for name in changed]
    names = [f"`{name}`" for name in columns if adapter == "spark" or name in new]
    if strategy == "append":
        insert = INSERT if adapter == "spark" else INSERT_COMMON
        return (*made, insert.format(columns=", ".join(names)))
    update, insert = "*", "*"
    if adapter == "databricks" and follows != "ignore":
        values = ", ".join(f"DBT_INTERNAL_SOURCE.`{name}`" for name in new)
        update = ", ".join(f"`{name}` = DBT_INTERNAL_SOURCE.`{name}`" for name in new)
        insert = f"({', '.join(f'`{name}`' for name in new)}) VALUES ({values})"
    return (*made, MERGE.format(update=update, insert=insert))


def outcome(spark: SparkSession, table: str, run: tuple[str, ...], new: dict[str, str]) -> str:
    """Return what one run does to a new table with the old columns: it fails, follows, or leaves it."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in OLD.items())
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in PROPERTIES.items())
    spark.sql(f"CREATE TABLE {table} ({columns}) USING delta TBLPROPERTIES ({properties})")
    try:
        for statement in run:
            spark.sql(statement.format(table=table)).collect()
    except Exception as error:
        if "ParseException" in type(error).__name__:
            raise
        return "fails"  # of MERGE with an error of Java
    live = {field.name: field.dataType.simpleString() for field in spark.table(table).schema}
    wanted = {name: type_.replace(" ", "").lower() for name, type_ in new.items()}
    return "follows" if live == wanted else "leaves"


@pytest.mark.spark
@pytest.mark.parametrize("change", CHANGES)
def test_the_verdict_is_what_the_statements_do(
    spark: SparkSession, project: Project, tmp_path: Path, change: str
) -> None:
    """An error where each adapter and strategy fails, nothing where each follows, else a warning."""
    new = CHANGES[change]
    values = ", ".join(f"CAST(NULL AS {type_}) AS `{name}`" for name, type_ in new.items() if name != "id")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW changed AS SELECT 1L AS id, {values}")
    known: dict[tuple[str, ...], str] = {}
    for config, follows in FOLLOWS.items():
        outcomes: set[str] = set()
        for adapter in ("spark", "databricks"):
            for strategy in ("append", "merge"):
                run = statements(adapter, strategy, follows, new)
                if run is None:
                    outcomes.add("fails")
                    continue
                if run not in known:
                    known[run] = outcome(spark, f"delta.`{tmp_path / str(len(known))}`", run, new)
                outcomes.add(known[run])
        expected = ["error"] if outcomes == {"fails"} else [] if outcomes == {"follows"} else ["warning"]
        assert severities(project, follows, new) == expected, (config, outcomes)


def severities(project: Project, follows: str, new: dict[str, str]) -> list[str]:
    """Return the severities of RB006 for the change of a native contract."""
    head = (
        "schemalint: 1\ntable: sales.orders\nprotocol: {allow_upgrade: true}\n"
        f"managed_by: {{tool: dbt, on_column_change: {follows}}}\nproperties: {json.dumps(PROPERTIES)}\n"
    )
    for columns in (OLD, new):
        lines = [f"  - {{name: {name}, type: '{type_}'}}\n" for name, type_ in columns.items()]
        gone = [name for name in OLD if name not in columns]
        gone += ["s.b"] if "b: INT" not in columns["s"] else []
        project.declare(f"{head}columns:\n{''.join(lines)}{f'dropped: {json.dumps(gone)}' if gone else ''}\n")
        if columns is OLD:
            project.repo.commit()
    report = json.loads(project.run("check", "--output-format", "json").out)
    return [finding["severity"] for finding in report["findings"] if finding["code"] == "RB006"]


@pytest.mark.dbt
def test_dbt_spark_still_writes_these_statements() -> None:
    dbt = os.environ.get("SCHEMALINT_DBT") or skip_or_fail("SCHEMALINT_DBT names no dbt")
    (macros,) = Path(dbt).parents[1].glob("lib/python*/site-packages/dbt/include/spark/macros")
    text = " ".join(" ".join(file.read_text("utf-8").split()) for file in sorted(macros.rglob("*.sql")))
    for part in (
        "alter table {{ relation }} alter column {{ column_name }} type {{ new_column_type }}",
        "alter {{ relation.type }} {{ relation }} {% if add_columns %} add columns {% endif %}",
        "' does not support dropping columns from tables'",
        "{% do persist_constraints(target_relation, model) %} {%- else -%} {#-- Relation must be merged --#}",
        "{% if constraint.type == 'check' and not is_incremental() %}",
        "insert into table {{ target_relation }} select {{dest_cols_csv}} from {{ source_relation }}",
        "{%- else %} * {% endif %} when not matched then insert *",
    ):
        assert part in text
