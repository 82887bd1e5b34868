"""The JSON Schema of the native format, for editors."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from schemalint.contract.dialects.native.format import VERSION, Contract


def json_schema() -> dict[str, Any]:
    """The schema, draft 2020-12. What needs a look into a text (types, dates, paths) is not in it."""
    schema = TypeAdapter(Contract).json_schema()
    # A keyword of Python, which has no docstring among the attributes of its class.
    schema["$defs"]["TypeChange"]["properties"]["from"]["description"] = "The type before the change."
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": f"urn:schemalint:contract:{VERSION}",
        **schema,
        "title": "schemalint contract",
    }
