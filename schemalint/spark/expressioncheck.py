"""Expressions that Spark refuses: asked for before a table's first statement, and without any data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.datatype import Char, Field, String, Struct, Varchar, field_at, walk
from schemalint.delta.patch import update_type
from schemalint.delta.path import format_path
from schemalint.delta.sql_text import always_quoted
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.errors import ApplyError
from schemalint.model.plan import TablePlan
from schemalint.planner.simulate import simulate
from schemalint.planner.sql import create_table
from schemalint.spark.session import SqlSession, StatementError, ask
from schemalint.values import frozen, replace

# EXPLAIN answers with an error of the analysis (Spark's ExplainCommand), and raises one of the grammar.
_FAILED: Final = "Error occurred during query planning:"

# Of every row of a table in files, and of no query: what uses it is left to Delta, which takes it.
_METADATA: Final = "_metadata"

_ROW: Final = "schemalint"


def require_accepted(session: SqlSession, plan: TablePlan, table: str) -> None:
    """Refuse a table with a constraint, a default or a generation expression that Spark refuses.

    Spark is asked with EXPLAIN, which runs nothing. Measured on Delta 4.4.0 for some 400 expressions: each
    that is refused here, Delta's own statement refuses too. Of the others it still refuses a few by itself: a
    generated column whose type is not that of its expression, and `::` or `->` in a constraint.

    Args:
        session: With Delta.
        plan: Of the table; its expressions are one expression each.
        table: As SQL names it.

    Raises:
        ApplyError: There are such expressions: which, and the engine's words.
    """
    problems = [f"{one.what}: {words}" for one in trials(plan, table) if (words := _refusal(session, one))]
    if problems:
        raise ApplyError(
            f"{plan.table} declares what the engine does not take: {'; '.join(problems)}",
            help="it was asked with EXPLAIN, and nothing was run: correct the expression",
        )


@frozen
class Trial:
    """An expression in a statement that is not run.

    Attributes:
        what: What it belongs to, for people.
        statement: Refused if the expression is.
        control: The same without it: where that is refused too, nothing is known of the expression.
    """

    what: str
    statement: str
    control: str


def trials(plan: TablePlan, table: str) -> Iterator[Trial]:
    """Each expression that a plan gives to Delta, against the columns as they are then."""
    state = plan.live if plan.live is not None else TableState()
    for step in plan.steps:
        state = simulate(state, [step])
        for one in step.changes:
            yield from _of_change(one, state.columns, table)


def _of_change(one: Change, columns: Struct, table: str) -> Iterator[Trial]:
    match one:
        case change.ConstraintChanged(name=name, new=str(expression)) if _METADATA not in expression.lower():
            yield _constraint(name, expression, columns)
        case change.DefaultChanged(path=path, new=str()) if (field := field_at(columns, path)) is not None:
            # ALTER COLUMN takes a default that is too long, CREATE TABLE does not (measured on Delta 4.4.0).
            yield _default(format_path(path), _without_lengths(field), table)
        case change.TableAdded(state=added):
            for field in added.columns.fields:
                if isinstance(field.default, str):
                    yield _default(format_path((field.name,)), field, table)
                if isinstance(field.generated, str):
                    yield _generated(field, added.columns, table)


def _constraint(name: str, expression: str, columns: Struct) -> Trial:
    values = (
        f"CAST(NULL AS {print_type(field.type)}) AS {always_quoted(field.name)}" for field in columns.fields
    )
    # The name is needed: `FROM (…) WHERE (a)` calls the rows WHERE, and their columns a.
    rows = f"SELECT 1 FROM (SELECT {', '.join(values) or '1'}) AS {_ROW}"  # noqa: S608 (all names are quoted)
    return Trial(f"the constraint {name}", f"{rows} WHERE ({expression}) LIMIT 0", f"{rows} LIMIT 0")


def _default(name: str, field: Field, table: str) -> Trial:
    """Against no other columns: there are none that a default may use."""
    bare = _bare(field)
    return Trial(
        f"the default of {name}", _create(table, replace(bare, default=field.default)), _create(table, bare)
    )


def _generated(field: Field, columns: Struct, table: str) -> Trial:
    others = [_bare(one) for one in columns.fields if one is not field]
    computed = replace(_bare(field), generated=field.generated)
    return Trial(
        f"the generation expression of {format_path((field.name,))}",
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


def _refusal(session: SqlSession, trial: Trial) -> str:
    """The engine's words about an expression; empty if it takes it, and where it cannot be asked."""
    words = _explained(session, trial.statement)
    return "" if not words or _explained(session, trial.control) else words


def _explained(session: SqlSession, statement: str) -> str:
    try:
        answer = "\n".join(str(row[0]) for row in ask(session, f"EXPLAIN {statement}"))
    except StatementError as error:
        return error.message
    if not answer.startswith(_FAILED):
        return ""
    return next(iter(answer.removeprefix(_FAILED).strip().splitlines()), _FAILED)
