"""JSON reports are valid against the published schema."""

from __future__ import annotations

import json as stdlib_json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemalint import __version__
from schemalint.base.project_home import page_url
from schemalint.cli.schema import schema_of
from schemalint.report.findings import json
from support.report_cases import all_cases, result_of

Json = dict[str, Any]
VALIDATOR = Draft202012Validator(schema_of("report"))


def rendered(case: str) -> Json:
    """Return the JSON report of a case."""
    document: Json = stdlib_json.loads(json.render(result_of(case)))
    return document


def object_schemas(schema: object) -> Iterator[Json]:
    """Yield every object schema inside a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from object_schemas(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from object_schemas(value)


def test_the_schema_is_a_valid_json_schema() -> None:
    Draft202012Validator.check_schema(schema_of("report"))


def test_the_schema_requires_all_keys_and_allows_no_others() -> None:
    schemas = list(object_schemas(schema_of("report")))
    assert len(schemas) > 8
    for schema in schemas:
        if schema["additionalProperties"] == {"type": "string"}:
            continue  # Spark settings, whose names are data
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])


@pytest.mark.parametrize("case", all_cases())
def test_the_output_of_every_case_is_valid(case: str) -> None:
    VALIDATOR.validate(rendered(case))


def test_a_missing_and_an_unknown_key_are_invalid() -> None:
    document = rendered("several_severities")
    missing, unknown = deepcopy(document), deepcopy(document)
    del missing["findings"][0]["fingerprint"]
    unknown["findings"][0]["line"] = 1
    assert not VALIDATOR.is_valid(missing)
    assert not VALIDATOR.is_valid(unknown)


def test_the_document_is_complete_at_status_2() -> None:
    document = rendered("errors_only")
    assert document["run"]["exit_status"] == 2
    assert document["run"]["base"] is None
    assert [error["location"] is None for error in document["errors"]] == [True, False, True]


def test_hostile_text_survives_the_ascii_encoding() -> None:
    result = result_of("hostile_text")
    text = json.render(result)
    assert text.isascii()
    finding = stdlib_json.loads(text)["findings"][0]
    assert finding["message"] == result.findings[0].message
    assert finding["location"]["file"] == result.findings[0].location.file
    assert finding["from"] == result.findings[0].old


def test_a_column_is_given_as_text_and_as_a_field_path() -> None:
    column = next(item for item in rendered("several_severities")["findings"] if item["target"] == "staging")
    assert column["column"] == "lines.element.qty"
    assert column["path"] == ["lines", {"in": "element"}, "qty"]


def test_only_built_in_rules_have_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    home = "https://git.example/acme/schemalint"
    monkeypatch.setattr("schemalint.base.project_home.home_of", lambda _distribution: home)
    page_url.cache_clear()
    urls = {item["code"]: item["url"] for item in rendered("several_severities")["findings"]}
    page_url.cache_clear()
    assert urls["TW001"] == f"{home}/blob/v{__version__}/docs/rules/tw001.md"
    assert urls["ACME001"] is None


def test_a_page_without_a_home_has_no_address() -> None:
    """The package's metadata still has the variable `OWNER`: an address with it would lead nowhere."""
    assert {item["url"] for item in rendered("several_severities")["findings"]} == {None}
