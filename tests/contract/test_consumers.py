"""The consumers of a table: of its contract, of a target, of the configuration; base's and head's."""

from __future__ import annotations

import pytest

from schemalint import contract as contracts
from schemalint.base.errors import ConfigError
from schemalint.contract.consumers import configuration_faults, with_consumers
from schemalint.delta.path import Part
from schemalint.delta.streams import Blocking
from schemalint.judge.case import git_context
from schemalint.model.consumer import Consumer, Stream
from schemalint.model.contract import Contract
from schemalint.model.effective import Environment, effective
from schemalint.project.config import Config, parse
from support.effective import counting
from support.judging import judge_pair
from support.rule_judging import built_in

TRINO = Consumer("dashboards", "trino", "476", owner="@bi")
DASHBOARDS = '[consumers.dashboards]\nclient = "trino"\nversion = "476"\nowner = "@bi"\n'
SALES = '[[tables]]\nmatch = "Sales.*"\nconsumers = ["dashboards"]\n' + DASHBOARDS


def _contract(consumers: str = "", table: str = "sales.orders") -> Contract:
    text = f"schemalint: 1\ntable: {table}\ncolumns: [{{name: lines, type: 'array<struct<qty:int>>'}}]\n"
    read = contracts.read("orders.yml", text + consumers)
    assert not read.errors
    (contract,) = read.contracts
    return contract


def _config(text: str) -> Config:
    return parse("schemalint.toml", text.encode())


def _names(contract: Contract) -> list[tuple[str, bool]]:
    return [(consumer.name, consumer.removed) for consumer in contract.consumers]


def test_the_consumers_of_configuration_contract_and_overlay_are_united() -> None:
    written = "consumers: [etl, {name: ml}]\ntargets: {prod: {consumers: [nightly, {name: report}]}}\n"
    declared = _config(SALES + "[consumers.etl]\n[consumers.nightly]\n[consumers.unused]\n")
    contract = with_consumers(_contract(written), declared)

    assert [consumer.name for consumer in contract.consumers] == ["dashboards", "etl", "ml"]
    assert contract.consumers[0] == TRINO
    prod = effective(contract, Environment("prod"))
    assert [consumer.name for consumer in prod.consumers] == ["dashboards", "etl", "ml", "nightly", "report"]
    assert prod.consumer_faults == ()


def test_a_contract_takes_no_consumer_away() -> None:
    written = "consumers: []\ntargets: {prod: {consumers: []}}\n"
    contract = with_consumers(_contract(written), _config(SALES))
    assert effective(contract, Environment("prod")).consumers == (TRINO,)


def test_other_tables_have_no_consumer_of_the_configuration() -> None:
    contract = _contract(table="hr.people")
    assert with_consumers(contract, _config(SALES)) == contract


def test_paths_of_the_configuration_lead_into_the_columns_of_the_table() -> None:
    text = '[consumers.x]\ncolumns = ["lines.element.qty", "gone.element"]\n'
    (consumer,) = with_consumers(_contract("consumers: [x]\n"), _config(text)).consumers
    assert consumer.columns == (("lines", Part.ELEMENT, "qty"), ("gone", "element"))


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (SALES, SALES, [("dashboards", False)]),
        ("", SALES, [("dashboards", False)]),
        (SALES, "", [("dashboards", True)]),
        (SALES, DASHBOARDS, [("dashboards", True)]),
        (SALES, SALES.replace("476", "480"), [("dashboards", False), ("dashboards", True)]),
        (SALES, SALES.replace("@bi", "@data"), [("dashboards", False)]),
    ],
    ids=["unchanged", "added", "removed", "taken from the table", "another version", "another owner"],
)
def test_a_consumer_that_the_configuration_of_the_head_removes_is_judged(
    base: str, head: str, expected: list[tuple[str, bool]]
) -> None:
    contract = with_consumers(_contract(), _config(base), _config(head))
    assert _names(contract) == expected


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ("{name: a}", "{name: a, owner: '@x'}", [("a", False)]),
        ("{name: a}", "", [("a", True)]),
        ("{name: a, columns: [x]}", "{name: a, columns: [y]}", [("a", False), ("a", True)]),
        ("{name: a, cdf: true}", "{name: a}", [("a", False), ("a", True)]),
        (
            "{name: a, stream: {checkpoint: c}}",
            "{name: a, stream: {checkpoint: c, schema_tracking_location: c/s}}",
            [("a", False), ("a", True)],
        ),
        (
            "{name: a, stream: {checkpoint: c}}",
            "{name: a, stream: {checkpoint: c, unblock: {rename: always}}}",
            [("a", False)],
        ),
    ],
    ids=["owner", "removed", "other columns", "no change data", "tracking added", "approval added"],
)
def test_rules_see_the_consumers_of_both_sides(
    base: str, head: str, expected: list[tuple[str, bool]]
) -> None:
    """The approval for a stream counts at once: it is written for this change."""
    before, after = (_contract(f"consumers: [{written}]\n") for written in (base, head))
    context = git_context(counting(before), counting(after))
    assert [(consumer.name, consumer.removed) for consumer in context.consumers] == expected


def test_without_a_base_the_consumers_of_the_contract_count() -> None:
    assert git_context(None, counting(_contract("consumers: [{name: a}]\n"))).consumers == (Consumer("a"),)


def test_a_stream_can_be_declared_in_the_configuration() -> None:
    text = (
        '[consumers.x]\ncdf = true\n[consumers.x.stream]\ncheckpoint = "c"\ncheckpoint_scheme = "s3a"\n'
        "unblock = {drop = 7}\n"
    )
    stream = Stream("c", checkpoint_scheme="s3a", unblock={Blocking.DROP: 7})
    assert _config(text).consumers == {"x": Consumer("x", cdf=True, stream=stream)}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            '[[tables]]\nmatch = "*"\nconsumers = ["dashbords"]\n' + DASHBOARDS,
            "schemalint.toml:3:15: tables.consumers names 'dashbords', which is not declared (did you mean",
        ),
        (
            '[consumers.x]\nclinet = "trino"\n',
            "schemalint.toml:2:1: unknown key consumers.x.clinet (did you mean 'client'?)",
        ),
        (
            '[consumers.x.stream]\ncheckpont = "c"\n',
            "schemalint.toml:1:2: consumers.x.stream.checkpoint is missing (add it)",
        ),
        (
            '[consumers.x]\naccess = "rw"\n',
            "schemalint.toml:2:1: consumers.x.access must be 'read' or 'write'",
        ),
        (
            '[consumers.x.stream]\ncheckpoint = "c"\nsource = -1\n',
            "schemalint.toml:3:1: consumers.x.stream.source must be 0 or more",
        ),
        (
            '[consumers.x]\ncolumns = ["a..b"]\n',
            "schemalint.toml:2:1: consumers.x.columns: 'a..b' is not a column path: ",
        ),
    ],
    ids=["undeclared name", "key", "key of a stream", "access", "source", "path"],
)
def test_an_invalid_declaration_is_an_error_with_its_line(text: str, error: str) -> None:
    with pytest.raises(ConfigError) as raised:
        _config(text)
    assert str(raised.value).startswith(error)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('client = "trinoo"', "2:1: consumers.x.client is unknown: 'trinoo' (did you mean 'trino'?)"),
        ('client = "trino"\nversion = "new"', "3:1: consumers.x.version is unknown: 'new'"),
        (
            'client = "deltalake"\nread_path = "pyarow"',
            "3:1: consumers.x.read_path is unknown: 'pyarow' (did you mean 'pyarrow'?)",
        ),
        ('client = "trino"\nversion = ">=440,<477"', None),
    ],
)
def test_an_unknown_client_version_or_read_path_is_an_error_with_its_line(
    text: str, error: str | None
) -> None:
    faults = [str(fault) for fault in configuration_faults(_config(f"[consumers.x]\n{text}\n"))]
    assert faults == ([] if error is None else [f"schemalint.toml:{error}"])


def test_a_consumer_that_loses_a_column_hides_no_stream_and_no_client() -> None:
    text = """\
schemalint: 1
table: sales.orders
columns: [{name: cust, type: string}]
properties: {delta.columnMapping.mode: none}
protocol: {allow_upgrade: true}
consumers:
  - {name: report, columns: [cust]}
  - {name: silver, stream: {checkpoint: "s3a://c", schema_tracking_location: "s3a://c/s"}}
  - {name: ml, client: deltalake, version: 1.6.6, read_path: pyarrow}
"""
    renamed = text.replace("{name: cust", "{name: customer, renamed_from: cust")
    before, after = (
        contracts.read("orders.yml", side).contracts[0]
        for side in (text, renamed.replace("mode: none", "mode: name"))
    )
    found = {finding.code for finding in judge_pair(before, after, tuple(built_in().values()))}
    assert {"RD005", "RD009"} <= found
    assert found & {"RD001", "RD002"}
