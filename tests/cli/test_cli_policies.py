"""What a team wants of names, types and owners, from a lake with a past to the next bad column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from schemalint.delta.datatype import FLOAT, LONG, STRING, Field
from support.logs import commit_info, metadata, protocol, write_commit, write_log

if TYPE_CHECKING:
    from support.project import Project, Run
    from support.review import Review

SETTINGS: Final = """\
baseline = "schemalint-baseline.json"
[severity]
PO = "error"
[targets.lake]
root = "lake"
[options.PO002]
pattern = "[a-z]+"
applies_to = "{applies_to}"
[options.PO003]
of = ["column"]
[options.PO005]
types = {{float = "double"}}
"""


BAD: Final = "columns:\n  - {name: Bad_Column, type: double}\n"
"""The beginning of a contract's columns, with a new one."""


def _write_lake(project: Project, tables: int) -> None:
    """Write tables with names, types and missing comments of the past."""
    project.repo.write(".gitignore", "lake/\n")
    for number in range(tables):
        columns = (Field("OrderId", LONG), Field("ship_to", STRING), Field("weight", FLOAT))
        created = metadata(*columns, table_id=f"id-{number}")
        table = project.repo.path / f"lake/s/t{number}"
        write_log(table, [[commit_info("CREATE TABLE"), protocol(), created]])


@pytest.mark.parametrize(
    ("applies_to", "tables"), [("changed", 20), pytest.param("all", 200, marks=pytest.mark.wide)]
)
def test_a_lake_with_a_past_is_adopted_in_one_command(
    project: Project, review: Review, applies_to: str, tables: int
) -> None:
    """Its pull request is green, the next bad column red, in git and live; a new pattern reopens nothing."""
    _write_lake(project, tables)
    project.repo.commit()
    base = project.repo.head()
    project.repo.write("schemalint.toml", SETTINGS.format(applies_to=applies_to))
    run = project.run("init", "--ci", "github")
    assert run.status == 0, run.err
    assert len([*project.repo.path.glob("contracts/s/*.yml")]) == tables
    assert _pull_request(project, review, base).status == 0
    assert project.run("check", "--all", "--strict").status == 0
    assert project.run("check", "--all", "--live", "--target", "lake").status == 0

    contract = project.repo.path / "contracts/s/t7.yml"
    text = contract.read_text()
    contract.write_text(text.replace("columns:\n", BAD))
    for arguments in (("check",), ("check", "--live", "--target", "lake")):
        run = project.run(*arguments, "--output-format", "json")
        assert run.status == 1
        found = [(each["code"], each["column"]) for each in _new_findings(run)]
        assert [each for each in found if each[0].startswith("PO")] == [
            ("PO002", "Bad_Column"),
            ("PO003", "Bad_Column"),
        ]
    contract.write_text(text)

    settings = project.repo.path / "schemalint.toml"
    settings.write_text(settings.read_text().replace('"[a-z]+"', '"[a-z]{1,20}"'))
    run = project.run("check", "--all", "--strict", "--output-format", "json")
    assert run.status == 0
    assert {each["code"] for each in _new_findings(run)} <= {"CF001", "CF002"}


def test_a_lake_is_adopted_where_warnings_fail_a_run(project: Project, review: Review) -> None:
    _write_lake(project, 3)
    project.repo.commit()
    base = project.repo.head()
    settings = SETTINGS.replace('[severity]\nPO = "error"', 'fail-on = "warning"')
    project.repo.write("schemalint.toml", settings.format(applies_to="changed"))
    assert project.run("init", "--ci", "github").status == 0
    run = _pull_request(project, review, base)
    assert run.status == 0, run.out


def _new_findings(run: Run) -> list[dict[str, Any]]:
    return [each for each in json.loads(run.out)["findings"] if not each["existing"]]


def _pull_request(project: Project, review: Review, base: str) -> Run:
    project.repo.git("checkout", "--quiet", "-B", "feature")
    tip = project.repo.commit()
    sides = {
        "base": {"sha": base, "ref": "main", "repo": {"id": 1}},
        "head": {"sha": tip, "repo": {"id": 1}},
    }
    project.repo.git("update-ref", "refs/remotes/origin/main", base)
    return review.run("pull_request", {"pull_request": sides, "repository": {"default_branch": "main"}})


def test_what_counts_for_a_table_is_printed_with_its_lines(project: Project) -> None:
    project.declare("schemalint: 1\ntable: gold.orders\ncolumns: [{name: a, type: int}]\n", "gold/orders.yml")
    project.repo.write("gold/schemalint.toml", '[[tables]]\nmatch = "*"\noptions.PO002.levels = "top"\n')
    project.repo.write(
        "schemalint.toml",
        'select = ["PO001", "PO002", "PO005"]\n'
        '[options.PO002]\npattern = "a"\n'
        '[[tables]]\nmatch = "gold.*"\noptions.PO002 = {pattern = "b"}\nignore = ["PO005"]\n'
        '[[tables]]\nmatch = "*.orders"\n[tables.options.PO002]\npattern = "c"\nexcept = []\n',
    )
    project.repo.commit()
    assert project.run("rules", "--for", "Gold.Orders").out.splitlines() == [
        "PO001  warning  table-name [no option: finds nothing]",
        "PO002  warning  column-name",
        '    pattern = "c"  (schemalint.toml:11:1, for *.orders)',
        '    levels = "top"  (gold/schemalint.toml:3:1, for *)',
        "    except = []  (schemalint.toml:12:1, for *.orders)",
        '    applies_to = "changed"  (default)',
        "PO005  warning  type-not-wanted [ignored for gold.*] [no option: finds nothing]",
    ]
    options = json.loads(project.run("rules", "--for", "silver.x", "--output-format", "json").out)[1][
        "options"
    ]
    assert options["pattern"] == {"value": "a", "origin": "schemalint.toml:3:1"}


WRONG: Final = {
    '[options.PO002]\npatern = "a"\n': "2:1: failure rule PO002 has no option 'patern'",
    '[options.PO002]\npattern = "[a-z"\n': (
        "2:12: failure option pattern of rule PO002 must be a regular expression for whole names, and '[a-z' "
        "is none: it has an end in the middle (character 4)"
    ),
    '[options.PO002]\npattern = "a"\nexcept = [\n  "b",\n  "legacy_*",\n]\n': (
        "5:4: failure option except of rule PO002 must be a list of regular expressions, not of globs"
    ),
    '[[tables]]\nmatch = "b"\noptions.PO005.types = {int = ""}\n'
    '[[tables]]\nmatch = "a"\noptions.PO005 = {types = {itn = ""}}\n': (
        "6:27: failure option types of rule PO005 must be a type of Spark, and 'itn' is none"
    ),
    '[options.PO005.types]\nfloat = ""\nREAL = ""\n': (
        "3:1: failure option types of rule PO005 must be a table of different types"
    ),
    "[options.PO010]\nmost_columns = 0\n": (
        "2:1: failure option most_columns of rule PO010 must be a whole number from 1"
    ),
    '[options.PO003]\nof = ["tables"]\n': (
        "2:8: failure option of of rule PO003 must be a list of table and column"
    ),
    '[options.PO003]\nof = "table"\n': "2:1: failure option of of rule PO003 must be a list of texts",
    '[options.column-name]\npattern = "a"\n': (
        "1:10: failure options are those of a rule by its code, and 'column-name' is none"
    ),
}


@pytest.mark.parametrize(("text", "problem"), WRONG.items())
def test_a_value_that_a_rule_cannot_have_is_an_error_at_its_line(
    committed: Project, text: str, problem: str
) -> None:
    committed.repo.write("schemalint.toml", text)
    run = committed.check()
    assert run.status == 2
    assert f"schemalint.toml:{problem}" in run.out


def test_rules_that_are_selected_without_an_option_are_named(committed: Project) -> None:
    committed.repo.write("schemalint.toml", 'extend-select = ["PO001", "column-name"]\n')
    assert "note: PO001, PO002 are selected without an option: nothing is found" in committed.check().err
    committed.repo.write("schemalint.toml", 'select = ["ALL"]\n')
    assert "without an option" not in committed.check().err
    committed.repo.write(
        "schemalint.toml", 'select = ["PO001"]\n[[tables]]\nmatch = "a.*"\noptions.PO001.pattern = "a"\n'
    )
    assert "without an option" not in committed.check().err


def test_a_run_without_a_base_says_that_all_counts_as_new(committed: Project) -> None:
    committed.repo.write("schemalint.toml", '[options.PO002]\npattern = "[A-Z]+"\n')
    note = "note: there is no base to compare with: PO002 judges all, as of a new table"
    assert note in committed.check("--against", "none").err
    assert note not in committed.check().err


def test_a_locked_rule_keeps_its_options_in_folders(committed: Project) -> None:
    committed.repo.write(
        "schemalint.toml", 'locked = ["PO002"]\n[options.PO002]\npattern = "[a-z]+"\nlevels = "top"\n'
    )
    nested = '[[tables]]\nmatch = "sales.*"\noptions.PO002 = {levels = "all"}\n'
    committed.repo.write("contracts/schemalint.toml", nested)
    assert committed.check().status == 0
    committed.repo.write(
        "contracts/schemalint.toml", nested.replace("levels = ", 'except = [".*"], levels = ')
    )
    run = committed.check()
    assert run.status == 2
    assert "tables.sales.* has a looser value of the option except, and PO002 is locked" in run.out
    assert "contracts/schemalint.toml:3:1" in run.out


def test_a_change_is_judged_by_both_patterns_and_named_once(project: Project, review: Review) -> None:
    """A pull request that loosens a pattern is still judged by that of the base; a column fails both once."""
    contract = "schemalint: 1\ntable: a.b\ncolumns:\n  - {name: x, type: int}\n"
    project.declare(contract)
    project.repo.write("schemalint.toml", '[severity]\nPO = "error"\n[options.PO002]\npattern = "[a-z]"\n')
    project.repo.commit()
    base = project.repo.head()
    project.declare(f"{contract}  - {{name: yy, type: int}}\n  - {{name: Z, type: int}}\n")
    project.repo.write("schemalint.toml", '[severity]\nPO = "error"\n[options.PO002]\npattern = "[a-z]+"\n')
    run = _pull_request(project, review, base)
    assert run.status == 1
    assert run.out.count("the name of column yy is not as wanted") == 1
    assert run.out.count("the name of column Z is not as wanted") == 1
    assert "options.PO002.pattern changes from [a-z] to [a-z]+" in run.out


def test_a_plan_does_not_ask_for_names(project: Project) -> None:
    """The contract that fails a policy can be applied: Delta accepts it."""
    _write_lake(project, 1)
    project.repo.write("schemalint.toml", SETTINGS.format(applies_to="all").partition("\n")[2])
    project.declare(
        "schemalint: 1\ntable: s.t0\ncolumns:\n  - {name: OrderId, type: bigint}\n"
        "  - {name: ship_to, type: string}\n  - {name: weight, type: float}\n  - {name: New_One, type: int}\n"
    )
    project.repo.commit()
    run = project.run("plan", "--target", "lake")
    assert run.status == 0, run.err
    assert "PO0" not in run.out + run.err
    assert "New_One" in run.out


def test_a_lake_without_contracts_is_audited_each_night(project: Project) -> None:
    """The audit says that it has no base; with its baseline, it is red on the next bad column only."""
    _write_lake(project, 3)
    project.repo.write("schemalint.toml", SETTINGS.format(applies_to="changed").partition("\n")[2])
    audit = ("audit", "--root", "lake", "--output-format", "concise")
    run = project.run(*audit)
    assert (run.status, run.out.count(" PO002 "), run.out.count(" PO003 "), run.out.count(" PO005 ")) == (
        1,
        6,
        9,
        3,
    )
    assert (
        "note: there is no base to compare with: PO002, PO003, PO005 judge all, as of a new table" in run.err
    )
    assert project.run(*audit, "--write-baseline", "lake.json").status == 0
    assert project.run(*audit, "--baseline", "lake.json").status == 0
    columns = (
        Field("OrderId", LONG),
        Field("ship_to", STRING),
        Field("weight", FLOAT),
        Field("Bad", LONG, comment="x y"),
    )
    write_commit(project.repo.path / "lake/s/t1", 1, json.dumps(metadata(*columns, table_id="id-1")))
    run = project.run(*audit, "--baseline", "lake.json")
    assert run.status == 1
    assert [line for line in run.out.splitlines() if "Bad" in line and "existing" not in line] != []


def test_a_contract_in_another_file_is_no_new_table(committed: Project) -> None:
    committed.repo.write(
        "schemalint.toml",
        '[options]\nPO001.pattern = "[A-Z]+"\nPO002.pattern = "[A-Z]+"\nPO004.required = true\n',
    )
    committed.repo.commit()
    old = committed.repo.path / "contracts/orders.yml"
    text = old.read_text()
    old.unlink()
    committed.declare(f"{text}  - {{name: added, type: int}}\n", "elsewhere/orders.yml")
    assert [code for code in committed.check().codes if code.startswith("PO")] == ["PO002"]
