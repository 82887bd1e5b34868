"""The queries of a rewrite: its rows, each proved, and what tells two versions of a table apart.

The rows are read without ``VERSION AS OF``: the transaction that writes them then reads its own snapshot
(measured on Delta 4.4.0), and a row that another writer appends meanwhile is in it, or ends it. A value that
must not be written raises an error in the query, and the write makes no commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta.datatype import VARIANT, Field, Struct, field_at, walk, walk_fields
from schemalint.delta.path import Part, Path, format_path, is_within, lowercased
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.type_text import print_type
from schemalint.model.table_plan import Fill, TableRewrite
from schemalint.planner.fills.conversions import stored
from schemalint.planner.fills.values import fill_value
from schemalint.planner.statements import path_text

FAILED: Final = "schemalint:"
"""What the message of a row begins with that ends a rewrite."""


def rewritten_rows(table: str, rewrite: TableRewrite) -> str:
    """Return the query of the rows that a rewrite writes back into their table."""
    values = {lowercased(fill.column): proved_value(fill) for fill in rewrite.values}
    listed = []
    for field in rewrite.before.fields:
        name = path_text((field.name,))
        if _is_made(field, values):
            listed.append(f"{_made(field, rewrite.after, values)} AS {name}")
        else:
            listed.append(name)
    how = "-- apply writes these rows back with overwriteSchema"
    if rewrite.partitioned_by:
        how += f", partitioned by {', '.join(map(always_quoted, rewrite.partitioned_by))}"
    columns = ",\n  ".join(listed)
    return f"{how}\nSELECT\n  {columns}\nFROM {table}"


def proof_of_rows(table: str, rewrite: TableRewrite, version: int, conditions: Mapping[str, str]) -> str:
    """Return a query of one text that raises an error if a row of a version must not be written.

    Args:
        table: The table as SQL names it.
        rewrite: What is written.
        version: The version.
        conditions: What each new row must fulfil, by its name for people.
    """
    checks = []
    for name, condition in conditions.items():
        text = quote_literal(f"{FAILED} {name} refuses a row")
        checks.append(f"assert_true({_refused(condition)} = 0, {text})")
    source = f"{table} VERSION AS OF {version}"
    return _digest(source, _proved_columns(rewrite), rewrite.after, checks).text


def proof_of_version(table: str, rewrite: TableRewrite, version: int) -> str:
    """Return a query that raises an error if the table has other rows than at a version."""
    texts = {field.name: path_text((field.name,)) for field in rewrite.before.fields}
    now, then = (
        _digest(source, texts, rewrite.before).text for source in (table, f"{table} VERSION AS OF {version}")
    )
    text = quote_literal(f"{FAILED} rows were written since version {version}: plan again")
    return f"SELECT assert_true(({now}) = ({then}), {text})"


def inserted_rows(table: str, rewrite: TableRewrite, version: int) -> str:
    """Return the statement that inserts the rows of a version, each proved, into their replaced table."""
    generated = {field.name for field in rewrite.after.fields if isinstance(field.generated, str)}
    texts = {name: text for name, text in _proved_columns(rewrite).items() if name not in generated}
    names, listed = ", ".join(map(always_quoted, texts)), ",\n  ".join(texts.values())
    return f"INSERT INTO {table} ({names})\nSELECT\n  {listed}\nFROM {table} VERSION AS OF {version}"


def _proved_columns(rewrite: TableRewrite) -> dict[str, str]:
    values = {lowercased(fill.column): proved_value(fill) for fill in rewrite.values}
    return _columns(rewrite, values)


@frozen
class Digest:
    """What tells the rows of a version: their number, the nulls of each column, and a sum over hashes.

    Attributes:
        aggregates: They in SQL; the sum is over the hashes of all rows, whatever their order.
        rows: The query of the rows.
        columns: The names of the columns.
    """

    aggregates: str
    rows: str
    columns: tuple[str, ...]

    @property
    def query(self) -> str:
        """The query of one row, with a column for each aggregate."""
        return f"SELECT {self.aggregates}\nFROM ({self.rows})"

    @property
    def text(self) -> str:
        """The query of one text."""
        return f"SELECT CAST(struct({self.aggregates}) AS string)\nFROM ({self.rows})"


def digest_before(table: str, rewrite: TableRewrite, version: int) -> Digest:
    """Return the digest that the table must have after a rewrite, from the rows of the version before."""
    return _digest(f"{table} VERSION AS OF {version}", converted_columns(rewrite), rewrite.after)


def converted_columns(rewrite: TableRewrite) -> dict[str, str]:
    """Return what each column has after a rewrite, in SQL; null where a value does not convert."""
    return _columns(rewrite, {lowercased(fill.column): _converted(fill) for fill in rewrite.values})


def _columns(rewrite: TableRewrite, values: Mapping[Path, str]) -> dict[str, str]:
    return {
        field.name: _made(field, rewrite.after, values)
        if _is_made(field, values)
        else path_text((field.name,))
        for field in rewrite.before.fields
    }


def row_conditions(rewrite: TableRewrite, constraints: Mapping[str, str]) -> dict[str, str]:
    """Return what Delta requires of each new row, by its name for people: constraints, and NOT NULL."""
    conditions = dict(constraints)
    for path, field in walk_fields(rewrite.after):
        if field.nullable is False and not any(isinstance(step, Part) for step in path):
            conditions[f"NOT NULL of {format_path(path)}"] = f"{path_text(path)} IS NOT NULL"
    return conditions


def digest_with_refused(table: str, rewrite: TableRewrite, version: int, conditions: Iterable[str]) -> Digest:
    """Return `digest_before`, and behind it for each condition the number of rows that Delta refuses then."""
    counts = map(_refused, conditions)
    return _digest(f"{table} VERSION AS OF {version}", converted_columns(rewrite), rewrite.after, counts)


def _refused(condition: str) -> str:
    """Return the number of rows that do not fulfil a condition.

    Null counts as a violation: Delta refuses it, unlike standard SQL (measured on Delta 4.4.0).
    """
    return f"count_if(NOT coalesce(({condition}), false))"


def digest_after(table: str, rewrite: TableRewrite, version: int) -> Digest:
    """Return the digest of a version after a rewrite."""
    texts = {field.name: path_text((field.name,)) for field in rewrite.after.fields}
    return _digest(f"{table} VERSION AS OF {version}", texts, rewrite.after)


def _digest(source: str, texts: Mapping[str, str], columns: Struct, counts: Iterable[str] = ()) -> Digest:
    inner = [f"{text} AS {always_quoted(name)}" for name, text in texts.items()]
    nulls = [f"count_if({always_quoted(name)} IS NULL)" for name in texts]
    hashed = [_hashable(field) for field in columns.fields]
    sums = f"CAST(coalesce(sum(CAST(xxhash64({', '.join(hashed)}) AS decimal(20,0))), 0) AS string)"
    aggregates = ", ".join(("count(*)", *nulls, sums, *counts))
    return Digest(aggregates, f"SELECT {', '.join(inner)}\nFROM {source}", tuple(texts))


def _hashable(field: Field) -> str:
    """Return a column as Spark can hash it: maps as sorted entries, variants as text."""
    name = always_quoted(field.name)
    if any(type_ == VARIANT for _path, type_ in walk(Struct((field,)))):
        return f"to_json(struct({name}))"
    return stored(name, field.type)


def _is_made(field: Field, values: Mapping[Path, str]) -> bool:
    """Whether a column is made anew; one that is copied keeps all its metadata."""
    return any(is_within(changed, lowercased((field.name,))) for changed in values)


def _made(field: Field, after: Struct, values: Mapping[Path, str]) -> str:
    """Return a column as it is afterwards.

    Spark gives a struct that is made anew no comments, but takes those of the type that it is cast to.
    """
    new = field_at(after, (field.name,))
    type_ = new.type if new is not None else field.type
    return f"CAST({_value(field, (field.name,), values)} AS {print_type(type_)})"


def _value(field: Field, path: Path, values: Mapping[Path, str]) -> str:
    if (made := values.get(lowercased(path))) is not None:
        return made
    text = path_text(path)
    inside = any(is_within(changed, lowercased(path)) for changed in values)
    if not inside or not isinstance(field.type, Struct):
        return text
    fields = ", ".join(
        f"{quote_literal(inner.name)}, {_value(inner, (*path, inner.name), values)}"
        for inner in field.type.fields
    )
    return f"if({text} IS NULL, NULL, named_struct({fields}))"


def proved_value(fill: Fill) -> str:
    """Return the value of a row, or an error for one that must not be written."""
    value = fill_value(fill)
    name = format_path(fill.column)
    branches = [f"WHEN {path_text(fill.column)} IS NULL THEN NULL"]
    if not fill.ways_out.keeps_null:
        error = _error(f"{name} does not convert")
        branches.append(f"WHEN NOT coalesce({value.converts}, false) THEN {error}")
    if value.inexact not in (None, "false") and not fill.ways_out.keeps_converted:
        error = _error(f"{name} would become another value")
        branches.append(f"WHEN ({value.converts}) AND ({value.inexact}) THEN {error}")
    return f"CASE {' '.join(branches)} WHEN {value.converts} THEN {value.value} END"


def _converted(fill: Fill) -> str:
    """Return the value of a row, which is null where it does not convert."""
    value = fill_value(fill)
    return f"CASE WHEN {path_text(fill.column)} IS NOT NULL AND ({value.converts}) THEN {value.value} END"


def _error(text: str) -> str:
    return f"raise_error({quote_literal(f'{FAILED} a value of {text}')})"
