"""Rules judge a pair of contracts: the facts they get, existing findings, and how faults end a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

import pytest

from schemalint import contract as contracts
from schemalint.base import limits
from schemalint.base.errors import InternalError, Location, PluginError, SchemalintError, UsageError
from schemalint.base.values import replace
from schemalint.delta.change import PropertyChanged, TableAdded, TypeChanged
from schemalint.delta.datatype import UNMANAGED
from schemalint.judge.built_in_rules import BUILT_IN
from schemalint.judge.rule_judge import ordered
from schemalint.model.contract import Contract
from schemalint.model.finding import Finding, ObjectRef
from schemalint.plugin import (
    ATTRIBUTE,
    Problem,
    ProtocolUpgrade,
    Rule,
    RuleContext,
    Severity,
    TableRetired,
    rule,
)
from schemalint.project.config import Config
from schemalint.review.rulebook import load_rules, rules_of
from support.judging import judge_pair

RULES = rules_of(Config(select=("TW", "PF004")))
ORDERS = """\
schemalint: 1
table: sales.orders
columns:
  - {name: c, type: int}
"""
WIDER = ORDERS.replace("type: int", "type: bigint")


def _contract(text: str) -> Contract:
    result = contracts.read("orders.yaml", text.encode())
    assert result.errors == ()
    (contract,) = result.contracts
    return contract


def _rule(check: Callable[..., Iterable[Problem]], on: type = TypeChanged, *, of: str = "acme-rules") -> Rule:
    check.__doc__ = "A rule of a test."
    rule("ACME001", on=on, severity=Severity.WARNING)(check)
    decorated: Rule = getattr(check, ATTRIBUTE)
    return replace(decorated, distribution=of)


def _codes(findings: Iterable[Finding]) -> list[tuple[str, str | None, str]]:
    return [(finding.code, finding.target, finding.severity.label) for finding in findings]


def test_finding_of_a_change_has_object_values_and_both_locations() -> None:
    findings = judge_pair(_contract(ORDERS), _contract(WIDER), RULES)
    (finding,) = [finding for finding in findings if finding.code == "TW006"]
    assert finding.against == ("git",)
    assert finding.object == ObjectRef("column", "c")
    assert (finding.old, finding.new) == ("int", "bigint")
    assert finding.location == Location("orders.yaml", 4, 21, 4, 27)
    assert finding.previous_location == Location("orders.yaml", 4, 21, 4, 24)
    assert finding.target is None
    assert not finding.existing


def test_new_contract_gives_rules_a_table_added_and_the_contract() -> None:
    seen: list[object] = []

    def records(fact: object, _ctx: RuleContext) -> Iterator[Problem]:
        seen.append(fact)
        yield from ()

    contract = _contract(ORDERS)
    assert judge_pair(None, contract, [_rule(records, object)]) == ()
    assert seen == [TableAdded(contract.state), contract]


def test_removed_contract_gives_rules_a_table_retired() -> None:
    seen: list[object] = []

    def records(fact: object, _ctx: RuleContext) -> Iterator[Problem]:
        seen.append(fact)
        yield from ()

    contract = _contract(ORDERS)
    assert judge_pair(contract, None, [_rule(records, object)]) == ()
    assert seen == [TableRetired(contract)]


def test_context_has_the_table_that_delta_creates_from_the_base() -> None:
    seen: list[RuleContext] = []

    def records(_fact: object, ctx: RuleContext) -> Iterator[Problem]:
        seen.append(ctx)
        yield from ()

    before, after = _contract(ORDERS + "properties: {delta.enableTypeWidening: true}\n"), _contract(WIDER)
    judge_pair(before, after, [_rule(records)])
    (ctx,) = seen
    assert ctx.features == {"typeWidening", "appendOnly", "invariants"}
    assert ctx.before.properties == {"delta.enableTypeWidening": "true"}
    # A property removed from the contract stays in the table.
    assert ctx.after.enabled("delta.enableTypeWidening")
    assert (ctx.base, ctx.contract, ctx.live, ctx.against) == (before, after, None, "git")


STAGING = "targets: {{staging: {0}}}\n"
SWITCHED_ON = STAGING.format("{properties: {delta.enableTypeWidening: true}}")
OTHER = STAGING.format("{properties: {team: x}}")


def test_finding_common_to_all_targets_is_reported_once() -> None:
    findings = judge_pair(_contract(ORDERS + OTHER), _contract(WIDER + OTHER), RULES)
    assert ("TW006", None, "error") in _codes(findings)
    assert ("TW006", "staging", "error") not in _codes(findings)


def test_finding_of_a_single_target_names_the_target() -> None:
    findings = judge_pair(_contract(ORDERS), _contract(ORDERS + SWITCHED_ON), RULES)
    assert _codes(findings) == [("PF004", "staging", "error")]


def test_target_is_compared_with_its_own_base() -> None:
    def changes(change: PropertyChanged, _ctx: RuleContext) -> Iterator[Problem]:
        yield Problem(f"{change.key}: {change.old} -> {change.new}")

    before = _contract(ORDERS + STAGING.format("{properties: {team: x}}"))
    after = _contract(ORDERS + STAGING.format("{properties: {team: y}}"))
    findings = judge_pair(before, after, [_rule(changes, PropertyChanged)])
    assert [(finding.message, finding.target) for finding in findings] == [("team: x -> y", "staging")]


def test_target_without_the_table_is_not_judged() -> None:
    absent = STAGING.format("{absent: true, properties: {delta.enableTypeWidening: true}}")
    assert judge_pair(_contract(ORDERS), _contract(ORDERS + absent), RULES) == ()


def test_table_that_a_change_takes_from_a_target_is_judged_with_the_overlay_of_the_base() -> None:
    """Else a change could be hidden by the target that it is for."""
    seen: list[bool] = []

    def records(_change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
        seen.append(ctx.widening_enabled)
        yield from ()

    before, absent = _contract(ORDERS + SWITCHED_ON), STAGING.format("{absent: true}")
    judge_pair(before, _contract(WIDER + absent), [_rule(records)])
    assert seen == [False, True]
    assert judge_pair(before, _contract(ORDERS + absent), RULES) == ()


def test_table_formerly_absent_from_a_target_is_new_in_that_target() -> None:
    seen: list[object] = []

    def records(fact: object, _ctx: RuleContext) -> Iterator[Problem]:
        seen.append(type(fact))
        yield from ()

    before = _contract(ORDERS + STAGING.format("{absent: true}"))
    after = _contract(WIDER + STAGING.format("{absent: false}"))
    judge_pair(before, after, [_rule(records, object)])
    assert [kind for kind in seen if kind is not Contract] == [TypeChanged, TableAdded]


def test_finding_that_the_base_gives_too_is_existing() -> None:
    def reports(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
        yield Problem("always")
        if contract.state.description is not UNMANAGED:
            yield Problem("described", object=ObjectRef("table", "description"))

    before, after = _contract(ORDERS), _contract(ORDERS + "description: x\n")
    findings = judge_pair(before, after, [_rule(reports, Contract)])
    assert [(finding.message, finding.existing) for finding in findings] == [
        ("always", True),
        ("described", False),
    ]
    assert [finding.existing for finding in judge_pair(None, before, [_rule(reports, Contract)])] == [False]


def test_finding_of_a_change_is_never_existing() -> None:
    before = _contract(ORDERS.replace("type: int", "type: string"))
    findings = judge_pair(before, _contract(ORDERS), RULES)
    assert findings
    assert not any(finding.existing for finding in findings)


def test_finding_with_a_higher_severity_than_in_the_base_is_new() -> None:
    def reports(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
        yield Problem("m", severity=Severity.ERROR if contract.state.description == "x" else Severity.WARNING)

    plain, described = _contract(ORDERS), _contract(ORDERS + "description: x\n")
    rules = [_rule(reports, Contract)]
    assert [finding.existing for finding in judge_pair(plain, described, rules)] == [False]
    assert [finding.existing for finding in judge_pair(described, plain, rules)] == [True]


def test_an_error_that_the_base_has_too_hides_no_other_error_of_the_contract() -> None:
    refused = ORDERS.replace("name: c", 'name: "c d"')
    stream = '{checkpoint: "s3://chk/a", schema_tracking_location: "s3://other"}'
    faulty = f"{refused}consumers: [{{name: bi, stream: {stream}}}]\n"
    findings = judge_pair(_contract(refused), _contract(faulty), load_rules())
    existing = {finding.code: finding.existing for finding in findings}
    assert existing == {"CM006": True, "RD012": False}


def test_a_column_that_brings_a_feature_is_named_as_a_path() -> None:
    consumers = "consumers: [{name: bi, client: deltalake, version: 1.4.0, read_path: pyarrow}]\n"
    table = f"{ORDERS}  - {{name: odd.doc, type: variant}}\nprotocol: {{allow_upgrade: true}}\n{consumers}"
    findings = judge_pair(_contract(ORDERS + consumers), _contract(table), load_rules())
    assert {finding.code: finding.column for finding in findings}["RD015"] == "`odd.doc`"


def test_contract_of_the_base_is_judged_as_an_existing_table() -> None:
    """Some rules are stricter for existing tables than for new ones."""

    def reports(_contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
        if not ctx.is_new_table:
            yield Problem("m")

    findings = judge_pair(_contract(ORDERS), _contract(ORDERS), [_rule(reports, Contract)])
    assert [finding.existing for finding in findings] == [True]


def test_protocol_upgrade_is_one_fact_with_all_causes() -> None:
    seen: list[ProtocolUpgrade] = []

    def records(fact: ProtocolUpgrade, _ctx: RuleContext) -> Iterator[Problem]:
        seen.append(fact)
        yield from ()

    after = ORDERS + "properties: {delta.enableTypeWidening: true}\nfeatures: [v2Checkpoint]\n"
    judge_pair(_contract(ORDERS), _contract(after), [_rule(records, ProtocolUpgrade)])
    (upgrade,) = seen
    assert upgrade.added == {"typeWidening", "v2Checkpoint"}
    assert [cause[:2] for cause in upgrade.because] == [
        ("property", "delta.enableTypeWidening"),
        ("feature", "v2Checkpoint"),
    ]


def test_problem_overrides_the_severity_and_path_of_its_rule() -> None:
    def reports(_change: TypeChanged, _ctx: RuleContext) -> Iterator[Problem]:
        yield Problem("m", "h", Severity.ERROR, ("other",), old="1", new="2", delta_error="E")

    (finding,) = judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(reports)])
    assert (finding.severity, finding.path, finding.column) == (Severity.ERROR, ("other",), "other")
    assert (finding.old, finding.new, finding.delta_error, finding.help) == ("1", "2", "E", "h")
    assert finding.object == ObjectRef("column", "other")


def _raises(_change: object, _ctx: RuleContext) -> Iterable[Problem]:
    raise ZeroDivisionError("oops")


def _raises_later(_change: object, _ctx: RuleContext) -> Iterator[Problem]:
    yield Problem("fine")
    raise KeyError("k")


def _exits(_change: object, _ctx: RuleContext) -> Iterable[Problem]:
    sys.exit(0)


def _never_ends(_change: object, _ctx: RuleContext) -> Iterator[Problem]:
    while True:
        yield Problem("more")


def _returns_text(_change: object, _ctx: RuleContext) -> Iterator[Problem]:
    yield "a column is wide"  # type: ignore[misc]


def _returns_none(_change: object, _ctx: RuleContext) -> Iterator[Problem]:
    return None  # type: ignore[return-value]


FAULTS = [
    (_raises, "failed on sales.orders: ZeroDivisionError: oops"),
    (_raises_later, "failed on sales.orders: KeyError: 'k'"),
    (_exits, "failed on sales.orders: SystemExit: 0"),
    (_never_ends, "found more than 1,001 problems for one fact of sales.orders, a limit of schemalint"),
    (_returns_text, "returned 'a column is wide' for sales.orders, which is not a Problem"),
    (_returns_none, "failed on sales.orders: TypeError: 'NoneType' object is not iterable"),
]


@pytest.mark.parametrize(("check", "message"), FAULTS, ids=lambda value: getattr(value, "__name__", ""))
def test_failing_plugin_rule_ends_the_run_and_is_named(
    check: Callable[..., Iterable[Problem]], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_PROBLEMS", 1_001)
    with pytest.raises(PluginError) as caught:
        judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(check)])
    assert caught.value.message == f"rule ACME001 ({__name__}, of acme-rules) {message}"
    assert caught.value.help == "run without it: --ignore ACME001"
    assert caught.value.exit_status == 2


def test_failing_built_in_rule_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match="of schemalint") as caught:
        judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(_raises, of=BUILT_IN)])
    assert caught.value.exit_status == 3


def test_schemalint_error_raised_by_a_rule_is_passed_on() -> None:
    def raises(_change: object, _ctx: RuleContext) -> Iterable[Problem]:
        raise UsageError("wrong usage")

    with pytest.raises(SchemalintError, match=r"^wrong usage$"):
        judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(raises)])


def test_too_many_problems_of_a_built_in_rule_are_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_PROBLEMS", 1_001)
    with pytest.raises(PluginError, match="found more than 1,001 problems") as caught:
        judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(_never_ends, of=BUILT_IN)])
    assert caught.value.exit_status == 2


def test_many_problems_of_one_rule_are_all_reported() -> None:
    def reports(_change: object, _ctx: RuleContext) -> Iterator[Problem]:
        for number in range(1_001):
            yield Problem("m", new=str(number))

    findings = judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(reports)])
    assert len(findings) == 1_001


def test_findings_are_ordered_by_location_then_severity_then_code() -> None:
    def finding(code: str, line: int, severity: Severity) -> Finding:
        location = Location("a.yaml", line)
        return Finding(code, "r", severity, "m", "t", ObjectRef("table", ""), location)

    first, second = finding("B001", 1, Severity.INFO), finding("Z001", 2, Severity.ERROR)
    third, fourth = finding("A001", 2, Severity.WARNING), finding("B001", 2, Severity.WARNING)
    assert ordered([fourth, third, second, first]) == (first, second, third, fourth)


PLAIN = "schemalint: 1\ntable: a.b\ncolumns: [{name: x, type: int}]\n"
ICEBERG = PLAIN + (
    "properties: {delta.enableTypeWidening: true, delta.columnMapping.mode: name, "
    "delta.enableIcebergCompatV2: true}\n"
)


@pytest.mark.parametrize(
    ("before", "after", "codes"),
    [
        (PLAIN, PLAIN + "properties: {delta.columnMapping.mode: id}\n", ["CM004"]),
        (PLAIN, PLAIN + "features: [clustering]\n", ["PF007"]),
        (ICEBERG, ICEBERG.replace("type: int", "type: double"), ["RD007"]),
    ],
    ids=["mode-that-no-table-can-take", "feature-of-another-statement", "widening-that-iceberg-forbids"],
)
def test_refused_change_gives_a_single_finding(before: str, after: str, codes: list[str]) -> None:
    (old,), (new,) = (contracts.read("c.yml", text).contracts for text in (before, after))
    assert [finding.code for finding in judge_pair(old, new, load_rules())] == codes
