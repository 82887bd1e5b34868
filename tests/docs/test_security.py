"""Every promise names the tests that prove it, and they exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.hostile import INSTALLATION, cases
from support.targets import COLLECTED, TARGETS

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "SECURITY.md", ROOT / "docs" / "threat-model.md", ROOT / "tests" / "promises.md")


def _rows(page: Path) -> list[list[str]]:
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in rows if row[-1] != "tests" and set(row[0]) != {"-"}]


def _names() -> set[str]:
    files = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    functions = {name for text in files for name in re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)}
    return functions | {case.name for case in (*cases(), *INSTALLATION)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_promise_names_tests_that_exist(page: Path) -> None:
    names = _names()
    rows = _rows(page)
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`([^`]+)`", row[-1])
        assert named, row
        assert not set(named) - names, row
        assert not re.sub(r"`[^`]+`|, ", "", row[-1]), row


def test_no_test_of_a_promise_is_left_to_other_targets(pytestconfig: pytest.Config) -> None:
    """Only some of its parameters may be."""
    named = {name for page in PAGES for row in _rows(page) for name in re.findall(r"`(test_\w+)`", row[-1])}
    run: dict[str, bool] = {}
    for item in pytestconfig.stash[COLLECTED]:
        name = item.name.partition("[")[0]
        is_left_out = any(mark.name in TARGETS for mark in item.iter_markers())
        run[name] = run.get(name, False) or not is_left_out
    assert {name for name in named & run.keys() if not run[name]} == set()


def test_every_promise_is_one_sentence() -> None:
    for promise, _ in _rows(PAGES[0]):
        assert re.fullmatch(r"[^.]+(?:\.\w[^.]*)*\.", promise), promise
