"""Plan files hold all that their steps are planned from: read again, they give the same steps and hashes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.test_planner_cases import CASES, _contract, _live, _plan
from schemalint.base.errors import UsageError
from schemalint.base.values import replace
from schemalint.delta.change import CommentChanged
from schemalint.delta.datatype import LONG, Field, Struct
from schemalint.delta.streams import Blocking
from schemalint.deploy.deploy_input import Deployment
from schemalint.deploy.plan_file import _origin, origin_to_json, read_plan_file
from schemalint.deploy.resume import _rest, planned_again
from schemalint.model.column_tracking import track_columns
from schemalint.model.consumer import Consumer, Stream
from schemalint.model.json_forms import own_json
from schemalint.model.marker import PENDING, Marker, Pending
from schemalint.model.table_plan import Plan, Step, StepKind, TablePlan
from schemalint.planner import after_interrupted_run, plan_table
from schemalint.project.config.trust import given_target
from schemalint.report import plan as plans
from support import strategies
from support.contract_strategies import contracts
from support.effective import counting

if TYPE_CHECKING:
    from schemalint.delta.table import TableState
    from schemalint.model.contract import Contract

TARGET = given_target("dev")
STEP = Step(StepKind.ALTER_COLUMNS, "ALTER", (CommentChanged(("a",), None, "x"),), ())


@pytest.mark.parametrize(
    "case", [case for case in CASES if "refused" not in case.name], ids=lambda case: case.name
)
def test_steps_planned_again_from_a_file_are_the_same(case: Path, tmp_path: Path) -> None:
    live = _live(case / "live.yaml") if (case / "live.yaml").exists() else None
    plan = replace(_plan(case, live, "/lake/orders"), target="dev")
    contract = _contract(case / "declared.yaml")
    file = tmp_path / "plan.json"
    file.write_text(
        plans.get("json").render(Deployment(Plan("dev", (plan,)), {plan.table: counting(contract)}))
    )

    (filed,) = read_plan_file(str(file)).tables

    assert filed.origin is not None
    again = planned_again(filed, filed.origin, filed.origin.contract, "/lake/orders", TARGET)
    assert again is not None
    assert again.hash == plan.hash
    assert [(step.sql, step.changes) for step in again.steps] == [
        (step.sql, step.changes) for step in plan.steps
    ]


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=30)
@given(
    contract=contracts(),
    live=st.none() | strategies.table_states(),
    reorder=st.booleans(),
    tracked=st.booleans(),
)
def test_reading_a_printed_origin_gives_the_origin(
    *, contract: Contract, live: TableState | None, reorder: bool, tracked: bool
) -> None:
    tracking = track_columns(live.columns, [contract.state]) if live is not None and tracked else None
    plan = TablePlan(
        *(contract.table, "/lake/orders", "1:0"),
        live=live,
        steps=(STEP,),
        tracking=tracking,
        reorder=reorder,
        marker=Marker("1:1") if tracked else None,
    )

    printed = json.loads(json.dumps(origin_to_json(plan, contract)))
    origin = _origin(contract.table, own_json(printed))

    read, options = origin.contract, origin.options
    assert (origin.planned_from, options.tracking, options.reorder) == (live, tracking, reorder)
    assert origin.applied_hash == ("1:1" if tracked else None)
    for name in ("table", "state", "location", "drop_features", "truncated_features", "consumers", "file"):
        assert getattr(read, name) == getattr(contract, name), name
    assert read.open.widening == contract.open.widening


def test_plan_whose_table_holds_a_credential_is_not_written(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "columns")
    live = _live(case / "live.yaml")
    secret = live.state.with_property("their.source", "https://ada:secret@example.com/x")
    live = replace(live, metadata=replace(live.metadata, state=secret))
    plan = _plan(case, live, "/lake/orders")
    contract = _contract(case / "declared.yaml")
    text = plans.get("json").render(Deployment(Plan(None, (plan,)), {plan.table: counting(contract)}))
    (tmp_path / "plan.json").write_text(text)

    (filed,) = read_plan_file(str(tmp_path / "plan.json")).tables

    assert (filed.has_steps, filed.origin) == (True, None)
    assert "secret" not in text


@pytest.mark.parametrize(
    "altered",
    [
        {},
        {"name": "gold"},
        {"client": None},
        {"version": "477"},
        {"read_path": "hive"},
        {"access": "write"},
        {"columns": [["amount"]]},
        {"owner": None},
        {"cdf": True},
        {"stream": None},
        {"stream": {"checkpoint": "/other"}},
        {"stream": {"schema_tracking_location": None}},
        {"stream": {"source": 1}},
        {"stream": {"checkpoint_scheme": None}},
        {"stream": {"unblock": {"drop": "always"}}},
    ],
    ids=str,
)
def test_hash_covers_all_of_the_consumers_in_a_file(altered: dict[str, Any], tmp_path: Path) -> None:
    stream = Stream("/chk", "/chk/log", checkpoint_scheme="s3a", unblock={Blocking.DROP: 5})
    silver = Consumer("silver", "trino", "476", "delta", "read", (("id",),), "@bi", stream=stream)
    case = next(case for case in CASES if case.name == "create")
    contract = replace(_contract(case / "declared.yaml"), consumers=(silver,))
    plan = replace(plan_table(counting(contract), None, "/lake/orders"), target="dev")
    document = json.loads(
        plans.get("json").render(Deployment(Plan("dev", (plan,)), {plan.table: counting(contract)}))
    )

    assert _is_planned_again(document, tmp_path)
    (consumer,) = document["tables"][0]["origin"]["consumers"]
    if altered.get("stream"):
        altered = {"stream": consumer["stream"] | altered["stream"]}
    document["tables"][0]["origin"]["consumers"] = [consumer | altered] if altered else []
    assert not _is_planned_again(document, tmp_path)


def _is_planned_again(document: dict[str, Any], folder: Path) -> bool:
    (file := folder / "plan.json").write_text(json.dumps(document))
    (filed,) = read_plan_file(str(file)).tables
    assert filed.origin is not None
    return planned_again(filed, filed.origin, filed.origin.contract, "/lake/orders", TARGET) is not None


def test_credentials_of_consumers_leave_the_hash_as_it_is() -> None:
    def hash_with(checkpoint: str) -> str:
        silver = Consumer("silver", stream=Stream(checkpoint, checkpoint))
        return TablePlan("a.b", "/lake/a/b", "1:0", consumers=(silver,)).hash

    assert hash_with("https://ada:first@example.com/x") == hash_with("https://ada:second@example.com/x")
    assert hash_with("https://ada:first@example.com/x") != hash_with("https://ada:first@example.com/y")


def test_file_with_a_table_twice_is_refused(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "create")
    plan = replace(_plan(case, None, "/lake/orders"), target="dev")
    deployment = Deployment(
        Plan("dev", (plan, plan)), {plan.table: counting(_contract(case / "declared.yaml"))}
    )
    (tmp_path / "plan.json").write_text(plans.get("json").render(deployment))

    with pytest.raises(UsageError, match="it has a table twice"):
        read_plan_file(str(tmp_path / "plan.json"))


def test_file_that_finishes_an_interrupted_run_has_the_rest_too(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "swap")
    live = _live(case / "live.yaml")
    numbered = Struct(
        tuple(replace(field, column_id=number) for number, field in enumerate(live.state.columns.fields, 1))
    )
    note = Pending("1:another", {1: ("b",), 2: ("a",)}).to_text()
    state = replace(live.state, columns=numbered).with_property(PENDING, note)
    live = replace(live, metadata=replace(live.metadata, state=state))
    contract = _contract(case / "live.yaml")
    columns = Struct((*contract.state.columns.fields, Field("d", LONG)))
    contract = replace(contract, state=replace(contract.state, columns=columns))
    plan = replace(plan_table(counting(contract), live, "/lake/orders"), target="dev")
    (tmp_path / "plan.json").write_text(
        plans.get("json").render(Deployment(Plan("dev", (plan,)), {plan.table: counting(contract)}))
    )
    (filed,) = read_plan_file(str(tmp_path / "plan.json")).tables
    assert filed.origin is not None
    again = planned_again(filed, filed.origin, filed.origin.contract, "/lake/orders", TARGET)
    assert again is not None
    finished = after_interrupted_run(counting(contract), live)

    rest = _rest(again, filed.origin, filed.origin.contract, finished)

    assert [step.kind for step in rest.steps] == [StepKind.ADD_COLUMNS]
    assert plan.steps[-1] == rest.steps[-1]
    assert plan.steps[0].kind is StepKind.RENAME_COLUMN


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not a plan"),
        ("[]", "is not a plan: expected an object"),
        ('{"target": null}', "version is missing"),
        ('{"version": 1}', "has another plan format: 1"),
        ('{"version": 2, "target": null, "hash": "2:0", "tables": []}', "its hash is not that of its tables"),
        ("[" * 100_000, "is not a plan"),
        ('{"version": 2, "target": null, "hash": "2:0", "tables": [{"version": true}]}', "is not a plan"),
    ],
)
def test_other_content_gives_one_error(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(content)

    with pytest.raises(UsageError) as raised:
        read_plan_file(str(file))

    assert message in raised.value.message
