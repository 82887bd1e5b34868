"""Rules judge a live table by its log: the findings' locations, superseded commits, refusals of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint import contract as contracts
from schemalint.base.errors import Location
from schemalint.delta.history import HistoryStep
from schemalint.delta.schema_history import live_steps
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract
from schemalint.model.finding import Severity
from schemalint.plugin import Problem, RuleContext, rule
from schemalint.tables.storage import read_table
from support.judging import judge_live, judge_table, live_case, refused_by_spark
from support.rule_judging import built_in
from support.short_logs import logged_table

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = tuple(built_in().values())
WRITTEN = Path(__file__).parents[1] / "delta_log/logs"
ABOUT_LOGS = ("TH", "PF010", "PF013", "PF016", "CM005", "DR")
"""Rules that never report a log written by Spark."""

LEGACY = "protocol: {minReaderVersion: 1, minWriterVersion: 2}"
UNRECORDED = f"""\
- commitInfo: {{operation: CREATE TABLE}}
  {LEGACY}
  metaData: {{fields: [{{name: id, type: integer}}]}}
- commitInfo: {{operation: WRITE}}
  add: {{path: part-0.parquet}}
- commitInfo: {{operation: SET TBLPROPERTIES}}
  metaData: {{fields: [{{name: id, type: long}}]}}
"""
REFUSED = """\
- protocol: {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [], writerFeatures: []}
  metaData: {fields: [{name: id, type: long}], configuration: {delta.enableTypeWidening: "true"}}
"""
ORDERS = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: bigint}\n"


@pytest.mark.parametrize("log", sorted(path.name for path in WRITTEN.iterdir() if path.is_dir()))
def test_log_written_by_spark_gives_no_error(log: str) -> None:
    """Spark widened, overwrote, restored, dropped and mapped these tables; all of it is valid."""
    findings = judge_table(read_table(str(WRITTEN / log)), RULES)
    messages = [
        (finding.code, finding.message) for finding in findings if finding.code.startswith(ABOUT_LOGS)
    ]
    assert not [finding for finding in findings if finding.severity >= Severity.ERROR], messages


def test_finding_without_a_contract_is_located_at_its_commit_or_table(tmp_path: Path) -> None:
    unrecorded, refused = tmp_path / "unrecorded", tmp_path / "refused"
    (of_history,) = judge_table(logged_table(UNRECORDED, unrecorded), RULES, name="sales.orders")
    assert (of_history.code, of_history.table, of_history.against) == ("TH001", "sales.orders", ("history",))
    assert of_history.location == Location(f"{unrecorded}/_delta_log/{2:020}.json")
    (table_findings,) = judge_table(logged_table(REFUSED, refused), RULES)
    assert (table_findings.code, table_findings.table, table_findings.against) == (
        "PF010",
        str(refused),
        ("live",),
    )
    assert table_findings.location == Location(str(refused))


def test_finding_with_a_contract_is_located_at_its_column(tmp_path: Path) -> None:
    (finding,) = judge_table(logged_table(UNRECORDED, tmp_path), RULES, contract=_declared())
    assert (finding.location.file, finding.location.line) == ("orders.yaml", 4)


def test_only_findings_that_make_spark_refuse_the_table_refuse_a_plan(tmp_path: Path) -> None:
    assert not refused_by_spark(_declared(), logged_table(UNRECORDED, tmp_path / "unrecorded"), RULES)
    (finding,) = refused_by_spark(_declared(), logged_table(REFUSED, tmp_path / "refused"), RULES)
    assert finding.delta_error == "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"


STATED = """\
- protocol: {minReaderVersion: 1, minWriterVersion: 3}
  metaData: {fields: [{name: id, type: long}], configuration: {CONFIGURATION}}
"""


@pytest.mark.parametrize(
    ("configuration", "declared", "code"),
    [
        ('delta.appendOnly: "yes"', 'properties: {delta.appendOnly: "yes"}', "TP002"),
        ('delta.constraints.c: "(id > 0"', 'constraints: {c: "(id > 0"}', "NC019"),
        ('delta.constraints.c: "rand() > 0"', 'constraints: {c: "rand() > 0"}', "NC020"),
        ('delta.constraints.c: "gone > 0"', 'constraints: {c: "gone > 0"}', "NC012"),
    ],
)
def test_what_the_contract_and_its_table_both_have_is_one_finding(
    configuration: str, declared: str, code: str, tmp_path: Path
) -> None:
    (contract,) = contracts.read("orders.yaml", ORDERS + declared).contracts
    table = logged_table(STATED.replace("CONFIGURATION", configuration), tmp_path)
    findings = judge_live(live_case(contract, table), RULES)
    assert [finding.code for finding in findings] == [code]


def test_history_steps_have_the_state_before_them(tmp_path: Path) -> None:
    first, second = live_steps(logged_table(UNRECORDED, tmp_path).history)
    assert (first.before, first.protocol_before) == (None, None)
    assert second.before == first.entry.metadata
    assert second.protocol_before == first.entry.protocol
    assert second.title == "version 2 (SET TBLPROPERTIES, 2026-03-01 10:00:00 UTC)"


REPLACED = """\
- commitInfo: {operation: REPLACE TABLE}
  metaData: {fields: [{name: other, type: string}]}
  remove: {path: part-0.parquet}
"""
RESTORED = """\
- commitInfo: {operation: RESTORE}
  metaData: {fields: [{name: id, type: long}]}
  add: {path: part-0.parquet}
"""
UNDONE = "- commitInfo: {operation: WRITE}\n  metaData: {fields: [{name: id, type: integer}]}\n"


@pytest.mark.parametrize(
    ("log", "superseded"),
    [
        (UNRECORDED, [True, False]),
        (UNRECORDED + REPLACED, [True, True, True]),
        (UNRECORDED + REPLACED + RESTORED, [True, False, True, True]),
        (UNRECORDED + UNDONE, [True, True, True]),
        (UNRECORDED.replace("add:", "remove:"), [True, True]),
    ],
    ids=["a file is older", "replaced", "restored since", "undone", "no files"],
)
def test_steps_that_no_live_file_suffers_from_are_superseded(
    log: str, superseded: list[bool], tmp_path: Path
) -> None:
    assert [step.superseded for step in live_steps(logged_table(log, tmp_path).history)] == superseded


def test_valid_table_gives_no_findings(tmp_path: Path) -> None:
    table: LiveTable = logged_table(UNRECORDED.replace("long", "integer"), tmp_path)
    assert judge_table(table, RULES) == ()


def _declared() -> Contract:
    (declared,) = contracts.read("orders.yaml", ORDERS).contracts
    return declared


@rule("ZZ001", on=HistoryStep, severity=Severity.ERROR)
def commit_made(_step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit was made."""
    yield Problem("a commit was made", delta_error="SOME_ERROR")


def test_findings_on_the_history_never_refuse_a_plan(tmp_path: Path) -> None:
    """Even if a third-party rule reports an error class of Delta."""
    table = logged_table(UNRECORDED, tmp_path)
    own_rules = (commit_made.schemalint_rule,)  # type: ignore[attr-defined]
    assert judge_table(table, own_rules)
    assert not refused_by_spark(_declared(), table, own_rules)
