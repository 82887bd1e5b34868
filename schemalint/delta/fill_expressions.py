"""The expressions that fill a column from others of its row: which ones are allowed, and how they are tried.

`apply` runs them over the data of a table, unlike all other texts of a contract. So the list says what is
allowed, not what is forbidden: functions that Spark 4.2.0 calls deterministic, and that read nothing but
their arguments, run no code of others, never make a large value of a small one (`repeat`, `lpad`), and do
not exist to fail (`raise_error`, `assert_true`).
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import Final

from schemalint.delta.column_users import columns_used, names_of, parsed
from schemalint.delta.datatype import VARIANT, Array, DataType, Identity, Map, Struct, field_at, walk
from schemalint.delta.expression_faults import expression_fault
from schemalint.delta.expressions import calls_without_brackets, contains_query, functions_called
from schemalint.delta.fill_tree import Nodes, UnreadableExpression, fill_tree, tokens_of, written
from schemalint.delta.fill_tree_faults import FillFault, has_times, makes_times, tree_faults
from schemalint.delta.functions import kind_of_function
from schemalint.delta.path import Part, Path, format_path, is_within, lowercased
from schemalint.delta.sql_text import Token, tokens, unquote_literal

# fmt: off
FILL_FUNCTIONS: Final = frozenset({
    "abs", "add_months", "and", "array", "between", "bround", "btrim", "cast", "ceil", "ceiling",
    "char_length", "character_length", "coalesce", "concat", "concat_ws", "contains", "crc32", "date_add",
    "date_diff", "date_format", "date_from_unix_date", "date_sub", "date_trunc", "datediff", "day",
    "dayofmonth", "decimal", "endswith", "equal_null", "extract", "floor", "from_unixtime",
    "from_utc_timestamp", "get_json_object", "greatest", "hash", "hex", "hour", "if", "ifnull", "ilike",
    "in", "initcap", "instr", "isnan", "isnotnull", "isnull", "last_day", "lcase", "least", "left",
    "length", "like", "locate", "lower", "ltrim", "md5", "minute", "month", "named_struct", "nanvl",
    "negative", "not", "nullif", "nvl", "nvl2", "octet_length", "or", "overlay", "position", "positive",
    "quarter", "regexp", "regexp_replace", "replace", "reverse", "right", "rlike", "round", "rtrim",
    "second", "sha", "sha1", "sha2", "sign", "signum", "size", "startswith", "struct", "substr",
    "substring", "substring_index", "timestamp_micros", "timestamp_millis", "timestamp_seconds",
    "to_utc_timestamp", "translate", "trim", "trunc", "try_add", "try_cast", "try_divide",
    "try_element_at", "try_mod", "try_multiply", "try_subtract", "try_to_date", "try_to_number",
    "try_to_timestamp", "ucase", "unix_date", "unix_micros", "unix_millis", "unix_seconds", "upper",
    "when", "xxhash64", "year",
})
# fmt: on
"""The functions that an expression may call."""

# Spark reads such a literal as the time of the query wherever it makes a day or an instant of it: after
# TIMESTAMP, in casts, as an argument (`date_add`), also with a time zone; not so a value of a row.
# Measured on Spark 4.2.0.
_OF_NOW: Final = r"(now|today|tomorrow|yesterday)(\s+\S+)?"
_SIGNS: Final = {
    "::": "write cast(… as …), which is tried",
    ":": "it reads fields of variants",
    "?": "it stands for a value that a session gives",
    "->": "functions of elements are not on the list",
    "=>": "arguments have no names here",
}


def fill_fault(text: str, *columns: Struct, type_: DataType | None = None) -> FillFault | None:
    """Return why an expression must not run over the data of a table; None if it may.

    Args:
        text: The expression.
        columns: The columns of the table, in each of its states; without any, names are not checked.
        type_: The type of the column that it fills; None if it may be one of days or instants.
    """
    if fault := expression_fault(text):
        return FillFault(fault.what, "write exactly one expression")
    if contains_query(text):
        return FillFault("contains a subquery", "use only columns of the same row")
    lexemes = tokens(text)
    tree: Nodes | None
    try:
        tree = fill_tree(text)
    except UnreadableExpression as error:
        tree, unreadable = None, str(error)
    for token in lexemes if tree is None else tokens_of(tree):
        if token.kind == "sign" and token.text in _SIGNS:
            return FillFault(f"uses {token.text}", _SIGNS[token.text])
    for name in functions_called(text if tree is None else written(tree, with_types=False)):
        if name not in FILL_FUNCTIONS:
            return FillFault(
                f"calls {name}(), {_why_not(name)}", "`schemalint explain BF001` lists what it may call"
            )
    is_beside_times = (
        tree is None or type_ is None or has_times(type_) or makes_times(tree) or _reads_times(text, columns)
    )
    if is_beside_times and (literal := _of_now(lexemes)) is not None:
        return FillFault(
            f"uses {literal}, which Spark reads as the time of the run where it makes a time of it",
            "write the day or the instant",
        )
    if any(word.text.lower() == "over" and after.text == "(" for word, after in pairwise(lexemes)):
        return FillFault("uses a window, which needs more than one row", "use only columns of the same row")
    if (fault_of_names := _fault_of_names(text, columns)) is not None:
        return fault_of_names
    if tree is None:
        return FillFault(unreadable, "write it with functions, operators and casts of Spark SQL")
    return next(tree_faults(tree, is_beside_times=is_beside_times), None)


def _reads_times(text: str, columns: tuple[Struct, ...]) -> bool:
    """Whether an expression may read a column of days or instants, in any state of the table."""
    names = columns_used(text)
    if not names or not columns:
        return True
    fields = [field_at(state, used[:1]) for state in columns for used in names]
    return any(field is not None and has_times(field.type) for field in fields)


def reads_source(text: str, source: Path) -> bool:
    """Whether an expression reads the column that it moves, a part of it, or what contains it.

    Of one that cannot be parsed `fill_fault` says so.
    """
    used = columns_used(text)
    if used is None:
        return True
    own = lowercased(source)
    return any(is_within(lowercased(names), own) or is_within(own, lowercased(names)) for names in used)


def fill_obstacle(path: Path, source: Path, columns: Struct) -> str | None:
    """Return why no UPDATE can fill a column from another one, as a clause; None if one can."""
    field = field_at(columns, path)
    if any(isinstance(part, Part) for part in (*path, *source)):
        return "UPDATE reaches nothing inside an array or a map"
    own, other = lowercased(path), lowercased(source)
    if is_within(own, other) or is_within(other, own):
        return "it would be its own source"
    if field is not None and isinstance(field.generated, str):
        return "Delta computes it from its generation expression"
    if field is not None and isinstance(field.identity, Identity):
        return "no UPDATE can change an identity column"
    if field is not None and any(type_ == VARIANT for _path, type_ in walk(Struct((field,)))):
        return "values of variants cannot be compared, so that nothing proves that they are there"
    if field is not None and not field.nullable:
        return "it is NOT NULL, so no row waits for a value"
    if field is not None and isinstance(field.default, str):
        return "rows of writers that do not know it get its default, and no value"
    return None


def _why_not(name: str) -> str:
    kind = kind_of_function(name)
    if kind is None:
        return "which Spark does not have"
    return kind.obstacle or "which is not on the list of functions that fill columns"


def _of_now(lexemes: tuple[Token, ...]) -> str | None:
    """Return a text that Spark may read as a time of today; it joins texts that stand beside each other."""
    for is_text, run in groupby(lexemes, key=lambda token: token.kind in {"string", "raw"}):
        texts = list(run) if is_text else []
        joined = "".join(unquote_literal(token.text) for token in texts)
        if re.fullmatch(_OF_NOW, joined.strip(), re.IGNORECASE):
            return " ".join(token.text for token in texts)
    return None


def _fault_of_names(text: str, columns: tuple[Struct, ...]) -> FillFault | None:
    tree = parsed(text)
    if tree is None:
        return FillFault("cannot be parsed", "write it with functions and operators of Spark SQL, without *")
    for names in sorted(names_of(tree)) if columns else ():
        if not any(_is_column(names, state) for state in columns):
            return FillFault(
                f"names {format_path(names)}, which is no column of the table", "correct the name"
            )
    of_all_states = Struct(tuple(field for state in columns for field in state.fields))
    for name in calls_without_brackets(text, of_all_states):
        return FillFault(
            f"uses {name}, which is another value on each run", "use only columns of the same row"
        )
    return None


def _is_column(names: tuple[str, ...], columns: Struct) -> bool:
    """Whether names lead to a field; what follows an array or a map is left to Spark's analyzer."""
    for length in range(1, len(names) + 1):
        field = field_at(columns, names[:length])
        if field is None:
            return False
        if not isinstance(field.type, Struct):
            return length == len(names) or isinstance(field.type, Array | Map)
    return True
