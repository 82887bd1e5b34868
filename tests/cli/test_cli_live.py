"""`check --live` and `plan` with real logs: combinations of base, declared and live state."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint.base.values import replace
from schemalint.delta.datatype import INTEGER, LONG, STRING, DataType, Decimal, Field, Struct
from support.logs import Action, add, commit_info, marker, metadata, protocol, transaction, write_log
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from pathlib import Path

ID = Field("id", LONG)
AMOUNT = Field("amount", Decimal(10, 2))
WIDER = ORDERS.replace("decimal(10,2)", "decimal(12,2)")
ALLOWED = "properties: {delta.enableTypeWidening: true}\nprotocol: {allow_upgrade: true}\n"


class LiveProject:
    """A project with one table in a target."""

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
        marked: Action | None = None,
    ) -> None:
        """Write the table's log: one commit, with ``more`` as additional table features, and its marker."""
        features = ["typeWidening", *(name for name in more if name == "columnMapping")] if widening else []
        writers = [*features, "appendOnly", "invariants", *(name for name in more if name not in features)]
        table_protocol = protocol(3, 7, features, writers) if widening else protocol()
        enabled = {"delta.enableTypeWidening": "true"} if widening else {}
        write_log(
            self.table,
            [
                [
                    commit_info("CREATE TABLE"),
                    table_protocol,
                    metadata(*fields, properties={**enabled, **(properties or {})}),
                ],
                *([] if marked is None else [[commit_info(), marked]]),
            ],
        )

    def commit(self, text: str) -> str:
        self.project.declare(text)
        return self.project.repo.commit()

    def codes_found(self, *arguments: str) -> list[str]:
        return sorted(self.project.check("--live", *arguments).codes)


@pytest.fixture
def live(project: Project) -> LiveProject:
    return LiveProject(project)


def test_equal_base_contract_and_table_have_no_findings(live: LiveProject) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT, widening=False)
    run = live.project.check("--live", "--all")
    assert (run.status, run.codes) == (0, [])
    assert "no findings in 1 table" in run.out


def test_edit_not_yet_applied_is_one_finding_against_git_and_live(live: LiveProject) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT, widening=False)
    live.project.declare(ORDERS.replace("bigint", "int"))
    run = live.project.run("check", "--live", "--output-format", "json")
    (finding,) = json.loads(run.out)["findings"]
    assert (finding["code"], finding["against"]) == ("TW001", ["git", "live"])


def test_edit_already_applied_is_reported_as_such(live: LiveProject) -> None:
    live.commit(ORDERS + ALLOWED)
    live.log(ID, Field("amount", Decimal(12, 2)))
    live.project.declare(WIDER + ALLOWED)
    assert live.codes_found() == ["DR001", "TH009"]
    assert "in the live table (already applied)" in live.project.check("--live").out


def test_undeclared_live_type_is_drift(live: LiveProject) -> None:
    live.commit(ORDERS)
    live.log(ID, Field("amount", Decimal(14, 2)))
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert run.status == 0, "the change under review did not cause it"
    strict = live.project.check("--live", "--all", "--strict")
    assert strict.status == 1, "Delta cannot change the type back: an error"
    assert "1 error in 1 table" in strict.out
    assert "no new findings" not in strict.out
    assert live.project.check("--live", "--all", "--against", "none").status == 1


def test_drift_that_delta_cannot_reconcile_names_the_rule(live: LiveProject) -> None:
    live.commit(ORDERS)
    live.log(ID, Field("amount", STRING), widening=False)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "TW002" in run.out


def test_three_different_types_give_one_finding(live: LiveProject) -> None:
    live.commit(ORDERS + ALLOWED)
    live.log(ID, Field("amount", Decimal(14, 2)))
    live.project.declare(WIDER + ALLOWED)
    assert live.codes_found("--ignore", "TH009") == ["TW003"]


def test_live_protocol_refutes_the_offline_assumption(live: LiveProject) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT)
    live.project.declare(ORDERS + "properties: {delta.enableTypeWidening: true}\n")
    assert live.project.check().codes == ["PF004"]
    assert "PF004" not in live.codes_found()


def test_undeclared_live_column_is_a_finding(live: LiveProject) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT, Field("note", STRING), widening=False)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "note" in run.out


def test_open_table_may_have_undeclared_columns(live: LiveProject) -> None:
    live.commit(ORDERS + "open: {columns: true}\n")
    live.log(ID, AMOUNT, Field("note", STRING), widening=False)
    assert live.codes_found("--all") == []


def test_missing_table_is_a_notice(live: LiveProject) -> None:
    live.commit(ORDERS)
    run = live.project.check("--live", "--all")
    assert (run.status, run.codes) == (0, ["DR003"])


def test_files_without_a_log_are_an_error_as_for_plan(live: LiveProject) -> None:
    """A log that somebody deleted: `apply` would not create the table anew."""
    live.commit(ORDERS)
    live.table.mkdir(parents=True)
    (live.table / "part-0.parquet").write_bytes(b"PAR1")
    run = live.project.check("--live", "--all")
    assert (run.status, run.codes) == (1, ["DR003"])
    assert "other files are there" in run.out
    planned = live.project.run("plan")
    assert (planned.status, "there are files but no Delta log" in planned.out) == (2, True)


def test_unreadable_log_is_an_error(live: LiveProject) -> None:
    live.commit(ORDERS)
    log = live.table / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text('{"metaData": {broken\n')
    assert live.project.check("--live", "--all").status == 2


def test_location_outside_the_root_is_refused(live: LiveProject, tmp_path: Path) -> None:
    live.commit(ORDERS + f"location: {tmp_path}/elsewhere\n")
    run = live.project.check("--live", "--all")
    assert run.status == 2
    assert "not allowed" in run.out


def test_unknown_target_is_an_error(live: LiveProject) -> None:
    live.commit(ORDERS)
    assert live.project.check("--live", "--target", "prod").status == 2


def test_table_behind_its_contract_is_not_applied_yet_instead_of_drifted(live: LiveProject) -> None:
    revision = live.commit(ORDERS + ALLOWED)
    live.log(ID, AMOUNT, marked=marker(ORDERS + ALLOWED, revision))
    live.commit(WIDER + ALLOWED)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "not applied yet" in run.out
    assert run.status == 0


def test_marker_without_a_commit_tells_the_applied_revision_by_its_hash(live: LiveProject) -> None:
    texts = [ORDERS.replace("bigint", f"bigint, comment: {word}") for word in ("old", "now")]
    live.commit(texts[0])
    for comment, expected in (("old", "not applied yet"), ("theirs", "drifted")):
        live.log(Field("id", LONG, comment=comment), AMOUNT, marked=marker(texts[0], None), widening=False)
        live.commit(texts[1])
        run = live.project.check("--live", "--all")
        assert run.codes == ["DR001"]
        assert expected in run.out


@pytest.mark.parametrize("is_marked", [True, False], ids=["marked", "never applied"])
@pytest.mark.parametrize(
    "lost",
    [
        ORDERS.replace("bigint", "bigint, nullable: false"),
        ORDERS.replace("bigint", "bigint, comment: number"),
        ORDERS.replace("bigint", "string"),
        ORDERS + "  - {name: note, type: string}\n",
        ORDERS + "clustered_by: [id]\n",
        ORDERS + "properties: {delta.enableRowTracking: true}\nprotocol: {allow_upgrade: true}\n",
        ORDERS + "constraints: {positive: id > 0}\n",
        ORDERS + "partitioned_by: [id]\n",
        ORDERS + "description: ours\n",
    ],
    ids=[
        *("NOT NULL", "comment", "type", "column", "clustering"),
        *("row tracking", "constraint", "partitioning", "description"),
    ],
)
def test_nightly_command_of_the_docs_says_of_drift_what_all_rules_say(
    live: LiveProject, lost: str, *, is_marked: bool
) -> None:
    """The command is that of `docs/how-to/drift.md` and `docs/deploy.md`."""
    revision = live.commit(lost)
    live.log(ID, AMOUNT, marked=marker(lost, revision) if is_marked else None, widening=False)
    everything = live.project.check("--live", "--all", "--strict")
    nightly = live.project.check("--live", "--all", "--strict", "--select", "DR", "--fail-on", "warning")
    of_drift = [line for line in everything.out.splitlines() if " DR001 " in line]
    assert of_drift
    assert [line for line in nightly.out.splitlines() if " DR001 " in line] == of_drift
    if is_marked:
        assert nightly.status == 1
    if any(" error " in line for line in of_drift):
        assert nightly.status == everything.status == 1


def test_table_altered_after_apply_has_drifted(live: LiveProject) -> None:
    text = ORDERS + "  - {name: note, type: string, comment: ours}\n"
    revision = live.commit(text)
    live.log(
        ID,
        AMOUNT,
        Field("note", STRING, comment="theirs"),
        marked=marker(text, revision),
        widening=False,
    )
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "drifted" in run.out
    assert "DR001 error" in run.out
    assert live.project.check("--live", "--all", "--strict").status == 1
    live.project.declare(text + "# reviewed\n")
    assert "DR001 warning" in live.project.check("--live", "--strict").out, "beside a change under review"
    live.project.declare(text)
    live.project.repo.write(
        "schemalint.toml", f'severity.DR001 = "info"\n[targets.dev]\nroot = "{live.table.parent.parent}"\n'
    )
    assert "DR001 info" in live.project.check("--live", "--all").out
    assert live.project.check("--live", "--all", "--strict").status == 0


def test_plan_shows_statements_and_changes_nothing(live: LiveProject) -> None:
    live.commit(WIDER + ALLOWED)
    live.log(ID, AMOUNT)
    run = live.project.run("plan")
    assert run.status == 0
    assert "`amount` TYPE decimal(12,2)" in run.out
    assert live.project.run("plan", "--exit-code").status == 4
    assert len(list((live.table / "_delta_log").iterdir())) == 1


def test_plan_as_json_is_reproducible(live: LiveProject) -> None:
    live.commit(WIDER + ALLOWED)
    live.log(ID, AMOUNT)
    first = live.project.run("plan", "--output-format", "json").out
    assert first == live.project.run("plan", "--output-format", "json").out
    (table,) = json.loads(first)["tables"]
    assert [step["kind"] for step in table["steps"]] == ["alter_columns"]


def test_plan_is_refused_by_a_rule(live: LiveProject) -> None:
    live.commit(ORDERS)
    live.log(Field("id", STRING), AMOUNT, widening=False)
    run = live.project.run("plan")
    assert run.status == 1
    assert "TW002" in run.out


def test_plan_that_cannot_alter_in_place_is_refused_with_the_reason(live: LiveProject) -> None:
    live.commit(ORDERS + "partitioned_by: [id]\n")
    live.log(ID, AMOUNT, widening=False)
    run = live.project.run("plan")
    assert run.status in (1, 2)
    assert "partition" in run.out
    assert "ALTER TABLE" not in run.out


def test_apply_without_terminal_or_yes_changes_nothing(live: LiveProject) -> None:
    live.commit(WIDER + ALLOWED)
    live.log(ID, AMOUNT)
    run = live.project.run("apply")
    assert run.status == 4
    assert "`amount` TYPE decimal(12,2)" in run.out
    assert len(list((live.table / "_delta_log").iterdir())) == 1


def test_table_managed_by_another_tool_is_checked_but_not_altered(live: LiveProject) -> None:
    live.commit(WIDER + ALLOWED + "managed_by: dbt\n")
    live.log(ID, AMOUNT)
    assert live.codes_found("--all") == ["DR001"]
    run = live.project.run("plan")
    assert "managed by dbt" in run.out
    assert "TYPE" not in run.out


def test_open_table_may_be_wider_than_declared(live: LiveProject) -> None:
    live.commit(ORDERS + "open: {widening: true}\n")
    live.log(ID, Field("amount", Decimal(14, 2)))
    assert live.codes_found("--all", "--against", "none") == []
    assert "up to date" in live.project.run("plan").out


def test_swap_of_two_column_names_is_planned_with_a_temporary_name(live: LiveProject) -> None:
    text = ORDERS.replace("decimal(10,2)", "bigint") + "properties: {delta.columnMapping.mode: name}\n"
    revision = live.commit(text)
    mapping = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}
    columns = (
        Field("id", LONG, column_id=1, physical_name="id"),
        Field("amount", LONG, column_id=2, physical_name="amount"),
    )
    live.log(*columns, properties=mapping, marked=marker(text, revision), more=("columnMapping",))
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


def test_swap_of_two_column_names_is_no_type_change_in_the_live_table(live: LiveProject) -> None:
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
    assert live.project.check("--live").codes == ["CM016", "CM016"]


def test_pull_request_cannot_choose_its_own_target(
    live: LiveProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
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


def test_marker_with_an_unknown_commit_passes_check_but_not_plan(live: LiveProject) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT, marked=transaction(f"schemalint:1:ab:{'deadbeef' * 5}", 1), widening=False)
    assert live.project.check("--live", "--all", "--against", "none").status == 0
    assert live.project.run("plan").status == 2, "the commit last applied is unknown"


@pytest.mark.parametrize("revision", ["", "HEAD", "--help", "HEAD:c.yml", "\x1b[31m", "\ud800"])
def test_marker_with_something_else_than_a_commit_is_none(live: LiveProject, revision: str) -> None:
    live.commit(ORDERS)
    live.log(ID, AMOUNT, marked=transaction(f"schemalint:1:ab:{revision}", 1), widening=False)
    assert live.project.check("--live", "--all", "--against", "none").status == 0
    assert live.project.run("plan").status == 0


def test_two_contracts_for_one_location_are_both_refused(live: LiveProject) -> None:
    live.project.declare(
        ORDERS.replace("sales.orders", "crm.people") + f"location: {live.table}\n", "people.yml"
    )
    live.commit(ORDERS)
    for tables in ([], ["sales.orders"]):
        run = live.project.run("plan", "--output-format", "sql", *tables)
        assert run.status == 2
        assert "CREATE" not in run.out


@pytest.mark.parametrize(
    ("path", "status"), [("%2e%2e/secret", 0), ("file:///%2e%2e/secret", 2), ("../secret", 2)]
)
def test_location_cannot_leave_the_root(live: LiveProject, path: str, status: int) -> None:
    root = live.table.parent.parent
    (root.parent / "secret").mkdir()
    location = path.replace("file:///", f"file://{root}/")
    live.commit(ORDERS + f"location: {json.dumps(location)}\n")
    run = live.project.run("plan")
    assert f"{root.parent}/secret" not in run.out
    assert run.status == status, run.out + run.err
    assert ("%2e%2e/secret" in run.out) is (status == 0), "a path is not decoded"


def test_table_that_cannot_be_made_is_an_error_though_nobody_edits_its_contract(live: LiveProject) -> None:
    live.commit(ORDERS + "constraints: {positive: amonut > 0}\n")
    assert live.project.check("--all", "--strict").status == 0
    run = live.project.check("--live", "--all", "--strict")
    assert "NC012" in run.codes
    assert run.status == 1
    assert live.project.run("plan").status == 1


def test_missing_root_is_an_error(live: LiveProject) -> None:
    live.commit(ORDERS)
    live.table.parent.parent.rmdir()
    assert live.project.check("--live", "--all").status == 2
    assert live.project.run("plan").status == 2


def test_constraint_is_dropped_and_added_around_a_type_change_of_its_column(live: LiveProject) -> None:
    guarded = "constraints: {positive: amount > 0}\n"
    live.commit(WIDER + ALLOWED + guarded)
    positive = {"delta.constraints.positive": "AMOUNT > 0"}
    live.log(ID, AMOUNT, properties=positive, more=("checkConstraints",))
    run = live.project.run("plan", "--output-format", "json")
    assert run.status == 0
    (table,) = json.loads(run.out)["tables"]
    kinds = [step["kind"] for step in table["steps"]]
    assert kinds == ["drop_constraint", "alter_columns", "add_constraint"]


def test_partitioning_ignores_case(live: LiveProject) -> None:
    live.commit(ORDERS + "partitioned_by: [ID]\n")
    partitioned = metadata(ID, AMOUNT, partitioned_by=["id"])
    write_log(live.table, [[commit_info("CREATE TABLE"), protocol(), partitioned]])
    assert live.codes_found("--all", "--against", "none") == []


def test_target_with_catalog_but_without_its_uri_is_an_error(live: LiveProject) -> None:
    live.commit(ORDERS)
    root = live.table.parent.parent
    live.project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{root}"\ncatalog = "main"\n')
    run = live.project.check("--live", "--all")
    assert run.status == 2
    assert "catalog main" in run.out


def test_table_of_a_later_revision_is_ahead(live: LiveProject) -> None:
    now, later = (ORDERS.replace("bigint", f"bigint, comment: {text}") for text in ("number", "key"))
    earlier = live.commit(now)
    revision = live.commit(later)
    live.log(Field("id", LONG, comment="key"), AMOUNT, marked=marker(later, revision), widening=False)
    live.project.repo.git("checkout", "--quiet", earlier)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "ahead" in run.out


def test_column_of_a_later_revision_is_ahead_instead_of_undeclared(live: LiveProject) -> None:
    later = ORDERS + "  - {name: newc, type: int}\n"
    earlier = live.commit(ORDERS)
    revision = live.commit(later)
    live.log(ID, AMOUNT, Field("newc", INTEGER), marked=marker(later, revision), widening=False)
    live.project.repo.git("checkout", "--quiet", earlier)
    run = live.project.run("check", "--live", "--all")
    assert "column newc is ahead: live int, not in the contract" in run.out
    assert "do: a later revision was applied: check that one" in run.out


MAPPED = "properties: {delta.columnMapping.mode: name}\n"
MODE = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3"}


def _mapped(name: str, number: int, type_: DataType = STRING) -> Field:
    return Field(name, type_, column_id=number, physical_name=f"col-{number}")


def _write_rename(live: LiveProject, before: Field, after: Field, marked: Action | None = None) -> None:
    """Write a log in which one column is renamed."""
    mapped_protocol = protocol(3, 7, ["columnMapping"], ["columnMapping", "appendOnly", "invariants"])
    other_columns = (_mapped("id", 1, LONG), _mapped("amount", 2, Decimal(10, 2)))
    created = metadata(*other_columns, before, properties=MODE)
    renamed = metadata(*other_columns, after, properties=MODE)
    write_log(
        live.table,
        [
            [commit_info("CREATE TABLE"), mapped_protocol, created],
            [commit_info("RENAME COLUMN"), renamed],
            *([] if marked is None else [[commit_info(), marked]]),
        ],
    )


@pytest.mark.parametrize("against", [(), ("--against", "none")])
def test_column_renamed_by_hand_is_one_finding(live: LiveProject, against: tuple[str, ...]) -> None:
    text = ORDERS + "  - {name: s, type: string, nullable: false}\n" + MAPPED
    revision = live.commit(text)
    before, after = (replace(_mapped(name, 3), nullable=False) for name in ("s", "ss"))
    for marked in (None, marker(text, revision)):
        _write_rename(live, before, after, marked)
        run = live.project.run("check", "--live", "--all", *against, "--output-format", "json")
        (finding,) = json.loads(run.out)["findings"]
        assert finding["message"] == (
            "s is called ss in the live table (renamed by hand: drifted); "
            "changed in version 1 (RENAME COLUMN, 2023-11-14 22:13:20 UTC)"
        )
        assert finding["severity"] == "error"
        assert finding["existing"] == (against == ())
        assert finding["help"] == "rename it back, or declare the new name, and add `renamed_from: s` there"


def test_field_renamed_by_hand_inside_a_renamed_struct_is_recognized(live: LiveProject) -> None:
    live.commit(ORDERS + "  - {name: s, type: 'struct<x: string>'}\n" + MAPPED)
    before, after = (
        _mapped(name, 3, Struct((_mapped(inner, 4),))) for name, inner in (("s", "x"), ("ss", "y"))
    )
    _write_rename(live, before, after)
    report = live.project.check("--live", "--all").out
    assert "s is called ss in the live table" in report
    assert "s.x is called y in the live table" in report
    assert "missing" not in report


def test_edit_of_a_column_renamed_by_hand_is_judged_against_the_renamed_column(live: LiveProject) -> None:
    column = "  - {{name: s, type: {}}}\n"
    live.commit(ORDERS + column.format("string") + MAPPED)
    _write_rename(live, _mapped("s", 3), _mapped("ss", 3))
    live.project.declare(ORDERS + column.format("bigint") + MAPPED)
    assert live.codes_found("--all") == ["DR001", "TW002"]
    assert live.codes_found() == ["TW002"], "the change under review did not cause the other"


def test_rename_declared_after_it_was_made_by_hand_is_already_applied(live: LiveProject) -> None:
    live.commit(ORDERS + "  - {name: s, type: string}\n" + MAPPED)
    _write_rename(live, _mapped("s", 3), _mapped("ss", 3))
    live.project.declare(ORDERS + "  - {name: ss, type: string, renamed_from: s}\n" + MAPPED)
    run = live.project.check("--live")
    assert run.codes == ["DR001"]
    assert "s is called ss in the live table already" in run.out


def test_column_renamed_by_a_later_revision_is_ahead(live: LiveProject) -> None:
    later = ORDERS + "  - {name: ss, type: string, renamed_from: s}\n" + MAPPED
    earlier = live.commit(ORDERS + "  - {name: s, type: string}\n" + MAPPED)
    revision = live.commit(later)
    _write_rename(live, _mapped("s", 3), _mapped("ss", 3), marker(later, revision))
    live.project.repo.git("checkout", "--quiet", earlier)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "s is called ss in the live table (ahead)" in run.out


def test_column_with_another_id_is_not_the_missing_column(live: LiveProject) -> None:
    live.commit(ORDERS + "  - {name: s, type: string}\n" + MAPPED)
    _write_rename(live, _mapped("s", 3), _mapped("ss", 4))
    report = live.project.check("--live", "--all").out
    assert "column s is not applied yet: live absent" in report
    assert "no contract declares it" in report


def test_table_applied_from_another_branch_is_not_ahead(live: LiveProject) -> None:
    now, other = (ORDERS.replace("bigint", f"bigint, comment: {text}") for text in ("number", "key"))
    live.commit(ORDERS)
    live.project.repo.git("checkout", "--quiet", "-b", "other")
    revision = live.commit(other)
    live.log(Field("id", LONG, comment="key"), AMOUNT, marked=marker(other, revision), widening=False)
    live.project.repo.git("checkout", "--quiet", "main")
    live.commit(now)
    run = live.project.check("--live", "--all")
    assert run.codes == ["DR001"]
    assert "not applied yet" in run.out


def _write_unrecorded_type_change(live: LiveProject) -> None:
    """Write a log with a defect: it changes a type without recording the type change."""
    write_log(
        live.table,
        [
            [commit_info("CREATE TABLE"), protocol(), metadata(Field("id", INTEGER), AMOUNT), add()],
            [commit_info("SET TBLPROPERTIES"), metadata(ID, AMOUNT)],
        ],
    )


def test_defect_in_the_history_is_an_existing_finding(live: LiveProject) -> None:
    live.commit(ORDERS)
    _write_unrecorded_type_change(live)
    assert live.project.check("--live", "--all").codes == []
    run = live.project.check("--live", "--history", "--all")
    assert (run.status, run.codes) == (0, ["TH001"])
    assert live.project.check("--live", "--history", "--all", "--strict").status == 1
    assert live.project.check("--live", "--history", "--all", "--against", "none").status == 1


def test_defect_in_the_history_is_new_for_a_new_contract(live: LiveProject) -> None:
    live.project.repo.write("README", "")
    live.project.repo.commit()
    live.project.declare(ORDERS)
    _write_unrecorded_type_change(live)
    assert live.project.check("--live").codes == []
    run = live.project.check("--live", "--history")
    assert (run.status, run.codes) == (1, ["TH001"])


def test_defect_in_the_history_does_not_stop_a_plan(live: LiveProject) -> None:
    live.commit(ORDERS.replace("bigint", "bigint, comment: key"))
    _write_unrecorded_type_change(live)
    run = live.project.run("plan")
    assert run.status == 0
    assert "COMMENT" in run.out


def test_plan_for_a_table_that_spark_cannot_open_is_refused(live: LiveProject) -> None:
    live.commit(ORDERS.replace("bigint", "bigint, comment: key"))
    write_log(live.table, [[protocol(3, 7), metadata(ID, AMOUNT)]])
    run = live.project.run("plan")
    assert run.status == 1
    assert "PF013" in run.out


def test_protocol_upgrade_is_described_with_the_features_of_the_log(live: LiveProject) -> None:
    live.commit(ORDERS)
    write_log(live.table, [[protocol(1, 3), metadata(ID, AMOUNT)]])
    live.project.declare(ORDERS + "properties: {delta.enableDeletionVectors: true}\n")
    run = live.project.run("check", "--live")
    assert "from reader 1, writer 3 (appendOnly, checkConstraints, invariants)" in run.out
    assert "to reader 3, writer 7 (appendOnly, checkConstraints, deletionVectors, invariants)" in run.out
    assert "DROP FEATURE reverts deletionVectors" in " ".join(run.out.split())


def test_removal_of_a_live_property_and_constraint_gives_no_finding(live: LiveProject) -> None:
    """The lines that remove them are still declared: TP005 is about lines that are gone."""
    declared = "properties: {old_flag: %s}\nconstraints: {positive: %s}\n"
    live.commit(ORDERS + declared % ("on", "id > 0"))
    live.log(ID, AMOUNT, properties={"old_flag": "on", "delta.constraints.positive": "id > 0"})
    live.project.declare(ORDERS + declared % ("null", "null"))
    assert live.codes_found() == []
    live.project.declare(ORDERS)
    assert live.codes_found() == ["TP005", "TP005"]
    assert live.project.run("check", "--live", "--fail-on", "never").out.count("no longer declared") == 2
