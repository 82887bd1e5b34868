"""A check with the live table compares base, contract and live table: each edit gives one finding or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.datatype import VOID
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.finding import Finding
from schemalint.plugin import Rule
from schemalint.project.config import Config
from schemalint.review.rulebook import rules_of
from support.judging import judge_live, live_case

# The rules that the rows below need: this file tests how rules are run, not every rule.
RULES = rules_of(
    Config(
        select=("TW", "TH009", "NC001", "NC002", "CM001", "CM002", "CM003", "PF004", "DR001"),
        ignore=("TW010", "TW011"),
    )
)
WIDENING = "delta.enableTypeWidening: true"

GIT, LIVE, BOTH = ("git",), ("live",), ("git", "live")
Expected = tuple[str, str, tuple[str, ...], str]
"""The code and severity of a finding, its `against`, and a part of its message."""


def _text(columns: str = "c: int", properties: str = WIDENING, rest: str = "") -> str:
    """Return a contract with columns given as ``name: type; name: {type: …}``."""
    lines = [f"  - {_column(*column.strip().split(': ', 1))}" for column in columns.split(";")]
    head = f"schemalint: 1\ntable: sales.orders\nproperties: {{{properties}}}\n"
    return head + f"protocol: {{allow_upgrade: true}}\n{rest}\ncolumns:\n" + "\n".join(lines) + "\n"


def _column(name: str, type_: str) -> str:
    keys = type_[1:-1] if type_.startswith("{") else f'type: "{type_}"'
    return f"{{name: {name}, {keys}}}"


def _columns_of(value: object) -> str:
    """Return the columns of a contract's text, as the id of a test."""
    return " ".join(str(value).partition("columns:")[2].split())


RECORDED = "c: {type: bigint, type_changes: [{from: int, to: bigint}]}"

A_A_A = [
    _text(),
    _text("c: int; s: struct<x: array<int>>", f"{WIDENING}, team: sales", "description: x"),
    _text("c: {type: int, nullable: false, comment: x, default: '1'}"),
]

# The contract, which equals the base, and the live table.
A_A_B: list[tuple[str, str, Expected]] = [
    (_text("c: bigint"), _text("c: int"), ("DR001", "info", LIVE, "not applied yet")),
    (_text("c: int"), _text("c: bigint"), ("DR001", "error", LIVE, "TW001")),
    (_text("c: int"), _text("c: string"), ("DR001", "error", LIVE, "TW002")),
    (_text("c: bigint", "team: x"), _text("c: int", "team: x"), ("DR001", "error", LIVE, "TW006")),
    (_text("c: {type: int, nullable: false}"), _text(), ("DR001", "error", LIVE, "NC001")),
    (_text(), _text("c: {type: int, nullable: false}"), ("DR001", "info", LIVE, "not applied yet")),
    (_text("c: {type: int, comment: x}"), _text(), ("DR001", "info", LIVE, "not applied yet")),
    (_text("c: int; d: int"), _text(), ("DR001", "info", LIVE, "column d is not applied yet: live absent")),
    (_text("c: int; d: {type: int, nullable: false}"), _text(), ("DR001", "error", LIVE, "NC002")),
    (_text(), _text("c: int; d: int"), ("DR001", "warning", LIVE, "no contract declares it")),
    (
        _text(properties=f"{WIDENING}, team: a"),
        _text(),
        ("DR001", "info", LIVE, "property team is not applied yet: live absent"),
    ),
    (
        _text(properties=f"{WIDENING}, team: a"),
        _text(properties=f"{WIDENING}, team: b"),
        ("DR001", "info", LIVE, "property team is not applied yet: live 'b'"),
    ),
    (
        _text(rest="constraints: {positive: c > 0}"),
        _text(),
        ("DR001", "info", LIVE, "constraint positive"),
    ),
    (_text(rest="description: x"), _text(), ("DR001", "info", LIVE, "the description")),
    (
        _text("s: struct<x: bigint>"),
        _text("s: struct<x: int>"),
        ("DR001", "info", LIVE, "column s.x"),
    ),
    (_text("s: struct<x: int>"), _text("s: struct<x: int, y: int>"), ("DR001", "warning", LIVE, "s.y")),
]

# The base, and the contract, which equals the live table.
A_B_B: list[tuple[str, str, list[Expected]]] = [
    (_text(), _text(RECORDED), [("DR001", "info", LIVE, "already")]),
    (
        _text(),
        _text("c: bigint"),
        [("DR001", "info", LIVE, "already"), ("TH009", "warning", GIT, "does not record")],
    ),
    (_text(), _text("c: string"), [("DR001", "info", LIVE, "already")]),
    (_text(), _text("c: {type: int, nullable: false}"), [("DR001", "info", LIVE, "already")]),
    (_text(), _text("c: int; d: int"), [("DR001", "info", LIVE, "column d")]),
    (_text("c: int; d: int"), _text(), []),
    (_text(), _text(properties=f"{WIDENING}, team: a"), [("DR001", "info", LIVE, "property team")]),
    (_text(), _text(rest="description: x"), [("DR001", "info", LIVE, "the description")]),
]

# The base, which equals the live table, and the contract.
A_B_A: list[tuple[str, str, list[Expected]]] = [
    (_text(), _text(RECORDED), []),
    (_text(), _text("c: bigint"), [("TH009", "warning", GIT, "does not record")]),
    (_text(), _text("c: string"), [("TW002", "error", BOTH, "cannot do in place")]),
    (_text("c: bigint"), _text(), [("TW001", "error", BOTH, "c ")]),
    (_text(properties=""), _text(RECORDED, ""), [("TW006", "error", BOTH, "not true")]),
    (_text(), _text("c: {type: int, nullable: false}"), [("NC001", "error", BOTH, "c ")]),
    (_text(), _text("c: int; d: {type: int, nullable: false}"), [("NC002", "error", BOTH, "d ")]),
    (_text(), _text("c: int; d: timestamp_ntz"), [("TW008", "error", BOTH, "d ")]),
    (_text(), _text("c: int; d: int"), []),
    (_text("c: int; d: int"), _text(), [("CM003", "error", BOTH, "d is gone")]),
    (_text("c: int; d: int"), _text(rest="dropped: [d]"), [("CM002", "error", BOTH, "d ")]),
    (
        _text("c: int; d: int"),
        _text("c: int; e: {type: int, renamed_from: d}"),
        [("CM001", "error", BOTH, "e")],
    ),
    (_text(), _text(properties=f"{WIDENING}, team: a"), []),
    (_text(properties=""), _text(), [("PF004", "info", BOTH, "typeWidening")]),
    (_text("c: array<int>"), _text("c: map<int,int>"), [("TW009", "error", BOTH, "c ")]),
]

# The base, the contract and the live table.
A_B_C: list[tuple[str, str, str, Expected]] = [
    (_text("c: int"), _text(RECORDED), _text("c: smallint"), ("DR001", "info", LIVE, "smallint")),
    (_text("c: int"), _text(RECORDED), _text("c: string"), ("TW002", "error", LIVE, "string")),
    (_text("c: int"), _text(RECORDED), _text("c: double"), ("TW001", "error", LIVE, "double")),
    (_text("c: int"), _text("c: int; d: bigint"), _text("c: int; d: int"), ("DR001", "info", LIVE, "d")),
    (_text("c: int"), _text("c: int; d: bigint"), _text("c: int; d: string"), ("TW002", "error", LIVE, "d")),
    (_text("c: int; d: int"), _text(f"{RECORDED}; d: int"), _text("d: int"), ("DR001", "info", LIVE, "c")),
    (
        _text("c: int; s: struct<x: int>"),
        _text("c: int; s: {type: struct, columns: [{name: x, type: bigint, "
              "type_changes: [{from: int, to: bigint}]}]}"),
        _text("c: int"),
        ("DR001", "info", LIVE, "column s is not applied yet: live absent"),
    ),
    (
        _text(properties=f"{WIDENING}, team: a"),
        _text(properties=f"{WIDENING}, team: b"),
        _text(properties=f"{WIDENING}, team: c"),
        ("DR001", "info", LIVE, "property team is not applied yet: live 'c'"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("state", A_A_A, ids=_columns_of)
def test_equal_base_contract_and_live_table_give_no_findings(state: str) -> None:
    assert _judged(state, state, state) == ()


@pytest.mark.parametrize(("state", "live", "expected"), A_A_B, ids=_columns_of)
def test_live_table_that_differs_from_base_and_contract_gives_one_finding(
    state: str, live: str, expected: Expected
) -> None:
    _assert_findings(_judged(state, state, live), [expected])


@pytest.mark.parametrize(("state", "live", "expected"), A_A_B, ids=_columns_of)
def test_drift_is_as_severe_if_no_other_rule_is_selected(state: str, live: str, expected: Expected) -> None:
    alone = tuple(rule for rule in RULES if rule.code == "DR001")
    _assert_findings(_judged(state, state, live, alone), [expected])


@pytest.mark.parametrize(("base", "state", "expected"), A_B_B, ids=_columns_of)
def test_edit_that_is_already_live_is_reported_as_applied(
    base: str, state: str, expected: list[Expected]
) -> None:
    _assert_findings(_judged(base, state, state), expected)


@pytest.mark.parametrize(("base", "declared", "expected"), A_B_A, ids=_columns_of)
def test_edit_of_a_live_table_equal_to_the_base_is_judged_against_both(
    base: str, declared: str, expected: list[Expected]
) -> None:
    _assert_findings(_judged(base, declared, base), expected)


@pytest.mark.parametrize(("base", "declared", "live", "expected"), A_B_C, ids=_columns_of)
def test_different_base_contract_and_live_table_give_one_finding(
    base: str, declared: str, live: str, expected: Expected
) -> None:
    _assert_findings(_judged(base, declared, live), [expected])


EQUIVALENT_PROPERTIES = [
    (
        "delta.appendOnly: true",
        "delta.appendOnly: false",
        "delta.appendOnly: 'TRUE'",
    ),
    (
        "delta.logRetentionDuration: interval 1 week",
        "delta.logRetentionDuration: interval 2 weeks",
        "delta.logRetentionDuration: interval 7 days",
    ),
]


@pytest.mark.parametrize(("base", "declared", "live"), EQUIVALENT_PROPERTIES)
def test_live_property_equivalent_to_the_base_is_no_difference(base: str, declared: str, live: str) -> None:
    texts = [_text(properties=f"{WIDENING}, {properties}") for properties in (base, declared, live)]
    assert _judged(texts[0], texts[1], texts[2]) == ()


def test_live_details_unmanaged_by_the_base_are_no_difference() -> None:
    base, declared = _text("c: array<int>"), _text("c: string")
    live = _text("c: {type: array, element: {type: int, nullable: false}}")
    _assert_findings(_judged(base, declared, live), [("TW009", "error", BOTH, "c ")])


def test_newly_managed_comment_of_a_live_column_gives_no_finding() -> None:
    base, declared = _text(), _text("c: {type: int, comment: new}")
    assert _judged(base, declared, _text("c: {type: int, comment: old}")) == ()


@pytest.mark.parametrize(
    ("state", "live"),
    [
        (_text("c: int"), _text("c: {type: int, comment: x, default: '1'}", WIDENING, "description: x")),
        (_text("c: array<int>"), _text("c: {type: array, element: {type: int, nullable: false}}")),
        (_text("c: {type: int, comment: ''}"), _text()),
        (_text("c: int", "delta.appendOnly: true"), _text("c: int", "delta.appendOnly: 'TRUE'")),
        (_text("a: int; b: int"), _text("b: int; a: int")),
        (_text("c: int", rest="open: {columns: true}"), _text("c: int; d: int")),
    ],
    ids=["unmanaged", "elements", "empty comment", "any case", "order", "open"],
)  # fmt: skip
def test_unmanaged_equivalent_or_reordered_state_gives_no_findings(state: str, live: str) -> None:
    assert _judged(state, state, live) == ()


def test_without_a_base_feasible_changes_are_not_applied_yet() -> None:
    declared = _text(f"{RECORDED}; d: int")
    expected = [("DR001", "info", LIVE, "column d"), ("DR001", "info", LIVE, "column c")]
    _assert_findings(_judged(None, declared, _text()), expected)


def test_without_a_base_an_impossible_change_is_an_error() -> None:
    _assert_findings(_judged(None, _text("c: string"), _text()), [("TW002", "error", LIVE, "c ")])


def test_without_a_base_an_undeclared_live_column_is_a_warning() -> None:
    expected = [("DR001", "warning", LIVE, "no contract declares it")]
    _assert_findings(_judged(None, _text(), _text("c: int; d: int")), expected)


def test_without_a_base_a_protocol_upgrade_is_reported() -> None:
    expected = [("DR001", "info", LIVE, "property"), ("PF004", "info", LIVE, "typeWidening")]
    _assert_findings(_judged(None, _text(), _text(properties="")), expected)


@pytest.mark.parametrize(
    ("applied", "is_applied", "message", "severity"),
    [
        ("c: int", False, "not applied yet", "info"),
        ("c: smallint", False, "drifted", "warning"),
        ("c: bigint", False, "drifted", "warning"),
        (None, False, "not applied yet", "info"),
        ("c: int", True, "drifted", "warning"),
    ],
)
def test_marker_distinguishes_not_applied_yet_from_drifted(
    applied: str | None, message: str, severity: str, *, is_applied: bool
) -> None:
    """The live type is int; base and contract declare bigint."""
    contract = _contract(_text("c: bigint"))
    comparison = live_case(
        contract,
        _live(_text("c: int")),
        base=contract,
        applied=_contract(_text(applied)) if applied else None,
        is_applied=is_applied,
    )
    _assert_findings(judge_live(comparison, RULES), [("DR001", severity, LIVE, message)])


@pytest.mark.parametrize(
    ("applied", "message", "severity"),
    [("c: int", "ahead", "info"), ("c: smallint", "drifted", "warning"), (None, "ahead", "info")],
)
def test_table_with_a_later_revision_applied_is_ahead(
    applied: str | None, message: str, severity: str
) -> None:
    """The live type is int, as in a later revision; base and contract declare bigint."""
    contract = _contract(_text("c: bigint"))
    later = _contract(_text(applied)) if applied else None
    comparison = live_case(contract, _live(_text("c: int")), base=contract, applied=later, ahead=True)
    _assert_findings(judge_live(comparison, RULES), [("DR001", severity, LIVE, message)])


@pytest.mark.parametrize(
    ("applied", "is_applied", "message", "severity"),
    [
        ("c: int; d: int", False, "column d is ahead: live int, not in the contract", "info"),
        (None, False, "column d is ahead", "info"),
        ("c: int", False, "no contract declares it", "warning"),
        (None, True, "no contract declares it", "warning"),
    ],
)
def test_only_columns_of_a_later_revision_are_ahead(
    applied: str | None, message: str, severity: str, *, is_applied: bool
) -> None:
    contract = _contract(_text("c: int"))
    comparison = live_case(
        contract,
        _live(_text("c: int; d: int")),
        base=contract,
        applied=_contract(_text(applied)) if applied else None,
        is_applied=is_applied,
        ahead=True,
    )
    _assert_findings(judge_live(comparison, RULES), [("DR001", severity, LIVE, message)])


def test_column_of_a_later_revision_in_an_open_table_gives_no_finding() -> None:
    contract = _contract(_text("c: int", rest="open: {columns: true}"))
    comparison = live_case(contract, _live(_text("c: int; d: int")), base=contract, ahead=True)
    assert judge_live(comparison, RULES) == ()


def test_change_made_impossible_by_a_later_revision_suggests_checking_that_revision() -> None:
    contract = _contract(_text("c: int"))
    later = _contract(_text("c: bigint"))
    comparison = live_case(contract, _live(_text("c: bigint")), base=contract, applied=later, ahead=True)
    (finding,) = judge_live(comparison, RULES)
    assert (finding.code, finding.help) == ("DR001", "a later revision was applied: check that one")


FEATURE = "delta.feature.deletionVectors: supported, delta.minReaderVersion: 3, delta.minWriterVersion: 7"


def test_feature_requested_by_a_property_is_applied_once_the_table_supports_it() -> None:
    base, declared = _text(), _text(properties=f"{WIDENING}, {FEATURE}")
    _assert_findings(_judged(base, declared, base), [("PF004", "info", BOTH, "deletionVectors")])
    expected = [
        ("DR001", "info", LIVE, "feature deletionVectors is supported in the live table (already applied)")
    ]
    _assert_findings(_judged(base, declared, declared), expected)


def test_edit_of_two_columns_with_one_live_is_applied_in_part() -> None:
    findings = _judged(_text(), _text("c: int; d: int; e: int"), _text("c: int; d: int"))
    _assert_findings(
        findings, [("DR001", "info", LIVE, "column d is int in the live table (applied in part")]
    )


def test_edit_of_two_columns_with_one_live_and_one_different_gives_two_findings() -> None:
    findings = _judged(_text(), _text("c: int; d: int; e: bigint"), _text("c: int; d: int; e: int"))
    expected = [
        ("DR001", "info", LIVE, "applied in part"),
        ("DR001", "info", LIVE, "live int, contract bigint"),
    ]
    _assert_findings(findings, expected)


def test_pending_move_does_not_make_an_edit_applied_in_part() -> None:
    findings = _judged(
        _text("c: int; d: int"), _text("d: int; c: int; e: int"), _text("c: int; d: int; e: int")
    )
    _assert_findings(findings, [("DR001", "info", LIVE, "already applied")])


MANAGED_BY_DBT = "managed_by: dbt"


def test_difference_of_a_table_managed_by_another_tool_is_a_notice() -> None:
    state = _text(rest=MANAGED_BY_DBT)
    findings = _judged(state, state, _text("c: smallint"))
    _assert_findings(findings, [("DR001", "info", LIVE, "managed by dbt")])


def test_edits_of_a_table_managed_by_another_tool_are_judged_but_not_tracked() -> None:
    _assert_findings(
        _judged(
            _text(rest=MANAGED_BY_DBT), _text("c: int; d: int", rest=MANAGED_BY_DBT), _text("c: int; d: int")
        ),
        [],
    )
    findings = _judged(_text(rest=MANAGED_BY_DBT), _text("c: string", rest=MANAGED_BY_DBT), _text())
    _assert_findings(findings, [("TW002", "error", BOTH, "cannot do in place")])


def test_table_open_to_widening_may_be_wider_than_declared() -> None:
    state = _text("c: int; d: int", rest="open: {widening: true}")
    _assert_findings(_judged(state, state, _text("c: bigint; d: int")), [])
    findings = _judged(state, state, _text("c: bigint; d: smallint"))
    _assert_findings(findings, [("DR001", "info", LIVE, "column d is not applied yet: live smallint")])


def test_features_of_the_live_protocol_are_used() -> None:
    """A table created from the base would lack the feature; the live table supports it."""
    base, declared = _text(), _text("c: int; d: timestamp_ntz")
    live = replace(
        _live(base), protocol=Protocol(3, 7, frozenset(), frozenset({"timestampNtz", "typeWidening"}))
    )
    comparison = live_case(_contract(declared), live, base=_contract(base))
    assert judge_live(comparison, RULES) == ()


def test_live_void_column_may_get_any_type() -> None:
    declared = _text("c: int; d: string")
    live = _live(_text("c: int; d: void"))
    assert live.state.columns.fields[1].type == VOID
    comparison = live_case(_contract(declared), live, base=_contract(declared))
    _assert_findings(judge_live(comparison, RULES), [("DR001", "info", LIVE, "live void, contract string")])


def test_moved_column_is_reported_in_a_live_check_too() -> None:
    """It concerns only the contract in git: `apply` does not move the column."""
    base, declared = _text("c: int; d: int"), _text("d: int; c: int")
    comparison = live_case(_contract(declared), _live(base), base=_contract(base))
    findings = judge_live(comparison, rules_of(Config(select=("NC010", "DR001"))))
    _assert_findings(findings, [("NC010", "info", GIT, "d is now first")])


FEED = "delta.enableChangeDataFeed: true"


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (_text("c: int; _change_type: string", FEED), [("CM008", "warning", BOTH, "every change")]),
        (_text("c: int; _change_type: string", f"{FEED}, a: b"), [("CM008", "error", BOTH, "this change")]),
        (_text("c: int; kind: {type: string, renamed_from: _change_type}", FEED), []),
        (
            _text("c: int; _change_type: string", "delta.enableChangeDataFeed: false"),
            [("CM008", "warning", BOTH, "")],
        ),
    ],
    ids=_columns_of,
)
def test_live_table_with_feed_and_reserved_name_refuses_only_changes(
    declared: str, expected: list[Expected]
) -> None:
    """Another writer made it: Spark writes its rows."""
    before = _text("c: int; _change_type: string", FEED)
    comparison = live_case(_contract(declared), _live(before), base=_contract(before))
    _assert_findings(judge_live(comparison, rules_of(Config(select=("CM008",)))), expected)


def test_a_fault_of_the_table_that_the_edit_makes_an_error_is_not_an_existing_one() -> None:
    """Spark writes the rows of such a table, and refuses each statement that changes its metadata."""
    live = _text("c: int; _change_type: string", FEED)
    rules = rules_of(Config(select=("CM008",)))

    def severities(declared: str) -> list[tuple[str, bool]]:
        findings = _judged(_text("c: int", ""), declared, live, rules)
        return [(finding.severity.label, finding.existing) for finding in findings]

    assert severities(_text("c: int", "")) == [("warning", True)]
    assert severities(_text("c: int; d: int", "")) == [("error", False)]


def _judged(base: str | None, declared: str, live: str, rules: tuple[Rule, ...] = RULES) -> Sequence[Finding]:
    contract = _contract(declared)
    comparison = live_case(contract, _live(live), base=_contract(base) if base else None)
    return judge_live(comparison, rules)


def _assert_findings(findings: Iterable[Finding], expected: Sequence[Expected]) -> None:
    actual = sorted(
        (finding.code, finding.severity.label, finding.against, finding.message) for finding in findings
    )
    assert len(actual) == len(expected), actual
    for finding, expectation in zip(actual, sorted(expected), strict=True):
        assert finding[:3] == expectation[:3], actual
        assert expectation[3] in finding[3]


def _contract(text: str) -> Contract:
    result = contracts.read("orders.yaml", text.encode())
    assert result.errors == (), (text, result.errors)
    (contract,) = result.contracts
    return contract


def _live(text: str) -> LiveTable:
    """The table that Delta makes of a contract."""
    declared = _contract(text)
    features = declared.created_features
    state = replace(created_state(declared.state), features=features)
    return LiveTable("/lake/orders", 0, Protocol(3, 7, frozenset(), features), Metadata("id", state))
