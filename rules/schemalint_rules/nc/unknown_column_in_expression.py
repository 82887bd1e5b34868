from __future__ import annotations

import re
from collections.abc import Iterator

from schemalint.delta.column_names import nearest_name
from schemalint.delta.datatype import VOID, Array, DataType, Map, Struct, type_at, walk_fields
from schemalint.delta.expressions import columns_used
from schemalint.delta.path import Path, format_path
from schemalint.delta.sql_text import without_quoted
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_COLUMN = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
_FIELD = "FIELD_NOT_FOUND"
_NO_STRUCT = "INVALID_EXTRACT_BASE_FIELD_TYPE"
_SYNTAX = "PARSE_SYNTAX_ERROR"

# Names that no table declares: Spark adds the one to every table in files, and the other is a function.
_OF_SPARK = frozenset({"_metadata", "user"})

_BEYOND_DELTA = re.compile(r"->|::|(?<!<)=>|>>|<<|--")


@rule("NC012", on=Contract, severity=Severity.ERROR, delta_errors=(_COLUMN, _FIELD, _NO_STRUCT, _SYNTAX))
def unknown_column_in_expression(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A CHECK constraint, or a generated column, uses a column that the table does not have.

    ## What it does

    Reads the constraints of the contract and, for a new table, the expressions of its generated columns, and
    finds

    - names of columns and fields that the table will not have;
    - a constraint with `->`, `=>`, `::`, `<<`, `>>` or `--`, which Delta's own grammar does not read there;
    - as a warning, a constraint that schemalint cannot read, so that it is not known what it uses.

    What a function gives back is not looked into, nor are maps, whose keys can be anything. A constraint that
    keeps using a column that this edit renames or drops is NC005's, and the expression of a generated column
    in an existing table is NC006's.

    ## Why is this bad?

    Delta resolves the expression when it is declared, and refuses it with `UNRESOLVED_COLUMN`, for a field of
    a struct with `FIELD_NOT_FOUND`, and with `INVALID_EXTRACT_BASE_FIELD_TYPE` where the name is sought in
    something that has no fields. A constraint with a lambda (`x -> x > 0`) or the cast `a::int` fails with
    `PARSE_SYNTAX_ERROR`, though Spark reads both elsewhere. Until `apply` runs nobody notices.

    ## What to do

    Correct the name. Names within a struct are written with dots (`shipping.zip`), a name that holds a dot in
    back-quotes. Cast with `CAST(a AS int)`, and look into an array with `array_min` or `array_contains`.

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
    for name, text in contract.state.constraints.items():
        if text is not None:
            yield from _constraint(name, text, ctx)
    if ctx.is_new_table:
        for path, field in walk_fields(contract.state.columns):
            if isinstance(field.generated, str):
                yield from _generated(path, field.generated, ctx)


def _constraint(name: str, text: str, ctx: RuleContext) -> Iterator[Problem]:
    object_ = ObjectRef("constraint", name)
    if found := _BEYOND_DELTA.search(without_quoted(text)):
        yield Problem(
            f"the constraint {name} has {found[0]}, which Delta does not read there",
            help="say it with a function: CAST(… AS …), array_min(…), shiftleft(…)",
            object=object_,
            new=text,
            delta_error=_SYNTAX,
        )
        return
    used = columns_used(text)
    if used is None:
        yield Problem(
            f"the constraint {name} cannot be read: it is not known whether its columns are there",
            help="a constraint is a condition over the columns of one row",
            severity=Severity.WARNING,
            object=object_,
            new=text,
        )
        return
    before = ctx.before.constraints.get(name)
    known = frozenset() if before is None else columns_used(before) or frozenset()
    for names in sorted(used - known):
        if names[0].lower() not in _OF_SPARK and (wrong := _unknown(ctx.after.columns, names)):
            message, help_, error = wrong
            yield Problem(
                f"the constraint {name} uses {message}",
                help=help_,
                object=object_,
                new=text,
                delta_error=error,
            )
            return


def _generated(path: Path, text: str, ctx: RuleContext) -> Iterator[Problem]:
    for names in sorted(columns_used(text) or ()):
        if wrong := _unknown(ctx.after.columns, names):
            message, help_, error = wrong
            yield Problem(
                f"{format_path(path)} is generated from {message}",
                help=help_,
                path=path,
                new=text,
                delta_error=error,
            )
            return


def _unknown(columns: Struct, names: tuple[str, ...]) -> tuple[str, str, str] | None:
    """What is wrong with a name, what helps, and Delta's error; None if it is known, or cannot be."""
    type_: DataType = columns
    for index, name in enumerate(names):
        # An index is not among the names: the field of an array's element may be meant, or of all of them.
        inside = type_.element if isinstance(type_, Array) else type_
        if isinstance(inside, Array | Map) or inside == VOID:
            return None
        text, parent = format_path(names[: index + 1]), format_path(names[:index])
        if not isinstance(inside, Struct):
            return f"{text}, but {parent} has no fields", f"write {parent}", _NO_STRUCT
        if inside.get(name) is None:
            near = nearest_name(name, (field.name for field in inside.fields))
            help_ = (
                f"did you mean {format_path((*names[:index], near))}?"
                if near
                else "name a column of the table"
            )
            return f"{text}, which is no column", help_, _FIELD if index else _COLUMN
        type_ = type_at(inside, (name,)) or inside
    return None
