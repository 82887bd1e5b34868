"""The JSON Schemas for editors accept what the readers accept, and explain each key."""

from __future__ import annotations

import json
import re
import tomllib
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

from schemalint.base.printable import json_text
from schemalint.base.values import replace
from schemalint.cli.schema import SCHEMAS, schema_of
from schemalint.contract import read
from schemalint.review.baseline import Entry, read_baseline, text_of
from support.golden import assert_golden

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = ("contract", "exceptions", "config", "nested-config", "baseline")
SCHEMA = {name: schema_of(name) for name in NAMES}
EXAMPLE = (ROOT / "tests/contract/example.yaml").read_text(encoding="utf-8")

every_schema = pytest.mark.parametrize("name", NAMES)


def validator(name: str) -> jsonschema.Draft7Validator:
    """Return the validator of a schema."""
    return jsonschema.Draft7Validator(SCHEMA[name])


@every_schema
def test_a_schema_is_the_published_one(name: str) -> None:
    assert_golden(json_text(SCHEMA[name], indent=2), ROOT / "docs/schemas" / f"{name}.json")


def test_every_published_schema_is_printed_by_the_command() -> None:
    assert {path.stem for path in (ROOT / "docs/schemas").iterdir()} == set(NAMES) <= set(SCHEMAS)


@every_schema
def test_a_schema_is_valid_and_says_what_it_is(name: str) -> None:
    """SchemaStore asks for draft-07, an id, a title, and a description of each key."""
    schema = SCHEMA[name]
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["$id"] == f"urn:schemalint:{name}:1"
    assert schema["title"].startswith("schemalint ")
    assert schema["description"].endswith(".")
    undescribed = [
        (owner, key)
        for owner, body in (("", schema), *schema["definitions"].items())
        for key, value in body["properties"].items()
        if not value.get("description", "").strip() or ("$ref" in value and len(value) > 1)
    ]
    assert undescribed == []


@every_schema
def test_the_examples_of_a_key_are_valid_values(name: str) -> None:
    found = 0
    for body in (SCHEMA[name], *SCHEMA[name]["definitions"].values()):
        for value in body["properties"].values():
            for example in value.get("examples", ()):
                jsonschema.Draft7Validator({**value, "definitions": SCHEMA[name]["definitions"]}).validate(
                    example
                )
                found += 1
    assert found


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_of_a_schema_has_a_description(name: str) -> None:
    """A key says it itself, or what it refers to does."""
    schema = schema_of(name)
    keys = list(_keys(schema))
    assert keys
    assert [path for path, key in keys if not _is_described(schema, key)] == []


def _keys(node: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield the keys of all objects of a schema, each with its path."""
    if isinstance(node, list):
        for item in node:
            yield from _keys(item, path)
    elif isinstance(node, dict):
        for word, value in node.items():
            if word in {"properties", "$defs", "definitions"}:
                for name, body in value.items():
                    if word == "properties":
                        yield f"{path}/{name}", body
                    yield from _keys(body, f"{path}/{name}")
            elif word not in {"const", "enum", "examples"}:
                yield from _keys(value, path)


def _is_described(schema: Any, key: Any) -> bool:  # noqa: ANN401 - parts of a schema
    if key is True:  # an alternative names the key, and the object itself describes it
        return True
    references = [each["$ref"] for each in (key, *key.get("anyOf", ())) if "$ref" in each]
    return bool(key.get("description", "").strip()) or any(
        _is_described(schema, reduce(lambda node, step: node[step], reference[2:].split("/"), schema))
        for reference in references
    )


def test_the_baseline_that_is_written_fits_its_schema() -> None:
    first = Entry("sales.orders", "TW001", "column a", "error", None, ("git",), "f")
    entries = [first, replace(first, fingerprint="g", target="prod", count=2)]
    written = text_of(entries)
    validator("baseline").validate(json.loads(written))
    assert {*SCHEMA["baseline"]["definitions"]["Entry"]["properties"]} == {*Entry.__match_args__}
    assert list(read_baseline("f.json", written.encode()).values()) == entries


def contracts() -> Iterator[str]:
    """Yield the contracts of the documents, of the rules' cases, and one with every key."""
    for page in PAGES:
        yield from re.findall(r"```yaml[^\n]*\n(schemalint: 1\n.*?)```", page.read_text("utf-8"), re.DOTALL)
    for cases in (ROOT / "tests/rules").glob("*.yaml"):
        for case in yaml.load(cases.read_text("utf-8"), yaml.CSafeLoader).values():
            yield from (case[side] for side in ("before", "after") if isinstance(case, dict) and side in case)
    yield EXAMPLE


@pytest.mark.wide
def test_the_schema_accepts_what_the_reader_accepts() -> None:
    accepted = 0
    for text in contracts():
        if read("f.yml", text).errors:
            continue
        for document in yaml.load_all(text, _Loader):
            if isinstance(document, dict) and "schemalint" in document:
                validator("contract").validate(document)
                accepted += 1
    assert accepted > 500


class _Loader(yaml.SafeLoader):
    """YAML 1.2, as editors read it: dates and `yes` are text."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool"}
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _first in "tTfF":
    _Loader.add_implicit_resolver(
        "tag:yaml.org,2002:bool", re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), [_first]
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_schema_accepts_the_settings_in_the_documents(page: Path) -> None:
    for block in re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        content = tomllib.loads(block)
        validator("config").validate(content.get("tool", {}).get("schemalint", content))


REFUSED: dict[str, tuple[str, Any]] = {
    "a misspelt key": ("config", {"fail_on": "error"}),
    "a wrong word": ("config", {"fail-on": "high"}),
    "text for a list": ("config", {"ignore": "TW001"}),
    "a target without a table": ("config", {"targets": {"prod": "lake"}}),
    "a target with an unknown key": ("config", {"targets": {"prod": {"rot": "lake"}}}),
    "a table without a glob": ("config", {"tables": [{"ignore": ["TW"]}]}),
    "a setting of the configuration in a folder": ("nested-config", {"targets": {}}),
    "a contract without columns": ("contract", {"schemalint": 1, "table": "a"}),
    "another version": ("contract", {"schemalint": 2, "table": "a", "columns": []}),
    "a column without a type": ("contract", {"schemalint": 1, "table": "a", "columns": [{"name": "x"}]}),
    "an entry without a fingerprint": (
        "baseline",
        {
            "schemalint_baseline": 1,
            "findings": [{"table": "a", "code": "TW001", "object": "", "severity": "error", "against": []}],
        },
    ),
    "an exception without a reason": (
        "exceptions",
        {"schemalint_exceptions": 1, "exceptions": [{"table": "a", "rule": "TW001"}]},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_schema_refuses_what_the_reader_refuses(case: str) -> None:
    name, document = REFUSED[case]
    with pytest.raises(jsonschema.ValidationError):
        validator(name).validate(document)
