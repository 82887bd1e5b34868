"""A case, which is one table in one run, and the context in which rules judge it.

A source makes cases, `schemalint.judge.verdict` judges each of them, and exceptions approve what is found.
Commands differ in their source, and in what they do with the verdicts:

| source                                        | purpose  | base | declared        | live                  |
|-----------------------------------------------|----------|------|-----------------|-----------------------|
| git: `check`                                  | CHECK    | yes  | yes             |                       |
| git, with tables or a file of `show`: `check` | CHECK    | yes  | yes             | yes                   |
| the same, for a table that is not there yet   | CREATION | yes  | yes             |                       |
| git, with tables and what was applied: `plan` | PLAN     |      | yes             | yes, unless it is new |
| logs: `audit`                                 | AUDIT    |      | if there is one | yes, with its history |
| contracts alone: the baseline of `init`       | CHECK    |      | yes             |                       |

A case of `facts` is about what the source itself knows, such as a contract without a table: they alone count.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from schemalint.base.values import field, frozen, replace
from schemalint.delta.change import Change, TableAdded, subject
from schemalint.delta.diff import diff
from schemalint.delta.engine import NO_ENGINES, Engines
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.table import LiveTable, TableState
from schemalint.judge.column_log import Names, with_names
from schemalint.judge.drift_origin import Origin
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.contract import Contract
from schemalint.model.declaration import apply_declaration, created_state
from schemalint.model.effective import Effective
from schemalint.model.fact import Fact
from schemalint.plugin import RuleContext

if TYPE_CHECKING:
    from schemalint.judge.rule_set import RuleSet

_NO_NAMES: Final[Names] = {}


class Purpose(Enum):
    """What a command needs of a live table."""

    CHECK = "what a change does, and what is wrong with the table"
    CREATION = "what Delta refuses of a table that is not there yet, whatever git changes"
    PLAN = "what forbids statements: of the table itself, what makes Spark refuse it"
    AUDIT = "what is wrong with the table as it is, and with its history"


@frozen
class Case:
    """One table in one run, effective for one target.

    Attributes:
        rules: The rules of each configuration that decides.
        base: The contract at the base.
        declared: The contract.
        live: The live table, if there is one and it was read.
        target: The target's name.
        purpose: What the command needs of the table.
        facts: What the source itself knows of the table; they are judged instead of the three states.
        files: The types in the table's data files, if they were read.
        name: The name of a table without a contract; by default its URI.
        applied: The last applied contract, if the table has a marker and git has its commit.
        is_applied: Whether the marker has the hash of the current declaration.
        ahead: Whether the marker names a later revision.
        tracking: The column tracking; None if names identify the columns.
        renamed: The columns that the log has under another name than the contract; only without tracking.
        unseen: Edits of the contract since the last apply that the table does not show; without `base`.
        all_contracts: Whether the run judges all contracts, not only changed ones.
        engines: The engines to judge a table by, in place of those of its contract: what they refuse of it,
            and of the changes that the contract still needs.
        origin_of: Returns the commit that drift comes from; None if nobody reads it.
    """

    rules: tuple[RuleSet, ...]
    base: Effective | None = None
    declared: Effective | None = None
    live: LiveTable | None = None
    target: str | None = None
    purpose: Purpose = Purpose.CHECK
    facts: tuple[Fact, ...] = ()
    files: PhysicalTypes | None = None
    name: str | None = None
    applied: Effective | None = None
    is_applied: bool = False
    ahead: bool = False
    tracking: ColumnTracking | None = None
    renamed: Names = field(default_factory=dict)
    unseen: tuple[Change, ...] = ()
    all_contracts: bool = False
    engines: Engines = NO_ENGINES
    origin_of: Callable[[Change], Origin] | None = None

    @property
    def contract(self) -> Effective:
        """The contract; else that of the base, or one that declares the table exactly as it is."""
        contract = self.declared or self.base
        if contract is None:
            if self.live is None:
                raise ValueError("a case has a contract or a table")
            contract = as_declared(self.live, self.name)
        if self.engines.all:
            return replace(contract, engines=self.engines, engine_targets=())
        return contract

    @property
    def edit(self) -> Effective:
        """The contract, in a plan with the renames of all revisions since the last apply as one edit."""
        if self.tracking is None or self.base is not None:
            return self.contract
        return replace(self.contract, state=self.tracking.composed(self.contract.state))

    @cached_property
    def differs_from_applied(self) -> frozenset[Hashable]:
        """The subjects in which the live table differs from the last applied contract."""
        if self.applied is None or self.live is None:
            return frozenset()
        return frozenset(differing_subjects(self.applied, self.live.state, self.renamed))


def as_declared(table: LiveTable, name: str | None = None) -> Effective:
    """Return the contract that declares a table exactly as it is."""
    contract = Contract(name or table.uri, table.state, location=table.uri, unsaid=frozenset({"owner"}))
    return Effective(contract)


def git_context(before: Effective | None, after: Effective, created: TableState | None = None) -> RuleContext:
    """Return the context without a live table: the table that Delta creates from the base replaces it.

    Args:
        before: The base contract.
        after: The contract.
        created: The state of the table that Delta creates from the base, if it is known already.
    """
    old = created or (created_state(before.state) if before else TableState())
    return RuleContext(
        contract=after,
        before=old,
        after=apply_declaration(after.state, old),
        features=before.created_features if before else frozenset(),
        base=before,
    )


def live_context(
    contract: Effective,
    live: LiveTable,
    base: Effective | None = None,
    tracking: ColumnTracking | None = None,
    renamed: Names = _NO_NAMES,
) -> RuleContext:
    """Return the context with a live table."""
    before = live.state if tracking is None else replace(live.state, columns=tracking.live)
    return RuleContext(
        contract=contract,
        before=before,
        after=_state_after(contract, live.state, renamed, tracking),
        features=live.protocol.features,
        base=base,
        live=live,
        against="live",
    )


def differing_subjects(declared: Effective, live: TableState, renamed: Names) -> set[Hashable]:
    """Return the subjects in which a live table differs from a contract."""
    return {subject(pending_change) for pending_change in diff(live, _state_after(declared, live, renamed))}


def _state_after(
    contract: Effective, live: TableState, renamed: Names, tracking: ColumnTracking | None = None
) -> TableState:
    declared = replace(contract.settable_state, columns=with_names(contract.state.columns, renamed))
    return apply_declaration(declared, live, open_widening=contract.open.widening, tracking=tracking)


def git_changes(before: Effective | None, after: Effective) -> tuple[Change, ...]:
    """Return the changes between a contract and its base."""
    if before is None:
        return (TableAdded(after.state),)
    return diff(before.state, after.state)
