"""SQL files through the commands: check, plan, exceptions, settings, targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from support.project import Project
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS: Final = """\
contracts = [{path = "ddl/**/*.sql", format = "sql", variables = {catalog = "main"}}]
"""
DEV: Final = '[targets.dev]\nroot = "lake"\n[targets.dev.variables]\ncatalog = "dev_jane"\n'
ORDERS: Final = """\
-- Orders of the shop
CREATE TABLE ${catalog}.sales.orders (
  id BIGINT NOT NULL,
  customer STRUCT<
    name: STRING,
    zip: INT
  >,
  amount DECIMAL(10,2)
) USING delta;
GRANT SELECT ON TABLE ${catalog}.sales.orders TO `analysts`;
"""


@pytest.fixture
def ddl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """A repository with a folder of SQL files as the working directory."""
    project = Project(Repo(tmp_path / "repository"), capsys)
    for name, value in project.repo.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project.repo.path)
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.write("ddl/sales/orders.sql", ORDERS)
    project.repo.commit()
    return project


def test_a_change_of_a_nested_field_is_found_in_its_line(ddl: Project) -> None:
    ddl.repo.write("ddl/sales/orders.sql", ORDERS.replace("zip: INT", "zip: SMALLINT"))
    run = ddl.check()
    assert run.out.startswith("ddl/sales/orders.sql:6:10: TW001 error")
    assert run.status == 1


def test_what_is_left_out_is_counted(ddl: Project) -> None:
    ddl.repo.write("ddl/views.sql", "CREATE VIEW v AS SELECT 1;\nCREATE VIEW w AS SELECT 2;")
    ddl.repo.write("ddl/keys.sql", "CREATE TABLE sales.items (id INT NOT NULL PRIMARY KEY) USING delta")
    run = ddl.check("--all")
    assert "note: not compared in files of sql: 2 × CREATE VIEW, 1 × GRANT, 1 × primary key" in run.err  # noqa: RUF001
    assert run.status == 0


def test_an_exception_beside_the_configuration_approves(ddl: Project) -> None:
    ddl.repo.write("ddl/sales/orders.sql", ORDERS.replace("zip: INT", "zip: SMALLINT"))
    ddl.repo.write(
        "exceptions.yaml",
        "schemalint_exceptions: 1\nexceptions:\n  - {table: main.sales.orders, rule: TW001, "
        "column: customer.zip, from: int, to: smallint, via: rewrite, reason: all fit}\n",
    )
    assert ddl.check().status == 0


def test_a_plan_has_the_names_of_its_target(ddl: Project) -> None:
    ddl.repo.write("schemalint.toml", SETTINGS + DEV)
    ddl.repo.commit()
    (ddl.repo.path / "lake").mkdir()
    run = ddl.run("plan", "--output-format", "sql")
    assert "lake/dev_jane/sales/orders" in run.out
    assert "lake/main" not in run.out


def test_a_plan_that_makes_a_table_names_what_only_the_catalog_stores(ddl: Project) -> None:
    ddl.repo.write("schemalint.toml", SETTINGS + DEV)
    masked = "CREATE TABLE main.sales.people (name STRING MASK main.s.hide, id INT PRIMARY KEY) USING delta"
    ddl.repo.write("ddl/people.sql", f"{masked} WITH ROW FILTER main.s.mine ON (id)")
    ddl.repo.commit()
    (ddl.repo.path / "lake").mkdir()
    run = ddl.run("plan", "--output-format", "sql")
    words = "-- not in this statement, as only the catalog stores it: column mask, primary key, row filter"
    assert run.out.count(words) == 1


def test_a_migration_is_refused_with_its_place(ddl: Project) -> None:
    ddl.repo.write("ddl/002.sql", "ALTER TABLE main.sales.orders ADD COLUMN note STRING;\n")
    run = ddl.check()
    assert run.status == 2
    assert "ddl/002.sql:1:1" in run.out
    assert "is a migration of main.sales.orders" in run.out


def test_files_are_left_out_by_name(ddl: Project) -> None:
    ddl.repo.write("ddl/002.sql", "ALTER TABLE main.sales.orders ADD COLUMN note STRING;\n")
    ddl.repo.write("schemalint.toml", SETTINGS.replace("}}]", '}}, "!ddl/0*.sql"]'))
    assert ddl.check("--all").status == 0


def test_a_table_in_sql_and_in_yaml_is_declared_twice(ddl: Project) -> None:
    ddl.repo.write(
        "orders.yml",
        "schemalint: 1\ntable: main.sales.orders\ncolumns:\n  - {name: id, type: bigint}\n",
    )
    assert "CT002" in ddl.check().codes


def test_a_table_moves_from_yaml_to_sql_without_a_drop(ddl: Project) -> None:
    native = "schemalint: 1\ntable: main.sales.items\ncolumns:\n  - {name: id, type: bigint}\n"
    ddl.repo.write("items.yml", native)
    ddl.repo.commit()
    (ddl.repo.path / "items.yml").unlink()
    ddl.repo.write("ddl/items.sql", "CREATE TABLE main.sales.items (id INT) USING delta")
    assert ddl.check().codes == ["TW001"]


def test_if_not_exists_is_one_finding_whatever_changes(ddl: Project) -> None:
    text = ORDERS.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")
    ddl.repo.write("ddl/sales/orders.sql", text)
    ddl.repo.commit()
    ddl.repo.write("ddl/sales/orders.sql", text.replace("zip: INT", "zip: SMALLINT").replace("BIGINT", "INT"))
    assert ddl.check().codes == ["RB010"]


def test_or_replace_has_the_rules_of_a_table_that_is_built_anew(ddl: Project) -> None:
    text = ORDERS.replace("CREATE TABLE", "CREATE OR REPLACE TABLE")
    ddl.repo.write("ddl/sales/orders.sql", text)
    ddl.repo.commit()
    ddl.repo.write("ddl/sales/orders.sql", text.replace("(10,2)", "(5,2)"))
    assert ddl.check().codes == ["RB002"]


def test_the_entry_says_who_runs_the_files(ddl: Project) -> None:
    entry = SETTINGS.replace(
        'format = "sql"', 'format = "sql", managed_by = {tool = "jobs", how = "replace"}'
    )
    ddl.repo.write("schemalint.toml", entry)
    ddl.repo.write("ddl/sales/orders.sql", ORDERS.replace("TABLE", "TABLE IF NOT EXISTS", 1))
    ddl.repo.commit()
    run = ddl.check("--all")
    assert run.status == 2
    assert "its entry says that jobs replaces it" in run.out


def test_a_file_in_two_entries_is_an_error(ddl: Project) -> None:
    entries = '{path = "ddl/**", format = "sql"}, {path = "**/*.sql", format = "sql", using = "delta"}'
    ddl.repo.write("schemalint.toml", f"contracts = [{entries}]\n")
    run = ddl.check("--all")
    assert run.status == 2
    assert "ddl/sales/orders.sql is in two entries of `contracts`" in run.err + run.out


@pytest.mark.parametrize(
    ("engines", "tables"),
    [
        ([], 1),
        (["databricks 16.4"], 2),
        (["databricks 16.4", "fabric 1.3"], 2),
        (["databricks 16.4", "delta-spark 4.4.0"], 1),
    ],
)
def test_tables_without_using_are_delta_where_all_engines_make_such(
    ddl: Project, engines: list[str], tables: int
) -> None:
    ddl.repo.write("ddl/items.sql", "CREATE TABLE main.sales.items (id INT)")
    targets = [
        f'[targets.t{index}]\nroot = "lake"\nengine = "{name}"\n' for index, name in enumerate(engines)
    ]
    ddl.repo.write("schemalint.toml", SETTINGS + "".join(targets))
    run = ddl.check("--all")
    assert f"in {tables} table" in run.out
    left_out = '1 × CREATE TABLE without USING (using = "delta" in the entry reads it)'  # noqa: RUF001
    assert (left_out in run.err) == (tables == 1)


def test_two_files_whose_names_differ_in_case_declare_one_table(ddl: Project) -> None:
    ddl.repo.write("ddl/again.sql", "CREATE TABLE MAIN.Sales.`ORDERS` (id BIGINT) USING delta")
    assert ddl.check().codes == ["CT002"]


def test_a_default_needs_a_property_of_the_statement(ddl: Project) -> None:
    text = "CREATE TABLE main.sales.items (id INT DEFAULT 5) USING delta TBLPROPERTIES ('k' = 'v')"
    ddl.repo.write("ddl/items.sql", text)
    assert ddl.check().codes == ["PF009"]
    help_text = ddl.run("check", "--output-format", "full").out
    assert "set `'delta.feature.allowColumnDefaults' = 'supported'` in TBLPROPERTIES" in help_text
    supported = "('k' = 'v', 'delta.feature.allowColumnDefaults' = 'supported')"
    ddl.repo.write("ddl/items.sql", text.replace("('k' = 'v')", supported))
    assert ddl.check().status == 0


def test_another_value_of_a_variable_declares_another_table(ddl: Project) -> None:
    ddl.repo.write("schemalint.toml", SETTINGS.replace('"main"', '"other"'))
    run = ddl.check()
    assert sorted(run.codes) == ["CF001", "CT001"]
    assert "declares other.sales.orders now, at another location" in run.out
