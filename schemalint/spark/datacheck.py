"""Rows that would not let a constraint be added: asked for before a table's first statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from schemalint.delta import change
from schemalint.delta.expressions import columns_used
from schemalint.delta.sql_text import always_quoted
from schemalint.delta.type_text import print_type
from schemalint.errors import ApplyError
from schemalint.model.plan import Step, StepKind, TablePlan
from schemalint.planner.simulate import simulate
from schemalint.printable import visible
from schemalint.spark.session import SqlSession, StatementError, ask
from schemalint.values import frozen

SAMPLE: Final = 5
_LONGEST_VALUE: Final = 40


def require_clean(session: SqlSession, plan: TablePlan, table: str) -> None:
    """Refuse a table that has rows which a constraint of its plan forbids.

    A NULL counts as a violation: Delta refuses it too, unlike standard SQL (measured on Delta 4.4.0). What
    cannot be asked of the table as it is now, Delta asks when the constraint is added.

    Args:
        session: With Delta.
        plan: Of the table.
        table: As SQL names it.

    Raises:
        ApplyError: There are such rows: how many, and some of them.
    """
    problems = [problem for question in questions(plan, table) if (problem := _violations(session, question))]
    if problems:
        raise ApplyError(
            f"{plan.table} has rows that its declaration forbids: {'; '.join(problems)}",
            help="what is shown is data of the table: mend these rows, or declare what they are",
        )


@frozen
class Question:
    """Which rows violate a constraint.

    Attributes:
        source: A subquery that gives the rows as they are to become.
        columns: To be shown, as written in the expression.
    """

    name: str
    expression: str
    source: str
    columns: tuple[str, ...]

    @property
    def violating(self) -> str:
        """The rows, from the word FROM on."""
        return f"FROM ({self.source}) WHERE NOT coalesce(({self.expression}), false)"


def questions(plan: TablePlan, table: str) -> Iterator[Question]:
    """What is to be asked about each constraint that is new to a table, or says something else now."""
    if plan.live is None:
        return
    for place, step in enumerate(plan.steps):
        added = step.changes[0]
        if step.kind is not StepKind.ADD_CONSTRAINT or not isinstance(added, change.ConstraintChanged):
            continue
        used = columns_used(str(added.new))
        if used is None or plan.live.constraints.get(added.name) == added.new:
            continue
        names = tuple(dict.fromkeys(column[0].lower() for column in sorted(used)))
        source = _source(plan, plan.steps[:place], table, names)
        if source is not None:
            yield Question(added.name, str(added.new), source, names)


def _source(plan: TablePlan, steps: Sequence[Step], table: str, names: tuple[str, ...]) -> str | None:
    """A query for the columns as they will be; None if one of them will be something else inside."""
    live = plan.live
    if live is None:
        return None
    origins: dict[str, str | None] = {field.name.lower(): field.name for field in live.columns.fields}
    inside: set[str] = set()
    for one in (one for step in steps for one in step.changes):
        _follow(one, origins, inside)
    goal = simulate(live, steps).columns
    texts = []
    for name in names:
        field = goal.get(name)
        if field is None or name in inside or name not in origins:
            return None
        origin = origins[name]
        value = "NULL" if origin is None else always_quoted(origin)
        was = live.columns.get(origin) if origin is not None else None
        if was is None or print_type(was.type) != print_type(field.type):
            value = f"CAST({value} AS {print_type(field.type)})"
        texts.append(f"{value} AS {always_quoted(field.name)}")
    return f"SELECT {', '.join(texts) or '1'} FROM {table}"  # noqa: S608 (all names are quoted)


def _follow(one: change.Change, origins: dict[str, str | None], inside: set[str]) -> None:
    """Which live column each one comes from (None: from none), and those that change inside."""
    if not isinstance(one, change.FieldAdded | change.FieldRemoved | change.FieldRenamed):
        return
    name = str(one.path[0]).lower()
    match one:
        case change.FieldAdded(path=(_,)):
            origins[name] = None
        case change.FieldRemoved(path=(_,)):
            origins.pop(name, None)
        case change.FieldRenamed(path=(_,), old_name=old):
            origins[name] = origins.pop(old.lower(), None)
            if old.lower() in inside:
                inside.remove(old.lower())
                inside.add(name)
        case _:
            inside.add(name)


def _violations(session: SqlSession, question: Question) -> str:
    """How many rows there are, with some of them; empty for none, and where it cannot be asked."""
    try:
        ((number,),) = ask(session, f"SELECT count(*) {question.violating}")
        if not number:
            return ""
        shown = ", ".join(map(always_quoted, question.columns)) or "1"
        rows = ask(session, f"SELECT {shown} {question.violating} LIMIT {SAMPLE}")
    except StatementError:
        return ""
    sample = " | ".join(_row(row.asDict()) for row in rows)
    return f"{number} row{'s' if number != 1 else ''} against {question.name} ({sample})"


def _row(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_value(value)}" for name, value in values.items())


def _value(value: object) -> str:
    text = "NULL" if value is None else repr(value) if isinstance(value, str) else str(value)
    shown = visible(text)
    return shown if len(shown) <= _LONGEST_VALUE else f"{shown[:_LONGEST_VALUE]}…"
