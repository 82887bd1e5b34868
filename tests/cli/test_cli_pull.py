"""`pull`: contracts created from live tables or updated to match them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.author.contract_files import PulledFile, file_name, require_pattern
from schemalint.base.errors import SchemalintError, UsageError
from schemalint.delta.datatype import INTEGER, LONG, STRING, VOID, Decimal, Field, Struct, Unknown
from schemalint.delta.history import HistoryStep
from schemalint.delta.table import LiveTable
from schemalint.review.rulebook import load_rules
from schemalint.tables.storage import read_table
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


# Findings about the table itself, independent of its contract; TH010 compares the two. TW012 warns of types
# that another writer has given to live columns, such as strings with a collation.
ABOUT_THE_TABLE = frozenset(
    rule.code for rule in load_rules() if {LiveTable, HistoryStep}.issuperset(rule.subjects)
) - {"TH010"} | {"NC024", "TW012"}


def contract_codes(project: Project) -> list[str]:
    """Return the codes of warnings and errors that depend on the contract."""
    run = project.run(
        "check", "--live", "--all", "--against", "none", "--fail-on", "never", "--output-format", "json"
    )
    document = json.loads(run.out)
    assert document["errors"] == []
    codes = [finding["code"] for finding in document["findings"] if finding["severity"] != "info"]
    return [code for code in codes if code not in ABOUT_THE_TABLE]


@pytest.fixture
def lake(project: Project) -> Path:
    """The root of the target ``dev``."""
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
def test_pulled_contract_matches_its_table(project: Project, name: str) -> None:
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{LOGS}"\n')
    table_path = str(LOGS / name)
    try:
        read_table(table_path)
    except SchemalintError:
        pytest.skip("a table that cannot be read cannot be pulled")
    assert project.run("pull", table_path, "--output", "t.yml").status == 0
    assert contract_codes(project) == []
    project.repo.commit()
    plan = project.run("plan", "--exit-code")
    assert (plan.status, plan.err) == (0, "")
    again = project.run("pull", table_path, "--only", "all")
    assert again.status == 0
    assert again.out == ""
    assert "is up to date" in again.err
    assert project.run("pull", table_path, "--diff").status == 0


def test_new_contract_is_printed_to_standard_output(project: Project, lake: Path) -> None:
    log(lake / "sales/orders", Field("id", LONG, nullable=False), properties={"team": "sales"})
    run = project.run("pull", str(lake / "sales/orders"))
    assert (run.status, run.err) == (0, "")
    assert run.out == (
        "schemalint: 1\ntable: sales.orders\n\n"
        "columns:\n  - name: id\n    type: bigint\n    nullable: false\n\n"
        "properties:\n  team: sales\n"
    )
    assert project.run("pull", "sales.orders").out == run.out


@pytest.mark.parametrize(
    ("only", "has_properties"), [("columns", False), ("+properties", True), ("all", True)]
)
def test_only_limits_what_the_contract_declares(
    project: Project, lake: Path, only: str, *, has_properties: bool
) -> None:
    log(lake / "sales/orders", Field("id", LONG), properties={"team": "sales"})
    run = project.run("pull", "sales.orders", "--only", only)
    assert ("team: sales" in run.out) == has_properties
    assert "name: id" in run.out


def test_table_is_pulled_by_its_path_without_a_target(project: Project) -> None:
    path = log(project.repo.path.parent / "lake/orders", Field("id", LONG))
    run = project.run("pull", str(path), "--table", "sales.orders", "-o", "orders.yml")
    assert (run.status, run.err) == (0, "wrote orders.yml\n")
    assert f"table: sales.orders\nlocation: {path}" in text_of(project, "orders.yml").replace('"', "")
    log(path, Field("id", LONG), Field("note", STRING))
    assert project.run("pull", str(path)).err == "updated orders.yml\n"
    assert "name: note" in text_of(project, "orders.yml")


def test_a_table_that_is_declared_keeps_its_name(project: Project) -> None:
    path = log(project.repo.path.parent / "lake/orders", Field("id", LONG))
    text = f"schemalint: 1\ntable: sales.orders\nlocation: {path}\ncolumns:\n  - {{name: id, type: int}}\n"
    project.declare(text)
    run = project.run("pull", str(path), "--table", "sales.others")
    assert run.status == 2
    assert "the table is already declared, as sales.orders" in run.err
    assert text_of(project, "contracts/orders.yml") == text
    assert project.run("pull", str(path), "--table", "Sales.Orders").status == 0
    assert "bigint" in text_of(project, "contracts/orders.yml")


def test_contract_without_a_location_is_pulled_from_any_path(project: Project) -> None:
    project.declare(CONTRACT)
    path = log(project.repo.path.parent / "lake/orders", Field("id", LONG))
    assert project.run("pull", str(path), "--table", "sales.orders").status == 0
    assert text_of(project, "contracts/orders.yml") == CONTRACT.replace("INT", "bigint")


def test_name_of_a_table_at_another_location_is_refused(project: Project, lake: Path) -> None:
    project.declare(CONTRACT)
    path = log(lake / "other", Field("id", LONG))
    run = project.run("pull", str(path), "--table", "sales.orders")
    assert run.status == 2
    assert "is already declared, at another location" in run.err
    assert text_of(project, "contracts/orders.yml") == CONTRACT


def test_contract_is_updated_in_its_file(project: Project, lake: Path) -> None:
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
    assert project.run("pull", "new", "-o", "new.yml", "--diff").out.startswith(
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


def test_fill_follows_its_renamed_source(project: Project) -> None:
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{LOGS}"\n')
    text = (
        "schemalint: 1\ntable: mapped\ncolumns:\n  - {name: id, type: int}\n  - {name: cust, type: string}\n"
        '  - {name: ship, type: "struct<city: string>"}\n'
        '  - {name: note, type: string, backfill: {from: cust, with: "upper(cust)"}}\n'
    )
    project.declare(text)
    assert project.run("pull", "mapped").status == 0
    assert '{from: customer_ref, with: "upper(customer_ref)"}' in text_of(project, "contracts/orders.yml")


def test_column_with_another_physical_name_is_no_rename(project: Project, lake: Path) -> None:
    project.declare(CONTRACT)
    first = Field("id", INTEGER, column_id=1, physical_name="col-1")
    recreated = Field("key", INTEGER, column_id=1, physical_name="col-2")
    write_log(lake / "sales/orders", [[protocol(2, 5), metadata(first)], [metadata(recreated)]])
    project.run("pull", "sales.orders")
    assert "renamed_from" not in text_of(project, "contracts/orders.yml")


def test_path_that_differs_from_the_name_is_written_as_location(project: Project, lake: Path) -> None:
    log(lake / "a.b/c", Field("id", LONG))
    log(lake / "1/2/3/deep", Field("id", LONG))
    assert "table: a.b.c\nlocation" not in project.run("pull", str(lake / "a.b/c")).out
    run = project.run("pull", str(lake / "a.b/c"))
    assert "location: a.b/c" in run.out.replace('"', "")
    run = project.run("pull", str(lake / "1/2/3/deep"))
    assert run.out.replace('"', "").startswith("schemalint: 1\ntable: deep\nlocation: 1/2/3/deep\n")


def test_whole_root_is_pulled_and_a_broken_table_does_not_stop_the_others(
    project: Project, lake: Path
) -> None:
    for name in ("sales/orders", "sales/lines", "hr/people", "plain"):
        log(lake / name, Field("id", LONG))
    write_commit(lake / "sales/broken", 0, "{")
    run = project.run("pull", "--all", "--match", "Sales.*", "--into", INTO, "--only", "columns")
    assert run.status == 2
    assert "broken" in run.err
    written = sorted(path.name for path in (project.repo.path / "contracts").rglob("*"))
    assert written == ["lines.yml", "orders.yml", "sales"]
    assert project.run("pull", "--all", "--match", "[!s]*", "--into", INTO).status == 0
    assert (project.repo.path / "contracts/plain.yml").is_file(), "a folder without a name is omitted"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("line\nbreak", "contracts/line_break.yml"),
        ("..hidden", "contracts/hidden.yml"),
        ("a b'c\"d", "contracts/a b'c_d.yml"),
        ("*", "contracts/_.yml"),
    ],
)
def test_hostile_folder_name_becomes_a_safe_file_name(
    project: Project, lake: Path, name: str, file: str
) -> None:
    log(lake / name, Field("id", LONG))
    assert project.run("pull", str(lake / name), "--into", INTO).status == 0
    assert (project.repo.path / file).is_file()
    assert contract_codes(project) == []


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
def test_parts_of_a_table_name_become_parts_of_the_file_name(table: str, file: str) -> None:
    assert file_name("c/{catalog}/{schema}/{table}.yml", table, "fallback") == Path(file)


@pytest.mark.parametrize("braces", ["{0}", "{}", "{tables}", "{table.name}", "{table", "}"])
def test_unknown_placeholder_is_refused(braces: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"unknown placeholder {braces} in")):
        require_pattern(f"c/{{schema}}/{braces}")


def test_bad_pattern_is_reported_once(project: Project, lake: Path) -> None:
    for name in ("a", "b"):
        log(lake / name, Field("id", LONG))
    run = project.run("pull", "--all", "--into", "c/{name}.yml")
    assert (run.status, run.err.count("unknown placeholder {name}")) == (2, 1)


def test_two_tables_for_one_file_are_refused_before_anything_is_written(project: Project, lake: Path) -> None:
    for name in ("a/orders", "b/Orders", "b/other"):
        log(lake / name, Field("id", LONG))
    run = project.run("pull", "--all", "--into", "contracts/{table}.yml")
    assert run.status == 2
    assert "a.orders and b.Orders would be written into the same file" in run.err
    assert not (project.repo.path / "contracts").exists()


def test_file_that_is_no_contract_is_not_overwritten(project: Project, lake: Path) -> None:
    project.repo.write("notes.yml", "mine: true\n")
    log(lake / "sales/orders", Field("id", LONG))
    run = project.run("pull", "sales.orders", "-o", "notes.yml")
    assert run.status == 2
    assert text_of(project, "notes.yml") == "mine: true\n"


def test_contract_in_a_git_ignored_file_is_updated(project: Project, lake: Path) -> None:
    project.repo.write(".gitignore", "*.local.yml\n")
    project.declare(CONTRACT, "orders.local.yml")
    log(lake / "sales/orders", Field("id", LONG))
    assert project.run("pull", "sales.orders", "-o", "orders.local.yml").err == "updated orders.local.yml\n"
    assert text_of(project, "orders.local.yml") == CONTRACT.replace("INT", "bigint")


def test_second_contract_for_a_declared_table_is_refused(project: Project, lake: Path) -> None:
    project.declare(CONTRACT)
    log(lake / "sales/orders", Field("id", LONG))
    run = project.run("pull", "sales.orders", "-o", "other.yml")
    assert run.status == 2
    assert "declared in contracts/orders.yml" in run.err


def test_failed_write_keeps_the_old_file(
    project: Project, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.declare(CONTRACT)
    log(lake / "sales/orders", Field("id", LONG))

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    run = project.run("pull", "sales.orders")
    assert run.status == 2
    assert "No space left" in run.err
    folder = project.repo.path / "contracts"
    assert [path.name for path in folder.iterdir()] == ["orders.yml"]
    assert text_of(project, "contracts/orders.yml") == CONTRACT


def test_permissions_of_a_file_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "t.yml"
    file.write_text("a")
    file.chmod(0o640)
    PulledFile(file, "a", "b").write()
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("b", 0o640)


def test_unknown_type_is_refused_with_its_column(project: Project, lake: Path) -> None:
    log(lake / "t", Field("id", LONG), Field("v", Unknown('{"type": "vector"}')))
    run = project.run("pull", "t")
    assert (run.status, run.out) == (2, "")
    assert "contracts cannot express the type of v" in run.err


def test_columns_that_differ_only_in_case_are_refused(project: Project, lake: Path) -> None:
    log(lake / "t", Field("id", LONG), Field("s", Struct((Field("a", LONG), Field("A", LONG)))))
    run = project.run("pull", "t")
    assert (run.status, run.out) == (2, "")
    assert "contracts cannot tell a, A apart" in run.err


def test_void_column_is_declared_as_void(project: Project, lake: Path) -> None:
    log(lake / "t", Field("id", LONG), Field("nothing", VOID))
    assert project.run("pull", "t", "-o", "t.yml").status == 0
    assert "type: void" in text_of(project, "t.yml")
    assert contract_codes(project) == ["NC009"], "the contract does not hide the void column"


def test_internal_properties_of_delta_and_schemalint_are_not_declared(project: Project, lake: Path) -> None:
    properties = {
        "schemalint.pending": "{}",
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
def test_contradictory_or_unknown_arguments_are_refused(
    project: Project, lake: Path, arguments: tuple[str, ...]
) -> None:
    log(lake / "t", Field("id", LONG))
    run = project.run("pull", *arguments)
    assert (run.status, run.out) == (2, "")
    assert "error:" in run.err


def test_invalid_contract_stops_the_pull(project: Project, lake: Path) -> None:
    project.declare("schemalint: 1\ntable: t\ncolumns: 5\n")
    log(lake / "t", Field("id", LONG))
    assert project.run("pull", "t").status == 2


def test_table_that_is_absent_from_the_target_is_refused(project: Project, lake: Path) -> None:
    project.declare(CONTRACT + "targets: {dev: {absent: true}}\n")
    log(lake / "sales/orders", Field("id", LONG))
    run = project.run("pull", "sales.orders")
    assert run.status == 2
    assert "sales.orders is absent from target dev" in run.err


def test_declared_table_without_location_and_target_is_refused(project: Project) -> None:
    project.declare(CONTRACT)
    run = project.run("pull", "sales.orders")
    assert run.status == 2
    assert "declared without a location, and there is no target" in run.err


def test_up_to_date_contract_is_reported(project: Project, lake: Path) -> None:
    project.declare(CONTRACT)
    log(lake / "sales/orders", Field("id", INTEGER))
    run = project.run("pull", "sales.orders")
    assert (run.status, run.out, run.err) == (0, "", "sales.orders is up to date\n")


@pytest.mark.parametrize("output", [("-o", "t.txt"), ("--into", "c/{table}"), ("--into", "c/{table}.yml/x")])
@pytest.mark.parametrize("globs", ["", 'contracts = ["!drafts/**"]'])
def test_file_name_that_check_never_reads_is_refused_before_anything_is_read(
    project: Project, globs: str, output: tuple[str, str]
) -> None:
    project.repo.write("schemalint.toml", f"{globs}\n")
    project.declare("schemalint: 1\ntable: t\ncolumns: 5\n")
    run = project.run("pull", "nowhere", *output)
    assert run.status == 2
    assert f"`check` would not read {output[1]}" in run.err


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
def test_file_that_check_does_not_read_is_a_warning(
    project: Project, lake: Path, globs: list[str], output: str, *, seen: bool
) -> None:
    project.repo.write("schemalint.toml", f"contracts = {globs}\n[targets.dev]\nroot = {str(lake)!r}\n")
    project.repo.write(".gitignore", "ignored.yml\n")
    log(lake / "t", Field("id", LONG))
    assert "warning" not in project.run("pull", "t", "-o", output, "--diff").err
    run = project.run("pull", "t", "-o", output)
    assert (run.status, f"`check` does not read {output}" in run.err) == (0, not seen)
    check = project.check("--live", "--all", "--against", "none", "--fail-on", "never")
    assert ("1 table" in check.out) == seen


def test_into_does_not_count_as_use_of_spark(project: Project, lake: Path) -> None:
    log(lake / "t", Field("id", LONG))
    for arguments in ([], ["--into", "c/{table}.yml"]):
        run = project.run("pull", "--master", "local", "t", *arguments)
        assert (run.status, run.out) == (2, "")
        assert "--master has no effect without Spark\n  help: add --via spark\n" in run.err


def test_path_with_dot_dot_is_resolved(project: Project, lake: Path) -> None:
    log(lake / "s/b", Field("id", LONG))
    run = project.run("pull", "../lake/s/b")
    assert run.status == 0
    assert "table: s.b\n" in run.out
    assert "location:" not in run.out


def test_root_with_dot_dot_contains_the_tables_below_it(project: Project, lake: Path) -> None:
    project.repo.write("schemalint.toml", '[targets.dev]\nroot = "../lake"\n')
    log(lake / "s/a", Field("id", LONG))
    run = project.run("pull", str(lake / "s/a"))
    assert run.status == 0
    assert "table: s.a\n" in run.out
    assert "location:" not in run.out
    project.declare(
        f"schemalint: 1\ntable: s.x\nlocation: {lake}/s/a\ncolumns: [{{name: id, type: bigint}}]\n"
    )
    assert project.run("plan").status == 0


def test_dot_dot_after_a_link_is_the_parent_of_the_link_s_target(project: Project, lake: Path) -> None:
    log(lake / "s/a", Field("id", LONG))
    (lake / "deep/er").mkdir(parents=True)
    (project.repo.path / "link").symlink_to(lake / "deep/er")
    run = project.run("pull", "link/../../s/a")
    assert run.status == 0
    assert "table: s.a\n" in run.out
    assert "location:" not in run.out


def test_location_with_dot_dot_in_a_contract_is_refused(project: Project, lake: Path) -> None:
    location = f"{lake}/x/../s/a"
    project.declare(
        f"schemalint: 1\ntable: s.x\nlocation: {location}\ncolumns: [{{name: id, type: bigint}}]\n"
    )
    run = project.run("plan")
    assert run.status == 2
    assert "contains '..'" in run.err
