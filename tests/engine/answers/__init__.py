"""The recorded answers, a folder for each version of Delta that was asked."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Final

from schemalint.delta.engine import DELTA_SPARK, Engine

_FOLDER: Final = Path(__file__).parent
NEWEST: Final = "4.4.0"
"""The version that schemalint's own environment has."""

OLDER: Final = ("3.2.1", "3.3.2", "4.0.1")
"""The versions with an environment of their own; each has the parts of `PARTS`, and from 3.3 on writes."""

PARTS: Final = ("types", "nested", "protocols", "states")


def record_path(part: str, version: str = NEWEST) -> Path:
    """Return the file with the answers of a version to one part of the questions."""
    return _FOLDER / version / f"{part}.csv"


def version_of(engine: Engine) -> str:
    """Return the name of an engine's folder: the version of Delta Spark, ``databricks-16.4`` for others."""
    return engine.version if engine.name == DELTA_SPARK else f"{engine.name}-{engine.version}"


def engine_of(version: str) -> Engine:
    """Return the engine of a folder; see `version_of`."""
    name, _, other = version.rpartition("-")
    return Engine(name or DELTA_SPARK, other)


def hosted() -> tuple[str, ...]:
    """Return the folders of engines that were asked elsewhere."""
    return tuple(sorted(path.name for path in _FOLDER.iterdir() if path.is_dir() and "-" in path.name))


def new_record(part: str) -> Path:
    """Return the file for the answers of the Delta that is installed here; its folder exists."""
    path = record_path(part, importlib.metadata.version("delta-spark"))
    path.parent.mkdir(exist_ok=True)
    return path
