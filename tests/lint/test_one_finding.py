"""One edit, one finding, over every edit that the engine was asked about.

Each is judged with the upgrade that it needs allowed and not, a widening with its record and without.

- What the engine refuses is one error, with not even a notice beside it: the rest can wait until then.
- What it carries out is one warning or error at most. A notice may stand beside it where it is about another
  thing than what is to be done: `NOTICES` says which.
- Two findings for one pair of contracts are right only where these hold two edits: `TWO_EDITS` says which.

That a refusal is not silent, and bears the engine's error class, is tested beside each record.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import pytest

from engine import ask_alters, ask_nested, ask_protocols, ask_states, ask_types
from engine.pairs import Pair, of_alters, of_nested, of_protocols, of_states, of_types
from schemalint import contract as contracts
from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import UNMANAGED, Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.errors import Location
from schemalint.lint.judge import is_superseded, judge_pair
from schemalint.lint.live import LiveComparison, judge_live
from schemalint.lint.table import judge_table
from schemalint.model.contract import Contract, ProtocolLimits
from schemalint.model.declaration import created_state
from schemalint.model.fact import ProtocolUpgrade
from schemalint.model.finding import Finding, ObjectRef, Severity
from schemalint.plugin import Problem, RuleContext, rule
from schemalint.values import replace
from support.rule_judging import built_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from schemalint.plugin import Rule

Said: TypeAlias = tuple[str, ...]
"""What is said of an edit: codes with their severities, in order."""

NOTICES: Final[Mapping[Said, str]] = {
    ("NC005 info", "TH009 warning"): "a constraint goes off for the change, and the contract lacks a record",
    ("NC012 warning", "PF004 info"): "who loses the table by the upgrade, and a constraint that is not read",
    ("PF001 warning", "PF004 info"): "who loses the table by the upgrade, and that a version says too much",
    ("PF004 info", "PF006 warning"): "who loses the table by the upgrade, and the old word for `supported`",
    ("PF004 info", "PF012 warning"): "who loses the table by the upgrade, and that the feature is a preview",
    ("PF008 info", "PF012 warning"): "what the one feature requires, and that the other one is a preview",
}

TWO_EDITS: Final[Mapping[Said, str]] = {
    ("NC005 error", "TP005 warning"): "a column changes, and a constraint is no longer declared",
    ("TH009 warning", "TP005 warning"): "a column changes, and a constraint is no longer declared",
}


class Edit(NamedTuple):
    """A question to the engine, as a check sees it."""

    question: object
    pair: Pair
    refused: bool


def _types() -> Iterator[Edit]:
    for question, answer in ask_types.read_record().items():
        before, after = of_types(question)
        yield Edit(question, (before, after), not answer.accepted)
        if (unrecorded := _without_record(after)) != after:
            yield Edit((question, "not recorded"), (before, unrecorded), not answer.accepted)


def _nested() -> Iterator[Edit]:
    for question, answer in ask_nested.read_record().items():
        yield Edit(question, of_nested(question), not answer.accepted)


def _protocols() -> Iterator[Edit]:
    for question, answer in ask_protocols.read_record().items():
        yield Edit(question, of_protocols(question), isinstance(answer, str))


def _states() -> Iterator[Edit]:
    for question, answer in ask_states.read_record().items():
        yield Edit(question, of_states(question), answer != ask_states.ACCEPTED)


def _alters() -> Iterator[Edit]:
    record = ask_alters.read_record()
    for question in ask_alters.questions():
        answers = record.get(question.case, ())
        yield Edit(question.case, of_alters(question), ask_alters.ACCEPTED not in answers)


RECORDS: Final[Mapping[str, Callable[[], Iterator[Edit]]]] = {
    "types": _types,
    "nested": _nested,
    "protocols": _protocols,
    "states": _states,
    "alters": _alters,
}

# No change of type asks for an upgrade, but for the first variant.
CASES: Final = [
    *((record, False) for record in RECORDS),
    ("protocols", True),
    ("states", True),
    ("alters", True),
]


@pytest.mark.parametrize(("record", "allowed"), CASES)
def test_an_edit_is_one_finding(record: str, *, allowed: bool) -> None:
    doubles = {
        question: said
        for question, said, refused in _doubles(record, allowed=allowed)
        if said not in TWO_EDITS and (refused or said not in NOTICES)
    }
    assert not doubles


def test_every_exception_is_needed() -> None:
    """These records hold them all."""
    seen = {
        said
        for record in ("states", "alters")
        for allowed in (False, True)
        for _question, said, _refused in _doubles(record, allowed=allowed)
    }
    assert seen == NOTICES.keys() | TWO_EDITS.keys()


def test_a_second_finding_is_counted() -> None:
    """The test above can fail."""

    @rule("ACME001", on=TypeChanged, severity=Severity.INFO)
    def type_changes(change: TypeChanged, _ctx: RuleContext) -> Iterator[Problem]:
        """A type changes."""
        yield Problem(f"{change.old} to {change.new}")

    own: Rule = type_changes.schemalint_rule  # type: ignore[attr-defined]
    refused = next(edit.pair for edit in _types() if edit.refused)
    assert _said(refused, (*_rules(), own)) == ("ACME001 info", *_said(refused, _rules()))


TABLE = "schemalint: 1\ntable: a.b\ncolumns:\n  - {name: a, type: int}\n"
MANIFEST = "delta.compatibility.symlinkFormatManifest.enabled: true"
ICEBERG = "delta.columnMapping.mode: name, delta.enableIcebergCompatV2: true"
VECTORS = "delta.enableDeletionVectors: true"


@pytest.mark.parametrize(
    ("before", "after", "said"),
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
        ("", "features: [typeWidening-preview]\n", "PF004 error"),
    ],
    ids=lambda value: value.strip().replace("\n", " "),
)
def test_edits_that_no_record_holds(before: str, after: str, said: str) -> None:
    (old,), (new,) = (contracts.read("c.yml", TABLE + text).contracts for text in (before, after))
    assert _said((old, new), _rules()) == (said,)


def test_another_refusal_does_not_allow_an_upgrade() -> None:
    """What is wrong elsewhere in the contract is another edit."""
    after = f"  - {{name: b, type: int, nullable: false}}\nproperties: {{{VECTORS}}}\n"
    (old,), (new,) = (contracts.read("c.yml", TABLE + text).contracts for text in ("", after))
    assert _said((old, new), _rules()) == ("NC002 error", "PF004 error")


@pytest.mark.parametrize("existing", [False, True])
def test_a_refusal_that_the_base_has_too_does_not_allow_an_upgrade(*, existing: bool) -> None:
    """It does not fail the run, so that nothing would."""
    upgrade = ProtocolUpgrade(frozenset(), frozenset({"x"}), (("property", "delta.x", frozenset({"x"})),))
    refusal = Finding(
        "A001", "a", Severity.ERROR, "", "a.b", ObjectRef("property", "delta.x"), Location("c.yml")
    )
    assert is_superseded(upgrade, [replace(refusal, existing=existing)]) is not existing


LISTS = Protocol(3, 7, lists=(True, True))
LEGACY = Protocol(1, 2, lists=(False, False))


@pytest.mark.parametrize(
    ("protocol", "declared", "said"),
    [
        (LISTS, "", ("PF010 error",)),
        (LISTS, "allowed", ("PF010 error",)),
        (Protocol(3, 7, lists=(False, False)), "", ("PF013 error",)),
        (LEGACY, "", ("PF004 error",)),
        (LEGACY, "allowed", ("PF004 info", "PF010 warning")),
    ],
)
def test_what_a_table_uses_and_does_not_support_is_one_finding(
    protocol: Protocol, declared: str, said: Said
) -> None:
    """The table's own where Spark refuses it, else the upgrade that comes with any statement.

    An upgrade that is allowed is a notice; what clients do with the table until then is the other thing.
    """
    text = f"{TABLE}properties: {{{VECTORS}}}\n" + "protocol: {allow_upgrade: true}\n" * bool(declared)
    (contract,) = contracts.read("c.yml", text).contracts
    live = LiveTable("file:/lake/t", 0, protocol, Metadata("id", created_state(contract.state)))
    of_table = judge_table(live, _rules(), contract=contract)
    found = judge_live(LiveComparison(contract, live, of_table=of_table), _rules())
    assert tuple(sorted(f"{one.code} {one.severity.label}" for one in found)) == said


def test_what_a_table_lacked_before_does_not_allow_an_upgrade() -> None:
    """A finding that the base gives too does not fail the run, so that nothing would."""
    (base,), (contract,) = (
        contracts.read("c.yml", text).contracts for text in (TABLE, f"{TABLE}properties: {{{VECTORS}}}\n")
    )
    live = LiveTable("file:/lake/t", 0, LISTS, Metadata("id", created_state(contract.state)))
    of_table = judge_table(live, _rules(), contract=contract)
    for existing, said in ((True, ["PF004", "PF010"]), (False, ["PF010"])):
        marked = tuple(replace(one, existing=existing) for one in of_table)
        found = judge_live(LiveComparison(contract, live, base=base, of_table=marked), _rules())
        assert sorted(one.code for one in found if one.code.startswith("PF")) == said


@cache
def _doubles(record: str, *, allowed: bool) -> tuple[tuple[object, Said, bool], ...]:
    """The edits of which more than one thing is said: the question, the findings, whether it is refused."""
    judged = ((edit, _said(_limited(edit.pair, allowed=allowed), _rules())) for edit in RECORDS[record]())
    return tuple((edit.question, said, edit.refused) for edit, said in judged if len(said) > 1)


def _rules() -> tuple[Rule, ...]:
    return tuple(built_in().values())


def _said(pair: Pair, rules: tuple[Rule, ...]) -> Said:
    found = (one for one in judge_pair(*pair, rules) if not one.existing)
    return tuple(sorted(f"{one.code} {one.severity.label}" for one in found))


def _limited(pair: Pair, *, allowed: bool) -> Pair:
    before, after = pair
    limits = ProtocolLimits(allow_upgrade=allowed)
    return (before and replace(before, protocol=limits)), replace(after, protocol=limits)


def _without_record(contract: Contract) -> Contract:
    columns = (
        replace(field, type_changes=()) if field.type_changes is not UNMANAGED else field
        for field in contract.state.columns.fields
    )
    return replace(contract, state=replace(contract.state, columns=Struct(tuple(columns))))
