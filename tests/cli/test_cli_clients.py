"""Declared clients in `check` and `plan`, and the client table as a command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from schemalint import contract as contracts
from schemalint.cli.schema import schema_of
from schemalint.clients.client_table import client_names
from schemalint.contract.consumers import with_consumers
from schemalint.delta.datatype import INTEGER, Field
from schemalint.project.config import parse
from schemalint.review.loosened_settings import deciding_between
from support.logs import commit_info, metadata, protocol, write_log

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


def test_a_type_change_is_named_with_precision_and_scale(project: Project) -> None:
    """The rows of the client table know none: they speak of `decimal -> decimal`."""
    row = ROW.replace("VERDICT", "refuses").replace("feature =", "type_change =")
    knows = ROW.replace("VERDICT", "ok").replace("deletionVectors", "typeWidening")
    project.repo.write("schemalint.toml", knows + row.replace("deletionVectors", "decimal -> decimal"))
    amount, widening = "columns: [{name: amount, type: ", "properties: {delta.enableTypeWidening: true}\n"
    for type_ in ("decimal(10,2)", "decimal(12,2)"):
        text = f"schemalint: 1\ntable: sales.orders\n{amount}'{type_}'}}]\nconsumers: [{NEW}]\n{widening}"
        project.declare(text + "protocol: {allow_upgrade: true}\n")
        if type_ == "decimal(10,2)":
            project.repo.commit()
    (client,) = _json(project)["clients"]
    assert client["because"] == "type change decimal(10,2) -> decimal(12,2)"


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
    _declare(project, NEW, VECTORS + "features: [v2Checkpoint]\n")
    codes = project.check().codes
    assert "RD015" in codes
    assert "RD006" not in codes


def test_a_change_cannot_bring_the_row_that_lets_it_pass() -> None:
    """Of the configurations that decide a review, the base's gives the rows."""
    base, head = (parse("schemalint.toml", ROW.replace("VERDICT", word).encode()) for word in ("wrong", "ok"))
    read = contracts.read("orders.yml", ORDERS.format(name="orders", consumers=NEW))
    declared = with_consumers(read.contracts[0], base, head)
    assert deciding_between(base, head) == (base,)
    assert declared.client_rows == base.clients


def test_a_faulty_row_is_an_error_with_its_number(project: Project) -> None:
    project.repo.write("schemalint.toml", ROW.replace("VERDICT", "ok") + 'versions = "new"\n')
    _declare(project, NEW)
    result = project.check()
    assert result.status == 2
    assert "row 1" in result.out + result.err


def _table(project: Project, protocol: dict[str, Any], properties: dict[str, str]) -> str:
    """Write the log of an empty table, and return its folder."""
    schema = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}'
    metadata = {
        "id": "8a3c5a1e-2f6a-4c4e-9d43-0c8c1f0f7a11",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema,
        "partitionColumns": [],
        "configuration": properties,
    }
    actions = ({"protocol": protocol}, {"metaData": metadata})
    log = "".join(json.dumps(action) + "\n" for action in actions)
    return str(project.repo.write("lake/sales/orders/_delta_log/00000000000000000000.json", log).parents[1])


_PLAIN = {"minReaderVersion": 1, "minWriterVersion": 2}
_WITH_VECTORS = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": ["appendOnly", "deletionVectors", "invariants"],
}
_TARGET = '[targets.dev]\nroot = "lake"\n'


def test_the_matrix_has_a_line_for_each_client(project: Project) -> None:
    result = project.run("clients")
    lines = {line.split("  ")[0]: line.split() for line in result.out.splitlines()}
    assert lines["deltalake 1.6.6 pyarrow"][3:5] == ["wrong", "refuses"]
    assert {name.split()[0] for name in lines} == {"client", *client_names()}
    assert project.run("clients", "--output-format", "markdown", "polars").out.count("\n") == 3


def test_a_named_client_gets_its_rows_with_evidence_the_users_first(project: Project) -> None:
    project.repo.write("schemalint.toml", ROW.replace("VERDICT", "wrong"))
    first, second, *_ = project.run("clients", "power-bi").out.splitlines()
    assert first.startswith("power-bi: ")
    assert second.split()[:2] == ["wrong", "read"]
    assert "[run, 2026-11-20] our own reports" in second

    (found,) = json.loads(project.run("clients", "power-bi", "--output-format", "json").out)["clients"]
    assert found["rows"][0]["verdict"] == "wrong"
    assert found["rows"][1]["as_of"]


def test_an_unknown_client_is_refused_with_the_nearest_name(project: Project) -> None:
    result = project.run("clients", "trinoo")
    assert result.status == 2
    assert "did you mean 'trino'?" in result.err


def test_a_table_says_who_reads_it_today_and_after_its_contract(project: Project) -> None:
    project.repo.write("schemalint.toml", _TARGET)
    _declare(project, ML, VECTORS)
    _table(project, _PLAIN, {})

    today = json.loads(_clients(project, "--output-format", "json"))["clients"]
    ml, polars = (next(found for found in today if found["consumer"] == name) for name in ("ml", "polars"))
    assert (ml["before"], ml["after"], polars["after"]) == ("ok", "ok", "ok")

    planned = _clients(project, "--plan").splitlines()
    assert planned[0] == "sales.orders, version 0: reader 1, writer 2"
    assert "  ml (deltalake 1.6.6, pyarrow, @ml): ok, then refuses: feature deletionVectors" in planned
    assert "  polars (polars 2.1.0): ok" in planned


def test_a_planned_table_has_its_columns_under_their_new_names(project: Project) -> None:
    """The column was renamed in one revision and widened in the next, and neither is applied yet."""
    project.repo.write("schemalint.toml", _TARGET)
    features = {"delta.columnMapping.mode": "name", "delta.enableTypeWidening": "true"}
    declared = "".join(f"  {key}: {value}\n" for key, value in features.items())
    dashboards = '{name: dashboards, client: trino, version: "481"}'
    text = ORDERS.format(name="orders", consumers=dashboards) + f"properties:\n{declared}"
    project.declare(text.replace("type: bigint", "type: int"))
    project.repo.commit()
    column = Field("id", INTEGER, column_id=1, physical_name="col-0")
    supported = protocol(3, 7, ["columnMapping", "typeWidening"], ["columnMapping", "typeWidening"])
    table = metadata(column, properties={**features, "delta.columnMapping.maxColumnId": "1"})
    lake = project.repo.path / "lake/sales/orders"
    write_log(lake, [[commit_info("CREATE TABLE"), supported, table]])
    project.declare(text.replace("name: id, type: bigint", "name: key, type: int, renamed_from: id"))
    project.repo.commit()
    project.declare(text.replace("name: id", "name: key"))
    assert "  dashboards (trino 481): ok, then wrong: type change int -> bigint" in _clients(
        project, "--plan"
    )


def _clients(project: Project, *options: str) -> str:
    result = project.run("clients", "--table", "sales.orders", "--target", "dev", *options)
    assert result.status == 0, result.err
    return result.out


def test_show_tells_who_can_read_a_table(project: Project) -> None:
    folder = _table(project, _WITH_VECTORS, {"delta.enableDeletionVectors": "true"})
    lines = project.run("show", folder).out.splitlines()
    answers = lines[lines.index("Clients at their newest known version") + 1 :]
    by_verdict = dict(line.strip().split(": ", 1) for line in answers[:3])
    assert "polars 2.1.0" in by_verdict["ok"]
    assert "deltalake 1.6.6 pyarrow" in by_verdict["refuses"]

    # A row of the configuration comes first, in text and in JSON.
    project.repo.write("schemalint.toml", ROW.replace("VERDICT", "ok").replace("power-bi", "deltalake"))
    lines = project.run("show", folder).out.splitlines()
    assert "deltalake 1.6.6 pyarrow" in next(line for line in lines if line.startswith("  ok: "))
    content = json.loads(project.run("show", folder, "--output-format", "json").out)
    Draft202012Validator(schema_of("table")).validate(content)
    found = {(client["client"], client["read_path"]): client for client in content["clients"]}
    assert found["deltalake", "pyarrow"] == {
        "client": "deltalake",
        "version": "1.6.6",
        "read_path": "pyarrow",
        "verdict": "ok",
        "because": "",
    }
    assert {client["verdict"] for client in content["clients"]} == {"ok", "refuses", "unknown"}


def test_show_refuses_a_faulty_row(project: Project) -> None:
    project.repo.write("schemalint.toml", ROW.replace("VERDICT", "ok") + 'versions = "new"\n')
    run = project.run("show", _table(project, _PLAIN, {}))
    assert run.status == 2
    assert "row 1" in run.err


def test_audit_asks_the_configured_clients_about_every_table(project: Project) -> None:
    consumers = """
[consumers.ml]
client = "deltalake"
version = "1.6.6"
read_path = "pyarrow"
[consumers.report]
client = "polars"
version = "2.1.0"
"""
    project.repo.write("schemalint.toml", consumers)
    folder = _table(project, _WITH_VECTORS, {"delta.enableDeletionVectors": "true"})
    lines = project.run("audit", "--clients", folder).out.splitlines()
    of_clients = lines[lines.index("Clients") + 1 :][:2]
    assert of_clients[0].startswith("  ml (deltalake 1.6.6, pyarrow): refuses: 1 table (")
    assert of_clients[0].endswith("because of feature deletionVectors)")
    assert of_clients[1] == "  report (polars 2.1.0): ok: 1 table"
    assert "Clients" not in project.run("audit", folder).out.splitlines()


def test_audit_asks_the_clients_of_contracts_about_their_tables(project: Project) -> None:
    report = '[consumers.report]\nclient = "polars"\nversion = "2.1.0"\n'
    of_orders = '[[tables]]\nmatch = "sales.*"\nconsumers = ["report"]\n'
    engine = _TARGET + 'engine = "delta-spark 4.4.0"\n'
    project.repo.write("schemalint.toml", report + of_orders + engine)
    _declare(project, ML)
    _table(project, _WITH_VECTORS, {"delta.enableDeletionVectors": "true"})
    content = project.run("audit", "--all", "--clients", "--output-format", "json").out
    asked = [(found["consumer"], found["table"], found["after"]) for found in json.loads(content)["clients"]]
    assert asked == [
        ("report", "sales.orders", "ok"),
        ("ml", "sales.orders", "refuses"),
    ]
    project.repo.write("schemalint.toml", _TARGET)
    lines = project.run("audit", "--all", "--clients").out.splitlines()
    assert lines[lines.index("Clients") + 1].startswith(
        "  ml (deltalake 1.6.6, pyarrow, @ml): refuses: 1 table"
    )


def test_the_page_of_an_audit_knows_the_clients_of_the_configuration(project: Project) -> None:
    folder = _table(project, _WITH_VECTORS, {"delta.enableDeletionVectors": "true"})
    project.repo.write("schemalint.toml", ROW.replace("power-bi", "our-reader").replace("VERDICT", "refuses"))
    page = project.run("audit", folder, "--output-format", "html").out
    assert "our-reader" in page


def test_audit_needs_clients_to_ask(project: Project) -> None:
    folder = _table(project, _PLAIN, {})
    result = project.run("audit", "--clients", folder)
    assert result.status == 2
    assert "--clients needs consumers" in result.out + result.err


def test_plan_stops_for_a_client_that_it_would_lock_out(project: Project) -> None:
    project.repo.write("schemalint.toml", _TARGET)
    _declare(project, ML, VECTORS)
    project.repo.commit()
    _table(project, _PLAIN, {})
    result = project.run("plan", "--target", "dev", "--output-format", "json")
    planned = json.loads(result.out)
    (table,) = planned["tables"]
    assert (table["steps"], [refusal["code"] for refusal in table["refusals"]]) == ([], ["RD015"])
    assert [(found["before"], found["after"]) for found in planned["clients"]] == [("ok", "refuses")]

    project.repo.write("schemalint.toml", _TARGET + '[[tables]]\nmatch = "sales.*"\nignore = ["RD015"]\n')
    project.repo.commit()
    (table,) = json.loads(project.run("plan", "--target", "dev", "--output-format", "json").out)["tables"]
    assert table["steps"]


def test_a_check_with_live_tables_reports_a_lost_client_once(project: Project) -> None:
    project.repo.write("schemalint.toml", _TARGET)
    _declare(project, ML)
    project.repo.commit()
    _table(project, _PLAIN, {})
    _declare(project, ML, VECTORS)
    found = _json(project, "--live", "--target", "dev")
    (finding,) = [finding for finding in found["findings"] if finding["code"].startswith("RD0")]
    assert (finding["code"], finding["against"], finding["existing"]) == ("RD015", ["git", "live"], False)
    assert [(client["before"], client["after"]) for client in found["clients"]] == [("ok", "refuses")]


def test_a_change_that_is_merged_but_not_applied_is_an_existing_finding(project: Project) -> None:
    project.repo.write("schemalint.toml", _TARGET)
    _declare(project, ML, VECTORS)
    project.repo.commit()
    _table(project, _PLAIN, {})
    _declare(project, ML, VECTORS + "description: Orders\n")
    found = _json(project, "--live", "--target", "dev")["findings"]
    assert [finding["existing"] for finding in found if finding["code"] == "RD015"] == [True]


def test_a_client_that_the_live_table_locks_out_already_is_no_finding(project: Project) -> None:
    project.repo.write("schemalint.toml", _TARGET)
    _declare(project, ML)
    project.repo.commit()
    _table(project, _WITH_VECTORS, {"delta.enableDeletionVectors": "true"})
    _declare(project, ML, VECTORS)
    found = _json(project, "--live", "--target", "dev")
    assert not [finding for finding in found["findings"] if finding["code"].startswith("RD0")]
    assert [(client["before"], client["after"]) for client in found["clients"]] == [("refuses", "refuses")]
