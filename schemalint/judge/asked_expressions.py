"""The expressions of changed contracts, as a session of Spark reads them (`check --parse-with spark`).

Spark parses and analyses each; it computes none. With it the verdict is Spark's: what the offline model says
of an expression that Spark takes gives way; what Spark refuses is a finding of the rule about such a fault.
Delta's own rules stay, such as that a default is constant: Spark does not know them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schemalint.base.values import field, frozen
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import BOOLEAN, Struct
from schemalint.delta.expression_types import expression_type
from schemalint.delta.expressions import Expression, Place, expressions_of
from schemalint.delta.path import Path, format_path
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Effective
from schemalint.model.fact import AskSpark, ExpressionRefused, SparkAnswer
from schemalint.model.finding import Finding, Severity

_NO_CONDITION = "DELTA_NON_BOOLEAN_CHECK_CONSTRAINT"
_RULES: Mapping[str, str] = {
    "PARSE": "NC019",
    "INVALID_TYPED_LITERAL": "NC019",
    "UNRESOLVED_ROUTINE": "NC021",
    "UNRESOLVED_COLUMN": "NC012",
    "UNRESOLVED_FIELD": "NC012",
    "FIELD_NOT_FOUND": "NC012",
    "INVALID_EXTRACT_BASE_FIELD_TYPE": "NC012",
}
"""The rules about what Spark refuses, by the beginning of the error class."""

_OTHERS = "NC026"
_OF_FILLS = "BF001"
_GIVE_WAY: Mapping[str, tuple[str, ...]] = {
    "NC012": ("UNRESOLVED_COLUMN", "FIELD_NOT_FOUND", "INVALID_EXTRACT"),
    "NC021": ("UNRESOLVED_ROUTINE",),
    "NC026": ("DATATYPE_MISMATCH", _NO_CONDITION),
}
"""What gives way where Spark takes an expression: rules, and the errors that they expect of it."""


@frozen
class AskedExpressions:
    """What Spark said.

    Attributes:
        taken: The keys of tables with the texts that Spark takes.
        answered: The same of all texts that it was asked about.
        refused: What it refuses, by table key.
        asked: How many expressions it was asked about.
        kept: How many were not sent.
    """

    taken: frozenset[tuple[str, str]] = frozenset()
    answered: frozenset[tuple[str, str]] = frozenset()
    refused: Mapping[str, tuple[ExpressionRefused, ...]] = field(default_factory=dict)
    asked: int = 0
    kept: int = 0

    def gives_way(self, finding: Finding) -> bool:
        """Whether a finding is a guess that Spark contradicts."""
        key = table_key(finding.table), finding.new or ""
        if _is_unread(finding):
            return key in self.answered
        if key not in self.taken or finding.code not in _GIVE_WAY or finding.delta_error is None:
            return False
        return finding.delta_error.startswith(_GIVE_WAY[finding.code])


def asked_expressions(
    contracts: Mapping[str, tuple[Effective | None, Effective]], ask: AskSpark, findings: Iterable[Finding]
) -> AskedExpressions:
    """Ask Spark about each expression of some contracts.

    Args:
        contracts: The contracts of base and head, by table key.
        ask: Asks a session.
        findings: Those of the offline model: an expression that has one is not reported twice.
    """
    found = {(table_key(each.table), each.new) for each in findings if not _is_unread(each)}
    answered: set[tuple[str, str]] = set()
    taken: set[tuple[str, str]] = set()
    refused: dict[str, tuple[ExpressionRefused, ...]] = {}
    asked = kept = 0
    for key, (before, after) in contracts.items():
        for expression, columns in _expressions(before, after):
            answer = None if expression.fault else ask(columns, expression.text)
            if answer is None:
                kept += 1
                continue
            asked += 1
            answered.add((key, expression.text))
            fact = _refused(expression, answer)
            if fact is None:
                taken.add((key, expression.text))
            elif (key, expression.text) not in found and not _was_refused(before, expression, ask):
                refused[key] = (*refused.get(key, ()), fact)
    return AskedExpressions(frozenset(taken), frozenset(answered), refused, asked, kept)


def _is_unread(finding: Finding) -> bool:
    """Whether a finding says that schemalint cannot parse an expression."""
    return finding.code == "NC012" and finding.delta_error is None and finding.severity == Severity.WARNING


def not_modelled(states: Iterable[TableState]) -> tuple[int, int]:
    """Return of how many expressions of tables the offline model knows no type, and how many there are."""
    unknown = total = 0
    for state in states:
        for expression in expressions_of(state):
            total += 1
            columns = state.columns
            is_parsed = columns_used(expression.text) is not None
            unknown += not is_parsed or expression_type(expression.text, columns) is None
    return unknown, total


def _was_refused(before: Contract | None, expression: Expression, ask: AskSpark) -> bool:
    """Whether the base has the expression, and Spark refuses it there too."""
    if before is None:
        return False
    for older, columns in _expressions(None, before):
        if older == expression and (answer := ask(columns, older.text)) is not None:
            return _refused(older, answer) is not None
    return False


_FILL = "backfill.with"


@frozen
class _Fill(Expression):
    """The expression of a fill; it is no part of the table."""

    @property
    def subject(self) -> str:
        """The expression, as messages name it."""
        return f"the expression that fills {self.name}"


def _expressions(before: Contract | None, after: Contract) -> Iterator[tuple[Expression, Struct]]:
    """Yield the expressions of a contract, each with the columns of the row that it sees."""
    columns = after.state.columns
    for expression in expressions_of(after.state):
        yield expression, Struct() if expression.place is Place.DEFAULT else columns
    older = before.state.columns.fields if before is not None else ()
    names = {field.name.lower() for field in columns.fields}
    with_older = Struct((*columns.fields, *(field for field in older if field.name.lower() not in names)))
    for path, fill in after.backfills.items():
        yield _fill(path, fill.expression), with_older


def _fill(path: Path, text: str) -> Expression:
    return _Fill(Place.GENERATED, text, format_path(path), path)


def _refused(expression: Expression, answer: SparkAnswer) -> ExpressionRefused | None:
    error, what = answer.error, answer.what
    if error is None:
        is_condition = expression.place is not Place.CONSTRAINT or answer.type in {None, BOOLEAN}
        if is_condition or answer.type is None:
            return None
        error, what = _NO_CONDITION, f"it computes {print_type(answer.type)}, and no condition"
    code = next((code for beginning, code in _RULES.items() if error.startswith(beginning)), _OTHERS)
    part = None if expression.path is None else expression.place.value
    if isinstance(expression, _Fill):
        code, part = _OF_FILLS, _FILL
    return ExpressionRefused(
        code,
        expression.subject,
        expression.text,
        error or None,
        what,
        constraint=expression.name if expression.place is Place.CONSTRAINT else None,
        path=expression.path,
        part=part,
    )
