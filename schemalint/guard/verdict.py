"""The verdict on a write: what its effect on the table means by the contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from schemalint.base.values import Itself, replace
from schemalint.delta import change
from schemalint.delta.change import Change, change_path
from schemalint.delta.datatype import VOID, DataType
from schemalint.delta.diff import diff
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.delta.writes import Effect, Kind
from schemalint.guard import result as codes
from schemalint.guard.result import GuardFinding, GuardResult
from schemalint.judge import Case, RuleSet, judge
from schemalint.judge.built_in_rules import built_in_rules
from schemalint.judge.finding_location import object_of
from schemalint.model.effective import Effective
from schemalint.model.finding import ObjectRef
from schemalint.model.rule_codes import DRIFT_SCHEMA

_CODES: Final = {
    Kind.LOSES: codes.LOSES,
    Kind.MAY_FAIL: codes.MAY_FAIL,
    Kind.FILLED: codes.FILLED,
    Kind.BY_POSITION: codes.BY_POSITION,
    Kind.TAKES_TYPE: codes.TAKES_TYPE,
    Kind.ROUNDS: codes.ROUNDS,
}


def verdict(contract: Effective, live: LiveTable, effect: Effect, unseen: Iterable[str] = ()) -> GuardResult:
    """Return what a write into a table that exists means.

    Args:
        contract: The table's contract.
        live: The table before the write.
        effect: What the write does to it.
        unseen: What could not be seen of the table or of the session.
    """
    name, version = contract.table, live.version
    if effect.unknown is not None:
        return codes.unknown(effect.unknown, name, version)
    if effect.error is not None:
        place = format_path(effect.path)
        refused = GuardFinding(codes.REFUSED_BY_DELTA, place, _refusal(effect.error), refuses=True)
        return GuardResult("refused", (refused,), version, name)
    findings = (
        *of_changes(contract, live, effect.after),
        *of_notes(effect),
        *(GuardFinding(codes.NOT_SEEN, "", reason) for reason in unseen),
    )
    return GuardResult(_outcome(findings), findings, version, name)


def of_creation(contract: Effective, effect: Effect) -> GuardResult:
    """Return what a write means that creates the table of a contract."""
    text = (
        "the table is not there: the write would create it without the constraints, properties, clustering "
        "and NOT NULL of its contract; run `apply` first"
    )
    if effect.error is not None:
        text = _refusal(effect.error)
    created = GuardFinding(codes.CREATES, "", text, refuses=True)
    return GuardResult("refused", (created,), None, contract.table)


def _refusal(error: str) -> str:
    return f"Delta refuses the write: {error}"


def _outcome(findings: Iterable[GuardFinding]) -> codes.Outcome:
    if any(finding.refuses for finding in findings):
        return "refused"
    return "allowed"


def of_notes(effect: Effect) -> Iterator[GuardFinding]:
    """Yield what becomes of the values."""
    for note in effect.notes:
        path = format_path(note.path)
        yield GuardFinding(_CODES[note.kind], path, f"{path} {note.text}", note.kind is Kind.LOSES)


def of_changes(contract: Effective, live: LiveTable, after: TableState) -> Iterator[GuardFinding]:
    """Yield what the write changes of the schema: refused if the judge finds the table to drift by it."""
    if after is live.state or after == live.state:
        return
    before = _drift_before(Itself(contract), Itself(live))
    found = _drift(contract, replace(live, metadata=replace(live.metadata, state=after)))
    new = {subject for subject, messages in found.items() if messages - before.get(subject, frozenset())}
    for each in diff(live.state, after):
        path = format_path(change_path(each) or ())
        is_refused = object_of(each) in new
        code = DRIFT_SCHEMA if is_refused else codes.CHANGES
        yield GuardFinding(
            code, path, f"the write {_words(each, live.state)}{_why(each, is_refused=is_refused)}", is_refused
        )


def _why(each: Change, *, is_refused: bool) -> str:
    if is_refused:
        return ", which the contract does not allow"
    if isinstance(each, change.CommentChanged):
        return "; the contracts of jobs have no comments"
    return ", which the contract allows"


@lru_cache(maxsize=64)  # a job writes a table again and again
def _drift_before(contract: Itself[Effective], live: Itself[LiveTable]) -> dict[ObjectRef, frozenset[str]]:
    return _drift(contract.value, live.value)


def _drift(contract: Effective, live: LiveTable) -> dict[ObjectRef, frozenset[str]]:
    """Return what the judge says of the differences of a table from its contract, by what differs."""
    rules = RuleSet(tuple(rule for rule in built_in_rules() if rule.code == DRIFT_SCHEMA))
    case = Case((rules,), declared=contract, live=live, is_applied=True)
    messages: dict[ObjectRef, frozenset[str]] = {}
    for finding in judge(case).findings:
        messages[finding.object] = messages.get(finding.object, frozenset()) | {finding.message}
    return messages


def _by_which_rule(old: DataType, new: DataType, table: TableState) -> str:
    """Return why Delta changes a type by the way (``SchemaMergingUtils``, ``AllowAutomaticWideningMode``)."""
    if old == VOID:
        return "because void takes the first type that comes"
    if step(old, new, nested=True) is not TypeStep.WIDENING:
        return "because the write replaces the schema"
    if table.enabled("delta.enableTypeWidening"):
        return "because the table has type widening, and Delta widens by itself what it can"
    return "which needs no type widening: Parquet stores both alike"


def _words(each: Change, table: TableState) -> str:
    match each:
        case change.FieldAdded(path=path, field=field):
            return f"adds column {format_path(path)} ({print_type(field.type)})"
        case change.FieldRemoved(path=path):
            return f"removes column {format_path(path)}"
        case change.TypeChanged(path=path, old=old, new=new):
            types = f"from {print_type(old)} to {print_type(new)}"
            return f"changes the type of {format_path(path)} {types}, {_by_which_rule(old, new, table)}"
        case change.NullabilityChanged(path=path, new=new):
            return f"makes {format_path(path)} {'nullable' if new else 'NOT NULL'}"
        case change.FieldMoved(path=path):
            return f"moves column {format_path(path)}"
        case change.PartitioningChanged(new=new):
            names = ", ".join(new) if isinstance(new, tuple) and new else "nothing"
            return f"partitions the table by {names}"
        case change.CommentChanged(path=path):
            return f"removes the comment of {format_path(path)}"
        case change.DefaultChanged(path=path):
            return f"removes the default of {format_path(path)}"
        case change.GeneratedChanged(path=path) | change.IdentityChanged(path=path):
            return f"removes the expression of {format_path(path)}"
        case change.ClusteringChanged():
            return "removes the clustering"
    return "changes the table"
