"""The three states of a table, one row after the other: one edit is one finding, or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from schemalint import contract as contracts
from schemalint.delta.datatype import VOID
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.lint.live import LiveComparison, judge_live
from schemalint.lint.rulebook import Selection, load_rules
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.finding import Finding
from schemalint.values import replace

# Those that the rows are about: how the engine asks rules is tested here, not what there are.
RULES = load_rules(
    Selection(select=("TW", "TH009", "NC001", "NC002", "CM001", "CM002", "CM003", "PF004", "DR001"))
)
WIDENING = "delta.enableTypeWidening: true"

GIT, LIVE, BOTH = ("git",), ("live",), ("git", "live")
Said = tuple[str, str, tuple[str, ...], str]
"""Of a finding: code, severity, what it was compared with, a part of its message."""


def _text(columns: str = "c: int", properties: str = WIDENING, rest: str = "") -> str:
    """A contract with columns as ``name: type; name: {type: …}``."""
    lines = [f"  - {_column(*one.strip().split(': ', 1))}" for one in columns.split(";")]
    head = f"schemalint: 1\ntable: sales.orders\nproperties: {{{properties}}}\n"
    return head + f"protocol: {{allow_upgrade: true}}\n{rest}\ncolumns:\n" + "\n".join(lines) + "\n"


def _column(name: str, type_: str) -> str:
    keys = type_[1:-1] if type_.startswith("{") else f'type: "{type_}"'
    return f"{{name: {name}, {keys}}}"


def _columns_of(value: object) -> str:
    """The columns of a contract's text, to name a test by."""
    return " ".join(str(value).partition("columns:")[2].split())


RECORDED = "c: {type: bigint, type_changes: [{from: int, to: bigint}]}"

A_A_A = [
    _text(),
    _text("c: int; s: struct<x: array<int>>", f"{WIDENING}, team: sales", "description: x"),
    _text("c: {type: int, nullable: false, comment: x, default: '1'}"),
]

# Base and declaration are the first, live is the second.
A_A_B: list[tuple[str, str, Said]] = [
    (_text("c: bigint"), _text("c: int"), ("DR001", "info", LIVE, "not applied yet")),
    (_text("c: int"), _text("c: bigint"), ("DR001", "error", LIVE, "TW001")),
    (_text("c: int"), _text("c: string"), ("DR001", "error", LIVE, "TW002")),
    (_text("c: bigint", "team: x"), _text("c: int", "team: x"), ("DR001", "error", LIVE, "TW006")),
    (_text("c: {type: int, nullable: false}"), _text(), ("DR001", "error", LIVE, "NC001")),
    (_text(), _text("c: {type: int, nullable: false}"), ("DR001", "info", LIVE, "not applied yet")),
    (_text("c: {type: int, comment: x}"), _text(), ("DR001", "info", LIVE, "not applied yet")),
    (_text("c: int; d: int"), _text(), ("DR001", "info", LIVE, "column d is missing")),
    (_text("c: int; d: {type: int, nullable: false}"), _text(), ("DR001", "error", LIVE, "NC002")),
    (_text(), _text("c: int; d: int"), ("DR001", "warning", LIVE, "nobody declares it")),
    (
        _text(properties=f"{WIDENING}, team: a"),
        _text(),
        ("DR001", "info", LIVE, "property team is absent"),
    ),
    (
        _text(properties=f"{WIDENING}, team: a"),
        _text(properties=f"{WIDENING}, team: b"),
        ("DR001", "info", LIVE, "property team is 'b'"),
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

# The base, and what is declared and live.
A_B_B: list[tuple[str, str, list[Said]]] = [
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

# The base and live, and what is declared.
A_B_A: list[tuple[str, str, list[Said]]] = [
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

# Base, declared, live.
A_B_C: list[tuple[str, str, str, Said]] = [
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
        ("DR001", "info", LIVE, "column s is missing"),
    ),
    (
        _text(properties=f"{WIDENING}, team: a"),
        _text(properties=f"{WIDENING}, team: b"),
        _text(properties=f"{WIDENING}, team: c"),
        ("DR001", "info", LIVE, "property team is 'c'"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("state", A_A_A, ids=_columns_of)
def test_nothing_changed(state: str) -> None:
    assert _judged(state, state, state) == ()


@pytest.mark.parametrize(("state", "live", "said"), A_A_B, ids=_columns_of)
def test_only_live_differs(state: str, live: str, said: Said) -> None:
    _assert_said(_judged(state, state, live), [said])


@pytest.mark.parametrize(("base", "state", "said"), A_B_B, ids=_columns_of)
def test_the_edit_is_live_already(base: str, state: str, said: list[Said]) -> None:
    _assert_said(_judged(base, state, state), said)


@pytest.mark.parametrize(("base", "declared", "said"), A_B_A, ids=_columns_of)
def test_the_edit_is_not_live(base: str, declared: str, said: list[Said]) -> None:
    _assert_said(_judged(base, declared, base), said)


@pytest.mark.parametrize(("base", "declared", "live", "said"), A_B_C, ids=_columns_of)
def test_all_three_differ(base: str, declared: str, live: str, said: Said) -> None:
    _assert_said(_judged(base, declared, live), [said])


SAME_BY_MEANING = [
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


@pytest.mark.parametrize(("base", "declared", "live"), SAME_BY_MEANING)
def test_live_is_the_base_in_other_words(base: str, declared: str, live: str) -> None:
    texts = (_text(properties=f"{WIDENING}, {properties}") for properties in (base, declared, live))
    assert _judged(*texts) == ()


def test_live_is_the_base_with_what_the_base_does_not_say() -> None:
    base, declared = _text("c: array<int>"), _text("c: string")
    live = _text("c: {type: array, element: {type: int, nullable: false}}")
    _assert_said(_judged(base, declared, live), [("TW009", "error", BOTH, "c ")])


def test_a_base_that_manages_less_is_no_obstacle() -> None:
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
def test_what_is_no_difference(state: str, live: str) -> None:
    assert _judged(state, state, live) == ()


def test_without_a_base_what_is_to_be_done_is_not_applied_yet() -> None:
    declared = _text(f"{RECORDED}; d: int")
    said = [("DR001", "info", LIVE, "column d"), ("DR001", "info", LIVE, "column c")]
    _assert_said(_judged(None, declared, _text()), said)


def test_without_a_base_what_cannot_be_done_is_an_error() -> None:
    _assert_said(_judged(None, _text("c: string"), _text()), [("TW002", "error", LIVE, "c ")])


def test_without_a_base_a_live_column_that_nobody_declares_is_told() -> None:
    said = [("DR001", "warning", LIVE, "nobody declares it")]
    _assert_said(_judged(None, _text(), _text("c: int; d: int")), said)


def test_without_a_base_an_upgrade_is_judged_too() -> None:
    said = [("DR001", "info", LIVE, "property"), ("PF004", "info", LIVE, "typeWidening")]
    _assert_said(_judged(None, _text(), _text(properties="")), said)


@pytest.mark.parametrize(
    ("applied", "settled", "word", "severity"),
    [
        ("c: int", False, "not applied yet", "info"),
        ("c: smallint", False, "drifted", "warning"),
        ("c: bigint", False, "drifted", "warning"),
        (None, False, "not applied yet", "info"),
        ("c: int", True, "drifted", "warning"),
    ],
)
def test_the_marker_tells_not_applied_from_drifted(
    applied: str | None, word: str, severity: str, *, settled: bool
) -> None:
    """Live is int, base and declaration are bigint."""
    contract = _contract(_text("c: bigint"))
    comparison = LiveComparison(
        contract,
        _live(_text("c: int")),
        base=contract,
        applied=_contract(_text(applied)) if applied else None,
        settled=settled,
    )
    _assert_said(judge_live(comparison, RULES), [("DR001", severity, LIVE, word)])


@pytest.mark.parametrize(
    ("applied", "word", "severity"),
    [("c: int", "ahead", "info"), ("c: smallint", "drifted", "warning"), (None, "ahead", "info")],
)
def test_a_table_that_a_later_revision_was_applied_to_is_ahead(
    applied: str | None, word: str, severity: str
) -> None:
    """Live is int, as declared later; base and declaration are bigint."""
    contract = _contract(_text("c: bigint"))
    later = _contract(_text(applied)) if applied else None
    comparison = LiveComparison(contract, _live(_text("c: int")), base=contract, applied=later, ahead=True)
    _assert_said(judge_live(comparison, RULES), [("DR001", severity, LIVE, word)])


@pytest.mark.parametrize(
    ("applied", "settled", "word", "severity"),
    [
        ("c: int; d: int", False, "column d is int in the live table, and not declared (ahead)", "info"),
        (None, False, "not declared (ahead)", "info"),
        ("c: int", False, "nobody declares it", "warning"),
        (None, True, "nobody declares it", "warning"),
    ],
)
def test_a_column_of_a_later_revision_is_ahead_and_no_other_is(
    applied: str | None, word: str, severity: str, *, settled: bool
) -> None:
    contract = _contract(_text("c: int"))
    comparison = LiveComparison(
        contract,
        _live(_text("c: int; d: int")),
        base=contract,
        applied=_contract(_text(applied)) if applied else None,
        settled=settled,
        ahead=True,
    )
    _assert_said(judge_live(comparison, RULES), [("DR001", severity, LIVE, word)])


def test_a_column_of_a_later_revision_in_an_open_table_is_no_difference() -> None:
    contract = _contract(_text("c: int", rest="open: {columns: true}"))
    comparison = LiveComparison(contract, _live(_text("c: int; d: int")), base=contract, ahead=True)
    assert judge_live(comparison, RULES) == ()


def test_what_a_later_revision_made_impossible_asks_for_no_rewrite() -> None:
    contract = _contract(_text("c: int"))
    later = _contract(_text("c: bigint"))
    comparison = LiveComparison(contract, _live(_text("c: bigint")), base=contract, applied=later, ahead=True)
    (finding,) = judge_live(comparison, RULES)
    assert (finding.code, finding.help) == ("DR001", "a later revision was applied: judge that one")


FEATURE = "delta.feature.deletionVectors: supported, delta.minReaderVersion: 3, delta.minWriterVersion: 7"


def test_a_feature_asked_for_as_property_is_applied_where_the_table_supports_it() -> None:
    base, declared = _text(), _text(properties=f"{WIDENING}, {FEATURE}")
    _assert_said(_judged(base, declared, base), [("PF004", "info", BOTH, "deletionVectors")])
    said = [
        ("DR001", "info", LIVE, "feature deletionVectors is supported in the live table (already applied)")
    ]
    _assert_said(_judged(base, declared, declared), said)


def test_of_an_edit_in_two_objects_one_is_live() -> None:
    found = _judged(_text(), _text("c: int; d: int; e: int"), _text("c: int; d: int"))
    _assert_said(found, [("DR001", "info", LIVE, "column d is int in the live table (applied in part")])


def test_of_an_edit_in_two_objects_one_is_live_and_one_is_something_else() -> None:
    found = _judged(_text(), _text("c: int; d: int; e: bigint"), _text("c: int; d: int; e: int"))
    said = [("DR001", "info", LIVE, "applied in part"), ("DR001", "info", LIVE, "column e is int")]
    _assert_said(found, said)


def test_a_move_that_nobody_makes_does_not_part_an_edit() -> None:
    found = _judged(_text("c: int; d: int"), _text("d: int; c: int; e: int"), _text("c: int; d: int; e: int"))
    _assert_said(found, [("DR001", "info", LIVE, "already applied")])


OTHERS = "managed_by: dbt"


def test_a_table_that_others_manage_only_differs() -> None:
    state = _text(rest=OTHERS)
    found = _judged(state, state, _text("c: smallint"))
    _assert_said(found, [("DR001", "info", LIVE, "managed by dbt")])


def test_edits_of_a_table_that_others_manage_are_judged_and_not_followed() -> None:
    _assert_said(
        _judged(_text(rest=OTHERS), _text("c: int; d: int", rest=OTHERS), _text("c: int; d: int")), []
    )
    found = _judged(_text(rest=OTHERS), _text("c: string", rest=OTHERS), _text())
    _assert_said(found, [("TW002", "error", BOTH, "cannot do in place")])


def test_an_open_table_may_be_wider_than_declared() -> None:
    state = _text("c: int; d: int", rest="open: {widening: true}")
    _assert_said(_judged(state, state, _text("c: bigint; d: int")), [])
    found = _judged(state, state, _text("c: bigint; d: smallint"))
    _assert_said(found, [("DR001", "info", LIVE, "column d is smallint")])


def test_the_features_of_the_log_are_what_counts() -> None:
    """Offline the table made from the base would lack the feature; the live one has it."""
    base, declared = _text(), _text("c: int; d: timestamp_ntz")
    live = replace(
        _live(base), protocol=Protocol(3, 7, frozenset(), frozenset({"timestampNtz", "typeWidening"}))
    )
    comparison = LiveComparison(_contract(declared), live, base=_contract(base))
    assert judge_live(comparison, RULES) == ()


def test_a_live_column_of_type_void_may_become_anything() -> None:
    declared = _text("c: int; d: string")
    live = _live(_text("c: int; d: void"))
    assert live.state.columns.fields[1].type == VOID
    comparison = LiveComparison(_contract(declared), live, base=_contract(declared))
    _assert_said(judge_live(comparison, RULES), [("DR001", "info", LIVE, "column d is void")])


def test_a_move_is_told_beside_the_live_table_too() -> None:
    """No table is altered for it: it is about the contract, as git has it."""
    base, declared = _text("c: int; d: int"), _text("d: int; c: int")
    comparison = LiveComparison(_contract(declared), _live(base), base=_contract(base))
    found = judge_live(comparison, load_rules(Selection(select=("NC010", "DR001"))))
    _assert_said(found, [("NC010", "info", GIT, "stands")])


def _judged(base: str | None, declared: str, live: str) -> Sequence[Finding]:
    contract = _contract(declared)
    comparison = LiveComparison(contract, _live(live), base=_contract(base) if base else None)
    return judge_live(comparison, RULES)


def _assert_said(findings: Iterable[Finding], said: Sequence[Said]) -> None:
    found = sorted((one.code, one.severity.label, one.against, one.message) for one in findings)
    assert len(found) == len(said), found
    for one, expected in zip(found, sorted(said), strict=True):
        assert one[:3] == expected[:3], found
        assert expected[3] in one[3]


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
