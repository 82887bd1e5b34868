"""Types of columns that no model declares, as ``catalog.json`` of ``dbt docs generate`` has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from schemalint.base.errors import ContractError
from schemalint.contract.dialects.dbt.manifest import Json, mapping, mappings, parse_json, text

Catalog: TypeAlias = Mapping[str, Mapping[str, str]]
"""By model, the type text of each column by its name in lower case, in the order of the table."""


def read_catalog(data: bytes | None, file: str, most_mib: int) -> tuple[Catalog, ContractError | None]:
    """Return the columns of all tables, and why the file cannot be read; a missing one has none."""
    if data is None:
        return {}, None
    try:
        parsed = parse_json(data, file, most_mib)
    except ContractError as error:
        return {}, error
    return {
        model: _types(node)
        for section in ("nodes", "sources")
        for model, node in mapping(parsed, section).items()
        if isinstance(node, dict)
    }, None


def _types(node: Json) -> dict[str, str]:
    columns = [column for column in mappings(node, "columns") if text(column, "name")]
    columns.sort(key=_index)
    return {text(column, "name").lower(): text(column, "type") for column in columns}


def _index(column: Json) -> int:
    index = column.get("index")
    return index if isinstance(index, int) else 0
