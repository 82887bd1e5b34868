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


def test_make_test_asks_about_every_promise(pytestconfig: pytest.Config) -> None:
    """Targets may ask further; `.ci/run` always starts `make wide`."""
    always: set[str] = set()
    for item in pytestconfig.stash[COLLECTED]:
        if not any(mark.name in TARGETS.keys() - {"wide"} for mark in item.iter_markers()):
            always.add(item.name.partition("[")[0])
    collected = {item.name.partition("[")[0] for item in pytestconfig.stash[COLLECTED]}
    left_out = []
    for row in (row for page in PAGES for row in _rows(page)):
        named = set(re.findall(r"`(test_\w+)`", row[-1])) & collected
        if named and not named & always:
            left_out.append(row[0])
    assert left_out == []


def test_every_promise_is_one_sentence() -> None:
    for promise, _ in _rows(PAGES[0]):
        assert re.fullmatch(r"[^.]+(?:\.\w[^.]*)*\.", promise), promise
