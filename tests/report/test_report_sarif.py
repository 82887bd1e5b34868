"""SARIF reports are valid by Microsoft's schema, and have what GitHub code scanning requires."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.base.printable import sarif_message
from schemalint.report.findings import sarif
from support.attack_texts import ATTACKS
from support.report_cases import all_cases, result_of
from support.sarif import sarif_validator

if TYPE_CHECKING:
    from schemalint.model.finding import CheckResult

Json = dict[str, Any]


def run_of(result: CheckResult) -> Json:
    """Return the run of a report."""
    run: Json = json.loads(sarif.render(result))["runs"][0]
    return run


@pytest.mark.parametrize("case", all_cases())
def test_every_case_is_valid_by_the_official_schema(case: str) -> None:
    validator = sarif_validator()
    document = json.loads(sarif.render(result_of(case)))
    assert [error.message for error in validator.iter_errors(document)] == []
    document["runs"][0]["results"].append({"ruleId": "X"})  # a result without a message
    assert not validator.is_valid(document)


def test_each_rule_has_what_github_requires() -> None:
    rules = run_of(result_of("fix_shown"))["tool"]["driver"]["rules"]
    assert rules
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert rule["help"]["text"]


def test_the_help_of_an_installed_rule_is_its_page() -> None:
    (rule,) = [
        rule
        for rule in run_of(result_of("several_severities"))["tool"]["driver"]["rules"]
        if rule["id"] == "TW001"
    ]
    assert "## What to do" in rule["help"]["markdown"]
    assert rule["shortDescription"]["text"] == "A column changes to a type that cannot hold all its values."


@pytest.mark.parametrize("case", all_cases())
def test_each_result_has_a_location_with_all_numbers_from_1(case: str) -> None:
    run = run_of(result_of(case))
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["partialFingerprints"][sarif.FINGERPRINT]
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert min(region.values()) >= 1
        assert region.keys() == {"startLine", "startColumn", "endLine", "endColumn"}


def test_paths_are_relative_to_the_repository_and_others_absolute() -> None:
    def uris(case: str) -> set[tuple[str, str | None]]:
        artifacts = [
            location["physicalLocation"]["artifactLocation"]
            for result in run_of(result_of(case))["results"]
            for location in result["locations"]
        ]
        return {(artifact["uri"], artifact.get("uriBaseId")) for artifact in artifacts}

    assert uris("several_severities") == {("contracts/orders.yml", "REPOROOT")}
    assert ("file:///lake/sales/items", None) in uris("inventory")
    (hostile,) = uris("hostile_text")
    assert hostile[0].startswith("%20%3A%3Astop-commands")


def test_a_removed_column_has_its_place_in_the_base_as_related_location() -> None:
    related = [
        location for each in run_of(result_of("deletion"))["results"] for location in each["relatedLocations"]
    ]
    assert {location["message"]["text"] for location in related} == {"in the base"}


def test_an_existing_finding_is_suppressed() -> None:
    result = result_of("several_severities")
    suppressed = [bool(each["suppressions"]) for each in run_of(result)["results"]]
    assert suppressed == [finding.existing for finding in result.findings]


def test_the_fix_is_a_replacement_of_text() -> None:
    result = result_of("fix_shown")
    (fix,) = next(each["fixes"] for each in run_of(result)["results"] if "fixes" in each)
    (change,) = fix["artifactChanges"]
    inserted = [each["insertedContent"]["text"] for each in change["replacements"]]
    changes = next(finding.text_changes for finding in result.findings if finding.text_changes)
    assert inserted == [change.text for change in changes]


def test_a_run_that_did_not_complete_says_so_and_why() -> None:
    (invocation,) = run_of(result_of("errors_only"))["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["exitCode"] == 2
    errors = [each for each in invocation["toolExecutionNotifications"] if each["level"] == "error"]
    assert len(errors) == len(result_of("errors_only").errors)


def test_a_run_that_compared_nothing_warns() -> None:
    (invocation,) = run_of(result_of("nothing_compared"))["invocations"]
    assert {each["level"] for each in invocation["toolExecutionNotifications"]} == {"warning"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("array<int> [1]", "array<int> [1]"),
        ("[free](https://evil.example)", r"\[free\](https://evil.example)"),
        (r"\[a](b)", r"\\\[a\](b)"),
        ("a {0} {x} {12}", "a {{0}} {x} {{12}}"),
    ],
)
def test_text_forms_no_link_and_no_placeholder(text: str, message: str) -> None:
    assert sarif_message(text) == message


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_forms_a_link(attack: str) -> None:
    text = sarif_message(f"[x](1) {ATTACKS[attack]}")
    assert not text.startswith("[")
