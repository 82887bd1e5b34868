"""deltalake for Python (delta-rs)."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import deltalake
from deltalake import DeltaTable


def version() -> str:
    """Return the version of deltalake."""
    return metadata.version("deltalake")


def _pyarrow(path: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = DeltaTable(path).to_pyarrow_table().to_pylist()
    return rows


def _query_builder(path: str) -> list[dict[str, Any]]:
    import pyarrow as pa  # noqa: PLC0415 (only here)
    from deltalake import QueryBuilder  # noqa: PLC0415 (older versions have none)

    found: Any = QueryBuilder().register("probed", DeltaTable(path)).execute("SELECT * FROM probed")
    # The result is a reader from 1.0 on, had `fetchall` before that, and was a list of batches at first.
    for method in ("read_all", "fetchall"):
        if hasattr(found, method):
            found = getattr(found, method)()
            break
    table = pa.Table.from_batches(found) if isinstance(found, list) else pa.table(found)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


READ_PATHS = {"pyarrow": _pyarrow}
if hasattr(deltalake, "QueryBuilder"):
    READ_PATHS["query-builder"] = _query_builder
