"""The tutorial and the how-tos: what they show is what their commands print."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from support.golden import assert_golden
from support.guide import Guide

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HOW_TOS = [page for page in sorted((DOCS / "how-to").glob("*.md")) if "```console" in page.read_text("utf-8")]
TUTORIAL = (DOCS / "tutorial.md").read_text("utf-8")
WITH_A_LAKE_OF_ITS_OWN = ("adopt", "dbt", "migrate-a-column", "rewrite", "sql")
TOOLS = ROOT / "tests/support/bin"


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guide:
    guide = Guide(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", f"{TOOLS}{os.pathsep}{os.environ['PATH']}")
    return guide


@pytest.fixture
def package_index(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip find schemalint as if it was released; what it depends on is that of the tests."""
    folder = tmp_path_factory.mktemp("index")
    build = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", "pip", *build], check=True)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_DEPS", "1")
    monkeypatch.setenv("PYTHONPATH", sysconfig.get_path("purelib"))


@pytest.mark.wide
@pytest.mark.usefixtures("package_index")
def test_the_tutorial_prints_what_it_shows(guide: Guide) -> None:
    assert_golden(guide.play(TUTORIAL), DOCS / "tutorial.md")


def _applies(page: Path) -> bool:
    return "\n$ schemalint apply" in page.read_text("utf-8")


@pytest.mark.parametrize("page", [page for page in HOW_TOS if not _applies(page)], ids=lambda page: page.stem)
def test_a_how_to_prints_what_it_shows(guide: Guide, page: Path) -> None:
    follow(guide, page)


@pytest.mark.spark
@pytest.mark.each_time("widen")
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("page", [page for page in HOW_TOS if _applies(page)], ids=lambda page: page.stem)
def test_a_how_to_applies_what_it_shows(guide: Guide, page: Path) -> None:
    follow(guide, page)


def follow(guide: Guide, page: Path) -> None:
    """Follow a how-to; most of them begin with the lake of the tutorial."""
    if page.stem not in WITH_A_LAKE_OF_ITS_OWN:
        guide.play(TUTORIAL.partition("$ pre-commit install")[0] + "```\n")
    assert_golden(guide.play(page.read_text("utf-8")), page)
