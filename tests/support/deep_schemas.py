"""Tables with deeply nested columns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from support.logs import add, commit_info, protocol, write_log

if TYPE_CHECKING:
    from pathlib import Path

compares_deep_values = pytest.mark.skipif(
    (3, 12) <= sys.version_info < (3, 12, 3),
    reason="Python 3.12.0 to 3.12.2 cannot compare so deep values",
)

AT_THE_LIMIT = {"struct": 332, "array": 997}
"""By kind: how many levels a column can have in a table that Spark opens; one more is too many."""

_LEVELS = {
    "struct": (
        '{"type":"struct","fields":[{"name":"c","nullable":true,"metadata":{},"type":',
        "}]}",
    ),
    "array": ('{"type":"array","containsNull":true,"elementType":', "}"),
}


def nested(kind: str, levels: int, leaf: str = "integer") -> str:
    """Return the JSON of a schema with one nested column, ``top``."""
    begin, end = _LEVELS[kind]
    type_ = begin * levels + f'"{leaf}"' + end * levels
    field = f'{{"name":"top","nullable":true,"metadata":{{}},"type":{type_}}}'
    return f'{{"type":"struct","fields":[{field}]}}'


def write_nested(table: Path, *schemas: str) -> Path:
    """Write a table with one commit for each schema."""
    commits = []
    for schema in schemas:
        body = {"id": "t-1", "schemaString": schema, "partitionColumns": [], "configuration": {}}
        body["format"] = {"provider": "parquet", "options": {}}
        commits.append([commit_info("CREATE TABLE"), protocol(), {"metaData": body}, add()])
    return write_log(table, commits)
