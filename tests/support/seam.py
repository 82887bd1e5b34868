"""What `check` and `plan` say of one edit of a contract: the errors of one, the refusals of the other."""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Final

from schemalint.base.values import replace
from schemalint.contract.consumers import with_consumers
from schemalint.delta.datatype import Struct, map_fields
from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.deploy.last_applied import LastApplied, unseen_edits
from schemalint.judge.case import Purpose
from schemalint.model.column_tracking import track_columns
from schemalint.model.declaration import created_state
from schemalint.model.finding import Severity
from schemalint.planner import PlanOptions, plan_table
from schemalint.project.config import Config
from schemalint.project.git import Contents, File, Revision, Worktree
from schemalint.review.check_input import CheckInput, LiveSide
from schemalint.review.rulebook import rules_for_apply
from schemalint.review.run_check import check
from support.contract_pairs import text_of
from support.effective import counting
from support.judging import judge_live, judge_pair, live_case, rule_sets
from support.live_side import told_live_side

if TYPE_CHECKING:
    from schemalint.model.contract import Contract
    from schemalint.model.finding import Finding
    from schemalint.model.table_plan import Refusal, TablePlan
    from schemalint.plugin import Rule

LOCATION: Final = "file:/lake/orders"


@cache
def rules() -> tuple[Rule, ...]:
    return rules_for_apply(Config())


_ROW_TRACKING_COLUMNS: Final = {
    f"delta.rowTracking.materialized{column}ColumnName": f"_{column}"
    for column in ("RowId", "RowCommitVersion")
}


def created_table(contract: Contract) -> LiveTable:
    """Return the table that Delta creates from a contract."""
    state = replace(created_state(contract.state), features=contract.created_features)
    if state.column_mapping != "none":
        state = replace(state, columns=_with_ids(state.columns))
    if state.properties.get("delta.enableRowTracking") == "true":
        state = replace(state, properties={**state.properties, **_ROW_TRACKING_COLUMNS})
    readers = frozenset(name for name in state.features if name in FEATURES and FEATURES[name].reader)
    protocol = Protocol(3, 7, readers, state.features)
    return LiveTable(LOCATION, 0, protocol, Metadata("id", state))


def errors(base: Contract | None, head: Contract, live: LiveTable | None = None) -> tuple[Finding, ...]:
    """Return the errors of ``check --strict``; with a live table, those of ``check --live --strict``."""
    return tuple(finding for finding in findings(base, head, live) if finding.severity >= Severity.ERROR)


def errors_before_creation(base: Contract | None, head: Contract) -> tuple[Finding, ...]:
    """Return the errors of ``check --live --strict`` where the table is not there yet."""
    found = _checked(base, head, _live_side(None))
    return tuple(finding for finding in found if finding.severity >= Severity.ERROR)


def findings(base: Contract | None, head: Contract, live: LiveTable | None = None) -> tuple[Finding, ...]:
    """Return all findings of ``check``; with a live table, those of ``check --live``."""
    return _checked(base, head, _live_side(live) if live else None)


def _live_side(table: LiveTable | None) -> LiveSide:
    return told_live_side(lambda _contract: table, lambda _contract: LOCATION)


def _checked(base: Contract | None, head: Contract, live: LiveSide | None) -> tuple[Finding, ...]:
    before = {} if base is None else {"orders.yaml": _file(base)}
    # The space makes the file a changed one, even if the contract is the same.
    after = {"orders.yaml": replace(_file(head), data=_file(head).data + b" ")}
    result = check(
        CheckInput(
            base=Revision("base", "c0ffee", "test"),
            head=Worktree(),
            contents=Contents(before, after),
            rules=rule_sets(rules()),
            live=live,
        )
    )
    assert result.errors == ()
    return result.findings


def refusals(
    base: Contract | None, head: Contract, live: LiveTable | None = None, *, with_rules: bool = True
) -> tuple[Refusal, ...]:
    """Return the refusals of `plan`, which knows that `base` was applied last.

    Args:
        base: The contract applied last; None if it is unknown.
        head: The contract to apply.
        live: The live table; None if the plan creates it.
        with_rules: Whether the rules judge the table too, as in every run.
    """
    return planned(base, head, live, with_rules=with_rules).refusals


def planned(
    base: Contract | None, head: Contract, live: LiveTable | None = None, *, with_rules: bool = True
) -> TablePlan:
    """Return the plan of `plan` for a table; see `refusals`."""
    head, base = counting(with_consumers(head, Config())), counting(base)
    if live is None:
        found = judge_pair(None, head, rules()) if with_rules else ()
        return plan_table(head, None, LOCATION, found)
    tracking = track_columns(live.state.columns, [base.state, head.state]) if base else None
    last_applied = LastApplied((base, head) if base else ())
    comparison = live_case(
        head,
        live,
        applied=base,
        tracking=tracking,
        purpose=Purpose.PLAN,
        unseen=tuple(unseen_edits(last_applied, live, tracking)),
    )
    found = judge_live(comparison, rules()) if with_rules else ()
    return plan_table(counting(head), live, LOCATION, found, PlanOptions(tracking))


def _file(contract: Contract) -> File:
    return File("orders.yaml", text_of(contract).encode(), None)


def _with_ids(columns: Struct) -> Struct:
    numbers = count(1)
    return map_fields(
        columns,
        lambda _path, field: replace(
            field, column_id=(number := next(numbers)), physical_name=f"col-{number}"
        ),
    )
