"""Entries of ``[[removed]]`` are cut out of a configuration, and nothing else."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemalint.config.removal import removed_spans


def _entry(table: str) -> str:
    return f'[[removed]]\ntable = "{table}"\nreason = "old"\n'


def cut(text: str, *tables: str) -> str:
    for start, end in reversed(removed_spans(text, set(tables))):
        text = text[:start] + text[end:]
    return text


B, C, D = (_entry(table) for table in ("a.b", "a.c", "a.d"))
PYPROJECT = "[tool.x]\na = 1\n\n[[tool.schemalint.removed]]\ntable = '`A`.b'\nreason = 'old'\n\n[tool.y]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (B, ""),
        (f"root = true\n\n{B}", "root = true\n"),
        (f"{B}\n{C}", C),
        (f"{C}\n{B}", C),
        (f"{C}\n# of b\n# and more\n{B}\n# of d\n{D}", f"{C}\n# of d\n{D}"),
        (PYPROJECT, "[tool.x]\na = 1\n\n[tool.y]\n"),
    ],
)
def test_an_entry_is_cut_with_its_comments(text: str, expected: str) -> None:
    assert cut(text, "a.b") == expected
    assert cut(text.replace("\n", "\r\n"), "a.b") == expected.replace("\n", "\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "[[ removed ]]\ntable = 'a.b'\nreason = '''\n[x]\n'''\n",
        "removed = [{table = 'a.b', reason = 'old'}]\n",
        B.replace("removed", "other"),
        f"broken =\n{B}",
    ],
    ids=["bracket in a text", "inline", "other list", "no TOML"],
)
def test_nothing_is_cut_from_a_layout_that_is_not_understood(text: str) -> None:
    assert cut(text, "a.b") == text


PARTS = st.sampled_from(
    [B, C, "# a comment\n", "\n", "[x.removed]\ny = 1\n", "[[z]]\nw = ['''\n[[removed]]\n''']\n"]
)


@given(st.lists(PARTS, max_size=6).map("".join), st.sets(st.sampled_from(["a.b", "a.c"]), min_size=1))
def test_what_is_left_are_the_other_settings(text: str, tables: set[str]) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assert cut(text, *tables) == text
        return
    after = cut(text, *tables)
    left = [entry for entry in expected.pop("removed", []) if entry["table"] not in tables]
    found = tomllib.loads(after)
    assert (found.pop("removed", []), found) == (left, expected)
