"""Refuse a session whose log store would overwrite the commits of other writers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from schemalint.base.errors import ApplyError
from schemalint.base.phrases import first_of
from schemalint.delta.log_store import log_store_on_s3
from schemalint.delta.path import format_path, split_path
from schemalint.deploy.several_writers import fault, remedy, tables_at_risk
from schemalint.model.table_plan import TablePlan
from schemalint.planner.statements import named_table
from schemalint.project.config.trust import SESSION_CATALOG, TrustedTarget
from schemalint.spark.session import sibling_sessions
from schemalint.spark.session_engine import is_databricks
from schemalint.spark.statements import SqlSession, StatementError, ask

_UNDEFINED: Final = "<undefined>"
_MULTI_CLUSTER: Final = "spark.databricks.delta.multiClusterWrites.enabled"


def require_shared_log_store(session: SqlSession, plans: Sequence[TablePlan], target: TrustedTarget) -> None:
    """Require a log store with which other writers lose no commit to this session, nor it to them.

    Raises:
        ApplyError: A plan commits to a table in S3, the log store is not known to be safe for that, and the
            target does not say that there is one writer only.
    """
    at_risk = tables_at_risk(plans, target, lambda plan: _location(session, plan))
    if not at_risk or _is_databricks(session):
        return
    setting = _settings_of_application(session)
    for scheme, tables in at_risk.items():
        why = fault(log_store_on_s3(scheme, setting))
        if why is not None:
            raise ApplyError(
                f"{first_of(tables, 1)}: other writers could lose commits in S3, or this run could: {why}",
                help=remedy(scheme, target.name),
            )


def _location(session: SqlSession, plan: TablePlan) -> str:
    """Return where a table is; one that the session's own catalog creates is in the folder of its schema."""
    if plan.name is None or plan.live is not None:
        return plan.uri
    schema = split_path(plan.name)[:-1]
    if schema[0] == SESSION_CATALOG:
        with suppress(StatementError):
            details = ask(session, f"DESCRIBE NAMESPACE {named_table(format_path(schema))}")
            return next((str(value) for name, value, *_ in details if name == "Location"), plan.uri)
    return plan.uri


def _settings_of_application(session: SqlSession) -> Callable[[str], str | None]:
    """Return a function for the settings with which the application started.

    Delta asks these alone for its log store (``SparkEnv.get.conf``), whatever a session sets. ``SET`` and
    even a new session show options of a builder that found a running SparkContext (measured on Spark 4.2.0).
    In Connect there is only SQL: RESET gives a setting the value that it has in the server.
    """
    try:
        conf = session.sparkContext.getConf()  # type: ignore[attr-defined]  # classic sessions have it
    except Exception:  # noqa: BLE001 (Connect and shared clusters of Databricks raise various errors)
        return partial(_after_reset, sibling_sessions(session, 2)[0])
    return lambda key: conf.get(key, None)


def _after_reset(session: SqlSession, key: str) -> str | None:
    with suppress(StatementError):
        if (shown := _shown(session, key)) is None:
            return None
        ask(session, f"RESET {key}")
        value = _shown(session, key)
        session.conf.set(key, shown)
        return value
    return None


def _shown(session: SqlSession, key: str) -> str | None:
    ((_, value),) = ask(session, f"SET {key}")
    if value == _UNDEFINED:
        return None
    return str(value)


def _is_databricks(session: SqlSession) -> bool:
    """Whether the engine is a Databricks runtime that coordinates the commits of its clusters."""
    try:
        if not is_databricks(session):
            return False
        ask(session, "SELECT current_version().dbr_version")
        return (_shown(session, _MULTI_CLUSTER) or "true").lower() != "false"
    except StatementError:
        return False
