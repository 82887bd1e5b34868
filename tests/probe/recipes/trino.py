"""Trino's command line client; the server's version counts.

``trino`` must be on the PATH. Its configuration file (``~/.trino_config`` or ``TRINO_CONFIG``) must name the
server, a catalog of the Delta Lake connector with ``delta.register-table-procedure.enabled=true``, and a
schema. Each table is registered in that schema for the time of its query.
"""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

_TABLE = "schemalint_probed"
_FAILURE = re.compile(r"Query \w+ failed: ")


def version() -> str:
    """Return the version of the server."""
    (row,) = _rows("SELECT version() AS version")
    return str(row["version"])


def _registered(path: str) -> list[dict[str, Any]]:
    location = path if "://" in path else f"local://{path}"
    (row,) = _rows("SELECT current_schema AS name")
    schema, place = (str(text).replace("'", "''") for text in (row["name"], location))
    arguments = f"schema_name => '{schema}', table_name => '{_TABLE}'"
    _rows(f"CALL system.register_table({arguments}, table_location => '{place}')")
    try:
        return _rows(f"SELECT * FROM {_TABLE}")
    finally:
        _rows(f"CALL system.unregister_table({arguments})")


def _rows(statement: str) -> list[dict[str, Any]]:
    """Return the rows of a statement; the client prints one object per line, and other results as words."""
    command = ["trino", "--output-format=JSON", "--execute", statement]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode:
        # The client's library for terminals may warn before.
        lines = [line for line in run.stderr.splitlines() if line.strip()]
        failures = [line for line in lines if _FAILURE.match(line)] or lines[-1:]
        raise RuntimeError(_FAILURE.sub("", failures[0]) if failures else f"status {run.returncode}")
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


READ_PATHS = {"": _registered}
