"""Daft, whose ``read_deltalake`` uses deltalake."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import daft


def version() -> str:
    """Return the version of Daft."""
    return metadata.version("daft")


def _read_deltalake(path: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = daft.read_deltalake(path).to_pylist()
    return rows


READ_PATHS = {"": _read_deltalake}
