"""Entries in YAML files of other tools: added, or refused; never another byte of the rest."""

from __future__ import annotations

import pytest

from schemalint.adopt.yaml_additions import with_entries, with_item

ITEM = "- repo: local\n  hooks:\n    - {id: ours}\n"


@pytest.mark.parametrize(
    ("start", "indent", "rest"),
    [
        ("repos:\n- repo: a\n", "", ""),
        ("repos:\n  - repo: a\n", "  ", ""),
        ("repos:\n- repo: a\n  # of a\n", "", "# of all\nci: {}\n"),
        ("---\nx: &x {b: 1}\nrepos:\n- *x\n- a: |\n    # text\n", "", "\n...\n"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_item_is_added_to_a_list(start: str, indent: str, rest: str, end: str) -> None:
    item = "".join(f"{indent}{line}\n" for line in ITEM.splitlines())
    before, after = (text.replace("\n", end) for text in (start + rest, start + item + rest))
    assert with_item(before, "repos", ITEM) == after


def test_an_item_is_added_to_a_last_line_without_end() -> None:
    assert with_item("repos:\n- repo: a", "repos", ITEM) == "repos:\n- repo: a\n" + ITEM


@pytest.mark.parametrize(
    "text",
    [
        "repos: []\n",
        "repos: [{repo: a}]\n",
        "repos:\n",
        "repos: {}\n",
        "hooks:\n- a\n",
        "- repos\n",
        "",
        "repos:\n- a\n--- \nrepos:\n- b\n",
        "repos: [\n",
        "\ufefffoo: '\n",
    ],
)
def test_a_list_that_cannot_be_extended(text: str) -> None:
    assert with_item(text, "repos", ITEM) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("stages: [test]", "stages: [test]\n\njob: {a: 1}\n"),
        ("a: !reference [b]\r\n# end\r\n", "a: !reference [b]\r\n# end\r\n\r\njob: {a: 1}\r\n"),
    ],
)
def test_entries_are_added_at_the_end(before: str, after: str) -> None:
    assert with_entries(before, "job: {a: 1}\n") == after


@pytest.mark.parametrize(
    "text", ["{a: 1}\n", "job: {}\n", "a: 1\n...\n", "a: |+\n  text\n", "- a\n", "a: b: c\n"]
)
def test_entries_that_cannot_be_added(text: str) -> None:
    assert with_entries(text, "job: {a: 1}\n") is None
