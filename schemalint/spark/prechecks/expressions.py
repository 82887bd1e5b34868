"""Whether the engine takes the expressions of a plan: they are parsed and analysed, and never run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schemalint.base.errors import ApplyError
from schemalint.base.values import frozen, replace
from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import Char, Field, String, Struct, Varchar, field_at, walk
from schemalint.delta.patch import update_type
from schemalint.delta.path import format_path
from schemalint.delta.sql_text import always_quoted
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.model.table_plan import Fill, Step, StepKind, TablePlan, TableRewrite
from schemalint.planner.fills.statements import fill_rows
from schemalint.planner.fills.values import fill_value
from schemalint.planner.simulate import simulate
from schemalint.planner.statements import create_table, path_text
from schemalint.spark.statements import SqlSession, StatementError, ask

# EXPLAIN returns errors of the analysis as text (Spark's ExplainCommand), and raises errors of the grammar.
# Spark 3.5 has the exception in place of the plan (measured on 3.5.7, 4.0.2 and 4.2.0).
_FAILED: Final = re.compile(
    r"(?:Error occurred during query planning:|== Physical Plan ==\n[\w.$]+Exception:)\s*(.*)"
)

# Only tables in files have this column, and queries do not. Delta itself checks constraints that use it.
_METADATA: Final = "_metadata"

_ROW: Final = "schemalint"


def require_accepted(session: SqlSession, plan: TablePlan, table: str) -> None:
    """Refuse a table with a constraint, a default or a generation expression that Spark refuses.

    Spark's parser reads each expression alone, so that a text cannot be read as another part of a statement.
    Then EXPLAIN analyses it in a statement; neither runs anything. Measured on Delta 4.4.0 for some 400
    expressions: Delta's own statement refuses every expression that this check refuses. It also refuses a few
    others: a generated column whose type differs from its expression's, and `::` or `->` in a constraint.

    Raises:
        ApplyError: There are such expressions; the message has the engine's reasons.
    """
    problems = [
        f"{trial.what}: {reason}" for trial in _trials(plan, table) if (reason := _refusal(session, trial))
    ]
    if problems:
        raise ApplyError(
            f"{plan.table} declares expressions that the engine refuses: {'; '.join(problems)}",
            help="correct the expressions; they were checked with EXPLAIN, and nothing was run",
        )


@frozen
class _Trial:
    """An expression in a statement that is only explained.

    Attributes:
        what: The object with the expression, as messages name it.
        expression: The text that Spark's parser must read as an expression.
        statement: The engine refuses it if it refuses the expression.
        control: The statement without the expression; if the engine refuses it too, the trial proves nothing.
    """

    what: str
    expression: str
    statement: str
    control: str


def _trials(plan: TablePlan, table: str) -> Iterator[_Trial]:
    """Yield a trial of each expression in a plan, with the columns as they are at its step."""
    state = plan.live or TableState()
    for step in plan.steps:
        state = simulate(state, [step])
        if step.rewrite is not None:
            yield from _rewritten(step, step.rewrite, table)
        for step_change in step.changes:
            yield from _of_change(step_change, state.columns, table)
        for fill in step.fills if step.kind is StepKind.FILL else ():
            yield _fill(fill, state.columns, table, is_live=plan.live is not None and _has(plan.live, fill))


def _of_change(step_change: Change, columns: Struct, table: str) -> Iterator[_Trial]:
    match step_change:
        case change.ConstraintChanged(name=name, new=str(expression)):
            yield _constraint(name, expression, columns)
        case change.DefaultChanged(path=path, new=str()) if (field := field_at(columns, path)) is not None:
            # Only CREATE TABLE refuses a default that is too long, ALTER COLUMN takes it (measured on
            # Delta 4.4.0).
            yield _default(format_path(path), _without_lengths(field), table)
        case change.TableAdded(state=added):
            for field in added.columns.fields:
                if isinstance(field.default, str):
                    yield _default(format_path((field.name,)), field, table)
                if isinstance(field.generated, str):
                    yield _generated(field, added.columns, table)


def _constraint(name: str, expression: str, columns: Struct) -> _Trial:
    rows = f"SELECT 1 FROM {_rows(columns)}"  # noqa: S608 (all names are quoted)
    return _Trial(
        f"the constraint {name}", expression, f"{rows} WHERE ({expression}) LIMIT 0", f"{rows} LIMIT 0"
    )


def _rows(columns: Struct) -> str:
    """Return a row of nulls in SQL; without an alias, `FROM (…) WHERE (a)` would make WHERE the alias."""
    values = (
        f"CAST(NULL AS {print_type(field.type)}) AS {always_quoted(field.name)}" for field in columns.fields
    )
    return f"(SELECT {', '.join(values) or '1'}) AS {_ROW}"


def _fill(fill: Fill, columns: Struct, table: str, *, is_live: bool) -> _Trial:
    """Try a fill in the table, or before it has the column, in a query, which tells less of the type."""
    rows = _rows(columns)
    column = path_text(fill.column)
    statement = fill_rows(table, fill)
    control = f"UPDATE {table} SET {column} = {column}"  # noqa: S608 (all names are quoted)
    if not is_live:
        statement, control = f"SELECT {fill_value(fill).value} FROM {rows}", f"SELECT 1 FROM {rows}"  # noqa: S608 (all names are quoted)
    return _Trial(f"the fill of {format_path(fill.column)}", fill.expression, statement, control)


def _rewritten(step: Step, rewrite: TableRewrite, table: str) -> Iterator[_Trial]:
    for value in rewrite.values:
        what = f"the rewrite of {format_path(value.column)}"
        yield _Trial(what, value.expression, step.sql, f"SELECT 1 FROM {table}")  # noqa: S608 (all names are quoted)


def _has(live: TableState, fill: Fill) -> bool:
    names = (fill.column, fill.source, *(columns_used(fill.expression) or ()))
    return all(field_at(live.columns, name) is not None for name in names)


def _default(name: str, field: Field, table: str) -> _Trial:
    """Try a default in a table with only its column: a default must not use other columns."""
    bare = _bare(field)
    return _Trial(
        f"the default of {name}",
        str(field.default),
        _create(table, replace(bare, default=field.default)),
        _create(table, bare),
    )


def _generated(field: Field, columns: Struct, table: str) -> _Trial:
    others = [_bare(other) for other in columns.fields if other is not field]
    computed = replace(_bare(field), generated=field.generated)
    return _Trial(
        f"the generation expression of {format_path((field.name,))}",
        str(field.generated),
        _create(table, *others, computed),
        _create(table, *others, _bare(field)),
    )


def _create(table: str, *columns: Field) -> str:
    return create_table(table, columns, description=None, properties={})


def _bare(field: Field) -> Field:
    return replace(field, nullable=True, comment=None, default=None, generated=None, identity=None)


def _without_lengths(field: Field) -> Field:
    columns = Struct((field,))
    for path, type_ in walk(columns):
        if isinstance(type_, Char | Varchar):
            columns = update_type(columns, path, lambda _type: String())
    return columns.fields[0]


def _refusal(session: SqlSession, trial: _Trial) -> str:
    """Return the engine's reason to refuse an expression; empty if it accepts it, or if that is unclear."""
    if reason := _parse_error(session, trial.expression):
        return reason
    if _METADATA in trial.expression.lower():
        return ""
    reason = _explain_error(session, trial.statement)
    return "" if not reason or _explain_error(session, trial.control) else reason


def _parse_error(session: SqlSession, text: str) -> str:
    """Return the error of Spark's parser for a text that is not one expression; empty if it is one.

    The names in it are not resolved: analysis has other errors.
    """
    try:
        session.sql("SELECT 1").filter(text).schema  # noqa: B018 (a Connect session parses it only here)
    except Exception as error:  # noqa: BLE001 (pyspark's errors have no common base over classic and Connect)
        if type(error).__name__ == "ParseException":
            return StatementError(error, text).message
        return ""
    return ""


def _explain_error(session: SqlSession, statement: str) -> str:
    """Return the error of explaining a statement; empty without one."""
    try:
        answer = "\n".join(str(row[0]) for row in ask(session, f"EXPLAIN {statement}"))
    except StatementError as error:
        return error.message
    failed = _FAILED.match(answer)
    return failed[1] or answer if failed else ""
