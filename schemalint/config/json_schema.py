"""The JSON Schemas of the configuration, and of a nested file of it."""

from __future__ import annotations

from typing import Any

from schemalint.config import model


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of ``schemalint.toml``, and of ``[tool.schemalint]``."""
    from pydantic import TypeAdapter  # noqa: PLC0415 (only for the schema)

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **TypeAdapter(model.ConfigKeys).json_schema(),
        "title": "Configuration of schemalint",
    }


def nested_json_schema() -> dict[str, Any]:
    """Return that of ``schemalint.toml`` in a folder below the configuration."""
    schema = json_schema()
    kept = {name: schema["properties"][name] for name in model.NESTED_KEYS}
    return {**schema, "properties": kept, "title": "Settings of schemalint for a folder"}
