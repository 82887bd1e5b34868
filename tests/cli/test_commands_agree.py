"""All commands that judge a table, asked about the same ones: none is content where another one has an error.

The tables are those that the tests recorded, the logs of the rules' cases, and 200 logs that combine a fault
of the protocol with one of the metadata.
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from engine.record_logs import ACCEPTED, all_questions, log_text, read_record
from schemalint import contract as contracts
from schemalint.author.pull.live_declaration import require_expressible_types
from schemalint.base.errors import ContractError, LiveError
from schemalint.delta.datatype import LONG, Field, Struct
from schemalint.delta.table import TableState
from schemalint.model.contract import Contract
from schemalint.tables.storage import read_table
from support.logs import clustering, commit_info, metadata, protocol, write_checkpoint, write_log
from support.short_logs import write_short_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.project import Project

LONG_A: Final = Field("a", LONG)
RECORDED: Final = Path(__file__).parents[1] / "delta_log"
PROTOCOLS: Final = {
    "right": "{minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [columnMapping, typeWidening], "
    "writerFeatures: [columnMapping, typeWidening]}",
    "legacy": "{minReaderVersion: 2, minWriterVersion: 5}",
    "oldest": "{minReaderVersion: 1, minWriterVersion: 1}",
    "reader-99": "{minReaderVersion: 99, minWriterVersion: 7, writerFeatures: []}",
    "reader-0": "{minReaderVersion: 0, minWriterVersion: 2}",
    "no-lists": "{minReaderVersion: 3, minWriterVersion: 7}",
    "list-too-early": "{minReaderVersion: 2, minWriterVersion: 7, readerFeatures: [], writerFeatures: []}",
    "one-list": "{minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [deletionVectors], "
    "writerFeatures: []}",
    "of-the-future": "{minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [fooBar], "
    "writerFeatures: [fooBar]}",
    "writers-of-the-future": "{minReaderVersion: 1, minWriterVersion: 7, writerFeatures: [fooBar]}",
}
_A: Final = "{name: a, type: long}"
METADATA: Final = {
    "right": f"{{fields: [{_A}]}}",
    "no-columns": "{fields: []}",
    "no-schema": "{}",
    "partition-gone": f"{{fields: [{_A}], partitionColumns: [d]}}",
    "all-partitioned": f"{{fields: [{_A}], partitionColumns: [a]}}",
    "mode-unknown": f"{{fields: [{_A}], configuration: {{delta.columnMapping.mode: both}}}}",
    "no-ids": f"{{fields: [{_A}], configuration: {{delta.columnMapping.mode: name}}}}",
    "names": f"{{fields: [{_A}, {{name: A, type: long}}]}}",
    "geometry": f"{{fields: [{_A}, {{name: g, type: 'geometry(OGC:CRS84)'}}]}}",
    "no-type": f"{{fields: [{_A}, {{name: x, type: bigint}}]}}",
    "decimal": f"{{fields: [{_A}, {{name: x, type: 'decimal(40,2)'}}]}}",
    "void": "{fields: [{name: a, type: void}]}",
    "type-change": "{fields: [{name: a, type: string, metadata: {delta.typeChanges: "
    "[{fromType: long, toType: string}]}}]}",
    "no-type-change": "{fields: [{name: a, type: long, metadata: {delta.typeChanges: 1}}]}",
    "no-feature": f"{{fields: [{_A}], configuration: {{delta.enableDeletionVectors: 'true'}}}}",
    "tracked": f"{{fields: [{_A}], configuration: {{delta.enableRowTracking: 'true'}}}}",
    "value": f"{{fields: [{_A}], configuration: {{delta.checkpointInterval: often}}}}",
    "constraint": f"{{fields: [{_A}], configuration: {{delta.constraints.c: 'a >'}}}}",
    "constraint-of-no-column": f"{{fields: [{_A}], configuration: {{delta.constraints.c: 'b > 1'}}}}",
    "iceberg": f"{{fields: [{_A}], configuration: {{delta.enableIcebergCompatV2: 'true'}}}}",
}
OF_DATA: Final = frozenset(
    {
        "log-inconsistent/checksum-with-another-schema",  # Spark refuses the first read alone
        "null-forbidden-later/tightened",
        "unrecorded-type-change/renamed-and-changed",
    }
)
"""Logs that a reader may read: it depends on what is in the files, or on what was read before."""
SETTINGS: Final = """\
[targets.dev]
root = "lake"
engine = "delta-spark 4.4.0"

[consumers.reader]
client = "delta-spark"
version = "4.4.0"

[consumers.etl]
client = "delta-spark"
version = "4.4.0"
access = "write"

[[tables]]
match = "odd.*"
consumers = ["reader", "etl"]
"""


def _tables(root: Path) -> Iterator[str]:
    """Write the tables below a folder, and yield their names."""
    for number, case in enumerate(all_questions()):
        write_short_log(log_text(case), root / f"case{number}")
        yield f"case{number}"
    for (name, of_protocol), (of_metadata, body) in product(PROTOCOLS.items(), METADATA.items()):
        table = f"{name}_{of_metadata}".replace("-", "_")
        write_short_log(f"[{{protocol: {of_protocol}, metaData: {body}}}]", root / table)
        yield table
    for folder in ("logs", "damaged"):
        for log in sorted((RECORDED / folder).glob("*/_delta_log")):
            table = f"{folder}_{log.parent.name}"
            shutil.copytree(log, root / table / "_delta_log")
            yield table


def _contract(table: str, location: Path) -> str:
    """Return a contract that declares the columns of the table, as far as a contract can."""
    fields = [LONG_A]
    with suppress(LiveError, ContractError):
        live = read_table(str(location))
        require_expressible_types(live, live.state.columns)
        columns = live.state.columns.fields
        fields = [Field(field.name, field.type, nullable=field.nullable) for field in columns]
    text = contracts.print_contract(Contract(f"odd.{table}", TableState(Struct(tuple(fields)))))
    if contracts.read("odd.yml", text).errors:
        text = contracts.print_contract(Contract(f"odd.{table}", TableState(Struct((LONG_A,)))))
    return text


def _refusals(report: dict[str, Any]) -> dict[str, set[tuple[str, str]]]:
    """Return the errors about live tables for which Delta has a class, by table."""
    found: dict[str, set[tuple[str, str]]] = {}
    for finding in report["findings"]:
        if finding["severity"] == "error" and finding["delta_error"] and "live" in finding["against"]:
            of_table = found.setdefault(_name(finding["table"]), set())
            of_table.add((finding["code"], finding["delta_error"]))
    return found


def _name(table: str) -> str:
    return Path(table).name.removeprefix("odd.")


@pytest.mark.wide
def test_no_command_is_content_where_another_one_has_an_error(project: Project) -> None:
    root = project.repo.path / "lake" / "odd"
    names = list(_tables(root))
    project.repo.write("schemalint.toml", SETTINGS)
    for name in names:
        project.declare(_contract(name, root / name), f"contracts/{name}.yml")
    project.repo.commit()
    as_json = ("--output-format", "json")
    check = json.loads(project.run("check", "--live", "--all", *as_json).out)
    plan = json.loads(project.run("plan", *as_json).out)
    audit = json.loads(project.run("audit", "--target", "dev", "--all", "--clients", *as_json).out)
    places = [str(root / name) for name in names]
    shown = map(json.loads, project.run("show", *as_json, *places).out.splitlines())
    tables = dict(zip(names, shown, strict=True))

    unreadable = {name for name, table in tables.items() if "error" in table}
    for report in (check, plan, audit):
        assert len(report["errors"]) == len(unreadable)
    plans = {_name(table["table"]): table for table in plan["tables"]}
    assert plans.keys() == set(names) - unreadable

    audited, checked = _refusals(audit), _refusals(check)
    assert len(audited) > 250
    does = {(_name(each["table"]), each["consumer"]): each["after"] for each in audit["clients"]}
    for name, refusals in audited.items():
        assert refusals <= checked[name], name
        assert plans[name]["refusals"], name
        assert not plans[name]["steps"], name
        assert does[name, "etl"] != "ok", name
    refused = {case for case, answer in read_record().items() if answer.read != ACCEPTED}
    for number, case in enumerate(all_questions()):
        if f"case{number}" in plans and case in refused - OF_DATA:
            assert does[f"case{number}", "reader"] != "ok", case
    for name in plans:
        (reads,) = {each["verdict"] for each in tables[name]["clients"] if each["client"] == "delta-spark"}
        assert reads == does[name, "reader"], name
        clients = {each["verdict"] for each in tables[name]["clients"]}
        assert "ok" not in clients or reads == "ok", name


def test_clients_says_of_a_table_what_show_says(project: Project) -> None:
    table = project.repo.path / "lake" / "odd"
    write_short_log(f"[{{protocol: {PROTOCOLS['right']}, metaData: {METADATA['partition-gone']}}}]", table)
    run = project.run("clients", "--table", str(table), "--output-format", "json")
    answers = json.loads(run.out)["clients"]
    (spark,) = (answer for answer in answers if answer["client"] == "delta-spark")
    assert (spark["after"], spark["because"]) == ("refuses", "finding NC013 FIELD_NOT_FOUND")
    assert {answer["after"] for answer in answers} == {"refuses", "unknown"}


def test_a_pulled_contract_says_of_its_table_what_audit_says(project: Project) -> None:
    """What Delta refuses of the table has one finding in each command, and the baseline covers it."""
    root = project.repo.path / "lake/odd"
    features = ("appendOnly", "invariants", "clustering", "domainMetadata")
    columns = metadata(LONG_A, Field("b", LONG))
    action = protocol(1, 7, None, features)
    write_log(root / "gone", [[commit_info("CREATE TABLE"), action, columns, clustering(["zz"])]])
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.write(".gitignore", "lake/\n")
    assert project.run("pull", "odd.gone", "-o", str(project.repo.path / "gone.yml")).status == 0
    project.repo.commit()
    audit = json.loads(project.run("audit", "--target", "dev", "--all", "--output-format", "json").out)
    check = json.loads(project.run("check", "--live", "--all", "--output-format", "json").out)
    codes = [[finding["code"] for finding in report["findings"]] for report in (audit, check)]
    assert codes == [["DR011"], ["DR011"]]


def test_an_entry_for_what_only_the_history_shows_is_used_by_each_run_that_reads_it(project: Project) -> None:
    table = project.repo.path / "lake/odd/old"
    first = [commit_info("CREATE TABLE"), protocol(), metadata(LONG_A), protocol()]
    write_log(table, [first, [commit_info()], [commit_info()]])
    write_checkpoint(table, 1, first[1:3])
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.write(".gitignore", "lake/\n")
    project.declare("schemalint: 1\ntable: odd.old\ncolumns: [{name: a, type: bigint}]\n")
    project.repo.commit()

    def codes(*arguments: str) -> list[str]:
        run = project.run(*arguments, "--baseline", "baseline.jsonl", "--output-format", "json")
        return [finding["code"] for finding in json.loads(run.out)["findings"]]

    audit = ("audit", "--target", "dev", "--all")
    assert project.run(*audit, "--write-baseline", "baseline.jsonl").status == 0
    assert codes(*audit) == ["DR005"]
    check = ("check", "--live", "--all")
    assert codes(*check) == []
    assert codes(*check, "--history") == ["DR005"]
