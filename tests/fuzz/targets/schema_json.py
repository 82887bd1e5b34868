"""The JSON of a table's schema: it is refused, or printed so that it reads the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.oracle import is_kept, require
from schemalint.delta.schema_json import SchemaError, parse_schema, print_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGS = Path(__file__).parents[2] / "delta_log"
WORDS = (
    *('{"type":"struct","fields":[', '"elementType":', '"containsNull":', '"keyType":', '"valueType":'),
    *('"metadata":{}', '"nullable":true', "delta.columnMapping.id", "delta.typeChanges", "__COLLATIONS"),
    *(
        "delta.identity.start",
        "delta.generationExpression",
        "CURRENT_DEFAULT",
        '"decimal(10,2)"',
        "fieldPath",
    ),
)
LONGEST = 4_000


def run(data: bytes) -> None:
    """Parse a schema, print it, and parse it again."""
    try:
        schema = parse_schema(data.decode(errors="replace"))
    except SchemaError:
        return
    printed = print_schema(schema)
    again = parse_schema(printed)
    require(again == schema or not is_kept(schema), f"printed as another schema: {printed}")
    require(parse_schema(print_schema(again)) == again, f"printed as another schema again: {printed}")


def seeds() -> Iterator[bytes]:
    """Yield the schemas of the recorded logs."""
    for commit in sorted(LOGS.glob("*/**/_delta_log/*.json")):
        for line in commit.read_bytes().splitlines():
            if b'"schemaString"' in line:
                try:
                    yield json.loads(line)["metaData"]["schemaString"].encode()
                except (ValueError, LookupError, AttributeError, TypeError):
                    continue  # a damaged log
