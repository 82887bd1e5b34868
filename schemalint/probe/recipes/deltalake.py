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
    if hasattr(found, "read_all"):  # 1.0 and later return a reader, earlier versions a list of batches
        found = found.read_all()
        return pa.table(found).to_pylist()  # type: ignore[no-any-return]
    return pa.Table.from_batches(found).to_pylist()  # type: ignore[no-any-return]


READ_PATHS = {"pyarrow": _pyarrow}
if hasattr(deltalake, "QueryBuilder"):
    READ_PATHS["query-builder"] = _query_builder
