"""Act on what a check says: refuse, warn or say nothing; see `guard`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final, Literal, TypeAlias

from schemalint.base.printable import terminal_text
from schemalint.guard.check import LOG, SECONDS, check_write
from schemalint.guard.contracts import Contracts
from schemalint.guard.result import GuardResult, WriteRefused, unknown
from schemalint.guard.session import Session

Action: TypeAlias = Literal["refuse", "warn", "off"]

SWITCH: Final = "SCHEMALINT_GUARD"
CONF: Final = "spark.schemalint.guard"
_ACTIONS: Final = ("refuse", "warn", "off")

_logged: set[tuple[str, str]] = set()
_lock: Final = Lock()


def guard(  # noqa: PLR0913 (as `check_write`)
    df: Any,  # noqa: ANN401 (a DataFrame of any Spark)
    table: str,
    *,
    contracts: Contracts,
    save_mode: str = "append",
    method: str = "saveAsTable",
    options: Mapping[str, object] | None = None,
    partition_by: tuple[str, ...] | list[str] = (),
    session: Session = None,
    seconds: float = SECONDS,
    action: Action = "refuse",
    unknown: Literal["warn", "refuse"] = "warn",
) -> GuardResult:
    """Check a write with `check_write`, and refuse or warn by its outcome.

    The environment variable ``SCHEMALINT_GUARD`` decides in place of `action`, else the session's setting
    ``spark.schemalint.guard``: ``refuse``, ``warn`` or ``off``.

    Args:
        df: As for `check_write`, and so are the other arguments that it has.
        table: The table.
        contracts: The contracts.
        save_mode: The save mode.
        method: The method of the writer.
        options: The options of the writer.
        partition_by: What the writer partitions by.
        session: The session.
        seconds: How long the table's store may take.
        action: What becomes of a refused write: ``refuse``, ``warn`` or ``off``, which checks nothing.
        unknown: What becomes of a write of which nobody knows what it does.

    Raises:
        WriteRefused: The write is refused, and `action` says so.
    """
    session = session or getattr(df, "sparkSession", None)
    decided = switched(action, session)
    if decided == "off":
        return _off(table)
    result = check_write(
        df,
        table,
        contracts=contracts,
        save_mode=save_mode,
        method=method,
        options=options,
        partition_by=partition_by,
        session=session,
        seconds=seconds,
    )
    act(result, decided, unknown)
    return result


def act(result: GuardResult, action: Action = "refuse", unknown: Literal["warn", "refuse"] = "warn") -> None:
    """Refuse or warn by the outcome of a check: of `check_sql` and `check_arrow` too.

    Raises:
        WriteRefused: The write is refused, and `action` says so.
    """
    if action == "off" or (result.outcome == "allowed" and not result.findings):
        return
    refuses = result.outcome == "refused" or (result.outcome == "unknown" and unknown == "refuse")
    if refuses and action == "refuse":
        raise WriteRefused(result)
    level = LOG.info if result.outcome == "allowed" else LOG.warning
    level("%s", terminal_text([str(result)]).rstrip("\n"))


def switched(action: Action, session: Session = None) -> Action:
    """Return the action that counts: of the environment, else of the session, else the given one."""
    for source, value in ((SWITCH, os.environ.get(SWITCH)), (CONF, _setting(session))):
        if value is None:
            continue
        chosen = value.strip().lower()
        if chosen not in _ACTIONS:
            _log_once(source, value, f"{source} is neither refuse nor warn nor off: {action} stays")
            continue
        _log_once(source, value, f"{source} switches the guard: {chosen} in place of {action}")
        return next(known for known in _ACTIONS if known == chosen)
    return action


def _setting(session: Session) -> str | None:
    try:
        value = session.conf.get(CONF, None)
    except Exception:  # noqa: BLE001 (no session, or one of another kind)
        return None
    return None if value is None else str(value)


def _log_once(source: str, value: str, text: str) -> None:
    with _lock:
        if (source, value) in _logged:
            return
        _logged.add((source, value))
    LOG.warning("%s", terminal_text([f"schemalint: {text}"]).rstrip("\n"))


def _off(table: str) -> GuardResult:
    return unknown("the guard is switched off", table)
