"""The pictures of `docs/pictures.md` and of the README are those of a run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from support.golden import assert_golden
from support.guide import Guide
from support.terminal_picture import terminal_svg

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/pictures.md"
IMAGES = ROOT / "docs/images"
REPORT = re.compile(r"(?<=<!-- report -->\n).*(?=<!-- end of report -->)", re.DOTALL)
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


def test_the_report_is_that_of_the_pull_request(lakehouse: Guide) -> None:
    for command in RENAME.splitlines():
        lakehouse.run(command)
    # As HTML without empty lines, which the host of the repository and the site show alike.
    html = MarkdownIt().render(lakehouse.run("schemalint check --output-format markdown"))
    lines = "\n".join(line for line in html.splitlines() if line)
    assert "RD009" in lines
    page = REPORT.sub(lambda _: f"<blockquote>\n{lines}\n</blockquote>\n", PAGE.read_text("utf-8"))
    assert_golden(page, PAGE)
    assert_golden(lakehouse.run("schemalint check --output-format html"), IMAGES / "report.html")
