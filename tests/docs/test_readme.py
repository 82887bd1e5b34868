"""The README is short, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(path.name for path in ROOT.glob("*.md"))


def test_it_shows_a_picture_and_how_to_install_on_its_first_screens() -> None:
    first, _, rest = README.partition("## Install")
    assert "(docs/images/check.svg)" in first
    assert "pip install" in rest.partition("## ")[0]
    assert README.count("\n") < 100


def test_make_commands_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    mentioned = set(re.findall(r"`make ([a-z]+)`", README))
    assert {"demo", "test"} <= mentioned <= targets


@pytest.mark.parametrize("document", DOCUMENTS)
def test_relative_links_lead_to_existing_files(document: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / document).read_text(encoding="utf-8"))
    assert not [link for link in links if not (ROOT / link).exists()]
