"""What waits for the rows of a fill: the drop of the old column, and new constraints on the filled one.

A drop proves that no value is lost: at the newest version before it, and again by time travel at the version
right before it, because DROP COLUMN does not conflict with an append (measured on Delta 4.4.0). A run that
was killed between the two leaves the second proof to the next run, which writes no marker before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from schemalint.base.errors import ApplyError, SchemalintError, UnfilledError
from schemalint.base.phrases import plural
from schemalint.base.values import frozen
from schemalint.delta.change import subject_name
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import Struct, field_at, walk_fields
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.table import History, LiveTable
from schemalint.model.table_plan import DropToProve, Fill, Step
from schemalint.spark.fills.fill import Rows, TableFills
from schemalint.spark.statements import ATTEMPTS, ask, pause

_MOST_NAMED: Final = 5
_WAYS_OUT: Final = {
    "to fill": "apply with --allow data",
    "not converted": "correct the values, or say in `backfill` that they may be lost: `unfilled: keep_null`",
    "inexact": "say in `backfill` that the other values will do: `inexact: keep_converted`",
    "differing": "say in `backfill` which value is the truth: `differing: keep_new` or `differing: refill`",
}
"""What can be done about each kind of rows of `Rows.in_the_way`."""

_ACCEPT: Final = "take `backfill` out of the contract; put it back before if it was out when the column went"


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
        if (rows := fills.count(fill, live.version).to_fill)
    ]
    if left:
        names = ", ".join(map(subject_name, step.changes))
        raise UnfilledError(
            f"{table}: {names} waits for rows to fill: {', '.join(left)}",
            help="apply again with --allow data",
        )


def guarded_drop(fills: TableFills, step: Step, table: str, drop: Callable[[], None]) -> str:
    """Drop columns only if no row loses a value, and tell if one has nevertheless.

    Returns:
        The counts, one sentence for each fill.

    Raises:
        ApplyError: Rows would lose values, or have.
    """
    counted, text = _require_proof(fills, step.fills, table)
    drop()
    _prove_last_drop(fills, step.fills, table, counted)
    return text


def prove_drops(fills: TableFills, steps: Iterable[Step], table: str, since: int) -> None:
    """Prove the drops of a plan that this run has not proved: another run made them, or an answer was lost.

    Raises:
        ApplyError: A drop took values along, or nobody can read whether it did.
    """
    for fill in [fill for step in steps for fill in step.fills]:
        dropped = _dropped_in(fills.read().history_since(since), fill.source)
        if dropped is None:
            raise _unreadable(table, format_path(fill.source), "its commit is not in the log")
        _require_nothing_lost(fills, fill, table, dropped)


def prove_past_drops(fills: TableFills, drops: Iterable[DropToProve], table: str) -> None:
    """Prove the drops of earlier runs, or of others, that no run has proved.

    Raises:
        ApplyError: A drop took values along, or nobody can read whether it did.
    """
    for drop in drops:
        live = fills.read()
        if field_at(live.state.columns, drop.backfill.source) is not None:
            continue
        dropped = _dropped_in(live.history_since(0), drop.backfill.source)
        if dropped is None:
            if live.history_since(0).known_from == 0:
                continue  # the table never had the column
            raise _unreadable(table, format_path(drop.backfill.source), "its commit is no longer in the log")
        fill = _fill_before(drop, dropped, live)
        if fill is None:
            name = format_path(drop.column)
            raise _unreadable(table, format_path(drop.backfill.source), f"there was no {name} before it")
        _require_nothing_lost(fills, fill, table, dropped)


@frozen
class _Dropped:
    """The commit that dropped a column, and the columns before and after it."""

    version: int
    before: Struct
    after: Struct


def _require_proof(fills: TableFills, all_fills: Sequence[Fill], table: str) -> tuple[int, str]:
    """Require that no row would lose a value; return the newest version, and its counts as text."""
    for attempt in range(1, ATTEMPTS + 1):
        live = fills.read()
        version, columns = live.version, live.state.columns
        counts = [(fill, fills.proved_count(fill, version, columns)) for fill in all_fills]
        if lost := _lost(counts):
            # What converts only waits for its fill.
            waits = all(set(rows.in_the_way(fill)) <= {f"{rows.to_fill:,} to fill"} for fill, rows in counts)
            raise (UnfilledError if waits else ApplyError)(
                f"{table}: nothing was dropped: values of version {version} would be lost: {lost}",
                help=ways_out(counts),
            )
        if fills.read().version == version:
            return version, "; ".join(
                f"{format_path(fill.column)}: proved at version {version}: {rows.text()}"
                for fill, rows in counts
            )
        pause(attempt)
    raise ApplyError(
        f"{table}: nothing was dropped: other writers commit after each count of the rows",
        help="pause them, and apply again",
    )


def ways_out(counts: Iterable[tuple[Fill, Rows]]) -> str:
    """Return what can be done about the rows that keep a source from being dropped, and about no others."""
    kinds = {text.partition(" ")[2] for fill, rows in counts for text in rows.in_the_way(fill)}
    return "; ".join(way for kind, way in _WAYS_OUT.items() if kind in kinds)


def _lost(counts: Iterable[tuple[Fill, Rows]]) -> str:
    return "; ".join(
        f"{', '.join(kinds)} of {' and '.join(map(format_path, fill.sources))}"
        for fill, rows in counts
        if (kinds := rows.in_the_way(fill))
    )


def _prove_last_drop(fills: TableFills, all_fills: Sequence[Fill], table: str, counted: int) -> None:
    """Prove the drop that has just run at the version right before it, unless that was counted."""
    live = fills.read()
    if live.version == counted + 1:
        return
    for fill in all_fills:
        dropped = _dropped_in(live.history_since(counted), fill.source)
        if dropped is None:
            raise _unreadable(table, format_path(fill.source), "its commit is not in the log")
        if dropped.version > counted + 1:
            _require_nothing_lost(fills, fill, table, dropped)


def _require_nothing_lost(fills: TableFills, fill: Fill, table: str, drop: _Dropped) -> None:
    """Require that a drop took no value along, which is gone from the newest version.

    Nothing restores itself: that would remove the commits of others.
    """
    dropped, before = drop.version, drop.version - 1
    try:
        counts = [(fill, fills.proved_count(fill, before, drop.before))]
    except SchemalintError as error:
        why = f"version {before} cannot be read: {error.message}"
        raise _unreadable(table, format_path(fill.source), why) from None
    if not (lost := _lost(counts)):
        return
    raise ApplyError(
        f"{table}: values were lost with the drop at version {dropped}: version {before} had {lost}",
        help=f"RESTORE TABLE {fills.table} TO VERSION AS OF {before} brings them back, and undoes "
        f"{undone_by_restore(fills, before)}; or accept the loss: {_ACCEPT}",
    )


def undone_by_restore(fills: TableFills, version: int) -> str:
    """Name the commits that a RESTORE to a version would undo, DELETEs by name."""
    history = ask(fills.session, f"DESCRIBE HISTORY {fills.table}")
    later = sorted((row["version"], row["operation"]) for row in history if row["version"] > version)
    deletes = [number for number, operation in later if operation == "DELETE"]
    named = [f"{number} ({operation})" for number, operation in later]
    if len(named) > _MOST_NAMED:
        more = [f"{number} (DELETE)" for number in deletes if f"{number} (DELETE)" not in named[:_MOST_NAMED]]
        named = [*named[:_MOST_NAMED], *more, f"{len(named) - _MOST_NAMED - len(more):,} more"]
    what = plural(len(later), "commit")
    warning = ": rows that were deleted come back" if deletes else ""
    return f"{what} {', '.join(named)}{warning}"


def _unreadable(table: str, columns: str, why: str) -> ApplyError:
    return ApplyError(
        f"{table}: {columns} is gone, and nobody can prove that no value went with it: {why}",
        help=f"compare the values yourself; then accept the loss: {_ACCEPT}",
    )


def _dropped_in(history: History, source: Path) -> _Dropped | None:
    """Return the newest commit that dropped a column; None if the history has none."""
    found, before = None, None
    for entry in history.entries:
        if entry.metadata is None:
            continue
        after = entry.metadata.state.columns
        if before is not None and _is_dropped(source, before, after):
            found = _Dropped(entry.version, before, after)
        before = after
    return found


def _is_dropped(source: Path, before: Struct, after: Struct) -> bool:
    """Whether a column is gone; one with another name is not, as long as its id tells that."""
    field = field_at(before, source)
    if field is None or field_at(after, source) is not None:
        return False
    return field.column_id is None or field.column_id not in {
        other.column_id for _path, other in walk_fields(after)
    }


def _fill_before(drop: DropToProve, dropped: _Dropped, live: LiveTable) -> Fill | None:
    """Return the fill under the names right before the drop; None if its column was not there."""
    column = _before(drop.column, live.state.columns, dropped.before)
    field = field_at(dropped.before, column) if column is not None else None
    if column is None or field is None:
        return None
    backfill = drop.backfill
    used = sorted(columns_used(backfill.expression) or ())
    gone = tuple(
        names
        for names in used
        if lowercased(names) != lowercased(backfill.source)
        and _is_dropped(names, dropped.before, dropped.after)
    )
    return Fill(
        column,
        field.type,
        backfill.source,
        backfill.expression,
        dropped.before,
        gone,
        backfill.ways_out,
        backfill.time_zone,
    )


def _before(path: Path, now: Struct, before: Struct) -> Path | None:
    """Return the path that a column had: the one with its id, else the one with its name."""
    field = field_at(now, path)
    if field is not None and field.column_id is not None:
        for old_path, old in walk_fields(before):
            if old.column_id == field.column_id:
                return old_path
    return path if field_at(before, path) is not None else None
