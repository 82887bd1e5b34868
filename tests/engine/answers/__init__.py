"""The recorded answers, a folder for each version of Delta that was asked."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent
NEWEST: Final = "4.4.0"
"""The version that schemalint's own environment has."""

OLDER: Final = ("3.2.1", "3.3.2", "4.0.1")
"""The versions with an environment of their own; each has the parts of `PARTS` alone."""

PARTS: Final = ("types", "nested", "protocols", "states")


def record_path(part: str, version: str = NEWEST) -> Path:
    """Return the file with the answers of a version to one part of the questions."""
    return _FOLDER / version / f"{part}.csv"


def new_record(part: str) -> Path:
    """Return the file for the answers of the Delta that is installed here; its folder exists."""
    path = record_path(part, importlib.metadata.version("delta-spark"))
    path.parent.mkdir(exist_ok=True)
    return path
