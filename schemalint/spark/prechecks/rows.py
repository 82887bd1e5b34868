"""Whether the rows of a table meet the constraints that its plan adds, as the steps before leave them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from schemalint.base.errors import ApplyError
from schemalint.base.phrases import counted
from schemalint.base.values import frozen
from schemalint.delta import change
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import field_at
from schemalint.delta.fill_expressions import fill_fault
from schemalint.delta.sql_text import always_quoted
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.model.table_plan import Fill, Step, StepKind, TablePlan
from schemalint.planner.fills.values import fill_value
from schemalint.planner.rewrites.statements import converted_columns
from schemalint.planner.simulate import simulate
from schemalint.spark.shown_value import SAMPLE, shown_value
from schemalint.spark.statements import SqlSession, StatementError, ask


def require_clean(session: SqlSession, plan: TablePlan, table: str) -> None:
    """Refuse a table with rows that violate a constraint of its plan.

    NULL counts as a violation: Delta refuses it too, unlike standard SQL (measured on Delta 4.4.0). If the
    live table cannot answer the query, or the constraint must not run over rows (BF001), Delta alone checks
    the rows, when it adds the constraint.

    Raises:
        ApplyError: There are such rows; the message has their number, and some of them.
    """
    problems = [
        problem for query in _constraint_queries(plan, table) if (problem := _violations(session, query))
    ]
    if problems:
        raise ApplyError(
            f"{plan.table} has rows that violate declared constraints: {'; '.join(problems)}",
            help="the message shows data of the table: correct these rows, or change the constraints",
        )


@frozen
class _ConstraintQuery:
    """A query for the rows that violate a constraint.

    Attributes:
        name: The constraint's name.
        expression: The constraint's condition.
        source: A subquery for the rows as the plan's previous steps leave them, its fills among them.
        columns: The columns to show, as written in the expression.
    """

    name: str
    expression: str
    source: str
    columns: tuple[str, ...]

    @property
    def violating(self) -> str:
        """The query from the keyword FROM on."""
        return f"FROM ({self.source}) WHERE NOT coalesce(({self.expression}), false)"


def _constraint_queries(plan: TablePlan, table: str) -> Iterator[_ConstraintQuery]:
    """Yield a query for each new or changed constraint of a table."""
    if plan.live is None:
        return
    for index, step in enumerate(plan.steps):
        added = step.changes[0] if step.kind is StepKind.ADD_CONSTRAINT else None
        if not isinstance(added, change.ConstraintChanged):
            continue
        used = columns_used(str(added.new))
        if used is None or plan.live.constraints.get(added.name) == added.new:
            continue
        if fill_fault(str(added.new)) is not None:
            continue
        names = tuple(dict.fromkeys(column[0].lower() for column in sorted(used)))
        source = _source(plan, plan.steps[:index], table, names, step.fills)
        if source is not None:
            yield _ConstraintQuery(added.name, str(added.new), source, names)


def _source(
    plan: TablePlan, steps: Sequence[Step], table: str, names: tuple[str, ...], fills: Sequence[Fill]
) -> str | None:
    """Return a query for the columns as the steps leave them, and as the fills do, whether they run or wait.

    Return None if no query can express them: the steps change the nested fields of a column, or rename what
    fills it.
    """
    live = plan.live
    if live is None:
        return None
    origins: dict[str, str | None] = {field.name.lower(): field.name for field in live.columns.fields}
    with_nested_changes: set[str] = set()
    rewritten: dict[str, str] = {}
    for step in steps:
        if step.rewrite is not None:  # it comes first, and its columns keep their names
            if step.rewrite.time_zone is not None:
                return None
            rewritten = converted_columns(step.rewrite)
            continue
        for step_change in step.changes:
            _follow(step_change, origins, with_nested_changes)
    goal = simulate(live, steps).columns
    texts = []
    for name in names:
        field = goal.get(name)
        if field is None or name in with_nested_changes or name not in origins:
            return None
        origin = origins[name]
        value = "NULL" if origin is None else rewritten.get(origin, always_quoted(origin))
        live_field = live.columns.get(origin) if origin is not None else None
        if fill := _fill_of((origin or name).lower(), fills):
            if not _evaluates(fill, live, origins):
                return None
            filled = fill_value(fill)
            value = f"coalesce({value}, if(({filled.counts}) AND {filled.converts}, {filled.value}, NULL))"
        if live_field is None or print_type(live_field.type) != print_type(field.type):
            value = f"CAST({value} AS {print_type(field.type)})"
        texts.append(f"{value} AS {always_quoted(field.name)}")
    return f"SELECT {', '.join(texts) or '1'} FROM {table}"  # noqa: S608 (all names are quoted)


def _fill_of(name: str, fills: Iterable[Fill]) -> Fill | None:
    """Return the fill of a column, or of a field in it."""
    return next((fill for fill in fills if str(fill.column[0]).lower() == name), None)


def _evaluates(fill: Fill, live: TableState, origins: Mapping[str, str | None]) -> bool:
    """Whether the live table has all that fills a column, under the names that the fill uses."""
    used = (fill.source, *(columns_used(fill.expression) or ()))
    names = [str(path[0]).lower() for path in used]
    return (
        len(fill.column) == 1
        and all(field_at(live.columns, path) is not None for path in used)
        and all((origins.get(name, name) or "").lower() == name for name in names)
    )


def _follow(
    step_change: change.Change, origins: dict[str, str | None], with_nested_changes: set[str]
) -> None:
    """Update the live column that each column comes from (None: new), and those with nested changes."""
    if not isinstance(step_change, change.FieldAdded | change.FieldRemoved | change.FieldRenamed):
        return
    name = str(step_change.path[0]).lower()
    match step_change:
        case change.FieldAdded(path=(_,)):
            origins[name] = None
        case change.FieldRemoved(path=(_,)):
            origins.pop(name, None)
        case change.FieldRenamed(path=(_,), old_name=old):
            origins[name] = origins.pop(old.lower(), None)
            if old.lower() in with_nested_changes:
                with_nested_changes.remove(old.lower())
                with_nested_changes.add(name)
        case _:
            with_nested_changes.add(name)


def _violations(session: SqlSession, query: _ConstraintQuery) -> str:
    """Count the violating rows and show some; empty if there are none, or if the engine refuses the query."""
    try:
        ((number,),) = ask(session, f"SELECT count(*) {query.violating}")
        if not number:
            return ""
        columns = ", ".join(map(always_quoted, query.columns)) or "1"
        rows = ask(session, f"SELECT {columns} {query.violating} LIMIT {SAMPLE}")
    except StatementError:
        return ""
    sample = " | ".join(_row(row.asDict()) for row in rows)
    return f"{counted(number, 'row')} against {query.name} ({sample})"


def _row(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {shown_value(value)}" for name, value in values.items())
