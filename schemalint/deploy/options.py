"""What a user asks of a deployment, on the command line and in Python, and the plan for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from schemalint.base.values import frozen
from schemalint.deploy.approvals import require_hashes
from schemalint.deploy.deployment import prepare
from schemalint.deploy.earlier_target import read_deploy_log
from schemalint.deploy.last_applied import resolved_base
from schemalint.deploy.request import DeployInput
from schemalint.lint.rulebook import rules_for_apply
from schemalint.project import git
from schemalint.tables.catalog.table_location import choose_target
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers

if TYPE_CHECKING:
    from schemalint.deploy.request import Deployment
    from schemalint.project.config import Cosmetic
    from schemalint.project.config.trust import Trusted
    from schemalint.tables.catalog import Catalog


@frozen
class DeployOptions:
    """The options of a deployment; see `DeployInput` for those that are not described here.

    Attributes:
        target: The name of the target; None for the only one.
        head: The side that the contracts are read from: ``worktree`` or a revision.
        after: The deploy log of the target before this one.
        base: The revision applied last, or ``none``, for tables without a marker.
        allow_local_plugins: Whether to run the rule files of the configuration.
        fetch: Whether to fetch history that this clone lacks.
    """

    tables: tuple[str, ...] = ()
    target: str | None = None
    head: str = "HEAD"
    after: str | None = None
    base: str | None = None
    allow: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    allow_older: bool = False
    repair_drift: bool = False
    reorder: bool = False
    cosmetic: Cosmetic | None = None
    require_streams: bool = False
    allow_local_plugins: bool = False
    fetch: bool = False


def prepare_requested(
    repository: git.Repository,
    settings: Trusted,
    options: DeployOptions,
    *,
    via: Catalog | None,
    applies: bool = False,
    workers: TableWorkers = SIDE_BY_SIDE,
) -> Deployment:
    """Plan the requested tables; with `fetch`, a second time with the history that was missing.

    Raises:
        SchemalintError: See `prepare`; or an option is invalid.
    """
    local = settings.rule_files(repository) if options.allow_local_plugins else None
    target = choose_target(settings, options.target)
    request = DeployInput(
        repository=repository,
        settings=settings,
        target=target,
        after=None if options.after is None else read_deploy_log(options.after, target, settings.targets),
        head=git.find_head(repository, options.head, os.environ),
        rules=rules_for_apply(settings.config, local),
        tables=options.tables,
        allow=frozenset(options.allow),
        approved=require_hashes(options.approved),
        allow_older=options.allow_older,
        repair_drift=options.repair_drift,
        base=git.retry_with_fetch(
            repository, lambda: resolved_base(repository, options.base), fetch=options.fetch
        ),
        reorder=options.reorder,
        cosmetic=options.cosmetic,
        require_streams=options.require_streams,
        applies=applies,
        via=via,
        local=local,
        workers=workers,
    )
    deployment = prepare(request)
    errors = [unplanned.error for unplanned in deployment.unplanned]
    commands = {error.command for error in errors if isinstance(error, git.MissingHistoryError)} - {()}
    if not (options.fetch and commands):
        return deployment
    for command in sorted(commands):
        git.fetch_missing(repository, command)
    return prepare(request)
