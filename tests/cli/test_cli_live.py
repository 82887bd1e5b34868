"""`check --live` and `plan` against logs: base, declared and live, and what each combination gives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint import contract
from schemalint.delta.datatype import INTEGER, LONG, STRING, DataType, Decimal, Field, Struct
from schemalint.model.marker import Marker, declaration_hash
from schemalint.values import replace
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from pathlib import Path

ID = Field("id", LONG)
AMOUNT = Field("amount", Decimal(10, 2))
WIDER = ORDERS.replace("decimal(10,2)", "decimal(12,2)")
ALLOWED = "properties: {delta.enableTypeWidening: true}\nprotocol: {allow_upgrade: true}\n"


class Live:
    """A project whose table has a log."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.table = project.repo.path.parent / "lake/sales/orders"
        self.table.parent.parent.mkdir(parents=True)
        project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{self.table.parent.parent}"\n')

    def log(
        self,
        *fields: Field,
        properties: dict[str, str] | None = None,
        widening: bool = True,
        more: tuple[str, ...] = (),
    ) -> None:
        features = ["typeWidening", *(name for name in more if name == "columnMapping")] if widening else []
        writers = [*features, "appendOnly", "invariants", *(name for name in more if name not in features)]
        rule = protocol(3, 7, features, writers) if widening else protocol()
        on = {"delta.enableTypeWidening": "true"} if widening else {}
        write_log(
            self.table,
            [[commit_info("CREATE TABLE"), rule, metadata(*fields, properties={**on, **(properties or {})})]],
        )

    def commit(self, text: str) -> str:
        self.project.declare(text)
        return self.project.repo.commit()

    def found(self, *arguments: str) -> list[str]:
        return sorted(self.project.check("--live", *arguments).codes)


@pytest.fixture
def live(project: Project) -> Live:
    return Live(project)


def test_all_the_same_gives_nothing(live: Live) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT, widening=False)
    run = live.project.check("--live", "--all")
    assert (run.status, run.codes) == (0, [])
    assert "no findings in 1 table" in run.out


def test_edit_that_live_has_not_is_judged_once(live: Live) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT, widening=False)
    live.project.declare(ORDERS.replace("bigint", "int"))
    run = live.project.run("check", "--live", "--output-format", "json")
    (finding,) = json.loads(run.out)["findings"]
    assert (finding["code"], finding["against"]) == ("TW001", ["git", "live"])


def test_edit_that_live_has_already_is_said_so(live: Live) -> None:
    live.commit(ORDERS + ALLOWED)
    live.log(ID, Field("amount", Decimal(12, 2)))
    live.project.declare(WIDER + ALLOWED)
    assert live.found() == ["DR001", "TH009"]
    assert "in the live table (already applied)" in live.project.check("--live").out


def test_live_that_nobody_declared_is_drift(live: Live) -> None:
    live.commit(ORDERS)
    live.log(ID, Field("amount", Decimal(14, 2)))
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert run.status == 0, "the change under review did not bring it"
    assert live.project.check("--live", "--all", "--strict").status == 1, "the way back is barred: an error"
    assert live.project.check("--live", "--all", "--against", "none").status == 1


def test_gap_that_cannot_be_closed_names_its_cause(live: Live) -> None:
    live.commit(ORDERS)
    live.log(ID, Field("amount", STRING), widening=False)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "TW002" in run.out


def test_three_different_types_give_one_finding(live: Live) -> None:
    live.commit(ORDERS + ALLOWED)
    live.log(ID, Field("amount", Decimal(14, 2)))
    live.project.declare(WIDER + ALLOWED)
    assert live.found("--ignore", "TH009") == ["TW003"]


def test_live_protocol_refutes_the_offline_assumption(live: Live) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT)
    live.project.declare(ORDERS + "properties: {delta.enableTypeWidening: true}\n")
    assert live.project.check().codes == ["PF004"]
    assert "PF004" not in live.found()


def test_undeclared_live_column_is_told(live: Live) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT, Field("note", STRING), widening=False)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "note" in run.out


def test_open_table_may_have_columns_that_nobody_declares(live: Live) -> None:
    live.commit(ORDERS + "open: {columns: true}\n")
    live.log(ID, AMOUNT, Field("note", STRING), widening=False)
    assert live.found("--all") == []


def test_missing_table_is_to_be_created(live: Live) -> None:
    live.commit(ORDERS)
    run = live.project.check("--live", "--all")
    assert (run.status, run.codes) == (0, ["DR003"])


def test_unreadable_log_is_no_verdict(live: Live) -> None:
    live.commit(ORDERS)
    log = live.table / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text('{"metaData": {broken\n')
    assert live.project.check("--live", "--all").status == 2


def test_location_outside_of_the_root_is_refused(live: Live, tmp_path: Path) -> None:
    live.commit(ORDERS + f"location: {tmp_path}/elsewhere\n")
    run = live.project.check("--live", "--all")
    assert run.status == 2
    assert "not allowed" in run.out


def test_target_must_be_known(live: Live) -> None:
    live.commit(ORDERS)
    assert live.project.check("--live", "--target", "prod").status == 2


def _marker(text: str, revision: str | None) -> dict[str, str]:
    (declared,) = contract.read("orders.yml", text).contracts
    return {"schemalint.applied": Marker(declaration_hash(declared), revision, "t-1").to_text()}


def test_table_behind_its_contract_is_not_called_drifted(live: Live) -> None:
    revision = live.commit(ORDERS + ALLOWED)
    live.log(ID, AMOUNT, properties=_marker(ORDERS + ALLOWED, revision))
    live.commit(WIDER + ALLOWED)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "not applied yet" in run.out
    assert run.status == 0


def test_table_altered_after_it_was_applied_is_called_drifted(live: Live) -> None:
    text = ORDERS + "  - {name: note, type: string, comment: ours}\n"
    revision = live.commit(text)
    live.log(
        ID,
        AMOUNT,
        Field("note", STRING, comment="theirs"),
        properties=_marker(text, revision),
        widening=False,
    )
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "drifted" in run.out


def test_table_made_anew_is_noticed(live: Live) -> None:
    revision = live.commit(ORDERS)
    marker = _marker(ORDERS, revision)["schemalint.applied"].replace("t-1", "another")
    live.log(ID, AMOUNT, properties={"schemalint.applied": marker}, widening=False)
    run = live.project.check("--live", "--all")
    assert (run.status, run.codes) == (1, ["DR003"])


def test_plan_shows_statements_and_changes_nothing(live: Live) -> None:
    live.commit(WIDER + ALLOWED)
    live.log(ID, AMOUNT)
    run = live.project.run("plan")
    assert run.status == 0
    assert "`amount` TYPE decimal(12,2)" in run.out
    assert live.project.run("plan", "--exit-code").status == 4
    assert len(list((live.table / "_delta_log").iterdir())) == 1


def test_plan_is_the_same_bytes_twice_and_valid_json(live: Live) -> None:
    live.commit(WIDER + ALLOWED)
    live.log(ID, AMOUNT)
    first = live.project.run("plan", "--output-format", "json").out
    assert first == live.project.run("plan", "--output-format", "json").out
    (table,) = json.loads(first)["tables"]
    assert [step["kind"] for step in table["steps"]] == ["alter_columns"]


def test_plan_refuses_what_a_rule_forbids(live: Live) -> None:
    live.commit(ORDERS)
    live.log(Field("id", STRING), AMOUNT, widening=False)
    run = live.project.run("plan")
    assert run.status == 1
    assert "TW002" in run.out


def test_plan_refuses_by_name_what_cannot_be_done_in_place(live: Live) -> None:
    live.commit(ORDERS + "partitioned_by: [id]\n")
    live.log(ID, AMOUNT, widening=False)
    run = live.project.run("plan")
    assert run.status in (1, 2)
    assert "partition" in run.out
    assert "ALTER TABLE" not in run.out


def test_apply_without_a_terminal_and_without_yes_changes_nothing(live: Live) -> None:
    live.commit(WIDER + ALLOWED)
    live.log(ID, AMOUNT)
    run = live.project.run("apply")
    assert run.status == 4
    assert "`amount` TYPE decimal(12,2)" in run.out
    assert len(list((live.table / "_delta_log").iterdir())) == 1


def test_table_managed_by_others_is_judged_and_never_altered(live: Live) -> None:
    live.commit(WIDER + ALLOWED + "managed_by: dbt\n")
    live.log(ID, AMOUNT)
    assert live.found("--all") == ["DR001"]
    run = live.project.run("plan")
    assert "managed by dbt" in run.out
    assert "TYPE" not in run.out


def test_open_table_may_be_wider_than_declared(live: Live) -> None:
    live.commit(ORDERS + "open: {widening: true}\n")
    live.log(ID, Field("amount", Decimal(14, 2)))
    assert live.found("--all", "--against", "none") == []
    assert "as declared" in live.project.run("plan").out


def test_swap_of_two_live_names_is_planned_over_a_name_in_between(live: Live) -> None:
    text = ORDERS.replace("decimal(10,2)", "bigint") + "properties: {delta.columnMapping.mode: name}\n"
    revision = live.commit(text)
    mapping = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}
    columns = (
        Field("id", LONG, column_id=1, physical_name="id"),
        Field("amount", LONG, column_id=2, physical_name="amount"),
    )
    live.log(*columns, properties={**mapping, **_marker(text, revision)}, more=("columnMapping",))
    live.commit(
        (text + "protocol: {allow_upgrade: true}\n")
        .replace("name: id,", "name: amount, renamed_from: id,")
        .replace("- name: amount", "- name: id\n    renamed_from: amount")
    )
    run = live.project.run("plan", "--output-format", "sql")
    assert run.status == 0
    statements = [line for line in run.out.splitlines() if not line.startswith("--")]
    assert [line.split("RENAME COLUMN ")[1] for line in statements if "RENAME COLUMN" in line] == [
        "`id` TO `schemalint_1`;",
        "`amount` TO `id`;",
        "`schemalint_1` TO `amount`;",
    ]
    assert "schemalint.pending" in run.out


def test_swap_of_two_types_changes_no_type_in_the_live_table(live: Live) -> None:
    text = ORDERS + "properties: {delta.columnMapping.mode: name}\n"
    live.commit(text)
    mapping = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}
    columns = (
        replace(ID, column_id=1, physical_name="id"),
        replace(AMOUNT, column_id=2, physical_name="amount"),
    )
    live.log(*columns, properties=mapping, more=("columnMapping",))
    live.project.declare(
        "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: amount, type: bigint, renamed_from: id}\n"
        '  - {name: id, type: "decimal(10,2)", renamed_from: amount}\n'
        "properties: {delta.columnMapping.mode: name}\n"
    )
    assert live.project.check("--live").codes == []


def test_pull_request_cannot_choose_its_own_target(
    live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base = live.commit(ORDERS)
    evil = tmp_path / "evil"
    evil.mkdir()
    live.project.repo.git("checkout", "--quiet", "-b", "feature")
    settings = f'against = "none"\n[targets.dev]\nroot = "{evil}"\n'
    live.project.repo.write("schemalint.toml", settings)
    live.project.repo.commit()
    event = {
        "pull_request": {"base": {"sha": base, "ref": "main"}, "head": {"sha": live.project.repo.head()}}
    }
    (tmp_path / "event.json").write_text(json.dumps(event))
    for name, value in {
        "CI": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
    }.items():
        monkeypatch.setenv(name, value)
    for against in ([], ["--against", "none"]):
        run = live.project.check("--live", "--all", *against)
        assert str(evil) not in run.out
        assert str(live.table) in run.out


@pytest.mark.parametrize(
    "revision", ["deadbeef" * 5, "", "HEAD", "--help", "HEAD:c.yml", "\x1b[31m", "\ud800"]
)
def test_marker_of_a_commit_that_is_not_here(live: Live, revision: str) -> None:
    live.commit(ORDERS)
    marker = json.dumps({"hash": "1:x", "revision": revision, "table": "t-1"})
    live.log(ID, AMOUNT, properties={"schemalint.applied": marker}, widening=False)
    assert live.project.check("--live", "--all", "--against", "none").status == 0
    assert live.project.run("plan").status == 2, "nobody knows what was applied last"


def test_two_contracts_for_one_place_are_both_refused(live: Live) -> None:
    live.project.declare(
        ORDERS.replace("sales.orders", "crm.people") + f"location: {live.table}\n", "people.yml"
    )
    live.commit(ORDERS)
    for tables in ([], ["sales.orders"]):
        run = live.project.run("plan", "--output-format", "sql", *tables)
        assert run.status == 2
        assert "CREATE" not in run.out


@pytest.mark.parametrize("place", ["%2e%2e/secret", "file:///%2e%2e/secret", "../secret"])
def test_location_cannot_leave_the_root(live: Live, place: str) -> None:
    root = live.table.parent.parent
    (root.parent / "secret").mkdir()
    location = place.replace("file:///", f"file://{root}/")
    live.commit(ORDERS + f"location: {json.dumps(location)}\n")
    run = live.project.run("plan")
    assert f"{root.parent}/secret" not in run.out
    assert run.status == 2 or "%2e%2e/secret" in run.out, "a path is taken as it is written"


def test_root_that_is_not_mounted_is_out_of_reach(live: Live) -> None:
    live.commit(ORDERS)
    live.table.parent.parent.rmdir()
    assert live.project.check("--live", "--all").status == 2
    assert live.project.run("plan").status == 2


def test_constraint_is_taken_off_while_the_type_of_its_column_changes(live: Live) -> None:
    guarded = "constraints: {positive: amount > 0}\n"
    live.commit(WIDER + ALLOWED + guarded)
    positive = {"delta.constraints.positive": "AMOUNT > 0"}
    live.log(ID, AMOUNT, properties=positive, more=("checkConstraints",))
    run = live.project.run("plan", "--output-format", "json")
    assert run.status == 0
    (table,) = json.loads(run.out)["tables"]
    kinds = [step["kind"] for step in table["steps"]]
    assert kinds == ["drop_constraint", "alter_columns", "add_constraint"]


def test_partitioning_ignores_case(live: Live) -> None:
    live.commit(ORDERS + "partitioned_by: [ID]\n")
    rule = metadata(ID, AMOUNT, partitioned_by=["id"])
    write_log(live.table, [[commit_info("CREATE TABLE"), protocol(), rule]])
    assert live.found("--all", "--against", "none") == []


def test_catalog_is_not_ignored(live: Live) -> None:
    live.commit(ORDERS)
    root = live.table.parent.parent
    live.project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{root}"\ncatalog = "main"\n')
    run = live.project.check("--live", "--all")
    assert run.status == 2
    assert "catalog main" in run.out


def test_table_of_a_later_revision_is_called_ahead(live: Live) -> None:
    now, later = (ORDERS.replace("bigint", f"bigint, comment: {text}") for text in ("number", "key"))
    earlier = live.commit(now)
    revision = live.commit(later)
    live.log(Field("id", LONG, comment="key"), AMOUNT, properties=_marker(later, revision), widening=False)
    live.project.repo.git("checkout", "--quiet", earlier)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "ahead" in run.out


def test_column_of_a_later_revision_is_not_called_undeclared(live: Live) -> None:
    later = ORDERS + "  - {name: newc, type: int}\n"
    earlier = live.commit(ORDERS)
    revision = live.commit(later)
    live.log(ID, AMOUNT, Field("newc", INTEGER), properties=_marker(later, revision), widening=False)
    live.project.repo.git("checkout", "--quiet", earlier)
    run = live.project.run("check", "--live", "--all")
    assert "column newc is int in the live table, and not declared (ahead)" in run.out
    assert "help: a later revision was applied: judge that one" in run.out


MAPPED = "properties: {delta.columnMapping.mode: name}\n"
MODE = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3"}


def _mapped(name: str, number: int, type_: DataType = STRING) -> Field:
    return Field(name, type_, column_id=number, physical_name=f"col-{number}")


def _renamed(live: Live, before: Field, after: Field, properties: dict[str, str] | None = None) -> None:
    """A table in which one column got another name."""
    rule = protocol(3, 7, ["columnMapping"], ["columnMapping", "appendOnly", "invariants"])
    others = (_mapped("id", 1, LONG), _mapped("amount", 2, Decimal(10, 2)))
    told = {**MODE, **(properties or {})}
    created = metadata(*others, before, properties=told)
    renamed = metadata(*others, after, properties=told)
    write_log(
        live.table,
        [[commit_info("CREATE TABLE"), rule, created], [commit_info("RENAME COLUMN"), renamed]],
    )


@pytest.mark.parametrize("against", [(), ("--against", "none")])
def test_column_renamed_by_hand_is_one_finding(live: Live, against: tuple[str, ...]) -> None:
    text = ORDERS + "  - {name: s, type: string, nullable: false}\n" + MAPPED
    revision = live.commit(text)
    before, after = (replace(_mapped(name, 3), nullable=False) for name in ("s", "ss"))
    for properties in (None, _marker(text, revision)):
        _renamed(live, before, after, properties)
        run = live.project.run("check", "--live", "--all", *against, "--output-format", "json")
        (finding,) = json.loads(run.out)["findings"]
        assert finding["message"] == "s is called ss in the live table (renamed by hand: drifted)"
        assert finding["severity"] == "warning"
        assert finding["existing"] == (against == ())
        assert finding["help"] == "rename it back, or declare the new name: `name: ss, renamed_from: s`"


def test_field_renamed_by_hand_is_known_in_a_struct_that_was_renamed_too(live: Live) -> None:
    live.commit(ORDERS + "  - {name: s, type: 'struct<x: string>'}\n" + MAPPED)
    before, after = (
        _mapped(name, 3, Struct((_mapped(inner, 4),))) for name, inner in (("s", "x"), ("ss", "y"))
    )
    _renamed(live, before, after)
    said = live.project.check("--live", "--all").out
    assert "s is called ss in the live table" in said
    assert "s.x is called y in the live table" in said
    assert "missing" not in said


def test_what_is_edited_of_a_column_renamed_by_hand_is_judged_as_that_column(live: Live) -> None:
    column = "  - {{name: s, type: {}}}\n"
    live.commit(ORDERS + column.format("string") + MAPPED)
    _renamed(live, _mapped("s", 3), _mapped("ss", 3))
    live.project.declare(ORDERS + column.format("bigint") + MAPPED)
    assert live.found("--all") == ["DR001", "TW002"]
    assert live.found() == ["TW002"], "the change under review did not bring the other"


def test_column_that_is_declared_under_its_new_name_is_called_so_already(live: Live) -> None:
    live.commit(ORDERS + "  - {name: s, type: string}\n" + MAPPED)
    _renamed(live, _mapped("s", 3), _mapped("ss", 3))
    live.project.declare(ORDERS + "  - {name: ss, type: string, renamed_from: s}\n" + MAPPED)
    run = live.project.check("--live")
    assert run.codes == ["DR001"]
    assert "s is called ss in the live table already" in run.out


def test_column_that_a_later_revision_renamed_is_ahead(live: Live) -> None:
    later = ORDERS + "  - {name: ss, type: string, renamed_from: s}\n" + MAPPED
    earlier = live.commit(ORDERS + "  - {name: s, type: string}\n" + MAPPED)
    revision = live.commit(later)
    _renamed(live, _mapped("s", 3), _mapped("ss", 3), _marker(later, revision))
    live.project.repo.git("checkout", "--quiet", earlier)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "s is called ss in the live table (ahead)" in run.out


def test_column_of_another_id_is_not_the_one_that_is_missing(live: Live) -> None:
    live.commit(ORDERS + "  - {name: s, type: string}\n" + MAPPED)
    _renamed(live, _mapped("s", 3), _mapped("ss", 4))
    said = live.project.check("--live", "--all").out
    assert "column s is missing in the live table" in said
    assert "nobody declares it" in said


def test_table_of_another_branch_is_not_called_ahead(live: Live) -> None:
    now, other = (ORDERS.replace("bigint", f"bigint, comment: {text}") for text in ("number", "key"))
    live.commit(ORDERS)
    live.project.repo.git("checkout", "--quiet", "-b", "other")
    revision = live.commit(other)
    live.log(Field("id", LONG, comment="key"), AMOUNT, properties=_marker(other, revision), widening=False)
    live.project.repo.git("checkout", "--quiet", "main")
    live.commit(now)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "not applied yet" in run.out


def test_table_made_anew_is_not_judged_by_what_was_applied_to_the_old_one(live: Live) -> None:
    text = ORDERS.replace("bigint", "bigint, comment: key")
    revision = live.commit(text)
    marker = _marker(text, revision)["schemalint.applied"].replace("t-1", "another")
    live.log(ID, AMOUNT, properties={"schemalint.applied": marker}, widening=False)
    run = live.project.check("--live", "--all")
    assert sorted(run.codes) == ["DR001", "DR003"]
    assert "recreated" in run.out
    assert "not applied yet" in run.out


def _forget_a_type_change(live: Live) -> None:
    """The history holds a fault, which is none of the declaration's."""
    write_log(
        live.table,
        [
            [commit_info("CREATE TABLE"), protocol(), metadata(Field("id", INTEGER), AMOUNT)],
            [commit_info("SET TBLPROPERTIES"), metadata(ID, AMOUNT)],
        ],
    )


def test_fault_of_the_history_is_an_old_sin(live: Live) -> None:
    live.commit(ORDERS)
    _forget_a_type_change(live)
    run = live.project.check("--live", "--all")
    assert (run.status, run.codes) == (0, ["TH001"])
    assert live.project.check("--live", "--all", "--strict").status == 1
    assert live.project.check("--live", "--all", "--against", "none").status == 1


def test_fault_of_the_history_is_new_where_the_contract_is(live: Live) -> None:
    live.project.repo.write("README", "")
    live.project.repo.commit()
    live.project.declare(ORDERS)
    _forget_a_type_change(live)
    run = live.project.check("--live")
    assert (run.status, run.codes) == (1, ["TH001"])


def test_fault_of_the_history_does_not_stop_a_plan(live: Live) -> None:
    live.commit(ORDERS.replace("bigint", "bigint, comment: key"))
    _forget_a_type_change(live)
    run = live.project.run("plan")
    assert run.status == 0
    assert "COMMENT" in run.out


def test_plan_for_a_table_that_spark_does_not_open_is_refused(live: Live) -> None:
    live.commit(ORDERS.replace("bigint", "bigint, comment: key"))
    write_log(live.table, [[protocol(3, 7), metadata(ID, AMOUNT)]])
    run = live.project.run("plan")
    assert run.status == 1
    assert "PF013" in run.out


def test_upgrade_is_told_by_the_features_of_the_log(live: Live) -> None:
    live.commit(ORDERS)
    write_log(live.table, [[protocol(1, 3), metadata(ID, AMOUNT)]])
    live.project.declare(ORDERS + "properties: {delta.enableDeletionVectors: true}\n")
    run = live.project.run("check", "--live")
    assert "from reader 1, writer 3 (appendOnly, checkConstraints, invariants)" in run.out
    assert "to reader 3, writer 7 (appendOnly, checkConstraints, deletionVectors, invariants)" in run.out
    assert "DROP FEATURE takes off deletionVectors" in " ".join(run.out.split())
