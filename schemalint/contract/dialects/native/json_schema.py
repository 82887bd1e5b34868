"""The JSON Schema of the native format, for editors."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from schemalint.contract.dialects.native.format import VERSION, Contract, ExceptionsFile


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12); it does not check the syntax of types, dates and paths."""
    return _schema(Contract, "contract", {"TypeChange": "The type before the change.", "Waiver": _OLD})


def exceptions_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of ``exceptions.yaml``."""
    return _schema(ExceptionsFile, "exceptions", {"ExceptionEntry": _OLD})


_OLD: Final = "The old value in the finding; required where the finding has one."


def _schema(format_: Any, name: str, descriptions: dict[str, str]) -> dict[str, Any]:  # noqa: ANN401 - a TypedDict
    schema = TypeAdapter(format_).json_schema()
    # `from` is a Python keyword, so the classes have no attribute docstring for it.
    for definition, description in descriptions.items():
        schema["$defs"][definition]["properties"]["from"]["description"] = description
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": f"urn:schemalint:{name}:{VERSION}",
        **schema,
        "title": f"schemalint {name}",
    }
