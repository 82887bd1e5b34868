"""The review of edited text by a second YAML reader: differences are errors, unusual values are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.base.document.edit_review import require_second_opinion, unified_diff
from schemalint.base.errors import InternalError
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: int}\n"


@pytest.mark.parametrize(
    "comment",
    ["2026-02-30", "0o8", "12:61:61", "0x", "1e999", "'it''s'", '"a\\tb"', "|\n  two\n  lines", "", "~"],
)
def test_values_that_only_look_like_dates_or_numbers_pass_the_review(comment: str) -> None:
    text = f"{BEFORE}description: {comment}\n"
    require_second_opinion("orders.yaml", text, f"{text}owner: sales\n")


def test_an_edit_that_only_one_reader_accepts_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match="other YAML readers"):
        require_second_opinion("orders.yaml", BEFORE, f"{BEFORE}owner: a\tb\n")


def test_a_text_that_the_readers_disagreed_on_before_is_not_reviewed() -> None:
    odd = f"{BEFORE}description: a\tb\n"
    require_second_opinion("orders.yaml", odd, f"{odd}owner: sales\n")


@pytest.mark.parametrize("name", ["orders.yml", "my orders.yml", "käufe.yml"])
@pytest.mark.parametrize("before", ["a: 1\n", "a: 1", "a: 1 # \u2028 \x85 \x0c\nb: 2\n", "a: 1\r\nb: 2\r\n"])
def test_git_applies_a_unified_diff(tmp_path: Path, name: str, before: str) -> None:
    repo = Repo(tmp_path / "repository")
    file = repo.write(name, before)
    after = before.replace("1", "1, 2") + "c: 3"
    repo.git("apply", stdin=unified_diff(name, before, after).encode())
    assert file.read_bytes() == after.encode()
