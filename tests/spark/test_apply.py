"""`apply` on real tables: each test declares, applies, and reads the log back."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint import deploy
from schemalint.delta.datatype import LONG, field_at, type_at
from schemalint.delta.path import Part
from schemalint.deploy import DeployInput, Deployment
from schemalint.deploy.outcome import Outcome
from schemalint.errors import UsageError
from schemalint.model.marker import read_marker
from schemalint.spark.runner import apply

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

CONTRACT = """\
schemalint: 1
table: sales.orders
description: One row per order.
columns:
  - {name: id, type: int, nullable: false, comment: "it's `quoted` ${HOME}"}
  - {name: amount, type: "decimal(10,2)"}
  - {name: lines, type: "array<struct<sku: string, qty: int>>"}
  - {name: scores, type: "map<string,int>"}
properties: {delta.enableTypeWidening: true, team: "a 'b' \\\\ c"}
"""


def test_creates_a_missing_table_and_records_it(lakehouse: Lakehouse) -> None:
    revision = lakehouse.declare(CONTRACT)

    applied = lakehouse.apply()

    table = lakehouse.table()
    assert (applied.outcome, applied.version) == (Outcome.APPLIED, table.version)
    assert [field.name for field in table.state.columns.fields] == ["id", "amount", "lines", "scores"]
    assert table.state.columns.fields[0].comment == "it's `quoted` ${HOME}"
    assert table.state.description == "One row per order."
    assert table.state.properties["team"] == "a 'b' \\ c"
    marker = read_marker(table)
    assert marker is not None
    assert (marker.revision, marker.table_id) == (revision, table.metadata.table_id)


def test_second_run_makes_no_commit(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    version = lakehouse.table().version

    again = lakehouse.apply()

    assert again.outcome is Outcome.NOTHING
    assert lakehouse.table().version == version


def test_widens_at_any_depth_adds_comments_and_loosens_in_place(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.session.sql(
        f"INSERT INTO delta.`{lakehouse.uri}` VALUES (1, 1.50, array(struct('a', 2)), map('k', 3))"
    )
    lakehouse.declare(
        CONTRACT.replace("decimal(10,2)", "decimal(12,4)")
        .replace("qty: int", "note: string comment 'free', qty: bigint, at: date")
        .replace("map<string,int>", "map<string,bigint>")
        .replace("nullable: false, comment:", "comment:")
        .replace("  - {name: amount", "  - {name: customer, type: string, comment: who}\n  - {name: amount")
    )

    applied = lakehouse.apply()

    columns = lakehouse.table().state.columns
    assert applied.outcome is Outcome.APPLIED
    assert [field.name for field in columns.fields] == ["id", "customer", "amount", "lines", "scores"]
    assert type_at(columns, ("lines", Part.ELEMENT, "qty")) == LONG
    assert type_at(columns, ("scores", Part.VALUE)) == LONG
    note = field_at(columns, ("lines", Part.ELEMENT, "note"))
    assert note is not None
    assert note.comment == "free"
    assert columns.fields[0].nullable
    row = lakehouse.session.sql(f"SELECT * FROM delta.`{lakehouse.uri}`").collect()[0]
    assert (row.id, str(row.amount), row.lines[0].qty, row.scores) == (1, "1.5000", 2, {"k": 3})
    assert lakehouse.apply().outcome is Outcome.NOTHING


def test_features_come_before_the_columns_that_need_them(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.declare(
        CONTRACT.replace("  - {name: amount", "  - {name: at, type: timestamp_ntz}\n  - {name: amount")
        + "features: [timestampNtz]\nprotocol: {allow_upgrade: true}\n"
    )

    assert lakehouse.apply().outcome is Outcome.APPLIED
    table = lakehouse.table()
    assert "timestampNtz" in table.protocol.features
    assert table.state.columns.get("at") is not None


def test_upgrade_of_the_protocol_needs_approval(lakehouse: Lakehouse) -> None:
    plain = CONTRACT.replace("delta.enableTypeWidening: true, ", "")
    lakehouse.declare(plain)
    lakehouse.apply()
    lakehouse.declare(CONTRACT)

    refused = lakehouse.apply()
    before = lakehouse.table()
    allowed = lakehouse.apply(allow=["upgrade"])

    assert refused.outcome is Outcome.REFUSED
    assert "typeWidening" not in before.protocol.features
    assert allowed.outcome is Outcome.APPLIED
    assert "typeWidening" in lakehouse.table().protocol.features


def test_narrowing_is_refused_and_nothing_of_that_table_is_done(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    version = lakehouse.table().version
    lakehouse.declare(CONTRACT.replace("type: int,", "type: smallint,").replace("One row", "A row"))

    assert lakehouse.apply().outcome is Outcome.REFUSED
    assert lakehouse.table().version == version


def test_what_is_not_declared_stays(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.sql("ADD COLUMNS (extra struct<a: int> COMMENT 'theirs')")
    lakehouse.sql("SET TBLPROPERTIES ('theirs' = 'yes')")
    lakehouse.declare(CONTRACT.replace("One row", "A row"))

    assert lakehouse.apply().outcome is Outcome.APPLIED
    state = lakehouse.table().state
    assert state.columns.get("extra") is not None
    assert state.properties["theirs"] == "yes"
    assert state.description == "A row per order."


def test_drift_stops_the_table_until_it_is_to_be_repaired(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.sql("ALTER COLUMN amount COMMENT 'somebody was here'")
    lakehouse.sql("SET TBLPROPERTIES ('team' = 'somebody')")
    lakehouse.declare(CONTRACT.replace("One row", "A row"))

    stopped = lakehouse.apply()
    repaired = lakehouse.apply(repair_drift=True)

    assert stopped.outcome is Outcome.REFUSED
    assert repaired.outcome is Outcome.APPLIED
    assert lakehouse.table().state.properties["team"] == "a 'b' \\ c"


def test_older_revision_is_not_applied_over_a_newer_one(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.declare(CONTRACT.replace("One row", "A row"))
    lakehouse.apply()

    old = lakehouse.apply(head="HEAD~1")
    told = lakehouse.apply(head="HEAD~1", allow_older=True)

    assert old.outcome is Outcome.REFUSED
    assert told.outcome is Outcome.APPLIED
    assert lakehouse.table().state.description == "One row per order."


def test_rewritten_history_is_known_by_the_declaration(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.repo.git(
        "commit", "--amend", "--quiet", "--message", "squashed", "--date", "2020-01-01T00:00:00"
    )
    lakehouse.repo.git("reflog", "expire", "--expire=now", "--all")
    lakehouse.repo.git("gc", "--quiet", "--prune=now")
    lakehouse.declare(CONTRACT.replace("One row", "A row"))

    assert lakehouse.apply().outcome is Outcome.APPLIED


def test_uncommitted_contract_is_not_applied_unless_told(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.repo.write("contracts/orders.yml", CONTRACT.replace("One row", "A row"))

    with pytest.raises(UsageError, match="not committed"):
        lakehouse.apply()
    assert lakehouse.apply(head="worktree").outcome is Outcome.APPLIED
    marker = read_marker(lakehouse.table())
    assert marker is not None
    assert marker.revision is None


def test_table_that_moves_between_plan_and_step_is_left_alone(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.declare(CONTRACT.replace("decimal(10,2)", "decimal(12,2)"))
    prepared = deploy.prepare

    def prepare_then_interfere(request: DeployInput) -> Deployment:
        deployment = prepared(request)
        lakehouse.sql("ALTER COLUMN amount TYPE decimal(14,2)")
        return deployment

    monkeypatch.setattr("schemalint.deploy.prepare", prepare_then_interfere)
    stopped = lakehouse.apply()

    assert stopped.outcome is Outcome.FAILED
    assert stopped.error is not None
    assert "moved since it was planned" in stopped.error.message
    assert "amount" in stopped.error.message


def test_every_commit_says_where_it_comes_from(lakehouse: Lakehouse) -> None:
    revision = lakehouse.declare(CONTRACT)
    lakehouse.apply()

    said = [json.loads(entry.user_metadata or "{}") for entry in lakehouse.table().history.entries]
    assert {one.get("revision") for one in said} == {revision}
    assert {one.get("contract") for one in said} == {"contracts/orders.yml"}


SEVERAL_STEPS = (
    CONTRACT.replace("decimal(10,2)", "decimal(12,4)")
    .replace('nullable: false, comment: "', 'comment: "now ')
    .replace("  - {name: amount", "  - {name: customer, type: string}\n  - {name: amount")
    .replace("One row", "A row")
)


@pytest.mark.parametrize("killed_after", range(6))
def test_killed_between_any_two_statements_and_run_again(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch, killed_after: int
) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.declare(SEVERAL_STEPS)
    statements: list[str] = []

    def run_until_killed(session: SparkSession, statement: str) -> None:
        if len(statements) == killed_after:
            raise KeyboardInterrupt
        statements.append(statement)
        session.sql(statement).collect()

    with monkeypatch.context() as killing:
        killing.setattr("schemalint.spark.table.run", run_until_killed)
        with contextlib.suppress(KeyboardInterrupt):
            lakehouse.apply()

    finished = lakehouse.apply()
    table = lakehouse.table()
    assert finished.outcome in (Outcome.APPLIED, Outcome.RECORDED, Outcome.NOTHING)
    assert [field.name for field in table.state.columns.fields][:2] == ["id", "customer"]
    assert table.state.columns.fields[0].nullable
    assert table.state.description == "A row per order."
    assert lakehouse.apply().outcome is Outcome.NOTHING


def test_engine_that_reports_success_and_does_nothing_is_not_believed(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.declare(CONTRACT.replace("decimal(10,2)", "decimal(12,4)"))
    monkeypatch.setattr("schemalint.spark.table.run", lambda _session, _statement: None)

    applied = lakehouse.apply()

    assert applied.outcome is Outcome.FAILED
    assert applied.error is not None
    assert "not as it should be" in applied.error.message


def test_names_and_texts_reach_the_table_as_they_are_written(lakehouse: Lakehouse) -> None:
    name = "a `b` 'c' ${d} -- ;"
    comment = "line one\nline two; DROP TABLE x -- '\\' ${HOME} \u00e9 \U0001f600"
    quoted_name, quoted = (json.dumps(text, ensure_ascii=False) for text in (name, comment))
    lakehouse.declare(
        "schemalint: 1\ntable: sales.orders\n"
        f"columns:\n  - {{name: {quoted_name}, type: int, comment: {quoted}}}\n"
        f"properties: {{delta.columnMapping.mode: name, odd: {quoted}}}\n"
    )

    assert lakehouse.apply().outcome is Outcome.APPLIED
    (field,) = lakehouse.table().state.columns.fields
    assert (field.name, field.comment) == (name, comment)
    assert lakehouse.table().state.properties["odd"] == comment


@pytest.mark.parametrize(
    ("key", "feature"),
    [("delta.enableRowTracking", "rowTracking"), ("delta.enableTypeWidening", "typeWidening")],
)
def test_feature_whose_drop_takes_its_property_off_is_not_dropped_beside_it(
    lakehouse: Lakehouse, key: str, feature: str
) -> None:
    """With `false` declared, the table would never be as declared: so it is refused, and `null` is not."""
    head = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: id, type: int}]\n"
    lakehouse.declare(f"{head}properties: {{{key}: true}}\n")
    lakehouse.apply()
    if feature == "typeWidening":  # its property goes only where there is a history of types to remove
        head = head.replace("type: int", "type: bigint")
        lakehouse.declare(f"{head}properties: {{{key}: true}}\n")
        lakehouse.apply()
    lakehouse.declare(f"{head}properties: {{{key}: false}}\ndrop_features: [{feature}]\n")

    assert lakehouse.apply(allow=["destructive"]).outcome is Outcome.REFUSED
    lakehouse.sql(f"SET TBLPROPERTIES ('{key}' = 'false')")
    lakehouse.sql(f"DROP FEATURE {feature}")
    assert key not in lakehouse.table().state.properties

    lakehouse.declare(f"{head}properties: {{{key}: null}}\ndrop_features: [{feature}]\n")
    assert lakehouse.apply(allow=["destructive"]).outcome is Outcome.RECORDED


@pytest.mark.parametrize(
    ("key", "feature"),
    [("delta.enableDeletionVectors", "deletionVectors"), ("delta.enableChangeDataFeed", "changeDataFeed")],
)
def test_first_statement_adds_what_a_legacy_table_lacks(lakehouse: Lakehouse, key: str, feature: str) -> None:
    log = Path(lakehouse.uri, "_delta_log")
    log.mkdir(parents=True)
    field = {"name": "id", "type": "integer", "nullable": True, "metadata": {}}
    metadata = {
        "id": "1",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": [field]}),
        "partitionColumns": [],
        "configuration": {key: "true"},
    }
    protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
    lines = ({"protocol": protocol}, {"metaData": metadata})
    (log / f"{0:020}.json").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    lakehouse.declare(
        "schemalint: 1\ntable: sales.orders\n"
        "columns: [{name: id, type: int, comment: new}]\nproperties: {team: x}\n"
    )

    applied = lakehouse.apply(allow=["upgrade"])

    assert [one.step.adds_features for one in applied.done] == [{feature}, set()]
    assert lakehouse.table().protocol.features == {"appendOnly", "invariants", feature}
    assert lakehouse.apply().outcome is Outcome.NOTHING


def test_table_that_cannot_be_planned_is_told_beside_the_others(lakehouse: Lakehouse) -> None:
    lakehouse.repo.write(
        "contracts/people.yml", "schemalint: 1\ntable: crm.people\ncolumns: [{name: a, type: int}]\n"
    )
    lakehouse.declare(CONTRACT)
    log = lakehouse.root / "crm/people/_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("{broken")

    results = {one.table: one for one in apply(lakehouse.session, lakehouse.repo.path)}

    assert results["sales.orders"].outcome is Outcome.APPLIED
    assert results["crm.people"].outcome is Outcome.UNPLANNED
    assert results["crm.people"].error is not None
