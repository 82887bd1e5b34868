"""Parse ``manifest.json`` and ``catalog.json`` of dbt: only what says something about tables stays in memory.

Most of a manifest is the text of models and macros. It is dropped while the JSON is parsed. What stays takes
memory by its number of models and columns, whatever the bytes of the file. So the setting of the bytes limits
that number too. Nothing in the file is executed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from schemalint.base.errors import ContractError, Location
from schemalint.model.consumer import Consumer

VERSIONS: Final = range(10, 13)
"""The versions of the format that are read: dbt 1.6 to 1.12."""

_SCHEMA: Final = r"https://schemas\.getdbt\.com/dbt/manifest/v(\d+)\.json"
_OF_NODE: Final = frozenset(
    (
        *("unique_id", "resource_type", "package_name", "name", "type", "version", "owner", "group", "meta"),
        *("database", "schema", "alias", "original_file_path", "patch_path", "description"),
        *("columns", "constraints", "config"),
    )
)
_OF_CONFIG: Final = frozenset(
    (
        *("materialized", "file_format", "table_format", "contract", "persist_docs", "meta", "group"),
        *("partition_by", "liquid_clustered_by", "auto_liquid_cluster", "tblproperties"),
        *("on_schema_change", "full_refresh", "use_safer_relation_operations"),
        "incremental_apply_config_changes",
        *("location_root", "include_full_name_in_path"),
    )
)
_OF_COLUMN: Final = frozenset(("name", "data_type", "type", "index", "description", "constraints"))
_KINDS: Final = (
    ("unique_id", _OF_NODE, 8),
    ("materialized", _OF_CONFIG, 0),
    ("data_type", _OF_COLUMN, 1),
    ("index", _OF_COLUMN, 1),
)
"""Of a model, of its configuration, of a column, and of one in a catalog: the key that only it has, the keys
that are kept, and as how many columns it counts. A model and its contract take 4 KiB, a column 0.5 KiB."""

_COLUMNS_OF_MIB: Final = 2_048
"""The columns that are read for each MiB of the limit of bytes. With 256 MiB at this limit, one manifest took
up to 697 MiB of memory, and a check of two 803 MiB (2026-11-27, Python 3.11): benchmarks/README.md."""

Json: TypeAlias = Mapping[str, Any]
Catalog: TypeAlias = Mapping[str, Mapping[str, str]]
"""By model, the type text of each column by its name in lower case, in the order of the table."""
_PASSED_THROUGH: Final = ("view", "ephemeral")
"""What holds no rows of its own: who reads it reads the tables below it."""


def parse_manifest(data: bytes, file: str, most_mib: int) -> Json:
    """Return the content of a manifest, without the texts of models and macros.

    Raises:
        ContractError: It is no manifest of a version that schemalint knows, cut off, or too large.
    """
    parsed = parse_json(data, file, most_mib)
    schema = re.fullmatch(_SCHEMA, text(mapping(parsed, "metadata"), "dbt_schema_version"))
    if schema is None:
        raise ContractError(
            "this file is no manifest of dbt",
            help="name the file manifest.json that dbt parse, run or build writes below target/",
            location=Location(file),
        )
    if int(schema[1]) not in VERSIONS:
        raise ContractError(
            f"this manifest has version {schema[1]}, and schemalint reads {VERSIONS[0]} to {VERSIONS[-1]}",
            help="make it with dbt 1.6 to 1.12",
            location=Location(file),
        )
    return parsed


def parse_json(data: bytes, file: str, most_mib: int) -> Json:
    """Return the content of a JSON file that dbt wrote, without the texts of models and macros.

    Args:
        data: The content of the file.
        file: Its path, for errors.
        most_mib: The limit of its size, which limits the models and columns in it too.

    Raises:
        ContractError: It is no JSON, no mapping, or has too many models and columns.
    """
    try:
        parsed = json.loads(data, object_pairs_hook=_PrunedObjects(most_mib, file))
    except RecursionError:
        raise ContractError("this file is nested too deeply", location=Location(file)) from None
    except ValueError as error:  # JSONDecodeError, and bytes that are no Unicode
        reason = getattr(error, "msg", "it is no Unicode text")
        line = getattr(error, "lineno", 1)
        raise ContractError(
            f"this file is no JSON, or is cut off: {reason}",
            help="make it again: dbt parse",
            location=Location(file, line, 1, line, 1),
        ) from None
    if not isinstance(parsed, dict):
        raise ContractError("this file is no manifest of dbt", location=Location(file))
    return parsed


def text(node: Json, key: str) -> str:
    """Return the text at a key; empty if there is none."""
    value = node.get(key)
    return value if isinstance(value, str) else ""


def mapping(node: Json, key: str) -> Json:
    """Return the mapping at a key; an empty one if there is none."""
    value = node.get(key)
    return value if isinstance(value, dict) else {}


def mappings(node: Json, key: str) -> Iterator[Json]:
    """Yield the mappings in the list, or the values of the mapping, at a key."""
    value = node.get(key)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def texts(node: Json, key: str) -> tuple[str, ...]:
    """Return the texts in the list at a key; a text alone counts as a list of one."""
    value = node.get(key)
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str))


def title(node: Json) -> str:
    """Return what a node is, and its name: ``model orders``."""
    return f"{text(node, 'resource_type')} {text(node, 'name')}"


class _PrunedObjects:
    """Makes the objects of JSON: with the keys that are kept, unless they say nothing."""

    def __init__(self, most_mib: int, file: str) -> None:
        self._most_mib, self._file = most_mib, file
        self._left = most_mib * _COLUMNS_OF_MIB

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
        entries = dict(pairs)
        if "macro_sql" in entries:
            return None
        for key, kept, columns in _KINDS:
            if key in entries:
                self._left -= columns
                if self._left < 0:
                    raise self._too_many()
                return {name: value for name in kept if (value := entries.get(name)) or value is False}
        return entries

    def _too_many(self) -> ContractError:
        most, mib = self._most_mib * _COLUMNS_OF_MIB, self._most_mib
        return ContractError(
            f"this file has more than {most:,} columns, a limit of schemalint (a model counts as 8)",
            help=f"raise most_mib of its entry in `contracts`: {mib} allow {_COLUMNS_OF_MIB:,} columns each",
            location=Location(self._file),
        )


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


def readers_of(manifest: Json, model: str) -> tuple[Consumer, ...]:
    """Return the readers of a model's table, each once, in the order of the graph."""
    consumers: dict[str, Consumer] = {}
    for child in _children(manifest, model):
        exposure = mapping(mapping(manifest, "exposures"), child)
        node = mapping(mapping(manifest, "nodes"), child)
        if exposure:
            name = f"{text(exposure, 'type') or 'exposure'} {text(exposure, 'name')}"
            consumers[child] = Consumer(name, owner=_owner(mapping(exposure, "owner")))
        elif text(node, "resource_type") in ("model", "snapshot") and _materialized(node) != "ephemeral":
            consumers[child] = Consumer(title(node), owner=owner_of(manifest, node))
    return tuple(consumers.values())


def owner_of(manifest: Json, node: Json) -> str | None:
    """Return who is responsible for a model: ``meta.owner``, or the owner of its group."""
    config = mapping(node, "config")
    own = text(mapping(config, "meta"), "owner") or text(mapping(node, "meta"), "owner")
    group = text(node, "group") or text(config, "group")
    group_id = f"group.{text(node, 'package_name')}.{group}"
    return own or _owner(mapping(mapping(mapping(manifest, "groups"), group_id), "owner"))


def _owner(owner: Json) -> str | None:
    return text(owner, "name") or text(owner, "email") or None


def _children(manifest: Json, model: str) -> Iterator[str]:
    graph, seen, waiting = mapping(manifest, "child_map"), {model}, [model]
    while waiting:
        for child in texts(graph, waiting.pop(0)):
            if child in seen:
                continue
            seen.add(child)
            yield child
            node = mapping(mapping(manifest, "nodes"), child)
            if _materialized(node) in _PASSED_THROUGH:
                waiting.append(child)


def _materialized(node: Json) -> str:
    return text(mapping(node, "config"), "materialized")
