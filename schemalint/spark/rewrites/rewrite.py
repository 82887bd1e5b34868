"""Write a table anew from its own rows, in one commit, and prove that nothing else changed.

Only the statement decides: a value that must not be written ends it without a commit. It is run once, or as
often as the user says, where a commit of somebody else makes it fail without effect. Afterwards the rows of
the version before are compared with those of the commit, by a run that was not killed meanwhile, or by the
next one, before any marker is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from schemalint.base.errors import ApplyError
from schemalint.base.values import replace
from schemalint.delta.change import FieldAdded
from schemalint.delta.datatype import Field, Struct
from schemalint.delta.diff import diff
from schemalint.delta.fill_expressions import fill_fault
from schemalint.delta.path import format_path, lowercased
from schemalint.delta.sql_text import always_quoted
from schemalint.delta.table import LiveTable, TableState
from schemalint.model.rewrite import Rewrites, bare_type_at
from schemalint.model.table_plan import Fill, Step, TablePlan, TableRewrite
from schemalint.planner.fills.values import fill_value
from schemalint.planner.rewrites.statements import FAILED, digest_after, digest_before
from schemalint.planner.rewrites.steps import (
    MetadataCommit,
    metadata_commits,
    table_rewrite,
    unplanned_changes,
)
from schemalint.planner.simulate import describe_change
from schemalint.planner.statements import path_text
from schemalint.spark.fills.fill import Rows, TableFills
from schemalint.spark.fills.guard import undone_by_restore
from schemalint.spark.shown_value import SAMPLE, shown_value
from schemalint.spark.statements import StatementError, ask

# Other errors quote the query: only these words before the message say that a row raised it.
_RAISED: Final = r"(?:RuntimeException[:)]|USER_RAISED_EXCEPTION\]) "
_VALUE: Final = re.compile(
    rf"{_RAISED}{FAILED} (a value of .+? (?:does not convert|would become another value))"
)
_WAYS_OUT: Final = (
    "correct the values, or say in `rewrite` what may be lost: `unfilled: keep_null`, or "
    "`inexact: keep_converted`; --samples shows some"
)


def rewrite_table(fills: TableFills, step: Step, rewrite: TableRewrite, plan: TablePlan) -> str:
    """Write a table anew, and return what became of its rows, as a sentence.

    Raises:
        StatementError: A commit of somebody else came first, or the engine refuses the write.
        ApplyError: A value must not be written: nothing was. Or rows changed that must not: then they have.
    """
    live = fills.read()
    counted = count_values(fills, rewrite, live, plan.table)
    with fills.in_zone(rewrite.time_zone):
        overwrite(fills, step, rewrite, plan)
    own = _own_commit(fills, rewrite, live.version, plan.table)
    prove_rewrite(fills, rewrite, own, plan.table)
    return f"{counted}; compared with the version before: no other value changed"


def prove_past_rewrites(fills: TableFills, rewrites: Rewrites, table: str) -> None:
    """Prove the rewrites of earlier runs, or of others, that no run has proved.

    Raises:
        ApplyError: Rows changed that must not, or nobody can read whether they have.
    """
    live = fills.read()
    left = rewrites.made(live.state)
    if not left:
        return
    history = live.history_since(0)
    found: tuple[MetadataCommit, TableRewrite] | None = None
    for commit in metadata_commits(history):
        before, after = commit.before.state, commit.after.state
        if due := left.due(before, after):
            _require_readable(due, before, after, table)
            found = commit, table_rewrite(due, before, after)
    if found is not None:
        commit, rewrite = found
        if commit.replaces:
            # Its constraints are added by statements after it.
            commit = replace(commit, after=live.metadata, features_after=live.protocol.features)
            fills.note(f"version {commit.version} replaced the table: streams need a new checkpoint")
        prove_rewrite(fills, rewrite, commit, table)
    elif history.known_from != 0:
        raise _unreadable(table, "its commit is no longer in the log")


def _require_readable(rewrites: Rewrites, before: TableState, after: TableState, table: str) -> None:
    """Require that a commit left the columns there, and that the expressions read those that it met."""
    for path, rewrite in rewrites.columns.items():
        if bare_type_at(after, path) is None:
            raise _unreadable(table, f"{format_path(path)} was dropped, and added again")
        if fault := fill_fault(rewrite.expression, before.columns):
            raise _unreadable(table, f"the expression of {format_path(path)} {fault.what}")


def prove_rewrite(fills: TableFills, rewrite: TableRewrite, commit: MetadataCommit, table: str) -> None:
    """Prove that a commit wrote each row with its new values, and changed nothing else.

    Nothing restores itself: that would remove the commits of others.

    Raises:
        ApplyError: Rows differ or the metadata does, or a version cannot be read.
    """
    version = commit.version
    differences = [*unplanned_changes(rewrite, commit)]
    if _names(rewrite.before) != _names(rewrite.after):
        raise _changed(fills, version, differences, table)
    before, after = (
        digest_before(fills.table, rewrite, version - 1),
        digest_after(fills.table, rewrite, commit.rows_at),
    )
    try:
        with fills.in_zone(rewrite.time_zone):
            (old,), (new,) = ask(fills.session, before.query), ask(fills.session, after.query)
    except StatementError as error:
        raise _unreadable(table, error.message) from None
    names = ("the number of rows", *(f"the nulls of {name}" for name in after.columns), "the values of rows")
    differences += [
        f"{name}: {one} before, {other} after" if number < len(names) - 1 else name
        for number, (name, one, other) in enumerate(zip(names, old, new, strict=True))
        if one != other
    ]
    if differences:
        raise _changed(fills, version, differences, table)


def _names(columns: Struct) -> list[str]:
    return [field.name.lower() for field in columns.fields]


def _changed(fills: TableFills, version: int, differences: Iterable[str], table: str) -> ApplyError:
    return ApplyError(
        f"{table}: the rewrite at version {version} changed what it must not: {'; '.join(differences)}",
        help=f"RESTORE TABLE {fills.table} TO VERSION AS OF {version - 1} takes it back, and undoes "
        f"{undone_by_restore(fills, version - 1)}; or accept it: take `rewrite` out of the contract",
    )


def count_values(fills: TableFills, rewrite: TableRewrite, live: LiveTable, table: str) -> str:
    """Count the values that convert; require that the session sees all rows of the table.

    Raises:
        ApplyError: It does not, or the statement would end at a value.
    """
    if not rewrite.values:
        fills.require_all_rows(live.version, live.state.columns)
        return f"version {live.version}: all rows are seen"
    counts = [
        (value, fills.proved_count(value, live.version, live.state.columns, has_column=False))
        for value in rewrite.values
    ]
    if wrong := "; ".join(text for value, rows in counts if (text := _in_the_way(value, rows))):
        for value, rows in counts:
            if fills.limits.samples and rows.not_converted:
                _show_samples(fills, value, live.version)
        raise ApplyError(f"{table}: nothing was rewritten: {wrong} at version {live.version}", help=_WAYS_OUT)
    return "; ".join(f"{format_path(value.column)}: {rows.rewritten_text()}" for value, rows in counts)


def _show_samples(fills: TableFills, value: Fill, version: int) -> None:
    """Show some values that do not convert, to nobody but the operator."""
    texts, column = fill_value(value), path_text(value.column)
    query = f"SELECT DISTINCT CAST({column} AS string) FROM {fills.table} VERSION AS OF {version}"  # noqa: S608 (all names are quoted)
    left = f"{column} IS NOT NULL AND NOT ({texts.converts})"
    with fills.in_zone(value.time_zone):
        rows = ask(fills.session, f"{query} WHERE {left} LIMIT {SAMPLE}")
    shown = ", ".join(shown_value(text) for (text,) in rows)
    fills.sample(f"{format_path(value.column)}: some values that do not convert: {shown}")


def _in_the_way(value: Fill, rows: Rows) -> str:
    kinds = (
        (rows.not_converted, "do not convert", value.ways_out.keeps_null),
        (rows.inexact, "would become another value", value.ways_out.keeps_converted),
    )
    wrong = [f"{number:,} {kind}" for number, kind, may in kinds if number and not may]
    if wrong:
        return f"of the values of {format_path(value.column)} {', '.join(wrong)}"
    return ""


def overwrite(fills: TableFills, step: Step, rewrite: TableRewrite, plan: TablePlan) -> None:
    """Write the rows of the step's query back, in one commit or in none.

    Delta writes the columns of the query without an error if the table has more of them by then, which are
    lost with their values (measured on Delta 3.3.2, 4.0.1 and 4.4.0). So they are read again in the last
    moment. No form of the query closes what is left: a star has the columns of its analysis too (measured on
    the same), and ``TahoeFileIndex.getSnapshot`` accepts a snapshot with more. `prove_rewrite` tells it, from
    the commit before.

    Spark 3.5 overwrites no table by `saveAsTable` (measured on Delta 3.3.2), and a catalog may allow no write
    by path.
    """
    try:
        frame = fills.session.sql(step.sql)
        made = frame.select([_column(frame, field, rewrite) for field in rewrite.before.fields])
        writer = made.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        writer = writer.option("partitionOverwriteMode", "static")
        if rewrite.partitioned_by:
            writer = writer.partitionBy(*rewrite.partitioned_by)
        require_no_more_columns(fills, rewrite, plan.table)
        if plan.name is None:
            writer.save(plan.uri)
        else:
            writer.saveAsTable(fills.table)
    except ApplyError:
        raise
    except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
        if (found := _VALUE.search(str(error))) is not None:
            raise ApplyError(f"{plan.table}: nothing was rewritten: {found[1]}", help=_WAYS_OUT) from None
        raise StatementError(error, step.sql) from None


def require_no_more_columns(fills: TableFills, rewrite: TableRewrite, table: str) -> None:
    """Require that the table has no other columns than those that a rewrite reads.

    Raises:
        ApplyError: It has: nothing was rewritten.
    """
    changes = diff(TableState(rewrite.before), TableState(fills.read().state.columns))
    if added := [change for change in changes if isinstance(change, FieldAdded)]:
        raise ApplyError(
            f"{table}: nothing was rewritten: it changed since it was planned: "
            f"{'; '.join(map(describe_change, added))}",
            help="plan again",
        )


def _column(frame: Any, field: Field, rewrite: TableRewrite) -> Any:  # noqa: ANN401 (pyspark's columns)
    """Return a column to write; the comment of one that is made anew is stated again."""
    column = frame[always_quoted(field.name)]
    is_made = any(lowercased(value.column[:1]) == (field.name.lower(),) for value in rewrite.values)
    if not is_made or not isinstance(field.comment, str):
        return column
    return column.alias(field.name, metadata={"comment": field.comment})


def _own_commit(fills: TableFills, rewrite: TableRewrite, since: int, table: str) -> MetadataCommit:
    """Return the commit that has just written the table anew."""
    after = TableState(rewrite.after)
    paths = [value.column for value in rewrite.values]
    for commit in metadata_commits(fills.read().history_since(since)):
        if commit.version > since:
            state = commit.after.state
            is_after = all(bare_type_at(state, path) == bare_type_at(after, path) for path in paths)
            if is_after and (state.partitioned_by or ()) == rewrite.partitioned_by:
                return commit
    raise _unreadable(table, "its commit is not in the log")


def _unreadable(table: str, why: str) -> ApplyError:
    return ApplyError(
        f"{table}: it was rewritten, and nobody can prove that nothing else changed: {why}",
        help="compare the rows yourself; then take `rewrite` out of the contract, which accepts the table",
    )
