from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from schemalint.delta.column_names import nearest_name
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import VOID, Array, DataType, Map, Struct, type_at
from schemalint.delta.expressions import Expression, Place, expressions_of, unusable_part
from schemalint.delta.live_effect import way_back
from schemalint.delta.path import Path, format_path
from schemalint.delta.sql_text import tokens, without_quoted
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_COLUMN = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
_FIELD = "FIELD_NOT_FOUND"
_NO_STRUCT = "INVALID_EXTRACT_BASE_FIELD_TYPE"
_SYNTAX = "PARSE_SYNTAX_ERROR"
_RAW = "UNSUPPORTED_TYPED_LITERAL"

# Names that no table declares: Spark adds _metadata to every file-based table, and user is a function.
_SPARK_NAMES = frozenset({"_metadata", "user"})

_NOT_IN_DELTA_GRAMMAR = r"->|::|(?<!<)=>|>>|<<"
# Delta's grammar has no literals of the type float: it splits them at the point.
_FLOAT = r"(?i)(?<![\w.])(?:\d+\.\d*|\.\d+)(?:E[+-]?\d+)?F\b"


_VIOLATED = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
_NOT_EXTRACTED = "DELTA_UNSUPPORTED_INVARIANT_NON_STRUCT"
_REFERENCE = "DELTA_INVALID_GENERATED_COLUMN_REFERENCES"
# Delta's error for a live table, by that of the statement that would declare the expression.
_CONSTRAINT = {_COLUMN: _VIOLATED, _FIELD: _VIOLATED, _NO_STRUCT: _NOT_EXTRACTED}
_GENERATED = {_COLUMN: _REFERENCE}
_NO_INVARIANT = "no statement changes an invariant"
_NO_CHANGE = "no statement changes a generation expression"


@rule(
    "NC012",
    on=(Contract, LiveTable),
    severity=Severity.ERROR,
    delta_errors=(_COLUMN, _FIELD, _NO_STRUCT, _SYNTAX, _RAW, _VIOLATED, _NOT_EXTRACTED, _REFERENCE),
    verdict="impossible",
)
def unknown_column_in_expression(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """A CHECK constraint or a generated column uses a column that the table does not have.

    ## What it does

    Reads the constraints of the contract and, for a new table, the expressions of its generated columns, and
    finds

    - names of columns and fields that the declared table does not have;
    - a constraint with `->`, `=>`, `::`, `<<`, `>>` or a raw literal (`r'…'`), which Delta's own grammar does
      not accept;
    - a constraint with a doubled quote in a literal: Delta stores `'it''s'` as `'it' 's'`, which is `its`;
    - as a warning, an expression that schemalint cannot parse, so that the columns it uses are unknown; of
      defaults too.

    It reads all constraints, invariants and generated columns of a live table, which other writers may have
    made.

    The rule does not look into the results of functions, or into maps, whose keys can be anything. NC005
    reports a constraint that still uses a column that this edit renames or drops, and NC006 the expression of
    a generated column in an existing table.

    ## Why is this bad?

    Delta resolves an expression when it is declared, and refuses it with `UNRESOLVED_COLUMN`, for a field of
    a struct with `FIELD_NOT_FOUND`, and for a field of something that has no fields with
    `INVALID_EXTRACT_BASE_FIELD_TYPE`. A constraint with a lambda (`x -> x > 0`) or the cast `a::int` fails
    with `PARSE_SYNTAX_ERROR`, and a raw literal with `UNSUPPORTED_TYPED_LITERAL`, though Spark accepts them
    elsewhere. Without this rule the error appears only when `apply` runs.

    If another writer dropped or renamed the column of a live table, Delta reads the table, but every write
    fails: with `DELTA_VIOLATE_CONSTRAINT_WITH_VALUES`, because a missing column is null, and with
    `DELTA_UNSUPPORTED_INVARIANT_NON_STRUCT` for a field of something that has no fields. Of a generated
    column, every statement that alters the table fails, for a column with
    `DELTA_INVALID_GENERATED_COLUMN_REFERENCES`, and so does each write that leaves the column out. A
    constraint that only Delta's grammar for `ALTER TABLE` does not accept is no finding in a live table, nor
    with `--live` in a contract that declares what its table has: Delta checks it (all measured on Delta
    4.4.0).

    ## What to do

    Correct the name. Write the names of fields in a struct with dots (`shipping.zip`), and a name that
    contains a dot in back-quotes. Cast with `CAST(a AS int)`, and look into an array with `array_min` or
    `array_contains`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
    constraints: {amount_positive: amonut > 0}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: int}
    constraints: {amount_positive: amount > 0}
    ```
    """
    if isinstance(fact, LiveTable):
        yield from _of_table(fact, ctx)
        return
    for expression in ctx.stated_expressions:
        if expression.fault or unusable_part(expression, ctx.after.columns):
            continue  # NC019 or NC020 reports it
        if expression.place is Place.CONSTRAINT:
            yield from _constraint(expression, ctx)
        elif expression.place is Place.DEFAULT:
            yield from _unparsed(expression, ctx)
        elif expression.path is not None and ctx.is_new_table:
            yield from _unparsed(expression, ctx)
            yield from _generated(expression.path, expression.text, ctx)


def _of_table(table: LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    columns = table.state.columns
    for expression in expressions_of(table.state):
        if expression.place is Place.DEFAULT or expression.fault or unusable_part(expression, columns):
            continue
        used = columns_used(expression.text) or frozenset()
        fault = _first_unknown(used, columns)
        if fault is None:
            continue
        message, _help, error = fault
        is_checked = expression.place is not Place.GENERATED
        is_constraint = expression.place is Place.CONSTRAINT
        help_ = "remove it, or add one with columns of the table"
        if not is_constraint:
            help_ = way_back(table, _NO_INVARIANT if is_checked else _NO_CHANGE)
        classes = _CONSTRAINT if is_checked else _GENERATED
        yield Problem(
            f"{expression.subject} uses {message}: "
            + ("every write fails" if is_checked else "no statement can alter the table"),
            help=help_,
            path=expression.path,
            object=ObjectRef("constraint", expression.name) if is_constraint else None,
            part=None if is_constraint else expression.place.value,
            old=expression.text,
            delta_error=classes.get(error, error),
            is_mended=ctx.mends(expression) or not _first_unknown(used, ctx.after.columns),
        )


def _unparsed(expression: Expression, ctx: RuleContext) -> Iterator[Problem]:
    if columns_used(expression.text) is None:
        help_ = "Spark may accept it or not"
        if ctx.contract.managed_by == "schemalint":
            help_ += ": `apply` asks it before the first statement"
        yield Problem(
            f"schemalint cannot parse {expression.subject}, so its columns are not checked",
            help=help_,
            severity=Severity.WARNING,
            path=expression.path,
            object=ObjectRef("constraint", expression.name) if expression.path is None else None,
            part=None if expression.path is None else expression.place.value,
            new=expression.text,
        )


def _constraint(expression: Expression, ctx: RuleContext) -> Iterator[Problem]:
    name, text = expression.name, expression.text
    object_ = ObjectRef("constraint", name)
    if grammar_fault := _not_in_delta_grammar(text):
        message, help_, grammar_error = grammar_fault
        yield Problem(
            f"the constraint {name} contains {message}",
            help=help_,
            object=object_,
            new=text,
            delta_error=grammar_error,
        )
        return
    yield from _unparsed(expression, ctx)
    used = columns_used(text) or frozenset()
    before = ctx.before.constraints.get(name)
    used_before = frozenset() if before is None else columns_used(before) or frozenset()
    if fault := _first_unknown(used - used_before, ctx.after.columns):
        message, help_, error = fault
        yield Problem(
            f"the constraint {name} uses {message}",
            help=help_,
            object=object_,
            new=text,
            delta_error=error,
        )


def _not_in_delta_grammar(text: str) -> tuple[str, str, str | None] | None:
    """Return the message, the help and Delta's error of what Delta's own grammar reads otherwise.

    Delta joins the tokens of a constraint with blanks (measured on Delta 4.4.0).
    """
    if operator := re.search(_NOT_IN_DELTA_GRAMMAR, without_quoted(text)):
        help_ = "use a function: CAST(… AS …), array_min(…), shiftleft(…)"
        return f"{operator[0]}, which Delta does not accept in constraints", help_, _SYNTAX
    if literal := re.search(_FLOAT, without_quoted(text)):
        number = literal[0][:-1]
        help_ = f"write {number}D, or CAST({number} AS FLOAT)"
        return f"the float literal {literal[0]}, which Delta does not accept in constraints", help_, _SYNTAX
    text_tokens = tokens(text)
    for token, after in zip(text_tokens, (*text_tokens[1:], None), strict=True):
        if token.kind == "raw":
            help_ = "write an ordinary literal, with two backslashes for one"
            return f"the raw literal {token.text}, which Delta does not accept in constraints", help_, _RAW
        if after is not None and token.kind == after.kind == "string" and token.text + after.text in text:
            quote = token.text[0]
            message = f"{quote}{quote} in a literal, which Delta stores as two literals without the quote"
            return message, f"write \\{quote} instead", None
    return None


def _generated(path: Path, text: str, ctx: RuleContext) -> Iterator[Problem]:
    for names in sorted(columns_used(text) or ()):
        if fault := _unknown(ctx.after.columns, names):
            message, help_, error = fault
            yield Problem(
                f"{format_path(path)} is generated from {message}",
                help=help_,
                path=path,
                new=text,
                delta_error=error,
            )
            return


def _first_unknown(used: Iterable[tuple[str, ...]], columns: Struct) -> tuple[str, str, str] | None:
    faults = (_unknown(columns, names) for names in sorted(used) if names[0].lower() not in _SPARK_NAMES)
    return next((fault for fault in faults if fault), None)


def _unknown(columns: Struct, names: tuple[str, ...]) -> tuple[str, str, str] | None:
    """Return the message, the help and Delta's error of an unknown name; None if it may be valid."""
    type_: DataType = columns
    for index, name in enumerate(names):
        # The names omit array indexes: the field may belong to one element, or to all of them.
        inside = type_.element if isinstance(type_, Array) else type_
        if isinstance(inside, Array | Map) or inside == VOID:
            return None
        text, parent = format_path(names[: index + 1]), format_path(names[:index])
        if not isinstance(inside, Struct):
            return f"{text}, but {parent} has no fields", f"write {parent}", _NO_STRUCT
        if inside.get(name) is None:
            near = nearest_name(name, inside.names)
            help_ = "name a column of the table"
            if near:
                help_ = f"did you mean {format_path((*names[:index], near))}?"
            return f"{text}, which is not a column", help_, _FIELD if index else _COLUMN
        type_ = type_at(inside, (name,)) or inside
    return None
