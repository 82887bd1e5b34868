"""What is checked before the first statement of a table: its rows by new constraints, and its expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from schemalint.base.errors import ApplyError
from schemalint.base.phrases import counted
from schemalint.base.printable import visible
from schemalint.base.redaction import without_secrets
from schemalint.base.values import frozen, replace
from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import Char, Field, String, Struct, Varchar, field_at, walk
from schemalint.delta.fill_expressions import fill_fault
from schemalint.delta.patch import update_type
from schemalint.delta.path import format_path
from schemalint.delta.sql_text import always_quoted
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.model.table_plan import Fill, Step, StepKind, TablePlan, TableRewrite
from schemalint.planner.fills.statements import fill_rows
from schemalint.planner.fills.values import fill_value
from schemalint.planner.rewrites.statements import converted_columns
from schemalint.planner.simulate import simulate
from schemalint.planner.statements import create_table, path_text
from schemalint.spark.session import SqlSession, StatementError, ask

# EXPLAIN returns errors of the analysis as text (Spark's ExplainCommand), and raises errors of the grammar.
_FAILED: Final = "Error occurred during query planning:"

# Only tables in files have this column, and queries do not. Delta itself checks constraints that use it.
_METADATA: Final = "_metadata"

_ROW: Final = "schemalint"
SAMPLE: Final = 5
_LONGEST_VALUE: Final = 40


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
    if not answer.startswith(_FAILED):
        return ""
    return next(iter(answer.removeprefix(_FAILED).strip().splitlines()), _FAILED)


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


def shown_value(value: object) -> str:
    """Return a value of the data for a message."""
    text = str(value)
    if value is None:
        text = "NULL"
    elif isinstance(value, str):
        text = repr(value)
    printable = visible(without_secrets(text))
    if len(printable) <= _LONGEST_VALUE:
        return printable
    return f"{printable[:_LONGEST_VALUE]}…"
