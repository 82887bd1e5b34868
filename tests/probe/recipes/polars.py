"""Polars, whose ``read_delta`` uses deltalake."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import polars as pl


def version() -> str:
    """Return the version of Polars."""
    return metadata.version("polars")


def _read_delta(path: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pl.read_delta(path).to_dicts()
    return rows


READ_PATHS = {"": _read_delta}
