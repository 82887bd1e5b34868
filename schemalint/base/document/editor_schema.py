"""JSON Schemas of what people write, for editors: draft-07, the newest draft that all of them know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

DRAFT: Final = "http://json-schema.org/draft-07/schema#"

Texts = Mapping[tuple[str, str], str]
Examples = Mapping[tuple[str, str], list[Any]]


def editor_schema(
    root: Any,  # noqa: ANN401 - a TypedDict
    *,
    name: str,
    version: int,
    title: str,
    description: str,
    texts: Texts,
    examples: Examples,
) -> dict[str, Any]:
    """Return the schema of a TypedDict.

    Args:
        root: The TypedDict.
        name: The name of the format, in the schema's ``$id``.
        version: The version of the format.
        title: What the file is.
        description: What the file is for.
        texts: Descriptions by TypedDict and key, where a key has no docstring of its own.
        examples: Values by TypedDict and key.
    """
    from pydantic import TypeAdapter  # noqa: PLC0415 (only for a schema)

    schema = TypeAdapter(root).json_schema(ref_template="#/definitions/{model}")
    definitions: dict[str, Any] = schema.pop("$defs", {})
    for owner, body in ((root.__name__, schema), *definitions.items()):
        body.pop("title", None)
        for key, value in body.get("properties", {}).items():
            value.pop("title", None)
            if text := texts.get((owner, key)):
                value["description"] = text
            if values := examples.get((owner, key)):
                value["examples"] = values
            if "$ref" in value:
                value.setdefault("description", definitions[value["$ref"].rpartition("/")[2]]["description"])
                # draft-07 ignores what stands beside a $ref
                value["allOf"] = [{"$ref": value.pop("$ref")}]
    for key in ("title", "description"):
        schema.pop(key, None)
    return {
        "$schema": DRAFT,
        "$id": f"urn:schemalint:{name}:{version}",
        "title": title,
        "description": description,
        **schema,
        **({"definitions": definitions} if definitions else {}),
    }
