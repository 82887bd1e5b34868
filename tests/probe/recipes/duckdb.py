"""DuckDB with its extension delta, which the package duckdb-extension-delta holds."""

from __future__ import annotations

from functools import cache
from importlib import metadata, resources
from typing import Any

import duckdb


def version() -> str:
    """Return the version of DuckDB, which the package of the extension has too."""
    return metadata.version("duckdb")


@cache
def _connection() -> Any:  # noqa: ANN401 (its class has other names in other versions)
    # Only a file that is there is loaded: INSTALL would download the extension.
    extension = resources.files("duckdb_extension_delta") / f"extensions/v{version()}/delta.duckdb_extension"
    options = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(config=options)
    connection.load_extension(str(extension))
    return connection


def _delta_scan(path: str) -> list[dict[str, Any]]:
    found = _connection().execute("SELECT * FROM delta_scan(?)", [path])
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


READ_PATHS = {"": _delta_scan}
