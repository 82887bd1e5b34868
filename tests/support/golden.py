"""Expected texts in files.

``SCHEMALINT_UPDATE_GOLDEN=1`` writes the actual texts into the files; review the diff before you commit it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

UPDATE: Final = os.environ.get("SCHEMALINT_UPDATE_GOLDEN") == "1"


def assert_golden(actual: str, expected: Path) -> None:
    """Assert that a text equals the content of a file, byte for byte."""
    if UPDATE:
        expected.parent.mkdir(parents=True, exist_ok=True)
        expected.write_text(actual, encoding="utf-8", newline="")
    assert actual == expected.read_bytes().decode()
