"""The input of a deployment, the plan that is made of it, and the part of it that a change touches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from schemalint.base.errors import SchemalintError, worst_status
from schemalint.base.values import field, frozen, replace
from schemalint.contract.contract_files import contract_files
from schemalint.contract.contract_revisions import contracts_at
from schemalint.delta.engine import Engine
from schemalint.deploy.earlier_target import EarlierDeploy
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective, Environment, effective
from schemalint.model.finding import SkippedTable
from schemalint.model.marker import declaration_hash
from schemalint.model.stream_report import StreamReport
from schemalint.model.table_plan import Plan
from schemalint.plugin import Rule
from schemalint.project.config import Cosmetic
from schemalint.project.config.trust import RuleFiles, Trusted, TrustedTarget
from schemalint.project.git import Repository, Side
from schemalint.review.baseline import Baseline
from schemalint.review.exceptions import Exceptions
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers


@frozen
class DeployOptions:
    """What is planned.

    Attributes:
        tables: The names of the requested tables; empty for all contracts.
        target: The name of the target; None for the only one that is configured.
        head: The side that the contracts are read from: ``worktree`` or a revision.
        after: The deploy log of the target before this one: only tables that it reports as applied change.
        base: The commit applied last, or ``none``, for the tables of which it is unknown.
        allow: ``upgrade`` approves protocol upgrades, ``destructive`` approves irreversible steps, and
            ``data`` fills columns.
        approved: The approved hashes, of plans or of tables.
        allow_older: Whether to apply a revision older than the one applied last.
        repair_drift: Whether to overwrite changes that were made outside of schemalint.
        reorder: Whether to move columns to their declared order.
        cosmetic: Apply comments and column order ``now``, or with the next change of a table that a tracked
            stream reads (``ride-along``); None means as the configuration says.
        require_streams: Whether to refuse a table whose declared streams have not read it to its end.
        allow_local_plugins: Whether to run the rule files that the configuration names.
        fetch: Whether to fetch history that this clone lacks.
    """

    tables: Sequence[str] = ()
    target: str | None = None
    head: str = "HEAD"
    after: str | Path | None = None
    base: str | None = None
    allow: Sequence[str] = ()
    approved: Sequence[str] = ()
    allow_older: bool = False
    repair_drift: bool = False
    reorder: bool = False
    cosmetic: Cosmetic | None = None
    require_streams: bool = False
    allow_local_plugins: bool = False
    fetch: bool = False


@frozen
class DeployInput:
    """What a deployment is planned from.

    Attributes:
        repository: The repository with the contracts.
        settings: The configuration.
        target: The target whose tables are planned.
        head: The revision (or the working tree) that the contracts are read from.
        rules: The rules that judge the tables.
        options: What the user asks for.
        base: The commit that the user names as applied last, or ``none``; None without one.
        applies: Whether the plan will be run; irreversible steps then need an approval.
        via: The catalogs of a running Spark session, for a target whose catalog has no address.
        workers: How many tables are read at the same time.
        local: The rule files among the rules.
        after: The deploy log of the target before this one; None without an order.
        exceptions: The exceptions outside of the contracts.
        baseline: The baseline; None if the configuration names none.
    """

    repository: Repository
    settings: Trusted
    target: TrustedTarget
    head: Side
    rules: Sequence[Rule]
    options: DeployOptions = DeployOptions()
    base: str | None = None
    applies: bool = False
    via: Catalog | None = None
    workers: TableWorkers = SIDE_BY_SIDE
    local: RuleFiles | None = None
    after: EarlierDeploy | None = None
    exceptions: Exceptions = field(default_factory=Exceptions)
    baseline: Baseline | None = None


@frozen
class UnplannedTable:
    """A table that could not be planned, or a file whose contracts could not, and why."""

    table: str
    error: SchemalintError


@frozen
class OtherTables:
    """The tables that a plan leaves out because the change does not touch them."""

    number: int
    pending: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()


@frozen
class TargetAccess:
    """How a deployment reaches the tables of its target.

    Attributes:
        target: The target.
        folder: The folder that relative roots start from.
        storage: The settings that open the target's store, with resolved values.
        via: The catalogs of a running Spark session, for a target whose catalog has no address.
        workers: How many tables are read at the same time.
    """

    target: TrustedTarget
    folder: Path
    storage: Mapping[str, str] = field(repr=False)
    via: Catalog | None = None
    workers: TableWorkers = SIDE_BY_SIDE

    def tables(self) -> TargetTables:
        """Return the live tables, none of them read yet."""
        return TargetTables(self.target, self.folder, self.storage, self.via, workers=self.workers)


@frozen
class FillProof:
    """What a fill would find in a table, and the drop of its source: numbers of rows.

    Attributes:
        column: The column.
        source: The column that it is filled from.
        inexact: The rows whose value would be another number, day or instant; None if that is not known.
        text: The counts for people.
        problem: Why nothing was counted; None if it was.
    """

    column: str
    source: str
    to_fill: int = 0
    equal: int = 0
    not_converted: int = 0
    differing: int = 0
    inexact: int | None = None
    text: str = ""
    problem: str | None = None


@frozen
class RewriteProof:
    """What a rewrite would meet: rows that Delta refuses, and commits of other writers.

    Attributes:
        refused: The number of rows that each constraint, and each NOT NULL, refuses once they are rewritten.
        reads_in: How many seconds it took to read all rows once; None if they cannot be read.
        longest_pause: The longest time without a commit in the last 14 days, in seconds; None if unknown.
        writers: How many commits of each operation there were in them, the most frequent first.
        problem: Why something of it is not known; None if all is.
    """

    refused: Mapping[str, int] = field(default_factory=dict)
    reads_in: float | None = None
    longest_pause: float | None = None
    writers: Mapping[str, int] = field(default_factory=dict)
    problem: str | None = None


@frozen
class Deployment:
    """A plan, and the input it was made from.

    Attributes:
        plan: The plans of all tables.
        contracts: The effective contract by table name.
        revision: The commit of the contracts; None for uncommitted ones.
        skipped: The tables that schemalint does not manage in this target.
        unplanned: The tables that could not be planned.
        warnings: What may be wrong with the target, one sentence each.
        streams: The effects of the plan on the declared streams of its tables.
        access: How to reach the tables.
        request: The input, to plan a table again; None for a plan file.
        approved: The hashes that the user approves for a plan file; None where no plan file is applied.
        full_hash: The hash of the plan with all its steps, also of those that were done before this run or
            refused since; None if these are the steps of `plan`.
        others: The tables that the plan leaves out (``--changed``); None if it leaves out none.
        planned_for: Plans the same for another engine; None for a plan that is not run.
        proofs: What the fills of tables would find, by table; empty if nobody asked.
        rewrite_proofs: What the rewrites of tables would meet, by table; empty if nobody asked.
    """

    plan: Plan
    contracts: dict[str, Effective] = field(default_factory=dict)
    revision: str | None = None
    skipped: tuple[SkippedTable, ...] = ()
    unplanned: tuple[UnplannedTable, ...] = ()
    warnings: tuple[str, ...] = ()
    streams: tuple[StreamReport, ...] = ()
    access: TargetAccess | None = None
    request: DeployInput | None = None
    approved: frozenset[str] | None = None
    full_hash: str | None = None
    others: OtherTables | None = None
    planned_for: Callable[[Engine], Deployment] | None = None
    proofs: Mapping[str, tuple[FillProof, ...]] = field(default_factory=dict)
    rewrite_proofs: Mapping[str, RewriteProof] = field(default_factory=dict)

    @property
    def engine(self) -> Engine | None:
        """The engine that the plan is made for; None for the newest Delta."""
        return None if self.access is None else self.access.target.engine

    @property
    def plan_hash(self) -> str:
        """The name of the plan in all reports of a deploy, whatever is left to do: the hash to approve."""
        return self.full_hash or self.plan.hash

    @property
    def exit_status(self) -> int:
        """The exit status of a run with this plan: the worst of its refusals and unplanned tables."""
        refusals = [refusal.kind.exit_status for plan in self.plan.tables for refusal in plan.refusals]
        unplanned = [table.error.exit_status for table in self.unplanned]
        return worst_status((*refusals, *unplanned))


def only_changed(deployment: Deployment, since: Side) -> Deployment:
    """Return the deployment of the tables whose effective declaration is another one than on the base side.

    The other tables do not fail it. A contract that cannot be read at the base counts as changed.
    """
    others = _unchanged(deployment.request, since) if deployment.request is not None else frozenset[str]()
    kept = tuple(plan for plan in deployment.plan.tables if plan.table not in others)
    plan = Plan(deployment.plan.target, kept)
    tables = [table for table in deployment.plan.tables if table.table in others]
    return replace(
        deployment,
        plan=plan,
        full_hash=plan.hash,
        unplanned=tuple(table for table in deployment.unplanned if table.table not in others),
        skipped=tuple(table for table in deployment.skipped if table.table not in others),
        streams=tuple(report for report in deployment.streams if report.table not in others),
        others=OtherTables(
            len(others),
            pending=_names(table.table for table in tables if table.steps),
            refused=_names(table.table for table in tables if table.refusals),
            unplanned=_names(table.table for table in deployment.unplanned if table.table in others),
        ),
    )


def _unchanged(request: DeployInput, since: Side) -> frozenset[str]:
    target = request.target.name
    files = contract_files(request.settings.config, target)
    before = contracts_at(request.repository, since, files).contracts
    declared = contracts_at(request.repository, request.head, files).contracts
    return frozenset(
        contract.table
        for key, contract in declared.items()
        if key in before
        and _planned_from(effective(before[key], Environment(target)))
        == _planned_from(effective(contract, Environment(target)))
    )


def _names(tables: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(tables))


def _planned_from(contract: Contract) -> object:
    """Return what of an effective contract a plan depends on."""
    return (
        declaration_hash(contract),
        contract.location,
        contract.absent,
        (contract.managed_by, contract.managed_how),
        contract.protocol,
        contract.open,
    )
