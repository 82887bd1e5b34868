"""`pull`: contracts written from live tables, and brought up to date."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import INTEGER, LONG, STRING, VOID, Decimal, Field, Struct, Unknown
from schemalint.delta.history import HistoryStep
from schemalint.delta.table import LiveTable
from schemalint.errors import SchemalintError, UsageError
from schemalint.lint.rulebook import load_rules
from schemalint.pull.files import PulledFile, file_name, require_pattern
from schemalint.storage import read_table
from support.logs import commit_info, metadata, protocol, write_commit, write_log

if TYPE_CHECKING:
    from support.project import Project

LOGS = Path(__file__).parents[1] / "delta_log/logs"
WRITTEN_BY_SPARK = sorted(str(log.parent.relative_to(LOGS)) for log in LOGS.rglob("_delta_log"))
INTO = "contracts/{schema}/{table}.yml"
CONTRACT = """\
schemalint: 1
table: sales.orders   # ours
columns:
  # the key
  - {name: id, type: INT}
"""


# What is wrong with a table itself is said of the table, whatever its contract says; TH010 compares the two.
ABOUT_THE_TABLE = frozenset(
    rule.code for rule in load_rules() if {LiveTable, HistoryStep}.issuperset(rule.subjects)
) - {"TH010"}


def worth_a_look(project: Project) -> list[str]:
    """The codes of warnings and errors about contracts and their tables."""
    run = project.run(
        "check", "--live", "--all", "--against", "none", "--exit-zero", "--output-format", "json"
    )
    found = json.loads(run.out)
    assert found["errors"] == []
    codes = [one["code"] for one in found["findings"] if one["severity"] != "info"]
    return [code for code in codes if code not in ABOUT_THE_TABLE]


@pytest.fixture
def lake(project: Project) -> Path:
    root = project.repo.path.parent / "lake"
    root.mkdir()
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{root}"\n')
    return root


def log(table: Path, *fields: Field, properties: dict[str, str] | None = None) -> Path:
    return write_log(
        table, [[commit_info("CREATE TABLE"), protocol(), metadata(*fields, properties=properties)]]
    )


def text_of(project: Project, file: str) -> str:
    return (project.repo.path / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", WRITTEN_BY_SPARK)
def test_what_is_pulled_is_as_declared_at_once(project: Project, name: str) -> None:
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{LOGS}"\n')
    place = str(LOGS / name)
    try:
        read_table(place)
    except SchemalintError:
        pytest.skip("a table that cannot be read cannot be pulled")
    assert project.run("pull", place, "--output", "t.yml").status == 0
    assert worth_a_look(project) == []
    project.repo.commit()
    plan = project.run("plan", "--exit-code")
    assert (plan.status, plan.err) == (0, "")
    again = project.run("pull", place, "--only", "all")
    assert (again.status, again.out, "is as declared" in again.err) == (0, "", True)
    assert project.run("pull", place, "--diff").status == 0


def test_new_contract_goes_to_standard_output(project: Project, lake: Path) -> None:
    log(lake / "sales/orders", Field("id", LONG, nullable=False), properties={"team": "sales"})
    run = project.run("pull", str(lake / "sales/orders"))
    assert (run.status, run.err) == (0, "")
    assert run.out == (
        "schemalint: 1\ntable: sales.orders\n\n"
        "columns:\n  - name: id\n    type: bigint\n    nullable: false\n\n"
        "properties:\n  team: sales\n"
    )
    assert project.run("pull", "sales.orders").out == run.out


@pytest.mark.parametrize(("only", "there"), [("columns", False), ("+properties", True), ("all", True)])
def test_less_is_declared_when_told(project: Project, lake: Path, only: str, *, there: bool) -> None:
    log(lake / "sales/orders", Field("id", LONG), properties={"team": "sales"})
    run = project.run("pull", "sales.orders", "--only", only)
    assert ("team: sales" in run.out) == there
    assert "name: id" in run.out


def test_table_is_pulled_by_its_place_without_a_target(project: Project) -> None:
    place = log(project.repo.path.parent / "lake/orders", Field("id", LONG))
    run = project.run("pull", str(place), "--table", "sales.orders", "-o", "orders.yml")
    assert (run.status, run.err) == (0, "wrote orders.yml\n")
    assert f"table: sales.orders\nlocation: {place}" in text_of(project, "orders.yml").replace('"', "")
    log(place, Field("id", LONG), Field("note", STRING))
    assert project.run("pull", str(place)).err == "updated orders.yml\n"
    assert "name: note" in text_of(project, "orders.yml")


def test_contract_without_a_place_is_pulled_from_any_place_by_its_name(project: Project) -> None:
    project.declare(CONTRACT)
    place = log(project.repo.path.parent / "lake/orders", Field("id", LONG))
    assert project.run("pull", str(place), "--table", "sales.orders").status == 0
    assert text_of(project, "contracts/orders.yml") == CONTRACT.replace("INT", "bigint")


def test_name_that_is_taken_by_a_table_elsewhere_is_refused(project: Project, lake: Path) -> None:
    project.declare(CONTRACT)
    place = log(lake / "other", Field("id", LONG))
    run = project.run("pull", str(place), "--table", "sales.orders")
    assert (run.status, "lies elsewhere" in run.err) == (2, True)
    assert text_of(project, "contracts/orders.yml") == CONTRACT


def test_contract_is_updated_where_it_stands(project: Project, lake: Path) -> None:
    project.declare(CONTRACT.replace("\n", "\r\n"))
    log(lake / "sales/orders", Field("id", INTEGER), Field("note", STRING))
    run = project.run("pull", "Sales.Orders", "--into", INTO)
    assert (run.status, run.out, run.err) == (0, "", "updated contracts/orders.yml\n")
    content = (project.repo.path / "contracts/orders.yml").read_bytes().decode()
    assert content == (CONTRACT + "  - {name: note, type: string}\n").replace("\n", "\r\n")


def test_two_tables_of_one_file_are_both_updated(project: Project, lake: Path) -> None:
    other = CONTRACT.replace("sales.orders", "sales.lines")
    project.declare(f"{CONTRACT}---\nkind: other\n---\n{other}")
    for name in ("orders", "lines"):
        log(lake / "sales" / name, Field("id", LONG))
    run = project.run("pull", "--all", "--into", INTO)
    assert (run.status, run.err) == (0, "updated contracts/orders.yml\n")
    expected = f"{CONTRACT}---\nkind: other\n---\n{other}".replace("INT", "bigint")
    assert text_of(project, "contracts/orders.yml") == expected


def test_diff_is_shown_and_nothing_is_written(project: Project, lake: Path) -> None:
    project.declare(CONTRACT)
    log(lake / "sales/orders", Field("id", LONG))
    run = project.run("pull", "sales.orders", "--diff")
    assert run.status == 4
    assert "-  - {name: id, type: INT}\n+  - {name: id, type: bigint}\n" in run.out
    assert text_of(project, "contracts/orders.yml") == CONTRACT
    log(lake / "new", Field("id", LONG))
    assert project.run("pull", "new", "-o", "new.yml", "--dry-run").out.startswith(
        "--- /dev/null\n+++ b/new.yml\n"
    )
    assert not (project.repo.path / "new.yml").exists()


def test_renamed_column_is_renamed_in_place(project: Project) -> None:
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{LOGS}"\n')
    project.declare(
        "schemalint: 1\ntable: mapped\ncolumns:\n"
        "  - {name: id, type: int}\n  - name: cust   # who\n    type: string\n    deprecated: {reason: old}\n"
        '  - {name: ship, type: "struct<city: string, zip: string>"}\n'
    )
    assert project.run("pull", "mapped").status == 0
    assert text_of(project, "contracts/orders.yml") == (
        "schemalint: 1\ntable: mapped\ncolumns:\n  - {name: id, type: int}\n"
        "  - name: customer_ref   # who\n    type: string\n    deprecated: {reason: old}\n"
        '    renamed_from: cust\n  - {name: ship, type: "struct<city: string>"}\n'
        "  - {name: note, type: string, comment: added}\n"
    )


def test_column_with_the_id_of_another_table_is_no_rename(project: Project, lake: Path) -> None:
    project.declare(CONTRACT)
    first = Field("id", INTEGER, column_id=1, physical_name="col-1")
    anew = Field("key", INTEGER, column_id=1, physical_name="col-2")
    write_log(lake / "sales/orders", [[protocol(2, 5), metadata(first)], [metadata(anew)]])
    project.run("pull", "sales.orders")
    assert "renamed_from" not in text_of(project, "contracts/orders.yml")


def test_place_beside_its_name_is_written_as_location(project: Project, lake: Path) -> None:
    log(lake / "a.b/c", Field("id", LONG))
    log(lake / "1/2/3/deep", Field("id", LONG))
    assert "table: a.b.c\nlocation" not in project.run("pull", str(lake / "a.b/c")).out
    run = project.run("pull", str(lake / "a.b/c"))
    assert "location: a.b/c" in run.out.replace('"', "")
    run = project.run("pull", str(lake / "1/2/3/deep"))
    assert run.out.replace('"', "").startswith("schemalint: 1\ntable: deep\nlocation: 1/2/3/deep\n")


def test_whole_root_is_brought_in_and_one_bad_table_stops_no_other(project: Project, lake: Path) -> None:
    for name in ("sales/orders", "sales/lines", "hr/people", "plain"):
        log(lake / name, Field("id", LONG))
    write_commit(lake / "sales/broken", 0, "{")
    run = project.run("pull", "--all", "--match", "Sales.*", "--into", INTO, "--only", "columns")
    assert run.status == 2
    assert "broken" in run.err
    made = sorted(path.name for path in (project.repo.path / "contracts").rglob("*"))
    assert made == ["lines.yml", "orders.yml", "sales"]
    assert project.run("pull", "--all", "--match", "[!s]*", "--into", INTO).status == 0
    assert (project.repo.path / "contracts/plain.yml").is_file(), "a folder without a name is left out"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("line\nbreak", "contracts/line_break.yml"),
        ("..hidden", "contracts/hidden.yml"),
        ("a b'c\"d", "contracts/a b'c_d.yml"),
        ("*", "contracts/_.yml"),
    ],
)
def test_hostile_name_of_a_folder_stays_a_name(project: Project, lake: Path, name: str, file: str) -> None:
    log(lake / name, Field("id", LONG))
    assert project.run("pull", str(lake / name), "--into", INTO).status == 0
    assert (project.repo.path / file).is_file()
    assert worth_a_look(project) == []


@pytest.mark.parametrize(
    ("table", "file"),
    [
        ("main.sales.orders", "c/main/sales/orders.yml"),
        ("sales.orders", "c/fallback/sales/orders.yml"),
        ("orders", "c/fallback/orders.yml"),
        ("`..`.`../../etc`.`/passwd`", "c/_/_.._etc/_passwd.yml"),
        ("`a/b`.`c\\d`", "c/fallback/a_b/c_d.yml"),
    ],
)
def test_parts_of_a_name_are_parts_of_a_file(table: str, file: str) -> None:
    assert file_name("c/{catalog}/{schema}/{table}.yml", table, "fallback") == Path(file)


@pytest.mark.parametrize("braces", ["{0}", "{}", "{tables}", "{table.name}", "{table", "}"])
def test_unknown_placeholder_is_refused(braces: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"unknown placeholder {braces} in")):
        require_pattern(f"c/{{schema}}/{braces}")


def test_bad_pattern_is_told_once(project: Project, lake: Path) -> None:
    for name in ("a", "b"):
        log(lake / name, Field("id", LONG))
    run = project.run("pull", "--all", "--into", "c/{name}.yml")
    assert (run.status, run.err.count("unknown placeholder {name}")) == (2, 1)


def test_two_tables_into_one_file_are_refused_before_anything_is_written(
    project: Project, lake: Path
) -> None:
    for name in ("a/orders", "b/Orders", "b/other"):
        log(lake / name, Field("id", LONG))
    run = project.run("pull", "--all", "--into", "contracts/{table}.yml")
    assert run.status == 2
    assert "a.orders and b.Orders would be written into one file" in run.err
    assert not (project.repo.path / "contracts").exists()


def test_file_that_is_no_contract_is_left_alone(project: Project, lake: Path) -> None:
    project.repo.write("notes.yml", "mine: true\n")
    log(lake / "sales/orders", Field("id", LONG))
    run = project.run("pull", "sales.orders", "-o", "notes.yml")
    assert run.status == 2
    assert text_of(project, "notes.yml") == "mine: true\n"


def test_ignored_file_that_holds_the_contract_is_updated(project: Project, lake: Path) -> None:
    project.repo.write(".gitignore", "*.local.yml\n")
    project.declare(CONTRACT, "orders.local.yml")
    log(lake / "sales/orders", Field("id", LONG))
    assert project.run("pull", "sales.orders", "-o", "orders.local.yml").err == "updated orders.local.yml\n"
    assert text_of(project, "orders.local.yml") == CONTRACT.replace("INT", "bigint")


def test_contract_elsewhere_is_not_written_twice(project: Project, lake: Path) -> None:
    project.declare(CONTRACT)
    log(lake / "sales/orders", Field("id", LONG))
    run = project.run("pull", "sales.orders", "-o", "other.yml")
    assert (run.status, "declared in contracts/orders.yml" in run.err) == (2, True)


def test_file_is_whole_or_as_before(project: Project, lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.declare(CONTRACT)
    log(lake / "sales/orders", Field("id", LONG))

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    run = project.run("pull", "sales.orders")
    assert (run.status, "No space left" in run.err) == (2, True)
    folder = project.repo.path / "contracts"
    assert [path.name for path in folder.iterdir()] == ["orders.yml"]
    assert text_of(project, "contracts/orders.yml") == CONTRACT


def test_rights_of_a_file_stay(tmp_path: Path) -> None:
    file = tmp_path / "t.yml"
    file.write_text("a")
    file.chmod(0o640)
    PulledFile(file, "a", "b").write()
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("b", 0o640)


def test_type_without_words_is_refused_by_name(project: Project, lake: Path) -> None:
    log(lake / "t", Field("id", LONG), Field("v", Unknown('{"type": "vector"}')))
    run = project.run("pull", "t")
    assert (run.status, run.out) == (2, "")
    assert "no contract can say the type of v" in run.err


def test_columns_of_one_name_are_refused(project: Project, lake: Path) -> None:
    log(lake / "t", Field("id", LONG), Field("s", Struct((Field("a", LONG), Field("A", LONG)))))
    run = project.run("pull", "t")
    assert (run.status, run.out) == (2, "")
    assert "no contract can tell a, A apart" in run.err


def test_column_without_a_type_is_declared_as_it_is(project: Project, lake: Path) -> None:
    log(lake / "t", Field("id", LONG), Field("nothing", VOID))
    assert project.run("pull", "t", "-o", "t.yml").status == 0
    assert "type: void" in text_of(project, "t.yml")
    assert worth_a_look(project) == ["NC009"], "the table is odd, and its contract does not hide it"


def test_records_of_delta_and_of_schemalint_are_not_declared(project: Project, lake: Path) -> None:
    properties = {
        "schemalint.applied": "{}",
        "delta.columnMapping.maxColumnId": "3",
        "delta.rowTracking.materializedRowIdColumnName": "x",
        "delta.inCommitTimestampEnablementVersion": "1",
        "delta.feature.appendOnly": "supported",
        "delta.minReaderVersion": "1",
        "delta.someday": "true",
        "delta.checkpointInterval": "many",
        "team": "sales",
    }
    log(lake / "t", Field("amount", Decimal(5, 2)), properties=properties)
    assert project.run("pull", "t").out.partition("properties:\n")[2] == "  team: sales\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("t", "--all", "--into", INTO),
        ("--all",),
        ("t", "-o", "t.yml", "--into", INTO),
        ("t", "u", "-o", "t.yml"),
        ("t", "u", "--table", "v"),
        ("nowhere",),
        ("--all", "--match", "nothing*", "--into", INTO),
        ("t", "--into", "c/{name}.yml"),
        ("t", "--target", "prod"),
    ],
)
def test_what_makes_no_sense_is_refused(project: Project, lake: Path, arguments: tuple[str, ...]) -> None:
    log(lake / "t", Field("id", LONG))
    run = project.run("pull", *arguments)
    assert (run.status, run.out) == (2, "")
    assert "error:" in run.err


def test_contract_that_cannot_be_read_stops_all(project: Project, lake: Path) -> None:
    project.declare("schemalint: 1\ntable: t\ncolumns: 5\n")
    log(lake / "t", Field("id", LONG))
    assert project.run("pull", "t").status == 2


def test_table_that_is_absent_from_the_target_is_refused(project: Project, lake: Path) -> None:
    project.declare(CONTRACT + "targets: {dev: {absent: true}}\n")
    log(lake / "sales/orders", Field("id", LONG))
    run = project.run("pull", "sales.orders")
    assert (run.status, "sales.orders is absent from target dev" in run.err) == (2, True)


def test_declared_table_without_a_place_is_refused(project: Project) -> None:
    project.declare(CONTRACT)
    run = project.run("pull", "sales.orders")
    assert run.status == 2
    assert "declared without a location, and no target" in run.err


def test_status_is_printed_for_nothing_to_do(project: Project, lake: Path) -> None:
    project.declare(CONTRACT)
    log(lake / "sales/orders", Field("id", INTEGER))
    run = project.run("pull", "sales.orders")
    assert (run.status, run.out, run.err) == (0, "", "sales.orders is as declared\n")


@pytest.mark.parametrize("where", [("-o", "t.txt"), ("--into", "c/{table}"), ("--into", "c/{table}.yml/x")])
@pytest.mark.parametrize("globs", ["", 'contracts = ["!drafts/**"]'])
def test_name_that_no_check_looks_at_is_refused_before_anything_is_read(
    project: Project, globs: str, where: tuple[str, str]
) -> None:
    project.repo.write("schemalint.toml", f"{globs}\n")
    project.declare("schemalint: 1\ntable: t\ncolumns: 5\n")
    run = project.run("pull", "nowhere", *where)
    assert (run.status, f"no check would look at {where[1]}" in run.err) == (2, True)


@pytest.mark.parametrize(
    ("globs", "output", "seen"),
    [
        ([], "t.YAML", True),
        ([], "ignored.yml", False),
        ([], "../t.yml", False),
        (["!drafts/**"], "drafts/t.yml", False),
        (["schemas/**"], "schemas/a/t.txt", True),
        (["schemas/**"], "contracts/t.yml", False),
        (["schemas/**", "!**/*.txt"], "schemas/t.txt", False),
    ],
)
def test_file_that_no_check_looks_at_is_told(
    project: Project, lake: Path, globs: list[str], output: str, *, seen: bool
) -> None:
    project.repo.write("schemalint.toml", f"contracts = {globs}\n[targets.dev]\nroot = {str(lake)!r}\n")
    project.repo.write(".gitignore", "ignored.yml\n")
    log(lake / "t", Field("id", LONG))
    assert "warning" not in project.run("pull", "t", "-o", output, "--diff").err
    run = project.run("pull", "t", "-o", output)
    assert (run.status, f"no check looks at {output}" in run.err) == (0, not seen)
    check = project.check("--live", "--all", "--against", "none", "--exit-zero")
    assert ("1 table" in check.out) == seen


def test_pattern_of_new_files_is_not_taken_for_a_table_of_findings(project: Project, lake: Path) -> None:
    log(lake / "t", Field("id", LONG))
    for arguments in ([], ["--into", "c/{table}.yml"]):
        run = project.run("pull", "--master", "local", "t", *arguments)
        assert (run.status, run.out) == (2, "")
        assert "--master: nothing here needs Spark\n  help: add --via spark\n" in run.err


def test_place_with_a_way_up_is_the_place_it_leads_to(project: Project, lake: Path) -> None:
    log(lake / "s/b", Field("id", LONG))
    run = project.run("pull", "../lake/s/b")
    assert (run.status, "table: s.b\n" in run.out, "location:" in run.out) == (0, True, False)


def test_root_with_a_way_up_holds_what_lies_below_it(project: Project, lake: Path) -> None:
    project.repo.write("schemalint.toml", '[targets.dev]\nroot = "../lake"\n')
    log(lake / "s/a", Field("id", LONG))
    run = project.run("pull", str(lake / "s/a"))
    assert (run.status, "table: s.a\n" in run.out, "location:" in run.out) == (0, True, False)
    project.declare(
        f"schemalint: 1\ntable: s.x\nlocation: {lake}/s/a\ncolumns: [{{name: id, type: bigint}}]\n"
    )
    assert project.run("plan").status == 0


def test_way_up_behind_a_link_leads_to_the_folder_above_its_target(project: Project, lake: Path) -> None:
    log(lake / "s/a", Field("id", LONG))
    (lake / "deep/er").mkdir(parents=True)
    (project.repo.path / "link").symlink_to(lake / "deep/er")
    run = project.run("pull", "link/../../s/a")
    assert (run.status, "table: s.a\n" in run.out, "location:" in run.out) == (0, True, False)


def test_location_of_a_contract_holds_no_way_up(project: Project, lake: Path) -> None:
    place = f"{lake}/x/../s/a"
    project.declare(f"schemalint: 1\ntable: s.x\nlocation: {place}\ncolumns: [{{name: id, type: bigint}}]\n")
    run = project.run("plan")
    assert (run.status, "holds '..'" in run.err) == (2, True)
