"""Every pair of types, as a column and inside a struct: exactly one TW rule reports each refused change."""

from __future__ import annotations

from itertools import product

import pytest

from schemalint.delta.datatype import VOID, DataType, Field, Struct
from schemalint.delta.diff import diff
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type, print_type
from schemalint.delta.widening import TypeStep, is_container, step, storage_error
from schemalint.judge.case import git_context
from schemalint.judge.rule_judge import AskedRules
from schemalint.model.contract import Contract
from schemalint.model.finding import Finding, Severity
from support.effective import counting
from support.rule_judging import built_in

TYPES = [
    parse_type(text)
    for text in (
        *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "binary", "variant", "void"),
        *("date", "timestamp", "timestamp_ntz", "string", "string collate UTF8_LCASE"),
        *("char(3)", "char(5)", "varchar(3)", "varchar(5)"),
        *(
            "decimal(3,0)",
            "decimal(10,0)",
            "decimal(10,2)",
            "decimal(12,4)",
            "decimal(20,0)",
            "decimal(38,2)",
        ),
        *("decimal(38,30)", "decimal(39,2)", "decimal(3,4)"),
        *("struct<x: int>", "array<int>", "map<string,int>"),
    )
]
NESTED = (False, True)
WIDENING = "delta.enableTypeWidening"
TW = tuple(rule for rule in built_in().values() if rule.code.startswith("TW") and rule.scope != "effect")


@pytest.mark.parametrize("old", TYPES, ids=print_type)
def test_a_refused_type_change_is_one_error_and_a_legal_one_is_none(old: DataType) -> None:
    """With everything enabled that Delta requires, the verdict is that of `widening.step`."""
    for new, nested in product(TYPES, NESTED):
        findings = _findings(
            old, new, nested=nested, properties={WIDENING: "true"}, features={"timestampNtz"}
        )
        legal = _exists(new) and step(old, new, nested=nested) != TypeStep.REFUSED
        same_kind = is_container(old) and type(old) is type(new)
        expected = 0 if old == new or legal or same_kind else 1
        assert len(findings) == expected, (old, new, nested, findings)
        assert all(finding.severity == Severity.ERROR for finding in findings)


@pytest.mark.parametrize("old", TYPES, ids=print_type)
def test_a_table_without_features_gives_at_most_one_error_per_change(old: DataType) -> None:
    """A missing property or feature is one finding too, and errors carry Delta's error class."""
    for new, nested in product(TYPES, NESTED):
        findings = _findings(old, new, nested=nested)
        assert len(findings) <= 1, (old, new, nested, findings)
        if not nested:
            assert all(finding.delta_error for finding in findings), (old, new, findings)
        if old != new and step(old, new, nested=nested) == TypeStep.WIDENING:
            assert [finding.code for finding in findings] == ["TW006"]


def test_void_may_become_any_leaf_type_that_delta_stores() -> None:
    for new, nested in product(TYPES, NESTED):
        findings = _findings(VOID, new, nested=nested, features={"timestampNtz"})
        is_stored = _exists(new) and not is_container(new) and storage_error(new) is None
        assert bool(findings) != is_stored


def _findings(
    old: DataType,
    new: DataType,
    *,
    nested: bool,
    properties: dict[str, str | None] | None = None,
    features: set[str] | None = None,
) -> list[Finding]:
    before, after = (
        Contract(
            "sales.orders",
            TableState(
                _columns(type_, nested=nested),
                properties=properties or {},
                features=frozenset(features or ()),
            ),
        )
        for type_ in (old, new)
    )
    judge, ctx = AskedRules(TW), git_context(counting(before), counting(after))
    return [finding for change in diff(before.state, after.state) for finding in judge(change, ctx, ("git",))]


def _columns(type_: DataType, *, nested: bool) -> Struct:
    column = Field("a", type_)
    return Struct((Field("s", Struct((column,))),)) if nested else Struct((column,))


def _exists(type_: DataType) -> bool:
    return print_type(type_) not in ("decimal(39,2)", "decimal(3,4)")
