"""Tables whose commits another JVM may overwrite: those in S3, unless a catalog decides their commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from schemalint.base.phrases import first_of
from schemalint.delta.engine import DATABRICKS
from schemalint.delta.feature import CATALOG_MANAGED
from schemalint.delta.log_store import (
    DYNAMODB,
    S3_SCHEMES,
    SHARED_ON_S3,
    SINGLE_DRIVER,
    log_store_key,
    log_store_on_s3,
)
from schemalint.model.table_plan import TablePlan
from schemalint.project.config import SparkSettings
from schemalint.project.config.trust import TrustedTarget

_PACKAGE: Final = "io.delta:delta-storage-s3-dynamodb"


def tables_at_risk(
    plans: Sequence[TablePlan],
    target: TrustedTarget,
    location: Callable[[TablePlan], str] = lambda plan: plan.uri,
) -> Mapping[str, Sequence[str]]:
    """Return by scheme the tables in S3 to which plans commit, and whose commits no catalog decides.

    Args:
        plans: The plans of the tables.
        target: Their target; one with ``single_writer`` has none at risk.
        location: Returns where a table is or will be.
    """
    tables_by_scheme: dict[str, list[str]] = {}
    for plan in plans:
        if plan.refusals or not plan.has_work or target.single_writer or CATALOG_MANAGED in plan.features:
            continue
        scheme = location(plan).partition("://")[0].lower()
        if scheme in S3_SCHEMES:
            tables_by_scheme.setdefault(scheme, []).append(plan.table)
    return tables_by_scheme


def remedy(scheme: str, target: str) -> str:
    """Return what lets several writers share tables in S3, or says that there is only one."""
    return (
        f"start all writers with {log_store_key(scheme)}={DYNAMODB} ({_PACKAGE}, and one DynamoDB table), or "
        "let a catalog manage the commits; if nothing else writes to the tables while apply runs, set "
        f"single_writer = true under [targets.{target}]"
    )


def fault(log_store: str) -> str | None:
    """Return why several writers cannot share tables in S3 with a log store; None if they can."""
    if log_store in SHARED_ON_S3:
        return None
    if log_store == SINGLE_DRIVER:
        return f"{SINGLE_DRIVER}, Delta's default, locks within one JVM only"
    return f"it is not known whether several writers can share {log_store}"


def warnings(plans: Sequence[TablePlan], target: TrustedTarget, spark: SparkSettings) -> Iterator[str]:
    """Yield why `apply` will refuse tables in S3, as far as the configuration alone can tell.

    A Connect server, and the cluster of a Databricks runtime, have settings that it does not show.
    """
    if spark.remote is not None or (target.engine is not None and target.engine.name == DATABRICKS):
        return
    for scheme, tables in tables_at_risk(plans, target).items():
        why = fault(log_store_on_s3(scheme, spark.conf.get))
        if why is not None:
            yield (
                f"apply refuses {first_of(tables, 1)} unless its session has another log store for {scheme}: "
                f"{why}; {remedy(scheme, target.name)}"
            )
