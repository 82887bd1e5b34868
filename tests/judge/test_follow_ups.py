"""A finding tells all that its edit needs: a contract that follows the first report passes the second."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from schemalint import contract as contracts
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.model import declaration
from schemalint.model.declaration import created_state, merge_columns
from schemalint.model.finding import Severity
from support.judging import judge_live, judge_pair, live_case
from support.rule_judging import built_in

if TYPE_CHECKING:
    from schemalint.delta.datatype import Struct
    from schemalint.model.contract import Contract
    from schemalint.model.declaration import Pairing, Pick
    from schemalint.model.finding import Finding

ALLOW = "protocol: {allow_upgrade: true}"
MAPPED = "delta.columnMapping.mode: name"
WIDENS = "delta.enableTypeWidening: true"
OTHER = "- {name: z, type: int}"


class Edit(NamedTuple):
    """An edit, the requests that the first report must contain, and the contract that follows them."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    code: str
    requests: tuple[str, ...]
    followed: tuple[str, ...]


EDITS = {
    "widened": Edit(
        ("- {name: a, type: int}", OTHER),
        ("- {name: a, type: bigint}", OTHER),
        "TW006",
        (WIDENS, "{from: int, to: bigint}", ALLOW),
        (
            "- {name: a, type: bigint, type_changes: [{from: int, to: bigint}]}",
            OTHER,
            f"properties: {{{WIDENS}}}",
            ALLOW,
        ),
    ),
    "decimal inside a struct": Edit(
        ("- {name: s, type: struct, columns: [{name: d, type: 'decimal(4,2)'}]}",),
        ("- {name: s, type: struct, columns: [{name: d, type: 'decimal(6,2)'}]}",),
        "TW006",
        (WIDENS, '{from: "decimal(4,2)", to: "decimal(6,2)"}', ALLOW),
        (
            "- name: s",
            "  type: struct",
            "  columns:",
            "  - name: d",
            "    type: decimal(6,2)",
            '    type_changes: [{from: "decimal(4,2)", to: "decimal(6,2)"}]',
            f"properties: {{{WIDENS}}}",
            ALLOW,
        ),
    ),
    "renamed": Edit(
        ("- {name: a, type: int}", OTHER),
        ("- {name: b, type: int, renamed_from: a}", OTHER),
        "CM001",
        (MAPPED, ALLOW),
        ("- {name: b, type: int, renamed_from: a}", OTHER, f"properties: {{{MAPPED}}}", ALLOW),
    ),
    "renamed without telling": Edit(
        ("- {name: a, type: int}", OTHER),
        ("- {name: b, type: int}", OTHER),
        "CM003",
        ("renamed_from: a", MAPPED, ALLOW),
        ("- {name: b, type: int, renamed_from: a}", OTHER, f"properties: {{{MAPPED}}}", ALLOW),
    ),
    "dropped": Edit(
        ("- {name: a, type: int}", OTHER),
        (OTHER, "dropped: [a]"),
        "CM002",
        (MAPPED, ALLOW),
        (OTHER, "dropped: [a]", f"properties: {{{MAPPED}}}", ALLOW),
    ),
    "dropped without telling": Edit(
        ("- {name: a, type: int}", OTHER),
        (OTHER,),
        "CM003",
        ("dropped: [a]", MAPPED, ALLOW),
        (OTHER, "dropped: [a]", f"properties: {{{MAPPED}}}", ALLOW),
    ),
    "default": Edit(
        ("- {name: a, type: int}",),
        ("- {name: a, type: int, default: '1'}",),
        "PF009",
        ("features: [allowColumnDefaults]", ALLOW),
        ("- {name: a, type: int, default: '1'}", "features: [allowColumnDefaults]", ALLOW),
    ),
    "timestamp without time zone": Edit(
        (OTHER,),
        (OTHER, "- {name: t, type: timestamp_ntz}"),
        "TW008",
        ("features: [timestampNtz]", ALLOW),
        (OTHER, "- {name: t, type: timestamp_ntz}", "features: [timestampNtz]", ALLOW),
    ),
    "name with a space": Edit(
        (OTHER,),
        (OTHER, "- {name: b c, type: int}"),
        "CM006",
        (MAPPED, ALLOW),
        (OTHER, "- {name: b c, type: int}", f"properties: {{{MAPPED}}}", ALLOW),
    ),
    "limited protocol": Edit(
        ("- {name: a, type: int}", OTHER, "protocol: {max_reader: 1}"),
        ("- {name: b, type: int, renamed_from: a}", OTHER, "protocol: {max_reader: 1}"),
        "CM001",
        (MAPPED, "raise max_reader: 1"),
        (
            "- {name: b, type: int, renamed_from: a}",
            OTHER,
            f"properties: {{{MAPPED}}}",
            "protocol: {allow_upgrade: true, max_reader: 2}",
        ),
    ),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("live", [False, True], ids=["git", "live"])
def test_contract_that_follows_the_first_report_passes_the_second(edit: Edit, *, live: bool) -> None:
    before = _contract(edit.before)
    first = _judged(before, _contract(edit.after), live=live)
    (finding,) = (each for each in first if each.severity is Severity.ERROR and not each.existing)
    assert finding.code == edit.code
    for request in edit.requests:
        assert request in _advice(finding)
    second = _judged(before, _contract(edit.followed), live=live)
    effects = {rule.code for rule in built_in().values() if rule.scope == "effect"}
    new = [found for found in second if not found.existing and found.code not in effects]
    assert [found for found in new if found.severity > Severity.INFO] == []


def test_help_says_nothing_of_other_columns_and_repeats_no_other_finding() -> None:
    before = _contract(("- {name: a, type: int}", "- {name: b, type: int}"))
    after = _contract(
        (
            "- {name: a, type: bigint}",
            "- {name: b, type: int}",
            "properties: {delta.enableDeletionVectors: true}",
        )
    )
    widened, upgrade = sorted(
        _judged(before, after, live=False), key=lambda finding: finding.code, reverse=True
    )
    assert (widened.code, upgrade.code) == ("TW006", "PF004")
    assert "allow_upgrade" not in _advice(widened)
    both = _judged(
        before, _contract(("- {name: a, type: bigint}", "- {name: b, type: 'decimal(12,2)'}")), live=False
    )
    assert [[each.code for each in finding.then].count("TH009") for finding in both] == [1, 1]


def test_columns_that_the_remedy_keeps_are_not_merged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    merged: list[Struct] = []

    def counted(live: Struct, declared: Struct, pairing: Pairing, pick: Pick) -> Struct:
        merged.append(declared)
        return merge_columns(live, declared, pairing, pick)

    monkeypatch.setattr(declaration, "merge_columns", counted)
    edit = EDITS["widened"]
    after = _contract(edit.after)
    (finding, *_) = _judged(_contract(edit.before), after, live=False)
    assert finding.then, "the remedy was judged too"
    assert merged == [after.state.columns]


def test_rule_that_does_not_run_adds_nothing() -> None:
    edit = EDITS["renamed"]
    pair = (_contract(edit.before), _contract(edit.after))
    (finding,) = judge_pair(*pair, [built_in()["rename-without-mapping"]])
    assert finding.help == "set `delta.columnMapping.mode: name` under `properties`, or keep the name"


def _advice(finding: Finding) -> str:
    return " ".join([finding.help, *(each.help for each in finding.then)])


def _contract(lines: tuple[str, ...]) -> Contract:
    text = "\n".join(("schemalint: 1", "table: a.b", "columns:", *lines, ""))
    read = contracts.read("c.yml", text)
    assert not read.errors, read.errors
    return read.contracts[0]


def _judged(before: Contract, after: Contract, *, live: bool) -> tuple[Finding, ...]:
    rules = tuple(built_in().values())
    if not live:
        return judge_pair(before, after, rules)
    protocol = Protocol(3, 7, frozenset(), before.created_features)
    table = LiveTable("file:/lake/t", 0, protocol, Metadata("id", created_state(before.state)))
    return judge_live(live_case(after, table, base=before), rules)


def test_every_finding_of_a_large_edit_tells_what_the_table_needs() -> None:
    """Only some of the remedies are judged; what they need of the table as a whole is the same for all."""
    before = _contract((OTHER, *(f"- {{name: c{number}, type: int}}" for number in range(60))))
    found = _judged(before, _contract((OTHER,)), live=False)
    assert [(finding.code, ALLOW in _advice(finding)) for finding in found] == [("CM003", True)] * 60
