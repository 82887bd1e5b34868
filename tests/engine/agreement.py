"""What the rules say about the recorded questions, for the engine that answered them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engine import pairs, record_nested, record_protocols, record_states, record_types
from engine.answers import NEWEST, engine_of, record_path
from engine.record_types import Answer
from schemalint.delta.engine import Engines
from schemalint.model.finding import Severity
from support.judging import judge_pair
from support.rule_judging import built_in

if TYPE_CHECKING:
    from collections.abc import Mapping

_READERS: Final[Mapping[str, Any]] = {
    "types": record_types.read_record,
    "nested": record_nested.read_record,
    "protocols": record_protocols.read_record,
    "states": record_states.read_record,
}
_CONTRACTS: Final[Mapping[str, Any]] = {
    "types": pairs.type_contracts,
    "nested": pairs.nested_contracts,
    "protocols": pairs.protocol_contracts,
    "states": pairs.state_contracts,
}
NO_CLASS: Final = "no class"
"""A refusal without an error class, and a finding that names none."""

OF_DATABRICKS: Final = '"delta.parquet.compression.codec"'

STATES_EXPLAINED: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            'new -> {"columns": {"a": "int", "b": "string"}, "properties": {"delta.constraints.c"',
            'new -> {"columns": {"a": "int", "b": "string"}, "properties": {"delta.CONSTRAINTS.c"',
        ),
        "the new table has a constraint, and a contract without it: no later plan could carry it out",
    ),
    OF_DATABRICKS: "Databricks knows the property, and no target names its engine here",
    '"delta.coordinatedCommits.commitCoordinator-preview": "x", '
    '"delta.coordinatedCommits.commitCoordinatorConf-preview": "{}"': (
        "Delta knows the commit coordinators that are registered in its process, and refuses all others"
    ),
    '"delta.columnMapping.mode": "name", "delta.compatibility.symlinkFormatManifest.enabled": "true"': (
        "Delta accepts the statement, and then fails every write after its commit: see test_manifests.py"
    ),
}
"""The facts about declared states that a check cannot know or judges otherwise, by a part of the change."""


def refusals(part: str, version: str = NEWEST) -> Mapping[object, tuple[str, ...]]:
    """Return the error class of each recorded refusal, by question; no class for what was accepted."""
    answers: Mapping[Any, object] = _READERS[part](record_path(part, version))
    return {question: _refusal(answer) for question, answer in answers.items()}


def verdict(
    part: str, question: object, version: str, severity: Severity = Severity.ERROR
) -> tuple[str, ...]:
    """Return the error classes of the errors that the rules report for the engine of that version.

    With another severity, return those of the findings that have it.
    """
    before, after = _CONTRACTS[part](question)
    engine = engine_of(version)
    engines = Engines(engine, (engine,))
    findings = judge_pair(before, after, tuple(built_in().values()), {"prod": engines})
    return tuple(finding.delta_error or NO_CLASS for finding in findings if finding.severity == severity)


def _refusal(answer: object) -> tuple[str, ...]:
    match answer:
        case Answer(accepted=accepted, error_class=error):
            return () if accepted else (error or NO_CLASS,)
        case record_states.ACCEPTED:
            return ()
        case record_states.REFUSED | record_states.UNCHANGED:
            return (NO_CLASS,)
        case str():
            return (answer,)
        case _:
            return ()
