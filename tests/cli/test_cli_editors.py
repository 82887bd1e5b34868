"""The page about editors: its problem matcher matches reports, and its lines complete in shells."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.review.rulebook import load_rules
from support.skipping import skip_or_fail

if TYPE_CHECKING:
    from support.project import Project

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/editors.md").read_text(encoding="utf-8")
TASKS = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[1])
PATTERN = TASKS["tasks"][0]["problemMatcher"]["pattern"]
REPORTS = sorted((ROOT / "tests/report/cases").glob("*/expected.concise"))
SHELLS = dict(re.findall(r"^\| (bash|zsh|fish)[^|]*\| `(.*?)` \|", PAGE, re.MULTILINE))

CONTRACT = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: bigint}\n"


def test_the_matcher_finds_each_line_of_a_finding_in_the_reports() -> None:
    """All other lines are remarks and the summary; none of them begins with a place in a file."""
    found = 0
    for report in REPORTS:
        for line in report.read_text(encoding="utf-8").splitlines():
            match = re.match(PATTERN["regexp"], line)
            assert (match is not None) == bool(re.match(r"\S+?:\d+:\d+: ", line)), line
            if match:
                found += 1
                assert {match[PATTERN["severity"]]} <= {"error", "warning", "info", "failure"}
                assert match[PATTERN["message"]]
    assert found > 10


def test_the_matcher_reads_a_finding_and_a_failure(project: Project) -> None:
    project.declare(CONTRACT)
    project.repo.commit()
    project.declare(CONTRACT.replace("bigint", "int"))
    project.declare("schemalint: 1\n", "contracts/b c.yml")
    lines = project.check("--color", "never").out.splitlines()
    groups = ("file", "line", "column", "code", "severity")
    read = [
        [match[PATTERN[group]] for group in groups]
        for line in lines
        if (match := re.match(PATTERN["regexp"], line))
    ]
    assert read[0] == ["contracts/orders.yml", "4", "22", "TW001", "error"]
    assert read[1] == ["contracts/b c.yml", "1", "1", None, "failure"]


def complete(project: Project, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> set[str]:
    """Complete the last of the words, as click's script for bash asks."""
    monkeypatch.setenv("_SCHEMALINT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    run = project.run()
    assert (run.status, run.err) == (0, "")
    return {line.partition(",")[2] for line in run.out.splitlines() if line}


def test_names_that_are_quick_to_find_are_completed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.repo.write(
        "schemalint.toml", '[targets.prod]\n[targets.preview]\n[targets."p\\u001b[31m"]\n[targets."p $(x)"]\n'
    )
    codes = {rule.code for rule in load_rules()}
    schemalint = "schemalint"
    found = complete(project, monkeypatch, [schemalint, "che"])
    assert found == {"check"}
    assert complete(project, monkeypatch, [schemalint, "check", "--sel"]) == {"--select"}
    assert complete(project, monkeypatch, [schemalint, "check", "--target", "p"]) == {"prod", "preview"}
    assert complete(project, monkeypatch, [schemalint, "check", "--output-format", "s"]) == {"sarif"}
    area = complete(project, monkeypatch, [schemalint, "explain", "tw"])
    assert area == {code for code in codes if code.startswith("TW")}
    listed = complete(project, monkeypatch, [schemalint, "check", "--ignore", "CM001,TW00"])
    assert listed == {f"CM001,{code}" for code in area if code.startswith("TW00")}


TABLES = [["plan"], ["apply"], ["pull"], ["show"], ["audit"], ["revert"], ["clients", "--table"]]


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_names_of_declared_tables_are_completed(
    words: list[str], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.repo.write("a.yml", CONTRACT)
    project.repo.write("b.yml", CONTRACT.replace("sales.orders", '"sales.Order_Items"'))
    project.repo.write("c.yml", CONTRACT.replace("sales.orders", '"sales.ord $(x)"'))
    project.repo.write("values.yml", "table: sales.order_values\n")
    found = complete(project, monkeypatch, ["schemalint", *words, "Sales.ord"])
    assert found == {"sales.orders", "sales.order_items"}


def test_a_broken_configuration_completes_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.repo.write("schemalint.toml", "[targets\n")
    assert complete(project, monkeypatch, ["schemalint", "plan", "--target", ""]) == set()


def test_the_page_has_a_line_for_each_shell() -> None:
    assert set(SHELLS) == {"bash", "zsh", "fish"}


TRIALS = {
    "bash": (
        "{line}\nCOMP_WORDS=(schemalint check --selec)\nCOMP_CWORD=2\n_schemalint_completion schemalint\n"
        'printf "%s\\n" "${{COMPREPLY[@]}}"\n'
    ),
    "fish": '{line}\ncomplete --do-complete "schemalint check --selec"\n',
    # Without a terminal there is no completion system: its three commands are told apart by what they get.
    "zsh": (
        "compdef() {{ : }}\n_describe() {{ print -l -- ${{(P)3}} }}\ncompadd() {{ print -l -- ${{(P)5}} }}\n"
        "{line}\nwords=(schemalint check --selec)\nCURRENT=3\n_schemalint_completion\n"
    ),
}


@pytest.mark.parametrize("shell", TRIALS)
def test_the_line_for_a_shell_completes(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        skip_or_fail(f"{shell} is not installed")
    program = tmp_path / "bin/schemalint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m schemalint "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    line = SHELLS[shell].replace("\\|", "|")
    run = subprocess.run(
        [shutil.which(shell) or shell, "-c", TRIALS[shell].format(line=line)],
        env={"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert re.split(r"[\s:]", run.stdout)[0] == "--select", run.stderr
