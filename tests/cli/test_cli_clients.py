"""Declared clients in `check` and `plan`, and the client table as a command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schemalint import contract as contracts
from schemalint.config import parse
from schemalint.lint.consumers import with_consumers
from schemalint.lint.gate import gate_between

if TYPE_CHECKING:
    from support.project import Project

ORDERS = """\
schemalint: 1
table: sales.{name}
columns:
  - {{name: id, type: bigint}}
consumers: [{consumers}]
"""
ML = '{name: ml, client: deltalake, version: "1.6.6", read_path: pyarrow, owner: "@ml"}'
NEW = "{name: dashboards, client: power-bi, read_path: direct-lake}"
VECTORS = "properties: {delta.enableDeletionVectors: true}\nprotocol: {allow_upgrade: true}\n"
ROW = """\
[[clients]]
client = "power-bi"
feature = "deletionVectors"
verdict = "VERDICT"
evidence = {run = "our own reports"}
as_of = "2026-11-20"
"""


def _declare(project: Project, consumers: str, more: str = "", *names: str) -> None:
    for name in names or ("orders",):
        project.declare(ORDERS.format(name=name, consumers=consumers) + more, f"contracts/{name}.yml")


def _json(project: Project, *arguments: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(project.run("check", "--output-format", "json", *arguments).out)
    return loaded


def test_check_says_what_each_client_does_before_and_after(project: Project) -> None:
    _declare(project, f"{ML}, {{name: etl}}")
    project.repo.commit()
    _declare(project, f"{ML}, {{name: etl}}", VECTORS)
    assert _json(project)["clients"] == [
        {
            "table": "sales.orders",
            "consumer": "ml",
            "client": "deltalake",
            "version": "1.6.6",
            "before": "ok",
            "after": "refuses",
            "because": "feature deletionVectors",
        }
    ]


def test_an_unknown_client_is_one_line_for_all_tables_and_features(project: Project) -> None:
    _declare(project, NEW, "", "orders", "lines", "items")
    project.repo.commit()
    _declare(project, NEW, VECTORS + "features: [v2Checkpoint]\n", "orders", "lines", "items")
    found = [finding for finding in _json(project)["findings"] if finding["code"] == "RD006"]
    assert [finding["severity"] for finding in found] == ["info"]
    for name in ("sales.orders", "sales.lines", "sales.items", "deletionVectors", "v2Checkpoint"):
        assert name in found[0]["message"]


def test_a_row_of_the_configuration_decides_before_the_shipped_ones(project: Project) -> None:
    project.repo.write("schemalint.toml", ROW.replace("VERDICT", "refuses"))
    _declare(project, NEW)
    project.repo.commit()
    _declare(project, NEW, VECTORS)
    assert "RD015" in project.check().codes


def test_a_change_cannot_bring_the_row_that_lets_it_pass() -> None:
    """Of the configurations that decide a review, the base's gives the rows."""
    base, head = (parse("schemalint.toml", ROW.replace("VERDICT", word).encode()) for word in ("wrong", "ok"))
    read = contracts.read("orders.yml", ORDERS.format(name="orders", consumers=NEW))
    declared = with_consumers(read.contracts[0], *gate_between(base, head).deciding)
    assert declared.client_rows == base.clients


def test_a_faulty_row_is_an_error_with_its_number(project: Project) -> None:
    project.repo.write("schemalint.toml", ROW.replace("VERDICT", "ok") + 'versions = "new"\n')
    _declare(project, NEW)
    result = project.check()
    assert result.status == 2
    assert "row 1" in result.out + result.err
