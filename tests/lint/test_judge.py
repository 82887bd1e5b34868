from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

import pytest

from schemalint import contract as contracts
from schemalint.delta.change import PropertyChanged, TableAdded, TypeChanged
from schemalint.delta.datatype import UNMANAGED
from schemalint.errors import InternalError, Location, PluginError, SchemalintError, UsageError
from schemalint.lint.judge import MOST_PROBLEMS, judge_pair, ordered
from schemalint.lint.rulebook import BUILT_IN, Selection, load_rules
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
from schemalint.values import replace

RULES = load_rules(Selection(select=("TW", "PF004")))
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
    made: Rule = getattr(check, ATTRIBUTE)
    return replace(made, distribution=of)


def _codes(found: Iterable[Finding]) -> list[tuple[str, str | None, str]]:
    return [(one.code, one.target, one.severity.label) for one in found]


def test_a_change_is_judged_at_its_place() -> None:
    found = judge_pair(_contract(ORDERS), _contract(WIDER), RULES)
    (finding,) = [one for one in found if one.code == "TW006"]
    assert finding.against == ("git",)
    assert finding.object == ObjectRef("column", "c")
    assert (finding.old, finding.new) == ("int", "bigint")
    assert finding.location == Location("orders.yaml", 4, 21, 4, 27)
    assert finding.previous_location == Location("orders.yaml", 4, 21, 4, 24)
    assert finding.target is None
    assert not finding.existing


def test_a_new_contract_is_a_table_added() -> None:
    seen: list[object] = []

    def sees(fact: object, _ctx: RuleContext) -> Iterator[Problem]:
        seen.append(fact)
        yield from ()

    contract = _contract(ORDERS)
    assert judge_pair(None, contract, [_rule(sees, object)]) == ()
    assert seen == [TableAdded(contract.state), contract]


def test_a_removed_contract_is_a_table_retired() -> None:
    seen: list[object] = []

    def sees(fact: object, _ctx: RuleContext) -> Iterator[Problem]:
        seen.append(fact)
        yield from ()

    contract = _contract(ORDERS)
    assert judge_pair(contract, None, [_rule(sees, object)]) == ()
    assert seen == [TableRetired(contract)]


def test_the_context_of_git_is_what_delta_makes_of_the_base() -> None:
    seen: list[RuleContext] = []

    def sees(_fact: object, ctx: RuleContext) -> Iterator[Problem]:
        seen.append(ctx)
        yield from ()

    before, after = _contract(ORDERS + "properties: {delta.enableTypeWidening: true}\n"), _contract(WIDER)
    judge_pair(before, after, [_rule(sees)])
    (ctx,) = seen
    assert ctx.features == {"typeWidening", "appendOnly", "invariants"}
    assert ctx.before.properties == {"delta.enableTypeWidening": "true"}
    # A line that is taken away changes nothing in the table.
    assert ctx.after.enabled("delta.enableTypeWidening")
    assert (ctx.base, ctx.contract, ctx.live, ctx.against) == (before, after, None, "git")


STAGING = "targets: {{staging: {0}}}\n"
SWITCHED_ON = STAGING.format("{properties: {delta.enableTypeWidening: true}}")
OTHER = STAGING.format("{properties: {team: x}}")


def test_what_all_targets_have_in_common_is_said_once() -> None:
    found = judge_pair(_contract(ORDERS + OTHER), _contract(WIDER + OTHER), RULES)
    assert ("TW006", None, "error") in _codes(found)
    assert ("TW006", "staging", "error") not in _codes(found)


def test_what_only_one_target_has_is_said_of_it() -> None:
    found = judge_pair(_contract(ORDERS), _contract(ORDERS + SWITCHED_ON), RULES)
    assert _codes(found) == [("PF004", "staging", "error")]


def test_a_target_is_judged_by_its_own_base() -> None:
    def changes(change: PropertyChanged, _ctx: RuleContext) -> Iterator[Problem]:
        yield Problem(f"{change.key}: {change.old} -> {change.new}")

    before = _contract(ORDERS + STAGING.format("{properties: {team: x}}"))
    after = _contract(ORDERS + STAGING.format("{properties: {team: y}}"))
    found = judge_pair(before, after, [_rule(changes, PropertyChanged)])
    assert [(one.message, one.target) for one in found] == [("team: x -> y", "staging")]


def test_a_target_without_the_table_is_not_judged() -> None:
    absent = STAGING.format("{absent: true, properties: {delta.enableTypeWidening: true}}")
    assert judge_pair(_contract(ORDERS), _contract(ORDERS + absent), RULES) == ()


def test_a_table_that_was_absent_from_a_target_is_new_there() -> None:
    seen: list[object] = []

    def sees(fact: object, _ctx: RuleContext) -> Iterator[Problem]:
        seen.append(type(fact))
        yield from ()

    before = _contract(ORDERS + STAGING.format("{absent: true}"))
    after = _contract(WIDER + STAGING.format("{absent: false}"))
    judge_pair(before, after, [_rule(sees, object)])
    assert [kind for kind in seen if kind is not Contract] == [TypeChanged, TableAdded]


def test_what_the_base_alone_has_too_is_existing() -> None:
    def finds(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
        yield Problem("always")
        if contract.state.description is not UNMANAGED:
            yield Problem("described", object=ObjectRef("table", "description"))

    before, after = _contract(ORDERS), _contract(ORDERS + "description: x\n")
    found = judge_pair(before, after, [_rule(finds, Contract)])
    assert [(one.message, one.existing) for one in found] == [("always", True), ("described", False)]
    assert [one.existing for one in judge_pair(None, before, [_rule(finds, Contract)])] == [False]


def test_a_finding_of_the_difference_is_never_an_old_one() -> None:
    before = _contract(ORDERS.replace("type: int", "type: string"))
    found = judge_pair(before, _contract(ORDERS), RULES)
    assert found
    assert not any(one.existing for one in found)


def test_a_finding_that_grew_worse_is_a_new_one() -> None:
    def finds(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
        yield Problem("m", severity=Severity.ERROR if contract.state.description == "x" else Severity.WARNING)

    plain, described = _contract(ORDERS), _contract(ORDERS + "description: x\n")
    rules = [_rule(finds, Contract)]
    assert [one.existing for one in judge_pair(plain, described, rules)] == [False]
    assert [one.existing for one in judge_pair(described, plain, rules)] == [True]


def test_what_the_base_has_is_judged_as_a_table_that_exists() -> None:
    """A rule may be stricter then than with a new table."""

    def finds(_contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
        if not ctx.is_new_table:
            yield Problem("m")

    found = judge_pair(_contract(ORDERS), _contract(ORDERS), [_rule(finds, Contract)])
    assert [one.existing for one in found] == [True]


def test_an_upgrade_is_told_once_with_its_causes() -> None:
    seen: list[ProtocolUpgrade] = []

    def sees(fact: ProtocolUpgrade, _ctx: RuleContext) -> Iterator[Problem]:
        seen.append(fact)
        yield from ()

    after = ORDERS + "properties: {delta.enableTypeWidening: true}\nfeatures: [v2Checkpoint]\n"
    judge_pair(_contract(ORDERS), _contract(after), [_rule(sees, ProtocolUpgrade)])
    (upgrade,) = seen
    assert upgrade.added == {"typeWidening", "v2Checkpoint"}
    assert [cause[:2] for cause in upgrade.because] == [
        ("property", "delta.enableTypeWidening"),
        ("feature", "v2Checkpoint"),
    ]


def test_a_problem_may_differ_from_its_rule() -> None:
    def finds(_change: TypeChanged, _ctx: RuleContext) -> Iterator[Problem]:
        yield Problem("m", "h", Severity.ERROR, ("other",), old="1", new="2", delta_error="E")

    (finding,) = judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(finds)])
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


def _gives_text(_change: object, _ctx: RuleContext) -> Iterator[Problem]:
    yield "a column is wide"  # type: ignore[misc]


def _gives_nothing(_change: object, _ctx: RuleContext) -> Iterator[Problem]:
    return None  # type: ignore[return-value]


FAULTS = [
    (_raises, "failed on sales.orders: ZeroDivisionError: oops"),
    (_raises_later, "failed on sales.orders: KeyError: 'k'"),
    (_exits, "failed on sales.orders: SystemExit: 0"),
    (_never_ends, f"found more than {MOST_PROBLEMS} problems in one place of sales.orders"),
    (_gives_text, "gave 'a column is wide' on sales.orders, which is no Problem"),
    (_gives_nothing, "failed on sales.orders: TypeError: 'NoneType' object is not iterable"),
]


@pytest.mark.parametrize(("check", "message"), FAULTS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_rule_that_fails_ends_the_run_by_its_name(
    check: Callable[..., Iterable[Problem]], message: str
) -> None:
    with pytest.raises(PluginError) as caught:
        judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(check)])
    assert caught.value.message == f"rule ACME001 ({__name__}, of acme-rules) {message}"
    assert caught.value.help == "run without it: --ignore ACME001"
    assert caught.value.exit_status == 2


def test_a_built_in_rule_that_fails_is_a_bug() -> None:
    with pytest.raises(InternalError, match="of schemalint") as caught:
        judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(_raises, of=BUILT_IN)])
    assert caught.value.exit_status == 3


def test_an_error_of_schemalints_own_is_what_it_is() -> None:
    def raises(_change: object, _ctx: RuleContext) -> Iterable[Problem]:
        raise UsageError("asked wrongly")

    with pytest.raises(SchemalintError, match=r"^asked wrongly$"):
        judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(raises)])


def test_as_many_problems_as_are_allowed() -> None:
    def finds(_change: object, _ctx: RuleContext) -> Iterator[Problem]:
        for number in range(MOST_PROBLEMS):
            yield Problem("m", new=str(number))

    found = judge_pair(_contract(ORDERS), _contract(WIDER), [_rule(finds)])
    assert len(found) == MOST_PROBLEMS


def test_findings_are_ordered_by_place_then_the_worst_first() -> None:
    def finding(code: str, line: int, severity: Severity) -> Finding:
        place = Location("a.yaml", line)
        return Finding(code, "r", severity, "m", "t", ObjectRef("table", ""), place)

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
def test_what_is_refused_is_said_once(before: str, after: str, codes: list[str]) -> None:
    (old,), (new,) = (contracts.read("c.yml", text).contracts for text in (before, after))
    assert [one.code for one in judge_pair(old, new, load_rules())] == codes
