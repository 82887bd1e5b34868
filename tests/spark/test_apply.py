"""`apply` on real tables: each test commits a contract, applies it, and reads the log."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import UsageError, WaitingError
from schemalint.cli._options import PENDING
from schemalint.delta.datatype import LONG, field_at, type_at
from schemalint.delta.path import Part
from schemalint.deploy import prepare as deployments
from schemalint.deploy.deploy_input import DeployInput, Deployment
from schemalint.deploy.results import Outcome
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


def test_what_a_killed_create_leaves_is_named_and_must_be_removed(lakehouse: Lakehouse) -> None:
    """Delta takes a folder `_delta_log` without commits for a table, and refuses the CREATE."""
    lakehouse.declare("schemalint: 1\ntable: sales.orders\ncolumns: [{name: id, type: int}]\n")
    planned = lakehouse.plan()
    log = Path(lakehouse.uri, "_delta_log")
    log.mkdir(parents=True)

    (refused,) = lakehouse.go_on(planned)
    assert lakehouse.apply().outcome is Outcome.REFUSED

    assert refused.error is not None
    assert f"{log} has no commits" in refused.error.message
    assert "remove the folder" in refused.error.help
    log.rmdir()
    assert lakehouse.apply().outcome is Outcome.APPLIED


@pytest.mark.each_time
def test_missing_table_is_created_with_a_marker(lakehouse: Lakehouse) -> None:
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
    assert marker.revision == revision


def test_second_run_adds_no_commit_to_the_log(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    version = lakehouse.table().version

    second = lakehouse.apply()

    assert second.outcome is Outcome.NOTHING
    assert lakehouse.table().version == version


@pytest.mark.each_time
def test_types_comments_and_nullability_change_in_place_and_rows_stay(lakehouse: Lakehouse) -> None:
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


def test_declared_feature_and_column_that_needs_it_are_applied_together(lakehouse: Lakehouse) -> None:
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


@pytest.mark.each_time
def test_protocol_upgrade_is_refused_without_approval(lakehouse: Lakehouse) -> None:
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


@pytest.mark.each_time
def test_narrowing_is_refused_and_the_table_stays_unchanged(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    version = lakehouse.table().version
    lakehouse.declare(CONTRACT.replace("type: int,", "type: smallint,").replace("One row", "A row"))

    assert lakehouse.apply().outcome is Outcome.REFUSED
    assert lakehouse.table().version == version


def test_undeclared_column_and_property_stay(lakehouse: Lakehouse) -> None:
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


@pytest.mark.each_time
def test_drift_is_refused_without_repair_drift_and_then_overwritten(lakehouse: Lakehouse) -> None:
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


def test_older_revision_is_refused_without_allow_older(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.declare(CONTRACT.replace("One row", "A row"))
    lakehouse.apply()

    refused = lakehouse.apply(head="HEAD~1")
    allowed = lakehouse.apply(head="HEAD~1", allow_older=True)

    assert refused.outcome is Outcome.REFUSED
    assert allowed.outcome is Outcome.APPLIED
    assert lakehouse.table().state.description == "One row per order."


def test_table_of_a_rewritten_commit_is_recognized_by_the_declaration_hash(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.repo.git(
        "commit", "--amend", "--quiet", "--message", "squashed", "--date", "2020-01-01T00:00:00"
    )
    lakehouse.repo.git("reflog", "expire", "--expire=now", "--all")
    lakehouse.repo.git("gc", "--quiet", "--prune=now")
    lakehouse.declare(CONTRACT.replace("One row", "A row"))

    assert lakehouse.apply().outcome is Outcome.APPLIED


@pytest.mark.each_time
def test_uncommitted_contract_is_applied_only_with_head_worktree(lakehouse: Lakehouse) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.repo.write("contracts/orders.yml", CONTRACT.replace("One row", "A row"))

    with pytest.raises(UsageError, match="uncommitted changes"):
        lakehouse.apply()
    assert lakehouse.apply(head="worktree").outcome is Outcome.APPLIED
    marker = read_marker(lakehouse.table())
    assert marker is not None
    assert marker.revision is None


@pytest.mark.each_time
def test_table_changed_between_plan_and_first_step_is_not_altered(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.declare(CONTRACT.replace("decimal(10,2)", "decimal(12,2)"))
    prepare = deployments.prepare

    def prepare_then_interfere(request: DeployInput) -> Deployment:
        deployment = prepare(request)
        lakehouse.sql("ALTER COLUMN amount TYPE decimal(14,2)")
        return deployment

    monkeypatch.setattr("schemalint.deploy.prepare.prepare", prepare_then_interfere)
    stopped = lakehouse.apply()

    assert stopped.outcome is Outcome.FAILED
    assert stopped.error is not None
    assert "changed since it was planned" in stopped.error.message
    assert "amount" in stopped.error.message


def test_every_commit_names_its_revision_and_contract(lakehouse: Lakehouse) -> None:
    revision = lakehouse.declare(CONTRACT)
    lakehouse.apply()

    commits = [json.loads(entry.user_metadata or "{}") for entry in lakehouse.table().history.entries]
    assert {metadata.get("revision") for metadata in commits} == {revision}
    assert {metadata.get("contract") for metadata in commits} == {"contracts/orders.yml"}


SEVERAL_STEPS = (
    CONTRACT.replace("decimal(10,2)", "decimal(12,4)")
    .replace('nullable: false, comment: "', 'comment: "now ')
    .replace("  - {name: amount", "  - {name: customer, type: string}\n  - {name: amount")
    .replace("One row", "A row")
)


@pytest.mark.parametrize(
    "killed_after", [3, *(pytest.param(number, marks=pytest.mark.kill) for number in (0, 1, 2, 4, 5))]
)
def test_run_killed_between_two_statements_is_finished_by_the_next(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch, killed_after: int
) -> None:
    """A part of the plan, or all of it, is done when the process ends."""
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
        killing.setattr("schemalint.spark.table_run.run", run_until_killed)
        with contextlib.suppress(KeyboardInterrupt):
            lakehouse.apply()

    finished = lakehouse.apply()
    table = lakehouse.table()
    assert finished.outcome in (Outcome.APPLIED, Outcome.RECORDED, Outcome.NOTHING)
    assert [field.name for field in table.state.columns.fields][:2] == ["id", "customer"]
    assert table.state.columns.fields[0].nullable
    assert table.state.description == "A row per order."
    assert lakehouse.apply().outcome is Outcome.NOTHING


@pytest.mark.each_time
def test_success_without_effect_fails_the_run(lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    lakehouse.declare(CONTRACT)
    lakehouse.apply()
    lakehouse.declare(CONTRACT.replace("decimal(10,2)", "decimal(12,4)"))
    monkeypatch.setattr("schemalint.spark.table_run.run", lambda _session, _statement: None)

    applied = lakehouse.apply()

    assert applied.outcome is Outcome.FAILED
    assert applied.error is not None
    assert "not as it should be" in applied.error.message


def test_special_characters_in_names_and_texts_are_stored_unchanged(lakehouse: Lakehouse) -> None:
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
def test_feature_drop_that_removes_a_declared_property_is_refused(
    lakehouse: Lakehouse, key: str, feature: str
) -> None:
    """A declared `false` could never hold, because the drop removes the property; `null` can."""
    head = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: id, type: int}]\n"
    lakehouse.declare(f"{head}properties: {{{key}: true}}\n")
    lakehouse.apply()
    if feature == "typeWidening":  # the drop removes its property only if the table has type changes
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


def test_checkpoint_policy_is_removed_together_with_its_feature(lakehouse: Lakehouse) -> None:
    """The drop itself sets the policy if the newest checkpoint is a V2 one, even right after an UNSET."""
    head = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: id, type: int}]\n"
    lakehouse.declare(f"{head}properties: {{delta.checkpointPolicy: v2, delta.checkpointInterval: 3}}\n")
    lakehouse.apply()
    lakehouse.insert("(1)")
    lakehouse.insert("(2)")
    assert list(Path(lakehouse.uri, "_delta_log").glob("*03.checkpoint.*.json"))
    lakehouse.declare(f"{head}properties: {{delta.checkpointPolicy: null}}\ndrop_features: [v2Checkpoint]\n")

    applied = lakehouse.apply(allow=["destructive"])

    assert (applied.outcome, applied.error) == (Outcome.APPLIED, None)
    table = lakehouse.table()
    assert "delta.checkpointPolicy" not in table.state.properties
    assert "v2Checkpoint" not in table.protocol.features
    assert lakehouse.apply().outcome is Outcome.NOTHING
    assert len(lakehouse.rows()) == 2


def test_deletion_vectors_are_removed_together_with_their_feature(lakehouse: Lakehouse) -> None:
    """The drop unsets the property only where it is true, so a declared `false` holds."""
    head = "schemalint: 1\ntable: sales.orders\ncolumns: [{name: id, type: int}]\n"
    lakehouse.declare(f"{head}properties: {{delta.enableDeletionVectors: true}}\n")
    lakehouse.apply()
    lakehouse.session.sql(f"INSERT INTO delta.`{lakehouse.uri}` SELECT id FROM range(0, 100, 1, 1)")
    lakehouse.session.sql(f"DELETE FROM delta.`{lakehouse.uri}` WHERE id = 5")
    assert list(Path(lakehouse.uri).glob("deletion_vector_*.bin"))
    lakehouse.declare(
        f"{head}properties: {{delta.enableDeletionVectors: false}}\ndrop_features: [deletionVectors]\n"
    )

    assert lakehouse.apply(allow=["destructive"]).outcome is Outcome.APPLIED

    table = lakehouse.table()
    assert table.state.properties["delta.enableDeletionVectors"] == "false"
    assert "deletionVectors" not in table.protocol.features
    assert lakehouse.apply().outcome is Outcome.NOTHING
    assert len(lakehouse.rows()) == 99


def test_feature_in_the_history_waits_for_the_retention_period(lakehouse: Lakehouse) -> None:
    """The first run removes the traces of the feature and does the rest; a later run drops it."""
    head = "schemalint: 1\ntable: sales.orders\n"
    lakehouse.declare(
        f"{head}columns: [{{name: id, type: int}}]\nclustered_by: [id]\n"
        "properties: {delta.enableTypeWidening: true, delta.columnMapping.mode: name}\n"
    )
    lakehouse.apply()
    lakehouse.insert("(1)")
    lakehouse.sql("ALTER COLUMN id TYPE BIGINT")
    lakehouse.declare(
        f"{head}columns: [{{name: id, type: bigint}}]\nclustered_by: [id]\n"
        "properties: {delta.enableTypeWidening: null, delta.columnMapping.mode: null}\n"
        "drop_features:\n"
        "  - {feature: columnMapping, truncate_history: true}\n"
        "  - {feature: typeWidening, truncate_history: true}\n"
    )

    first = lakehouse.apply(allow=["destructive"], repair_drift=True)
    assert (first.outcome, type(first.error), first.version) == (
        Outcome.WAITING,
        WaitingError,
        lakehouse.table().version,
    )
    assert first.error is not None
    assert first.error.exit_status == PENDING
    assert "columnMapping, typeWidening" in first.error.message
    table = lakehouse.table()
    assert {"columnMapping", "typeWidening"} <= table.protocol.features
    assert table.state.clustered_by == (("id",),)
    assert not table.state.columns.fields[0].type_changes

    two_days_ago = time.time() - 2 * 24 * 3600
    for number, file in enumerate(sorted(Path(lakehouse.uri, "_delta_log").glob("[0-9]*"))):
        os.utime(file, (two_days_ago + number, two_days_ago + number))
    assert lakehouse.apply(allow=["destructive"]).outcome is Outcome.APPLIED
    assert lakehouse.table().protocol.features.isdisjoint(
        {"columnMapping", "typeWidening", "checkpointProtection"}
    )
    assert lakehouse.apply().outcome is Outcome.NOTHING


@pytest.mark.each_time("delta.enableDeletionVectors-deletionVectors")
@pytest.mark.parametrize(
    ("key", "feature"),
    [("delta.enableDeletionVectors", "deletionVectors"), ("delta.enableChangeDataFeed", "changeDataFeed")],
)
def test_first_statement_adds_the_feature_that_a_legacy_table_lacks(
    lakehouse: Lakehouse, key: str, feature: str
) -> None:
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
    (log / f"{0:020}.json").write_text("".join(f"{json.dumps(action)}\n" for action in lines))
    lakehouse.declare(
        "schemalint: 1\ntable: sales.orders\n"
        "columns: [{name: id, type: int, comment: new}]\nproperties: {team: x}\n"
    )

    applied = lakehouse.apply(allow=["upgrade"])

    assert [done.step.adds_features for done in applied.done] == [{feature}, set()]
    assert lakehouse.table().protocol.features == {"appendOnly", "invariants", feature}
    assert lakehouse.apply().outcome is Outcome.NOTHING


def test_unreadable_table_is_reported_and_the_others_are_applied(lakehouse: Lakehouse) -> None:
    lakehouse.repo.write(
        "contracts/people.yml", "schemalint: 1\ntable: crm.people\ncolumns: [{name: a, type: int}]\n"
    )
    lakehouse.declare(CONTRACT)
    log = lakehouse.root / "crm/people/_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("{broken")

    results = {result.table: result for result in apply(lakehouse.session, lakehouse.repo.path)}

    assert results["sales.orders"].outcome is Outcome.APPLIED
    assert results["crm.people"].outcome is Outcome.UNPLANNED
    assert results["crm.people"].error is not None
