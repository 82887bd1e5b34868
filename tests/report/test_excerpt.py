"""The source lines below a finding."""

from __future__ import annotations

import pytest

from schemalint.base.errors import Location
from schemalint.report.findings._excerpt import excerpt

LINE = "".join(f"c{number}: bigint, " for number in range(100_000))


@pytest.mark.parametrize("name", ["c0:", "c50000:", "c99999:"])
def test_a_long_line_shows_the_part_around_its_marks(name: str) -> None:
    start = LINE.index(name)
    location = Location("t.yml", 1, start + 1, 1, start + 1 + len(name))
    (_, text, _), (_, marks, _) = excerpt(LINE, location)
    assert len(text) < 200
    assert text[len(marks) - len(name) : len(marks)] == name
    assert marks.strip() == "^" * len(name)


def test_marks_of_a_whole_long_line_end_with_the_part_that_is_shown() -> None:
    (_, text, _), (_, marks, _) = excerpt(LINE, Location("t.yml", 1, 1, 1, len(LINE) + 1))
    assert len(marks) < len(text) < 400


def test_long_lines_of_a_block_show_their_start() -> None:
    rows = excerpt(f"a\n{LINE}\nb {LINE}\n", Location("t.yml", 1, 1, 3, 2))
    assert [row.text[:6] for row in rows] == ["/ a", "| c0: ", "| b c0", "|_^"]
    assert all(len(row.text) < 400 for row in rows)
