"""What an exception approves forbids no statement; what Delta cannot do waits for a rewrite."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, Final

import jsonschema
import pytest

from schemalint.cli.schema import schema_of
from schemalint.delta.datatype import LONG, STRING, Decimal, Field
from support.logs import commit_info, marker, metadata, protocol, write_log
from support.project import ORDERS
from support.review import CONTRACT, Review

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project, Run

MAPPING: Final = "properties: {delta.columnMapping.mode: name}\n"
BASE: Final = ORDERS + "  - {name: code, type: string, deprecated: {remove_after: 2999-12-31}}\n" + MAPPING
DROPPED: Final = ORDERS + MAPPING + "dropped: [code]\n"
NARROWED: Final = BASE.replace("decimal(10,2)", "decimal(8,2)")
EARLY: Final = "rule: CT003, column: code, from: string, reason: unused"
REWRITE: Final = (
    'rule: TW003, column: amount, from: "decimal(10,2)", to: "decimal(8,2)", via: rewrite, reason: small'
)


def allowing(contract: str, *entries: str) -> str:
    return contract + "allow:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)


class Lake:
    """A repository with a target, and its table as the base declares it."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project = project
        self.root = folder / "lake"
        project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{self.root}"\n')
        revision = self.commit(BASE)
        settings = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3"}
        fields = (
            Field("id", LONG, column_id=1, physical_name="p1"),
            Field("amount", Decimal(10, 2), column_id=2, physical_name="p2"),
            Field("code", STRING, column_id=3, physical_name="p3"),
        )
        first = [commit_info("CREATE TABLE"), protocol(2, 5), metadata(*fields, configuration=settings)]
        write_log(self.root / "sales/orders", [first, [commit_info(), marker(BASE, revision)]])

    def commit(self, contract: str) -> str:
        self.project.declare(contract)
        return self.project.repo.commit()

    def plan(self, *options: str) -> tuple[Run, dict[str, Any]]:
        run = self.project.run("plan", "--all", "--output-format", "json", *options)
        (table,) = json.loads(run.out)["tables"]
        return run, table


@pytest.fixture
def lake(project: Project, tmp_path: Path) -> Lake:
    return Lake(project, tmp_path)


def kinds(table: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(refusal["kind"], refusal["code"]) for refusal in table["refusals"]]


@pytest.mark.parametrize(
    ("contract", "status", "expected"),
    [
        (DROPPED, 1, [("rule", "CT003")]),
        (allowing(DROPPED, EARLY), 0, []),
        (allowing(DROPPED, f"{EARLY}, expires: 2020-01-01"), 1, [("rule", "CT003")]),
        (allowing(DROPPED, EARLY.replace("string", "int")), 1, [("rule", "CT003")]),
        (NARROWED, 1, [("rule", "TW003")]),
        (allowing(NARROWED, REWRITE), 4, [("rewrite", "TW003")]),
        (allowing(NARROWED, REWRITE.replace("via: rewrite, ", "")), 1, [("rule", "TW003")]),
    ],
    ids=["broken", "approved", "expired", "another-change", "impossible", "rewritten", "no-way-out"],
)
def test_a_plan_goes_on_where_only_a_promise_breaks(
    lake: Lake, contract: str, status: int, expected: list[tuple[str, str]]
) -> None:
    lake.commit(contract)
    run, table = lake.plan()
    assert (run.status, kinds(table), bool(table["steps"])) == (status, expected, not expected)


def test_a_table_that_waits_for_a_rewrite_is_green_in_the_check(lake: Lake) -> None:
    """Before the merge, and after it with the live table too."""
    lake.project.declare(allowing(NARROWED, REWRITE))
    assert lake.project.check().status == 0
    lake.project.repo.commit()
    assert lake.project.check("--all", "--live").status == 0
    text = lake.project.run("plan", "--all").out
    assert "waits for a rewrite" in text
    assert "(approved: small)" in text


def test_an_exception_counts_until_its_change_is_applied(lake: Lake) -> None:
    """A later revision has removed it from the contract."""
    lake.commit(allowing(DROPPED, EARLY))
    lake.commit(DROPPED)
    run, table = lake.plan()
    assert (run.status, kinds(table)) == (0, [])


def test_exceptions_outside_of_the_contract_count_in_plans(lake: Lake) -> None:
    entry = f"schemalint_exceptions: 1\nexceptions:\n  - {{table: sales.orders, {EARLY}}}\n"
    lake.project.repo.write("exceptions.yaml", entry)
    lake.commit(DROPPED)
    assert lake.plan()[0].status == 0
    lake.project.repo.write("exceptions.yaml", entry.replace("sales.orders", "sales.others"))
    lake.project.repo.commit()
    assert lake.plan()[0].status == 1


@pytest.mark.parametrize(("source", "status"), [(1, 0), (2, 1)], ids=["ours", "fork"])
def test_the_plan_of_a_fork_has_no_exceptions_of_its_own(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: int, status: int
) -> None:
    review = Review(lake.project, monkeypatch, tmp_path)
    _run = review.check(
        {CONTRACT: BASE},
        {CONTRACT: allowing(DROPPED, EARLY)},
        repositories={"base": {"id": 1}, "head": {"id": source}},
    )
    assert lake.plan()[0].status == status


@pytest.mark.parametrize("style", ["text", "markdown", "sql"])
def test_a_table_that_waits_for_a_rewrite_shows_the_ways_with_what_the_live_table_tells(
    lake: Lake, style: str
) -> None:
    checksum = lake.root / "sales/orders/_delta_log" / f"{1:020}.crc"
    checksum.write_text('{"tableSizeBytes": 1234567}', "utf-8")
    lake.commit(allowing(NARROWED, REWRITE))
    out = html.unescape(lake.project.run("plan", "--all", "--output-format", style).out)
    (overwrite,) = [line for line in out.splitlines() if "way out: overwrite the table" in line]
    assert "rewrites 1,234,567 bytes; RESTORE until " in overwrite.replace(
        "bytes, ", "bytes; "
    )  # a comment of SQL has no semicolon


def test_the_json_of_a_plan_has_the_ways_of_a_refused_table(lake: Lake) -> None:
    lake.commit(NARROWED)
    run, table = lake.plan()
    jsonschema.validate(json.loads(run.out), schema_of("plan"))
    (refusal,) = table["refusals"]
    assert [way["way"] for way in refusal["ways"]] == ["column", "overwrite", "replace"]
    assert {way["loses"] != [] for way in refusal["ways"] if way["way"] == "replace"} == {True}
    lake.commit(DROPPED)
    assert [each["ways"] for each in lake.plan()[1]["refusals"]] == [[]]
