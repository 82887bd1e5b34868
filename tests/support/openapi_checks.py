"""Whether requests and answers are as Unity Catalog's published descriptions say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

HERE = Path(__file__).parents[1] / "catalog"
Schema = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """A method of a path."""

    description: Schema
    parameters: tuple[Schema, ...]
    content: Schema

    def problems_of_request(self, query: Mapping[str, str], body: object) -> list[str]:
        """Parameters that are unknown or missing, and what is wrong with the body."""
        known = {one["name"]: one for one in self.parameters if one["in"] == "query"}
        problems = [f"unknown parameter {name}" for name in query.keys() - known.keys()]
        problems += [
            f"{name} is missing" for name in known if known[name].get("required") and name not in query
        ]
        schema = (
            self.content.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        )
        if schema is None:
            return problems + (["a body is not expected"] if body is not None else [])
        return problems + self._problems(schema, body)

    def problems_of_answer(self, status: int, body: object) -> list[str]:
        """What is wrong with an answer; errors of the classic API are not described."""
        answer = self.content["responses"].get(str(status))
        if answer is None:
            return [] if status >= 400 else [f"status {status} is not described"]
        if "$ref" in answer:
            answer = _resolved(self.description, answer["$ref"])
        schema = answer.get("content", {}).get("application/json", {}).get("schema")
        return [] if schema is None else self._problems(schema, body)

    def _problems(self, schema: Schema, value: object) -> list[str]:
        whole = {**schema, "components": self.description["components"]}
        errors = Draft202012Validator(whole).iter_errors(_without_null(value))
        return [f"{error.json_path}: {error.message}" for error in errors]


def operation(method: str, path: str) -> Operation | None:
    """The operation that a path (below the base of the API) belongs to, None if it is not described."""
    for description in _descriptions():
        for template, item in description["paths"].items():
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))
            if re.fullmatch(pattern, path) and method.lower() in item:
                content = item[method.lower()]
                listed = [*item.get("parameters", ()), *content.get("parameters", ())]
                parameters = [_resolved(description, one["$ref"]) if "$ref" in one else one for one in listed]
                return Operation(description, tuple(parameters), content)
    return None


@cache
def _descriptions() -> tuple[Schema, ...]:
    found = tuple(
        yaml.safe_load((HERE / "openapi" / name).read_text()) for name in ("all.yaml", "delta.yaml")
    )
    # The descriptions say in words only that a type may be "a bare JSON string", e.g. "long".
    schemas = found[1]["components"]["schemas"]
    schemas["DeltaDataType"] = {"anyOf": [{"type": "string"}, schemas["DeltaDataType"]]}
    return found


def _resolved(description: Schema, reference: str) -> Schema:
    found: Any = description
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return dict(found)


def _without_null(value: object) -> object:
    """The real server writes null for what is not there (0.6.0), which no description allows."""
    match value:
        case dict():
            return {key: _without_null(one) for key, one in value.items() if one is not None}
        case list():
            return [_without_null(one) for one in value]
        case _:
            return value
