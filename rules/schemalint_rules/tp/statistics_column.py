from __future__ import annotations

from collections.abc import Iterator, Mapping

from schemalint.delta.datatype import VARIANT, Array, Atomic, Char, DataType, Map, Struct, Varchar, walk
from schemalint.delta.engine_answers import collects_of_part_of_struct, collects_of_variant
from schemalint.delta.path import format_path, is_within, path_key
from schemalint.delta.properties import property_problem
from schemalint.delta.property_values import ignored_in_list, statistics_columns
from schemalint.delta.statistics import broken_by_drops
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule

_KEY = "delta.dataSkippingStatsColumns"
_WITHOUT_STATISTICS = ("binary", "boolean", "void")

_Names = tuple[str, ...]


@rule(
    "TP006",
    on=Contract,
    severity=Severity.ERROR,
    live=True,
    delta_errors=(
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS",
        "DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME",
    ),
    verdict="impossible",
)
def statistics_column(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract requests statistics for a column that cannot have them.

    ## What it does

    Compares the columns in `delta.dataSkippingStatsColumns` with the table's columns: each must exist, must
    not be a partition column, must be in the list only once, and must have a type with a minimum and a
    maximum. A struct stands for its fields, whatever their types; before Delta 3.3 each of them needs such a
    type (measured on Delta 3.2.1). TP002 reports text that is not a list of columns.

    As a warning it finds an entry of which Delta reads only the beginning: of `x;y` it reads `x`, without an
    error, and collects no statistics for `y` (measured on Delta 4.4.0).

    With a live table it also finds drops of columns beside a list that the contract does not declare, with a
    name that needs quotes and has no dot.

    ## Why is this bad?

    Delta refuses the property with `DELTA_COLUMN_NOT_FOUND_IN_SCHEMA`,
    `DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE` (`boolean`, `binary`, `void`, arrays and maps;
    until Delta 4.0 also `variant`),
    `DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN`, `DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS` or,
    for a path without `.element`, `DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME`. `CREATE TABLE` refuses `char` and
    `varchar`, but `ALTER TABLE` accepts them, so in a new table they are a warning.

    With each drop of any column Delta writes the list again, and quotes only names with a dot. Of
    `` `emp#no` `` it cannot read what it wrote: it refuses the drop with `DELTA_COLUMN_NOT_FOUND_IN_SCHEMA`,
    or, for `` `dept-1` ``, every write fails from then on. `plan` takes a declared list off before the drop,
    and sets it again (measured on Delta 4.4.0).

    ## What to do

    Name other columns. After a rename or a drop Delta updates its own list; update the contract's list in the
    same edit.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: paid, type: boolean}
    properties: {delta.dataSkippingStatsColumns: "order_id,paid"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: paid, type: boolean}
    properties: {delta.dataSkippingStatsColumns: order_id}
    ```
    """
    value = contract.state.set_properties.get(_KEY)
    if ctx.live and _KEY not in contract.state.properties:
        yield from _broken_list(ctx)
    if value is None or property_problem(_KEY, value) is not None:
        return
    if fault := next(_faults(statistics_columns(value), ctx), None):
        message, error = fault
        yield Problem(
            f"{_KEY} names {message}",
            help="name each column once, and only columns whose type has a minimum and a maximum",
            severity=None if error else Severity.WARNING,
            object=ObjectRef("property", _KEY),
            new=value,
            delta_error=error,
        )
    elif problem := next(_beyond_engine(statistics_columns(value), ctx), None):
        yield problem
    elif (entry := ignored_in_list(value)) is not None:
        (names,) = statistics_columns(entry)
        yield Problem(
            f"{_KEY} names {entry}, of which Delta reads {'.'.join(names)} and ignores the rest",
            help="separate columns by commas, and put a name with other characters in back-quotes",
            severity=Severity.WARNING,
            object=ObjectRef("property", _KEY),
            new=value,
        )


def _broken_list(ctx: RuleContext) -> Iterator[Problem]:
    """Report a list that the contract does not declare, and that a drop of columns would break."""
    if (value := broken_by_drops(ctx.changes, ctx.before.properties)) is not None:
        yield Problem(
            f"no column can be dropped while the table has {_KEY} = {value}",
            help=f"declare {_KEY}: the plan then takes it off before the drop, and sets it again",
            object=ObjectRef("property", _KEY),
            old=value,
            delta_error="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        )


def _faults(names: list[_Names], ctx: RuleContext) -> Iterator[tuple[str, str | None]]:
    types: Mapping[_Names, DataType] = {path_key(path): type_ for path, type_ in walk(ctx.after.columns)}
    for index, name in enumerate(names):
        text, lowercase = ".".join(name), tuple(part.lower() for part in name)
        if lowercase not in types:
            in_array = any(isinstance(types.get(lowercase[:end]), Array) for end in range(len(lowercase)))
            error = "DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME" if in_array else "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"
            yield f"{text}, which is not a column", error
        elif len(lowercase) == 1 and lowercase[0] in ctx.after.partition_keys:
            error = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN"
            yield f"{text}, which is a partition column", error
        elif _has_no_statistics(types[lowercase], ctx):
            error = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"
            yield f"{text}, whose type has no minimum and maximum", error
        # Delta compares these names case-sensitively: it accepts a,A.
        if any(is_within(name, other) or is_within(other, name) for other in names[:index]):
            yield f"{text} more than once", "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS"

        if ctx.is_new_table and isinstance(types.get(lowercase), Char | Varchar):
            yield f"{text}, which CREATE TABLE refuses for its type: set the property afterwards", None


def _beyond_engine(names: list[_Names], ctx: RuleContext) -> Iterator[Problem]:
    """Report structs of which the engine would have to leave out a field."""
    listed = {tuple(part.lower() for part in name) for name in names}
    for path, type_ in walk(ctx.after.columns):
        if isinstance(type_, Struct) or not _has_no_statistics(type_, ctx):
            continue
        if not any(path_key(path)[:end] in listed for end in range(1, len(path))):
            continue
        what = f"collect statistics of a struct with {format_path(path)}, whose type has no minimum"
        problem = ctx.refusal_of_writer(collects_of_part_of_struct, what)
        if problem is not None:
            yield replace(
                problem,
                help="name the struct's other fields in its place",
                object=ObjectRef("property", _KEY),
                delta_error="DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
            )


def _has_no_statistics(type_: DataType, ctx: RuleContext) -> bool:
    if type_ == VARIANT:
        return not collects_of_variant(ctx.engine)
    if isinstance(type_, Atomic):
        return type_.name in _WITHOUT_STATISTICS
    return isinstance(type_, Array | Map)
