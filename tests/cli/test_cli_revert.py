"""`revert`: undo the last change of a contract as far as Delta can undo it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint import contract
from schemalint.base.values import replace
from schemalint.delta.datatype import INTEGER, LONG, STRING, Decimal, Field, Struct, type_at
from schemalint.model.contract import Contract
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from pathlib import Path

BASE = """\
schemalint: 1
# the orders of the shop
table: sales.orders
columns:
  - {name: id, type: bigint}   # the key
  - name: amount  # gross
    type: decimal(10,2)
  - name: lines
    type: "array<struct<sku: string, qty: int>>"
  - name: shipping
    type: struct
    columns:
      - {name: city, type: string, comment: Free text.}
      - {name: zip, type: string}
properties:
  delta.columnMapping.mode: name
  delta.enableTypeWidening: true
  team: sales
protocol: {allow_upgrade: true}
"""
RENAMED = BASE.replace("- name: amount  # gross", "- name: total  # gross\n    renamed_from: amount")


STOPPED = ("BF007",)
"""What somebody approves who stops a fill: its source still stands."""


class History:
    """A repository with revisions of a contract."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def declare(self, *texts: str) -> None:
        for text in texts:
            self.project.declare(text)
            self.project.repo.commit()

    def revert(self, *arguments: str, errors: tuple[str, ...] = ()) -> str:
        """Revert, assert that the result has no other errors, and return the contract's text."""
        run = self.project.run("revert", "sales.orders", *arguments)
        assert run.status == 0, run.err
        self.notes = [line for line in run.err.splitlines() if line.startswith("note: ")]
        assert self.errors() == list(errors)
        return self.text

    def errors(self) -> list[str]:
        run = self.project.run("check", "--against", "HEAD", "--fail-on", "never", "--output-format", "json")
        content = json.loads(run.out)
        assert content["errors"] == []
        return [finding["code"] for finding in content["findings"] if finding["severity"] == "error"]

    def columns(self, text: str, column: str) -> tuple[Field, ...]:
        (declared,) = contract.read("orders.yml", text).contracts
        type_ = type_at(declared.state.columns, (column,))
        assert isinstance(type_, Struct)
        return type_.fields

    @property
    def text(self) -> str:
        return (self.project.repo.path / "contracts/orders.yml").read_text(encoding="utf-8")

    @property
    def contract(self) -> Contract:
        (declared,) = contract.read("orders.yml", self.text).contracts
        return declared


@pytest.fixture
def history(project: Project) -> History:
    return History(project)


def test_rename_is_reverted_by_a_rename(history: History) -> None:
    history.declare(BASE, RENAMED)
    assert history.revert() == BASE.replace(
        "- name: amount  # gross", "- name: amount  # gross\n    renamed_from: total"
    )


def test_renames_of_several_revisions_become_one_rename(history: History) -> None:
    later = RENAMED.replace("name: total", "name: gross").replace(
        "renamed_from: amount", "renamed_from: total"
    )
    history.declare(BASE, RENAMED, later)
    assert "- name: amount  # gross\n    renamed_from: gross\n" in history.revert("--to", "HEAD~2")


SWAPPED = BASE.replace("{name: city, type: string,", "{name: zip, renamed_from: city, type: string,").replace(
    "{name: zip, type: string}", "{name: city, renamed_from: zip, type: string}"
)


def test_swap_is_reverted_once_its_former_names_are_no_longer_declared(history: History) -> None:
    applied = SWAPPED.replace("renamed_from: city, ", "").replace("renamed_from: zip, ", "")
    history.declare(BASE, SWAPPED, applied)
    text = history.revert("--to", "HEAD~2")
    assert "{name: city, type: string, comment: Free text., renamed_from: zip}" in text
    assert "{name: zip, type: string, renamed_from: city}" in text


def test_swap_whose_revert_has_the_same_text_is_refused(history: History) -> None:
    history.declare(BASE, SWAPPED)
    run = history.project.run("revert", "sales.orders")
    assert run.status == 2
    assert "renamed_from" in run.err
    assert history.text == SWAPPED


def test_rotation_of_three_names_is_reverted(history: History) -> None:
    """Unlike a swap, the revert of a rotation needs other ``renamed_from`` names than the rotation."""
    with_dropped = BASE + "dropped: []\n"
    base = with_dropped.replace(
        "      - {name: zip, type: string}\n",
        "      - {name: zip, type: string}\n      - {name: road, type: string}\n",
    )
    rotated = (
        base.replace("{name: city,", "{name: zip, renamed_from: city,")
        .replace("{name: zip, type: string}", "{name: road, renamed_from: zip, type: string}")
        .replace("{name: road, type: string}", "{name: city, renamed_from: road, type: string}")
    )
    history.declare(base, rotated)
    names = [(field.name, field.renamed_from) for field in history.columns(history.revert(), "shipping")]
    assert names == [("city", "zip"), ("zip", "road"), ("road", "city")]


def test_field_added_in_a_type_text_is_dropped(history: History) -> None:
    history.declare(BASE, BASE.replace("sku: string, qty: int", "sku: string, qty: int, note: string"))
    text = history.revert()
    assert "dropped:\n  - lines.element.note\n" in text
    assert 'type: "array<struct<sku: string, qty: int>>"' in text


@pytest.mark.parametrize("is_at_head", [True, False])
def test_two_columns_of_one_name_are_not_reverted(history: History, is_at_head: bool) -> None:  # noqa: FBT001
    repeated = BASE.replace("{name: id, type: bigint}", "{name: Amount, type: bigint}")
    history.declare(BASE, repeated if is_at_head else BASE)
    if not is_at_head:
        history.declare(repeated, BASE.replace("id,", "key,"))
    run = history.project.run("revert", "sales.orders", "--to", "HEAD~1")
    assert run.status == 2
    assert "sales.orders cannot be reverted: " in run.err
    assert "two columns of one name" in run.err
    assert history.text == (repeated if is_at_head else BASE.replace("id,", "key,"))


def test_added_column_is_dropped(history: History) -> None:
    history.declare(BASE, BASE.replace("properties:", "  - {name: note, type: string}\nproperties:"))
    text = history.revert()
    assert "name: note" not in text
    assert "dropped:\n  - note\n" in text


def test_added_column_stays_without_column_mapping(history: History) -> None:
    plain = BASE.replace("  delta.columnMapping.mode: name\n", "")
    added = plain.replace("properties:", "  - {name: note, type: string}\nproperties:")
    history.declare(plain, added)
    assert history.revert() == added
    assert history.notes == ["note: note stays: Delta drops columns only with delta.columnMapping.mode"]


FILL = '{from: amount, with: "cast(amount as bigint)"}'
NUMBER = "  - {name: number, type: bigint}\n"
FILLED = BASE.replace("properties:", f"{NUMBER}properties:").replace(
    "bigint}\np", f"bigint, backfill: {FILL}}}\np"
)


def test_added_backfill_goes_and_nothing_else(history: History) -> None:
    without = FILLED.replace(f", backfill: {FILL}", "")
    history.declare(BASE, without, FILLED)
    assert history.revert(errors=STOPPED) == without
    assert history.notes == []


def test_column_that_stays_is_filled_no_more(history: History) -> None:
    mapping = "  delta.columnMapping.mode: name\n"
    history.declare(BASE.replace(mapping, ""), FILLED.replace(mapping, ""))
    expected = FILLED.replace(mapping, "").replace(f", backfill: {FILL}", "")
    assert history.revert(errors=STOPPED) == expected


def test_changed_backfill_is_as_before(history: History) -> None:
    changed = FILLED.replace('bigint)"}', 'bigint) + 1", unfilled: keep_null}')
    history.declare(FILLED, changed)
    assert history.revert() == FILLED
    history.declare(FILLED.replace(f", backfill: {FILL}", ""))
    assert history.revert("--to", "HEAD~2") == FILLED.replace(
        '"cast(amount as bigint)"', "cast(amount as bigint)"
    )


def test_renamed_source_has_its_old_name_in_the_backfill_too(history: History) -> None:
    renamed = FILLED.replace("- name: amount  # gross", "- name: total  # gross\n    renamed_from: amount")
    renamed = renamed.replace(FILL, FILL.replace("amount", "total"))
    history.declare(FILLED, renamed)
    assert history.contract.backfills["number",].source == ("total",)
    assert history.revert().replace("\n    renamed_from: total", "") == FILLED


def test_dropped_source_returns_and_a_dropped_column_returns_without_its_backfill(history: History) -> None:
    column = "  - name: amount  # gross\n    type: decimal(10,2)\n"
    dropped = FILLED.replace(column, "") + "dropped: [amount]\n"
    history.declare(FILLED, dropped)
    assert '{name: amount, type: "decimal(10,2)"}' in history.revert()
    assert history.contract.backfills["number",].source == ("amount",)
    assert history.contract.state.dropped == ()
    history.declare(FILLED, BASE + "dropped: [number]\n")
    assert history.contract.backfills == {}
    assert "name: number" in history.revert()
    assert "note: `backfill` from amount does not return" in history.notes


REWRITE = '{from: "decimal(10,2)", with: "cast(amount as int)"}'
REWRITTEN = BASE.replace("decimal(10,2)", f"int\n    rewrite: {REWRITE}")


def test_rewrite_stays_with_the_type_that_delta_cannot_change_back(history: History) -> None:
    history.declare(BASE, REWRITTEN)
    assert history.revert() == REWRITTEN
    assert history.notes == ["note: amount stays int, was decimal(10,2): Delta cannot change the type back"]


def test_rewrite_goes_with_its_type_where_no_table_has_it(history: History) -> None:
    history.project.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    history.declare(BASE, REWRITTEN)
    assert history.revert(errors=("TW005",)) == BASE  # `check` alone does not know that there is no table


def test_rewrite_that_was_taken_out_returns(history: History) -> None:
    history.declare(REWRITTEN, REWRITTEN.replace(f"\n    rewrite: {REWRITE}", ""))
    assert history.contract.rewrites.columns == {}
    history.revert()
    assert history.contract.rewrites.columns.keys() == {("amount",)}


def test_changed_rewrite_is_as_before(history: History) -> None:
    history.declare(REWRITTEN, REWRITTEN.replace('int)"}', 'int) + 1", unfilled: keep_null}'))
    assert history.revert() == REWRITTEN


def test_rewrite_of_the_layout_goes_with_it_where_no_table_has_it(history: History) -> None:
    partitioned = BASE + "partitioned_by: [id]\n"
    history.project.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    rewritten = BASE + "partitioned_by: []\nrewrite: {from: {partitioned_by: [id]}}\n"
    history.declare(partitioned, rewritten)
    assert history.revert(errors=("NC007",)) == partitioned  # as above


def test_dropped_column_is_restored_without_its_data(history: History) -> None:
    without = BASE.replace("      - {name: zip, type: string}\n", "") + "dropped: [shipping.zip]\n"
    history.declare(BASE, without)
    assert history.revert().replace("dropped: []\n", "") == BASE
    assert history.notes == ["note: shipping.zip returns empty if it was dropped: its data is gone"]


def test_dropped_not_null_column_is_restored_as_nullable(history: History) -> None:
    before = BASE.replace("{name: id, type: bigint}", "{name: id, type: bigint, nullable: false}")
    history.declare(
        before,
        before.replace("  - {name: id, type: bigint, nullable: false}   # the key\n", "") + "dropped: [id]\n",
    )
    assert "  - name: id\n    type: bigint\n  - name: amount" in history.revert()


def test_dropped_and_recreated_column_stays(history: History) -> None:
    recreated = (
        BASE.replace("decimal(10,2)", "string") + "dropped: [{column: amount, type: 'decimal(10,2)'}]\n"
    )
    history.declare(BASE, recreated)
    assert history.revert() == recreated
    assert "note: amount was recreated since, and stays" in history.notes


def test_widening_stays_with_its_type_changes(history: History) -> None:
    wider = BASE.replace(
        "    type: decimal(10,2)\n",
        '    type: decimal(12,2)\n    type_changes:\n      - {from: "decimal(10,2)", to: "decimal(12,2)"}\n',
    )
    history.declare(BASE, wider)
    assert history.revert() == wider
    assert history.notes == [
        "note: amount stays decimal(12,2), was decimal(10,2): Delta cannot revert a widening"
    ]


def test_widening_keeps_the_property_that_it_needs(history: History) -> None:
    base = BASE.replace("  delta.enableTypeWidening: true\n", "")
    wider = BASE.replace(
        "    type: decimal(10,2)\n",
        '    type: decimal(12,2)\n    type_changes:\n      - {from: "decimal(10,2)", to: "decimal(12,2)"}\n',
    )
    history.declare(base, wider)
    assert history.revert() == wider


def test_unneeded_widening_property_is_declared_absent(history: History) -> None:
    history.declare(BASE.replace("  delta.enableTypeWidening: true\n", ""), BASE)
    assert "  delta.enableTypeWidening: null\n" in history.revert()


def test_properties_and_constraints_return_to_their_old_values_or_null(history: History) -> None:
    after = BASE.replace("team: sales", "team: lake\n  other: x") + "constraints: {positive: amount > 0}\n"
    history.declare(BASE, after)
    text = history.revert()
    assert "  team: sales\n  other: null\n" in text
    assert "constraints: {positive: null}" in text


def test_removed_constraint_is_restored(history: History) -> None:
    before = BASE + "constraints: {positive: amount > 0}\n"
    history.declare(before, before.replace("amount > 0", "null"))
    assert history.revert() == before


def test_column_mapping_and_features_stay(history: History) -> None:
    before = BASE.replace("  delta.columnMapping.mode: name\n", "")
    history.declare(before, BASE + "features: [timestampNtz]\n")
    assert history.revert() == BASE + "features: [timestampNtz]\n"
    assert len(history.notes) == 2


def test_dropped_not_null_stays_nullable(history: History) -> None:
    before = BASE.replace("{name: id, type: bigint}", "{name: id, type: bigint, nullable: false}")
    history.declare(before, BASE)
    assert history.revert() == BASE
    assert history.notes == ["note: id stays nullable: Delta never sets NOT NULL again"]


def test_several_changes_are_reverted_together(history: History) -> None:
    after = (
        RENAMED.replace("decimal(10,2)", "decimal(12,2)")
        .replace(
            "renamed_from: amount\n",
            'renamed_from: amount\n    type_changes:\n      - {from: "decimal(10,2)", to: "decimal(12,2)"}\n',
        )
        .replace("      - {name: zip, type: string}\n", "")
        .replace("comment: Free text.", "comment: Town.")
        .replace("team: sales", "team: lake")
        .replace("properties:", "  - {name: note, type: string}\nproperties:")
    ) + "description: All orders.\ndropped: [shipping.zip]\n"
    history.declare(BASE, after)
    text = history.revert()
    state = history.contract.state
    assert [field.name for field in state.columns.fields] == ["id", "amount", "lines", "shipping"]
    assert "# the orders of the shop" in text
    assert "comment: Free text." in text
    assert state.description is None
    assert state.properties["team"] == "sales"
    assert [entry.path for entry in state.dropped] == [("note",)]
    assert "type: decimal(12,2)" in text


def test_uncommitted_change_is_reverted_to_the_commit(history: History) -> None:
    history.declare(BASE, BASE.replace("team: sales", "team: lake"))
    history.project.declare(BASE.replace("team: sales", "team: shore"))
    assert "team: lake" in history.revert()


def test_revert_of_a_revert_restores_the_change(history: History) -> None:
    history.declare(BASE, RENAMED)
    history.declare(history.revert())
    text = history.revert()
    assert "- name: total  # gross\n    renamed_from: amount\n" in text


def test_diff_writes_nothing(history: History) -> None:
    history.declare(BASE, RENAMED)
    run = history.project.run("revert", "sales.orders", "--diff")
    assert run.status == 4
    assert "+  - name: amount  # gross\n+    renamed_from: total\n" in run.out
    assert history.text == RENAMED


def test_other_contracts_in_the_file_stay(history: History) -> None:
    people = "---\nschemalint: 1\ntable: crm.people\ncolumns: [{name: total, type: int}]\n"
    history.declare(BASE + people, RENAMED + people)
    assert history.revert().endswith(people)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "no contract declares nobody"),
        (["sales.orders"], "no earlier revision has another declaration of sales.orders"),
        (["sales.orders", "--to", "HEAD~7"], "unknown revision"),
        (["sales.orders", "--to", "--all"], "not a revision"),
    ],
)
def test_unknown_table_or_revision_is_an_error(history: History, arguments: list[str], message: str) -> None:
    history.declare(BASE)
    run = history.project.run("revert", *arguments)
    assert run.status == 2
    assert message in run.err


def test_plan_of_the_reverted_contract_is_shown(history: History) -> None:
    table = history.project.repo.path.parent / "lake/sales/orders"
    table.parent.mkdir(parents=True)
    history.project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{table.parent.parent}"\n')
    columns = Field("id", LONG), Field("amount", Decimal(10, 2))
    write_log(
        table, [[commit_info("CREATE TABLE"), protocol(), metadata(*columns, properties={"team": "b"})]]
    )
    history.declare(ORDERS + "properties: {team: a}\n", ORDERS + "properties: {team: b}\n")
    run = history.project.run("revert", "sales.orders")
    assert run.status == 0
    assert "SET TBLPROPERTIES ('team' = 'a')" in run.out
    assert "RESTORE TABLE" in run.out


def test_plan_of_a_reverted_rename_renames(history: History) -> None:
    table = history.project.repo.path.parent / "lake/sales/orders"
    table.parent.mkdir(parents=True)
    history.project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{table.parent.parent}"\n')
    mapped = ORDERS + "properties: {delta.columnMapping.mode: name}\nprotocol: {allow_upgrade: true}\n"
    renamed = mapped.replace("- name: amount", "- name: total\n    renamed_from: amount")
    columns = (
        Field("id", LONG, column_id=1, physical_name="id"),
        Field("total", Decimal(10, 2), column_id=2, physical_name="amount"),
    )
    properties = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}
    table_protocol = protocol(3, 7, ["columnMapping"], ["columnMapping", "appendOnly", "invariants"])
    write_log(
        table, [[commit_info("CREATE TABLE"), table_protocol, metadata(*columns, properties=properties)]]
    )
    history.declare(mapped, renamed)
    run = history.project.run("revert", "sales.orders")
    assert run.status == 0
    assert "RENAME COLUMN `total` TO `amount`" in run.out
    assert "1 statement in 1 table" in run.out


def test_unreachable_target_does_not_stop_the_revert(history: History, tmp_path: Path) -> None:
    history.project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{tmp_path}/nowhere"\n')
    history.declare(BASE, RENAMED)
    run = history.project.run("revert", "sales.orders")
    assert run.status == 0
    assert "schemalint plan sales.orders" in run.err
    assert "name: amount" in history.text


NOTE = "  - {name: note, type: string}\n"
PLAIN = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: int, nullable: false}\n"
TARGETS = '[targets.dev]\nroot = "dev"\n\n[targets.prod]\nroot = "prod"\n'


def write_table(project: Project, target: str, *columns: Field, mapped: bool = False) -> None:
    properties = {"delta.columnMapping.mode": "name"} if mapped else {}
    action = metadata(*columns, properties=properties)
    write_log(
        project.repo.path / target / "sales/orders",
        [[commit_info("CREATE TABLE"), protocol(2, 5) if mapped else protocol(), action]],
    )


NEVER_APPLIED = {
    "a column": PLAIN + NOTE,
    "a wider type": PLAIN.replace("type: int", "type: bigint")
    + "properties: {delta.enableTypeWidening: true}\n",
    "null allowed": PLAIN.replace(", nullable: false", ""),
    "a rename": PLAIN.replace("name: id", "name: key, renamed_from: id")
    + "properties: {delta.columnMapping.mode: name}\n",
    "a feature": PLAIN + "features: [deletionVectors]\n",
    "a default": PLAIN
    + NOTE.replace("string", "string, default: \"'-'\"")
    + "features: [allowColumnDefaults]\n",
}


@pytest.mark.parametrize("text", NEVER_APPLIED.values(), ids=NEVER_APPLIED)
def test_what_no_table_has_yet_is_taken_back_by_the_contract_alone(project: Project, text: str) -> None:
    project.repo.write("schemalint.toml", TARGETS)
    for target in ("dev", "prod"):
        write_table(project, target, Field("id", INTEGER, nullable=False))
    History(project).declare(PLAIN, text)
    run = project.run("revert", "sales.orders", "--target", "dev")
    assert (run.status, "note: " in run.err) == (0, False), run.err
    (reverted,) = contract.read("orders.yml", History(project).text).contracts
    (declared,) = contract.read("orders.yml", PLAIN).contracts
    columns = [replace(field, renamed_from=None) for field in reverted.state.columns.fields]
    assert tuple(columns) == declared.state.columns.fields
    assert (reverted.state.features, reverted.state.dropped) == (frozenset(), ())
    live = ("--live", "--target", "dev", "--against", "HEAD")
    assert project.run("check", *live).status == 0
    assert project.run("plan", "--target", "dev").status == 0


def test_what_one_target_has_is_reverted_as_far_as_delta_can(project: Project) -> None:
    project.repo.write("schemalint.toml", TARGETS)
    mapped = PLAIN + "properties: {delta.columnMapping.mode: name}\n"
    write_table(project, "dev", Field("id", INTEGER, nullable=False), mapped=True)
    write_table(project, "prod", Field("id", INTEGER, nullable=False), Field("note", STRING), mapped=True)
    History(project).declare(mapped, mapped.replace("properties", f"{NOTE}properties"))
    assert project.run("revert", "sales.orders", "--target", "dev").status == 0
    assert "dropped:\n  - note\n" in History(project).text


def test_a_target_that_cannot_be_read_counts_as_applied(project: Project) -> None:
    project.repo.write("schemalint.toml", TARGETS)
    write_table(project, "dev", Field("id", INTEGER, nullable=False))
    History(project).declare(PLAIN, PLAIN + NOTE)
    (project.repo.path / "prod/sales/orders/_delta_log").mkdir(parents=True)
    (project.repo.path / "prod/sales/orders/_delta_log/00000000000000000000.json").write_text("{")
    run = project.run("revert", "sales.orders", "--target", "dev")
    assert "what was merged counts as applied: prod cannot be read" in run.err
    assert "nothing to revert" in run.err
