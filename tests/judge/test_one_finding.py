"""Each edit gives at most one finding, for every edit with a recorded answer of Spark.

Each edit is judged with and without permission for protocol upgrades, and type changes with and without their
`type_changes` entry.

- An edit that Spark refuses gives one error and nothing else, not even a notice.
- An edit that Spark carries out gives one warning or error at most. A notice about another matter may come
  with it: see `NOTICES`.
- A pair of contracts gives two findings only if it contains two edits: see `TWO_EDITS`.

The tests of each record check that a refused edit gives a finding with Spark's error class.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import pytest

from engine import record_alters, record_nested, record_protocols, record_states, record_types
from engine.pairs import (
    Pair,
    alter_contracts,
    nested_contracts,
    protocol_contracts,
    state_contracts,
    type_contracts,
)
from schemalint import contract as contracts
from schemalint.base.errors import Location
from schemalint.base.values import replace
from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import UNMANAGED, Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.judge.protocol_upgrades import is_superseded
from schemalint.model.contract import Contract, ProtocolLimits
from schemalint.model.declaration import created_state
from schemalint.model.fact import ProtocolUpgrade
from schemalint.model.finding import Finding, ObjectRef, Severity
from schemalint.plugin import Problem, RuleContext, rule
from support.judging import judge_live, judge_pair, live_case
from support.rule_judging import built_in
from support.sampling import some_of_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from schemalint.plugin import Rule

Verdict: TypeAlias = tuple[str, ...]
"""The findings of an edit: the codes with their severities, sorted."""

NOTICES: Final[Mapping[Verdict, str]] = {
    ("CM015 warning", "NC005 info"): "the constraint is dropped and added again around the drop",
    ("CM016 warning", "NC005 info"): "the constraint is dropped and added again around the rename",
    ("CM016 warning", "PF004 info"): "which clients the upgrade excludes, and a rename",
    (
        "NC005 info",
        "TH009 warning",
    ): "the constraint is dropped for the change, and the contract lacks a type_changes entry",
    (
        "NC027 warning",
        "PF004 info",
    ): "which clients the upgrade excludes, and that only an empty table takes the constraint",
    (
        "NC027 warning",
        "PF004 error",
    ): "an upgrade that is not allowed, and that only an empty table takes the constraint",
    ("CM015 warning", "NC013 warning"): "a column is dropped, and no insert succeeds without it",
    ("PF001 warning", "PF004 info"): "which clients the upgrade excludes, and an unnecessary version",
    (
        "PF004 info",
        "PF006 warning",
    ): "which clients the upgrade excludes, and an outdated word for `supported`",
    ("PF004 info", "PF012 warning"): "which clients the upgrade excludes, and a preview feature",
    ("PF004 info", "TW010 info"): "which clients the upgrade excludes, and who else may widen columns",
    ("PF008 info", "PF012 warning"): "the requirement of one feature, and another feature in preview",
}

TWO_EDITS: Final[Mapping[Verdict, str]] = {
    ("CM015 warning", "CM015 warning"): "two columns are dropped",
    ("CM015 warning", "NC009 error"): "a column is dropped, and a void column declared as the only one",
    ("CM015 warning", "NC012 error"): "a column is dropped, and a constraint that uses it is declared",
    ("CM015 warning", "TH009 warning"): "a column is dropped, and another one widened",
    ("CM016 warning", "CM016 warning"): "two columns are renamed",
    ("CM016 warning", "NC007 error"): "a column is renamed, and a partition column declared that is gone",
    ("CM016 warning", "NC014 error"): "a column is renamed, and a clustering column declared that is gone",
    ("CM016 warning", "PF004 error"): "a column is renamed, and mapping is switched on",
    ("NC005 error", "TP005 warning"): "a column changes, and a constraint is no longer declared",
    ("TH009 warning", "TP005 warning"): "a column changes, and a constraint is no longer declared",
}


class Edit(NamedTuple):
    """A recorded question as a pair of contracts, and whether Spark refused it."""

    question: object
    pair: Pair
    refused: bool


def _types() -> Iterator[Edit]:
    for question, answer in record_types.read_record().items():
        before, after = type_contracts(question)
        yield Edit(question, (before, after), not answer.accepted)
        if (unrecorded := _without_type_changes(after)) != after:
            yield Edit((question, "not recorded"), (before, unrecorded), not answer.accepted)


def _nested() -> Iterator[Edit]:
    for question, answer in record_nested.read_record().items():
        yield Edit(question, nested_contracts(question), not answer.accepted)


def _protocols() -> Iterator[Edit]:
    for question, answer in record_protocols.read_record().items():
        yield Edit(question, protocol_contracts(question), isinstance(answer, str))


def _states() -> Iterator[Edit]:
    for question, answer in record_states.read_record().items():
        yield Edit(question, state_contracts(question), answer != record_states.ACCEPTED)


def _alters() -> Iterator[Edit]:
    record = record_alters.read_record()
    for question in record_alters.questions():
        answers = record.get(question.case, ())
        yield Edit(question.case, alter_contracts(question), record_alters.ACCEPTED not in answers)


RECORDS: Final[Mapping[str, Callable[[], Iterator[Edit]]]] = {
    "types": _types,
    "nested": _nested,
    "protocols": _protocols,
    "states": _states,
    "alters": _alters,
}

# The thousands of edits of types are sampled, by whether Spark refuses them; the other records are whole.
MOST_OF_A_RECORD: Final = 800

# By record: whether the contracts allow an upgrade. Type changes need no upgrade.
CASES: Final = [
    *((record, False) for record in RECORDS),
    ("protocols", True),
    ("states", True),
    ("alters", True),
]


@pytest.mark.wide
@pytest.mark.parametrize(("record", "allowed"), CASES)
def test_edit_gives_at_most_one_finding(record: str, *, allowed: bool) -> None:
    unexpected = {
        question: verdict
        for question, verdict, refused in _edits_with_several_findings(record, allowed=allowed)
        if verdict not in TWO_EDITS and (refused or verdict not in NOTICES)
    }
    assert not unexpected


@pytest.mark.wide
def test_every_listed_exception_occurs() -> None:
    """The records of states and alterations contain all of them."""
    seen = {
        verdict
        for record in ("states", "alters")
        for allowed in (False, True)
        for _question, verdict, _refused in _edits_with_several_findings(record, allowed=allowed)
    }
    assert seen == NOTICES.keys() | TWO_EDITS.keys()


def test_additional_rule_gives_a_second_finding() -> None:
    """This shows that `test_edit_gives_at_most_one_finding` can fail."""

    @rule("ACME001", on=TypeChanged, severity=Severity.INFO)
    def type_changes(change: TypeChanged, _ctx: RuleContext) -> Iterator[Problem]:
        """A type changes."""
        yield Problem(f"{change.old} to {change.new}")

    own: Rule = type_changes.schemalint_rule  # type: ignore[attr-defined]
    refused = next(edit.pair for edit in _types() if edit.refused)
    assert _verdict(refused, (*_rules(), own)) == ("ACME001 info", *_verdict(refused, _rules()))


TABLE = "schemalint: 1\ntable: a.b\ncolumns:\n  - {name: a, type: int}\n"
MANIFEST = "delta.compatibility.symlinkFormatManifest.enabled: true"
ICEBERG = "delta.columnMapping.mode: name, delta.enableIcebergCompatV2: true"
VECTORS = "delta.enableDeletionVectors: true"


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("", "  - {name: b, type: int, default: '1'}\n", "PF009 error"),
        ("", "  - {name: b, type: variant, nullable: false}\n", "NC002 error"),
        ("", "  - {name: s, type: 'struct<v: variant, x: int not null>'}\n", "NC002 error"),
        ("", "  - {name: v, type: void}\nproperties: {delta.dataSkippingStatsColumns: v}\n", "TP006 error"),
        (f"properties: {{{MANIFEST}}}\n", f"properties: {{{MANIFEST}, {VECTORS}}}\n", "TP003 error"),
        (f"properties: {{{ICEBERG}}}\n", f"properties: {{{ICEBERG}, {VECTORS}}}\n", "RD008 error"),
        (
            "  - {name: _change_type, type: int}\n",
            "  - {name: _change_type, type: int}\nproperties: {delta.enableChangeDataFeed: true}\n",
            "CM008 error",
        ),
        ("", f"properties: {{{VECTORS}, delta.columnMapping.mode: id}}\n", "CM004 error"),
        ("", f"properties: {{{MANIFEST}, delta.columnMapping.mode: name}}\n", "TP003 error"),
        ("", f"properties: {{{MANIFEST}, delta.columnMapping.mode: id}}\n", "CM004 error"),
        ("", "  - {name: A, type: string}\n", "CM007 error"),
        ("", "  - {name: A, type: int, nullable: false, default: '1'}\n", "CM007 error"),
        ("", "  - {name: a b, type: int}\n  - {name: A b, type: int}\n", "CM007 error"),
        ("", "  - {name: v, type: variant}\n  - {name: V, type: variant}\n", "CM007 error"),
        ("", "  - {name: s, type: 'struct<x: int, X: int not null>'}\n", "CM007 error"),
        ("", "features: [typeWidening-preview]\n", "PF004 error"),
    ],
    ids=lambda value: value.strip().replace("\n", " "),
)
def test_unrecorded_edit_gives_one_error(before: str, after: str, verdict: str) -> None:
    (old,), (new,) = (contracts.read("c.yml", TABLE + text).contracts for text in (before, after))
    assert _verdict((old, new), _rules()) == (verdict,)


def test_unrelated_error_does_not_hide_a_refused_upgrade() -> None:
    """An error elsewhere in the contract is another edit."""
    after = f"  - {{name: b, type: int, nullable: false}}\nproperties: {{{VECTORS}}}\n"
    (old,), (new,) = (contracts.read("c.yml", TABLE + text).contracts for text in ("", after))
    assert _verdict((old, new), _rules()) == ("NC002 error", "PF004 error")


@pytest.mark.parametrize("existing", [False, True])
def test_existing_error_does_not_supersede_an_upgrade(*, existing: bool) -> None:
    """An existing error does not fail the run; without the upgrade's error, nothing would."""
    upgrade = ProtocolUpgrade(frozenset(), frozenset({"x"}), (("property", "delta.x", frozenset({"x"})),))
    refusal = Finding(
        "A001", "a", Severity.ERROR, "", "a.b", ObjectRef("property", "delta.x"), Location("c.yml")
    )
    assert is_superseded(upgrade, [replace(refusal, existing=existing)]) is not existing


LISTS = Protocol(3, 7, lists=(True, True))
LEGACY = Protocol(1, 2, lists=(False, False))


@pytest.mark.parametrize(
    ("protocol", "declared", "verdict"),
    [
        (LISTS, "", ("PF010 error",)),
        (LISTS, "allowed", ("PF010 error",)),
        (Protocol(3, 7, lists=(False, False)), "", ("PF013 error",)),
        (LEGACY, "", ("PF004 error",)),
        (LEGACY, "allowed", ("PF004 info", "PF010 warning")),
    ],
)
def test_active_but_unsupported_feature_gives_one_finding(
    protocol: Protocol, declared: str, verdict: Verdict
) -> None:
    """The finding is about the table if Spark refuses it, else about the upgrade by the next statement.

    An allowed upgrade is a notice; a warning then covers how clients treat the table until the upgrade.
    """
    allowing = "protocol: {allow_upgrade: true}\n" if declared else ""
    text = f"{TABLE}properties: {{{VECTORS}}}\n{allowing}"
    (contract,) = contracts.read("c.yml", text).contracts
    live = LiveTable("file:/lake/t", 0, protocol, Metadata("id", created_state(contract.state)))
    findings = judge_live(live_case(contract, live), _rules())
    assert tuple(sorted(f"{finding.code} {finding.severity.label}" for finding in findings)) == verdict


def test_existing_finding_of_the_live_table_does_not_hide_a_refused_upgrade() -> None:
    """An existing finding does not fail the run; without the upgrade's error, nothing would."""
    (base,), (contract,) = (
        contracts.read("c.yml", text).contracts for text in (TABLE, f"{TABLE}properties: {{{VECTORS}}}\n")
    )
    live = LiveTable("file:/lake/t", 0, LISTS, Metadata("id", created_state(contract.state)))
    for before, verdict in ((base, ["PF004", "PF010"]), (None, ["PF010"])):
        findings = judge_live(live_case(contract, live, base=before), _rules())
        assert sorted(finding.code for finding in findings if finding.code.startswith("PF")) == verdict


@cache
def _edits_with_several_findings(record: str, *, allowed: bool) -> tuple[tuple[object, Verdict, bool], ...]:
    """Return the edits with several findings: the question, the findings, and whether Spark refused it."""
    edits = some_of_each(RECORDS[record](), lambda edit: edit.refused, MOST_OF_A_RECORD)
    judged = ((edit, _verdict(_with_upgrades(edit.pair, allowed=allowed), _rules())) for edit in edits)
    return tuple((edit.question, verdict, edit.refused) for edit, verdict in judged if len(verdict) > 1)


def _rules() -> tuple[Rule, ...]:
    return tuple(built_in().values())


def _verdict(pair: Pair, rules: tuple[Rule, ...]) -> Verdict:
    findings = (finding for finding in judge_pair(*pair, rules) if not finding.existing)
    return tuple(sorted(f"{finding.code} {finding.severity.label}" for finding in findings))


def _with_upgrades(pair: Pair, *, allowed: bool) -> Pair:
    before, after = pair
    limits = ProtocolLimits(allow_upgrade=allowed)
    return (before and replace(before, protocol=limits)), replace(after, protocol=limits)


def _without_type_changes(contract: Contract) -> Contract:
    columns = (
        replace(field, type_changes=()) if field.type_changes is not UNMANAGED else field
        for field in contract.state.columns.fields
    )
    return replace(contract, state=replace(contract.state, columns=Struct(tuple(columns))))
