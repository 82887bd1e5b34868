"""A format of twenty lines for files that another tool makes: what one costs, and what holds for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.contract import made_files

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

STRUCT_TYPE = '''\
"""Schemas of Spark as contracts: what ``df.schema.json()`` prints, by the name of its table."""

import json

from schemalint.base.errors import ContractError, Location
from schemalint.base.wording import Wording
from schemalint.contract.made_files import MadeReading
from schemalint.delta.schema_json import parse_schema
from schemalint.delta.table import TableState
from schemalint.model.contract import Contract

EXPRESSES = frozenset({"comment"})
WORDING = Wording()


def read(source):
    try:
        tables = json.loads(source.data)
        return MadeReading(tuple(
            Contract(name, TableState(parse_schema(json.dumps(schema)), partitioned_by=()), file=source.file)
            for name, schema in tables.items()
        ))
    except ValueError as error:
        return MadeReading(errors=(ContractError(f"no schemas: {error}", location=Location(source.file)),))
'''

SCHEMAS = """\
{"sales.orders": {"type": "struct", "fields": [
  {"name": "id", "type": "long", "nullable": true, "metadata": {}},
  {"name": "amount", "type": "decimal(10,2)", "nullable": true, "metadata": {}}]}}
"""


@pytest.fixture
def declared(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository whose tables are declared in the format of a module that somebody added."""
    (tmp_path / "added").mkdir()
    (tmp_path / "added/structtype.py").write_text(STRUCT_TYPE, encoding="utf-8")
    monkeypatch.setattr(made_files, "__path__", [*made_files.__path__, str(tmp_path / "added")])
    project.repo.write("schemalint.toml", 'contracts = [{path = "schemas.json", format = "structtype"}]\n')
    project.repo.write("schemas.json", SCHEMAS)
    project.repo.commit()
    return project


def test_the_module_is_found_and_its_change_is_judged(declared: Project) -> None:
    assert made_files.formats() == ("dbt", "structtype")
    assert declared.check().codes == []
    declared.repo.write("schemas.json", SCHEMAS.replace("decimal(10,2)", "decimal(5,2)"))
    run = declared.check()
    assert run.out.startswith("schemas.json:1:1: TW003 error")
    assert run.status == 1


def test_what_the_dialect_cannot_say_is_unmanaged(declared: Project) -> None:
    """The module says that there are no partitions, and cannot say it: a native contract manages them."""
    declared.repo.write("schemas.json", "{}")
    declared.declare(NATIVE + "partitioned_by: [id]\n")
    declared.repo.commit()
    (declared.repo.path / "contracts/orders.yml").unlink()
    declared.repo.write("schemas.json", SCHEMAS)
    assert "partition" not in declared.check().out


def test_a_declaration_moves_between_formats_without_a_drop(declared: Project) -> None:
    declared.repo.write("schemas.json", "{}")
    declared.declare(NATIVE)
    assert declared.check().codes == []
    declared.repo.commit()
    (declared.repo.path / "contracts/orders.yml").unlink()
    declared.repo.write("schemas.json", SCHEMAS.replace('"long"', '"integer"'))
    assert declared.check().codes == ["TW001"]


def test_a_file_of_another_tool_is_never_edited(declared: Project) -> None:
    """Its fix is shown as what to do."""
    declared.repo.write("schemas.json", SCHEMAS.replace("decimal(10,2)", "decimal(12,2)"))
    before = (declared.repo.path / "schemas.json").read_bytes()
    run = declared.run("check", "--fix", "--unsafe-fixes")
    assert "do: set `delta.enableTypeWidening: true`" in run.out
    assert (declared.repo.path / "schemas.json").read_bytes() == before


def test_an_exception_for_its_table_stands_in_exceptions_yaml(declared: Project) -> None:
    declared.repo.write("schemas.json", SCHEMAS.replace("decimal(10,2)", "decimal(5,2)"))
    assert "or approve: in a new file exceptions.yaml" in declared.run("check").out
    declared.repo.write(
        "exceptions.yaml",
        "schemalint_exceptions: 1\nexceptions:\n  - {table: sales.orders, rule: TW003, column: amount, "
        'from: "decimal(10,2)", to: "decimal(5,2)", via: rewrite, reason: all fit}\n',
    )
    assert declared.check().status == 0


def test_a_broken_file_is_one_error_and_hides_no_native_contract(declared: Project) -> None:
    declared.repo.write("schemas.json", "{")
    declared.repo.write(
        "schemalint.toml", 'contracts = ["contracts/**", {path = "schemas.json", format = "structtype"}]\n'
    )
    declared.declare(NATIVE.replace("sales.orders", "sales.lines"))
    run = declared.check()
    assert (run.status, run.err.count("no schemas:") + run.out.count("no schemas:")) == (2, 1)
    assert "sales.lines" not in run.err


def test_an_unknown_format_is_an_error(declared: Project) -> None:
    declared.repo.write("schemalint.toml", 'contracts = [{path = "schemas.json", format = "structype"}]\n')
    run = declared.check()
    assert run.status == 2
    assert "'structype' is no format of schemalint" in run.out + run.err


def test_a_file_that_the_configuration_no_longer_names_is_a_looser_setting(declared: Project) -> None:
    declared.repo.write("schemalint.toml", 'contracts = ["contracts/**"]\n')
    declared.declare(NATIVE)
    assert "CF001" in declared.check().codes


NATIVE = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint}
  - {name: amount, type: "decimal(10,2)"}
"""


def test_a_rule_about_what_the_format_cannot_say_finds_nothing(declared: Project) -> None:
    """It has comments of columns, and neither owners nor properties nor comments of tables."""
    settings = (declared.repo.path / "schemalint.toml").read_text()
    declared.repo.write(
        "schemalint.toml",
        f"{settings}[options]\nPO003.of = ['table', 'column']\nPO004.required = true\n"
        "PO009.required = {'delta.enableChangeDataFeed' = 'true'}\nPO010.partitions = 'none'\n",
    )
    declared.repo.write("schemas.json", SCHEMAS.replace("sales.orders", "sales.payments"))
    run = declared.check()
    assert [line.split(":")[-1].split()[0] for line in run.out.splitlines() if " PO" in line] == ["PO003"] * 2
    declared.repo.write("schemas.json", "{}")
    declared.declare(NATIVE.replace("sales.orders", "sales.payments"))
    assert {code for code in declared.check().codes if code.startswith("PO")} == {"PO003", "PO004", "PO009"}
