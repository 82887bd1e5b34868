"""The JSON Schema of the native format, for editors."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from schemalint.contract.dialects.native.format import VERSION, Contract


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12); it does not check the syntax of types, dates and paths."""
    schema = TypeAdapter(Contract).json_schema()
    # `from` is a Python keyword, so the class has no attribute docstring for it.
    schema["$defs"]["TypeChange"]["properties"]["from"]["description"] = "The type before the change."
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": f"urn:schemalint:contract:{VERSION}",
        **schema,
        "title": "schemalint contract",
    }
