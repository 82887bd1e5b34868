"""Checks of requests and answers against Unity Catalog's published API descriptions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
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
    """An HTTP method on a path."""

    description: Schema
    parameters: tuple[Schema, ...]
    content: Schema

    def problems_of_request(self, query: Mapping[str, str], body: object) -> list[str]:
        """Return unknown and missing parameters, and the schema errors of the body."""
        known = {parameter["name"]: parameter for parameter in self.parameters if parameter["in"] == "query"}
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
        """Return the schema errors of an answer; the classic API's error answers have no description."""
        answer = self.content["responses"].get(str(status))
        if answer is None:
            return [] if status >= 400 else [f"status {status} is not described"]
        if "$ref" in answer:
            answer = _resolved(self.description, answer["$ref"])
        schema = answer.get("content", {}).get("application/json", {}).get("schema")
        return [] if schema is None else self._problems(schema, body)

    @property
    def example(self) -> Schema:
        """The example of a successful answer."""
        return deepcopy(dict(self.content["responses"]["200"]["content"]["application/json"]["example"]))

    def _problems(self, schema: Schema, value: object) -> list[str]:
        whole = {**schema, "components": self.description["components"]}
        errors = Draft202012Validator(whole).iter_errors(_without_null(value))
        return [f"{error.json_path}: {error.message}" for error in errors]


def operation(method: str, path: str) -> Operation | None:
    """Return the operation of a path below the API's base; None if no description has it."""
    for description in _descriptions():
        for template, item in description["paths"].items():
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))
            if re.fullmatch(pattern, path) and method.lower() in item:
                content = item[method.lower()]
                listed = [*item.get("parameters", ()), *content.get("parameters", ())]
                parameters = [
                    _resolved(description, parameter["$ref"]) if "$ref" in parameter else parameter
                    for parameter in listed
                ]
                return Operation(description, tuple(parameters), content)
    return None


@cache
def _descriptions() -> tuple[Schema, ...]:
    descriptions = tuple(
        yaml.safe_load((HERE / "openapi" / name).read_text()) for name in ("all.yaml", "delta.yaml")
    )
    # Only the prose of the description allows "a bare JSON string" as a type, e.g. "long".
    schemas = descriptions[1]["components"]["schemas"]
    schemas["DeltaDataType"] = {"anyOf": [{"type": "string"}, schemas["DeltaDataType"]]}
    # JSON Schema does not know a discriminator, so that any object with an action would do.
    request = schemas["DeltaUpdateTableRequest"]["properties"]
    for key, base in (("updates", "DeltaTableUpdate"), ("requirements", "DeltaTableRequirement")):
        kinds = schemas[base]["discriminator"]["mapping"].values()
        request[key]["items"] = {"anyOf": [{"$ref": kind} for kind in kinds]}
    return descriptions


def _resolved(description: Schema, reference: str) -> Schema:
    node: Any = description
    for step in reference.removeprefix("#/").split("/"):
        node = node[step]
    return dict(node)


def _without_null(value: object) -> object:
    """Remove null values: the real server (0.6.0) writes them, but no description allows them."""
    match value:
        case dict():
            return {key: _without_null(item) for key, item in value.items() if item is not None}
        case list():
            return [_without_null(item) for item in value]
        case _:
            return value
