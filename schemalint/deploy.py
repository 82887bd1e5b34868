"""Contracts at a revision, live tables -> the plan: what `plan` shows and `apply` runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache

from schemalint import contract as contracts
from schemalint.config import Config, Target, resolve_storage
from schemalint.document import candidate
from schemalint.engine.judge import judge_pair
from schemalint.engine.live import LiveComparison, judge_live
from schemalint.engine.place import is_found_by_name, require_reachable, table_location
from schemalint.engine.table import refused_by_spark
from schemalint.engine.tables import TargetTables
from schemalint.errors import ConfigError, ContractError, SchemalintError, UsageError
from schemalint.git import (
    EmptyTree,
    File,
    Repository,
    Revision,
    Side,
    Worktree,
    changes,
    dirty,
    first_parents,
    is_ancestor,
    is_known,
    printable_path,
    resolve,
)
from schemalint.model.change import FieldRenamed, subject, subject_name
from schemalint.model.datatype import field_at
from schemalint.model.diff import diff
from schemalint.model.finding import Skipped
from schemalint.model.marker import Marker, declaration_hash, read_marker
from schemalint.model.path import dotted
from schemalint.model.plan import Plan, Refusal, TablePlan
from schemalint.model.table import Contract, LiveTable, table_key
from schemalint.planner import pending, plan_table
from schemalint.plugin import Rule

UPGRADE = "upgrade"


@dataclass(frozen=True, slots=True)
class DeployInput:
    """What is to be brought where.

    Attributes:
        head: The revision (or the working tree) that the contracts are read from.
        tables: The names of those that are wanted; empty for all.
        allow: Kinds of steps that are approved: ``upgrade``.
        base: The commit that was applied last, where the tables do not tell.
        applies: Whether the plan is to be carried out: this version does so by a table's place only.
    """

    repository: Repository
    config: Config
    target: Target
    head: Side
    rules: Sequence[Rule]
    tables: tuple[str, ...] = ()
    allow: frozenset[str] = frozenset()
    allow_older: bool = False
    repair_drift: bool = False
    base: str | None = None
    applies: bool = False


@dataclass(frozen=True, slots=True)
class Unplanned:
    """A table that could not be planned, and why."""

    table: str
    error: SchemalintError


@dataclass(frozen=True, slots=True)
class Deployment:
    """A plan, and what it was made from.

    Attributes:
        contracts: The effective contract by table name.
        revision: The commit that the contracts come from, None for uncommitted ones.
        unplanned: Tables that could not be planned.
        storage: What opens the target's store, with the values themselves.
    """

    plan: Plan
    contracts: dict[str, Contract] = field(default_factory=dict)
    revision: str | None = None
    skipped: tuple[Skipped, ...] = ()
    unplanned: tuple[Unplanned, ...] = ()
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)


def prepare(request: DeployInput) -> Deployment:
    """Plan all tables before anything runs.

    Raises:
        SchemalintError: The contracts cannot be read, or a wanted table has none.
    """
    require_reachable(request.target, request.repository.root)
    declared = _declared(request)
    wanted = [
        _with_approval(contracts.effective(one, request.target.name), request.allow)
        for one in _wanted(request, declared)
    ]
    found = TargetTables(request.target, request.repository.root, resolve_storage(request.target))
    found.fetch(one for one in wanted if _is_planned(one))
    tables: list[TablePlan] = []
    effective: dict[str, Contract] = {}
    skipped: list[Skipped] = []
    unplanned: list[Unplanned] = []
    for contract in wanted:
        if not _is_planned(contract):
            reason = "absent from this target" if contract.absent else f"managed by {contract.managed_by}"
            skipped.append(Skipped(contract.table, reason))
            continue
        try:
            tables.append(_carried_out(request, _planned(request, contract, found)))
            effective[contract.table] = contract
        except SchemalintError as error:
            unplanned.append(Unplanned(contract.table, error))
    return Deployment(
        plan=Plan(request.target.name, tuple(_without_shared_places(request, declared, tables))),
        contracts=effective,
        revision=request.head.commit,
        skipped=tuple(skipped),
        unplanned=tuple(unplanned),
        storage=found.storage,
    )


def contracts_at(repository: Repository, side: Side, globs: Sequence[str]) -> dict[str, Contract]:
    """All contracts of one side by table key; files that cannot be read raise.

    Raises:
        ContractError: A contract cannot be read.
    """
    found: dict[str, Contract] = {}
    for file in _files(repository, side, globs):
        result = contracts.read(printable_path(file.path), file.data)
        if result.errors:
            raise result.errors[0]
        for one in result.contracts:
            other = found.setdefault(one.key, one)
            if other is not one:
                raise ContractError(
                    f"{one.table} is declared twice",
                    help=f"the other contract stands at {contracts.locate(other, ('table',))}",
                    location=contracts.locate(one, ("table",)),
                )
    return found


def table_at(repository: Repository, globs: Sequence[str]) -> Callable[[str, str], Contract | None]:
    """A table's contract by commit and key; None if that is not known here. Each commit is read once."""

    @lru_cache(maxsize=64)
    def read(commit: str) -> dict[str, Contract]:
        found: dict[str, Contract] = {}
        if not is_known(repository, commit):
            return found
        for file in _files(repository, Revision(commit, commit, "applied last"), globs):
            readable = contracts.read(printable_path(file.path), file.data).contracts
            found.update({one.key: one for one in readable})
        return found

    return lambda commit, key: read(commit).get(key)


def _without_shared_places(
    request: DeployInput, declared: dict[str, Contract], tables: list[TablePlan]
) -> Iterator[TablePlan]:
    """Two contracts for one place, wanted or not: neither is applied."""
    owners: dict[str, list[str]] = defaultdict(list)
    for one in declared.values():
        contract = contracts.effective(one, request.target.name)
        if not contract.absent:
            with suppress(ConfigError):  # said where that table is planned
                owners[table_location(contract, request.target, request.repository.root)].append(one.table)
    for plan in tables:
        others = ", ".join(name for name in owners[plan.name or plan.uri] if name != plan.table)
        if not others:
            yield plan
            continue
        help_text = "give each a location of its own"
        refusal = Refusal(f"{others} is declared at the same place", help_text, "CT002")
        yield replace(plan, steps=(), record=False, refusals=(*plan.refusals, refusal))


def _files(repository: Repository, side: Side, globs: Sequence[str]) -> Iterable[File]:
    return changes(repository, EmptyTree("one side"), side, candidate, globs).head.values()


def _declared(request: DeployInput) -> dict[str, Contract]:
    declared = contracts_at(request.repository, request.head, request.config.contracts)
    if not isinstance(request.head, Worktree):
        changed = dirty(request.repository, {one.file for one in declared.values()})
        if changed:
            raise UsageError(
                f"{min(changed)} has changes that are not committed",
                help="commit them, or name the working tree: --head worktree",
            )
    return declared


def _wanted(request: DeployInput, declared: dict[str, Contract]) -> list[Contract]:
    if not declared:
        raise UsageError("there are no contracts here", help="a contract is a YAML file with `schemalint: 1`")
    keys = [table_key(name) for name in request.tables] or sorted(declared)
    for name, key in zip(request.tables, keys, strict=False):
        if key not in declared:
            raise UsageError(f"no contract declares {name}", help=f"declared: {', '.join(sorted(declared))}")
    return [declared[key] for key in keys]


def _with_approval(contract: Contract, allow: frozenset[str]) -> Contract:
    if UPGRADE not in allow:
        return contract
    return replace(contract, protocol=replace(contract.protocol, allow_upgrade=True))


def _is_planned(contract: Contract) -> bool:
    return not contract.absent and contract.managed_by == "schemalint"


def _planned(request: DeployInput, contract: Contract, found: TargetTables) -> TablePlan:
    uri, table = found.place(contract), found.read(contract)
    name = uri if is_found_by_name(contract, request.target) else None
    if table is None:
        findings = judge_pair(None, replace(contract, targets={}), request.rules)
        plan = plan_table(contract, None, uri, findings, name=name)
        if not request.target.create:
            refusal = Refusal(f"there is no table at {uri}, and target {request.target.name} creates none")
            return replace(plan, steps=(), record=False, refusals=(*plan.refusals, refusal))
        return plan
    findings = (
        *judge_live(LiveComparison(contract, table), request.rules),
        *refused_by_spark(contract, table, request.rules),
    )
    plan = plan_table(contract, table, uri if name is None else table.uri, findings, name=name)
    obstacles = tuple(_obstacles(request, contract, table))
    if obstacles:
        return replace(plan, steps=(), record=False, refusals=(*obstacles, *plan.refusals))
    return plan


def _carried_out(request: DeployInput, plan: TablePlan) -> TablePlan:
    if not request.applies or plan.name is None or not (plan.steps or plan.record):
        return plan
    refusal = Refusal(
        f"{plan.name} is reached through its catalog, which `apply` does not do in this version",
        "let Spark run the statements of `plan --output-format sql`, then prove it with `check --live`",
    )
    return replace(plan, steps=(), record=False, refusals=(*plan.refusals, refusal))


def _obstacles(request: DeployInput, contract: Contract, table: LiveTable) -> Iterator[Refusal]:
    """What the table itself says against going on: it is ahead, or it drifted since it was applied to."""
    marker = read_marker(table)
    if marker is None:
        return
    base: Contract | None = contract
    if marker.hash != declaration_hash(contract):
        found = _applied(request, contract, marker)
        if isinstance(found, Refusal):
            yield found
            return
        base = found
    if base is not None:
        yield from _hidden_renames(contract, base, table)
        if not request.repair_drift:
            yield from _drift(contract, base, table)


def _hidden_renames(contract: Contract, base: Contract, table: LiveTable) -> Iterator[Refusal]:
    """Renames of which both names are live: in a swap nothing else would show what is to be done."""
    columns = table.state.columns
    for one in diff(base.state, contract.state):
        if not isinstance(one, FieldRenamed):
            continue
        names = (one.path, (*one.path[:-1], one.old_name))
        if all(field_at(columns, name) is not None for name in names):
            yield Refusal(
                f"the rename of {dotted(one.path)} from {one.old_name} cannot be applied",
                "this version cannot tell whether it is done: do it by hand, then say so with --base HEAD",
            )


def _drift(contract: Contract, base: Contract, table: LiveTable) -> Iterator[Refusal]:
    since = {subject(one) for one in pending(base, table.state)}
    for one in pending(contract, table.state):
        if subject(one) in since:
            yield Refusal(
                f"{subject_name(one) or 'the table'} is neither as declared nor as it was applied last",
                "somebody altered the table: take it into the contract, or overwrite it: --repair-drift",
                "DR001",
            )


def _applied(request: DeployInput, contract: Contract, marker: Marker) -> Contract | Refusal | None:
    """The contract as it was applied last, found by the marker's commit, else by its hash."""
    repository, head = request.repository, _head_commit(request)
    at = table_at(repository, request.config.contracts)
    if request.base is not None:
        return _effective(request, at(resolve(repository, request.base), contract.key))
    if marker.revision is not None:
        commit = _known(repository, marker.revision)
        if commit is not None and is_ancestor(repository, commit, head):
            return _effective(request, at(commit, contract.key))
        if commit is not None and is_ancestor(repository, head, commit):
            if request.allow_older:
                return _effective(request, at(commit, contract.key))
            return Refusal(
                f"the table is ahead: {marker.revision[:12]} was applied, which comes after this revision",
                "an old job run again? --allow-older applies it all the same",
            )
    for commit in first_parents(repository, head):
        found = _effective(request, at(commit, contract.key))
        if found is not None and declaration_hash(found) == marker.hash:
            return found
    return Refusal(
        "what was applied last is no revision of this branch",
        "name the commit that the table is at: --base REV",
    )


def _known(repository: Repository, revision: str) -> str | None:
    """The commit; None if it is gone for good, an error if only this shallow clone lacks it."""
    try:
        return resolve(repository, revision)
    except SchemalintError:
        if repository.is_shallow():
            raise
        return None


def _effective(request: DeployInput, contract: Contract | None) -> Contract | None:
    return contracts.effective(contract, request.target.name) if contract else None


def _head_commit(request: DeployInput) -> str:
    return request.head.commit or resolve(request.repository, "HEAD")
