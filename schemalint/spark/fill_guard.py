"""What waits for the rows of a fill: the drop of the old column, and new constraints on the filled one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from schemalint.base.errors import ApplyError, UnfilledError
from schemalint.delta.change import subject_name
from schemalint.delta.datatype import field_at
from schemalint.delta.path import format_path
from schemalint.model.table_plan import Step
from schemalint.spark.fill import ATTEMPTS, TableFills
from schemalint.spark.session import ask

_FIRST_PAUSE_SECONDS: Final = 0.2
_DROP: Final = "DROP COLUMNS"


def require_no_rows_left(fills: TableFills, step: Step, table: str) -> None:
    """Require that no row waits for a value before a constraint judges it.

    Raises:
        UnfilledError: Rows are left to fill.
    """
    live = fills.read()
    # A drop of the old column has counted its rows.
    still = [fill for fill in step.fills if field_at(live.state.columns, fill.source) is not None]
    left = [
        f"{rows:,} of {format_path(fill.column)}"
        for fill in still
        if (rows := fills.count(fill, live.version).convertible)
    ]
    if left:
        names = ", ".join(map(subject_name, step.changes))
        raise UnfilledError(
            f"{table}: {names} waits for rows to fill: {', '.join(left)}",
            help="apply again with --allow data",
        )


def guarded_drop(fills: TableFills, step: Step, table: str, drop: Callable[[], None]) -> None:
    """Drop columns only if no row loses a value, and tell if one has nevertheless.

    The drop is between a count of the rows that would lose values and a look at what came meanwhile.

    DROP COLUMN does not conflict with an append (measured on Delta 4.4.0), so rows can come between.

    Args:
        fills: What counts rows.
        step: The step that drops the columns.
        table: The table's name in messages.
        drop: Runs the statement.

    Raises:
        ApplyError: Rows would lose values, or have.
    """
    counted = _require_filled(fills, step, table)
    drop()
    _require_none_between(fills, step, table, counted)


def _require_filled(fills: TableFills, step: Step, table: str) -> int:
    """Require that no row would lose a value; return the version of the count, the newest one."""
    for attempt in range(ATTEMPTS):
        version = fills.read().version
        counts = [(fill, fills.count(fill, version)) for fill in step.fills]
        if lost := [
            f"{rows.left(fill):,} of {format_path(fill.source)}" for fill, rows in counts if rows.left(fill)
        ]:
            # What converts only waits for its fill.
            waits = all(rows.left(fill) <= rows.convertible for fill, rows in counts)
            raise (UnfilledError if waits else ApplyError)(
                f"{table}: nothing was dropped: values of version {version} would be lost: {', '.join(lost)}",
                help="apply with --allow data, correct the values that do not convert, or give them up with "
                "`unfilled: keep_null` in `backfill`",
            )
        if fills.read().version == version:
            return version
        time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)
    raise ApplyError(
        f"{table}: nothing was dropped: other writers commit after each count of the rows",
        help="pause them, and apply again",
    )


def _require_none_between(fills: TableFills, step: Step, table: str, counted: int) -> None:
    newest = fills.read().version
    if newest == counted + 1:
        return
    history = ask(fills.session, f"DESCRIBE HISTORY {fills.table} LIMIT {newest - counted}")
    newer = sorted((row["version"], row["operation"]) for row in history if row["version"] > counted)
    dropped = next((version for version, operation in newer if operation == _DROP), newest)
    between = [f"{version} ({operation})" for version, operation in newer if version < dropped]
    if not between or not (lost := sum(fills.count(fill, dropped - 1).left(fill) for fill in step.fills)):
        return
    # Nothing restores itself: that would remove the commits of others.
    newest = max(newest, *(version for version, _operation in newer))
    removed = f"commits {dropped} to {newest}" if newest > dropped else f"commit {dropped}"
    raise ApplyError(
        f"{table}: {lost:,} values were lost: they came after the count at version {counted} and before the "
        f"drop at version {dropped}, in {', '.join(between)}",
        help=f"RESTORE TABLE {fills.table} TO VERSION AS OF {dropped - 1} brings them back, and removes "
        f"{removed}",
    )
