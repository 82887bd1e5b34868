"""Expected texts in files: one switch writes all of them.

``SCHEMALINT_UPDATE_GOLDEN=1`` writes what the tests got, to be read as a diff before it is committed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

UPDATE: Final = os.environ.get("SCHEMALINT_UPDATE_GOLDEN") == "1"


def assert_golden(actual: str, expected: Path) -> None:
    """The text is the file's, to the byte."""
    if UPDATE:
        expected.parent.mkdir(parents=True, exist_ok=True)
        expected.write_text(actual, encoding="utf-8", newline="")
    assert actual == expected.read_bytes().decode()
