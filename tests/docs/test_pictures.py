"""The pictures of `docs/tour.md` and of the README are those of a run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from schemalint.cli.action.comment_text import Parts, comment_of
from schemalint.cli.action.github_runner import Inputs
from support.golden import assert_golden
from support.guide import Guide
from support.terminal_picture import terminal_svg

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs/images"
COMMENT = """\
<!doctype html>
<meta charset="utf-8">
<title>schemalint's comment on a pull request</title>
<body style="font-family: sans-serif; background: white">
"""
INPUTS = Inputs(
    directory=Path(),
    shown_directory=".",
    live="off",
    target="",
    comment="auto",
    comment_id="",
    options=(),
    fail_on="",
)
# What leads to the rename: who reads the table is known.
RENAME = """\
git apply ../changes/widen.patch
schemalint check --fix
git apply ../changes/allow-upgrade.patch ../changes/consumers.patch
git commit --quiet --all --message=Consumers
git apply ../changes/rename.patch"""


@pytest.fixture
def lakehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guide:
    """The repository of the example, with its contracts committed."""
    for folder in ("lakehouse", "changes"):
        shutil.copytree(ROOT / "examples" / folder, tmp_path / folder)
    guide = Guide(tmp_path, monkeypatch)
    guide.run("cd lakehouse")
    assert guide.run("git init --quiet && git add . && git commit --quiet --message=Contracts") == ""
    return guide


def test_the_terminal_shows_what_check_prints(lakehouse: Guide) -> None:
    lakehouse.run("git apply ../changes/narrow.patch")
    printed = lakehouse.run("schemalint check --color always")
    assert "TW001" in printed
    svg = terminal_svg("schemalint check", f"\x1b[2m$\x1b[0m schemalint check\n{printed}")
    assert_golden(svg, IMAGES / "check.svg")
    assert set(re.findall(r"https?://[^\s\"]+", svg)) <= {"http://www.w3.org/2000/svg"}


def test_the_comment_is_that_of_the_action(lakehouse: Guide) -> None:
    for command in RENAME.splitlines():
        lakehouse.run(command)
    report = lakehouse.run("schemalint check --output-format markdown")
    result = json.loads(lakehouse.run("schemalint check --output-format json"))
    parts = Parts(report=report, report_text="", result=result, plan="", planned={}, notes=())
    comment = comment_of(parts, INPUTS, {})
    assert comment["is_worth_a_comment"]
    html = MarkdownIt().render(str(comment["body"]))
    assert "RD009" in html
    assert_golden(f"{COMMENT}{html}", IMAGES / "comment.html")
    assert_golden(lakehouse.run("schemalint check --output-format html"), IMAGES / "report.html")
