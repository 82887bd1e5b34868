from __future__ import annotations

from collections.abc import Iterator, Mapping

from schemalint.delta.datatype import Array, Atomic, Char, DataType, Map, Varchar, walk
from schemalint.delta.path import Part, Path
from schemalint.delta.properties import problem as property_problem
from schemalint.delta.statistics import statistics_columns
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_KEY = "delta.dataSkippingStatsColumns"
_WITHOUT_STATISTICS = ("binary", "boolean", "void")

_Words = tuple[str, ...]


@rule(
    "TP006",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS",
        "DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME",
    ),
)
def statistics_column(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """Statistics are asked for of a column that cannot have them.

    ## What it does

    Compares the columns in `delta.dataSkippingStatsColumns` with those of the table: each must be there, not
    be a partition column, stand in the list once, and have a type with a least and a greatest value. A struct
    stands for its fields, whatever their types. Text that is no list of columns is TP002's.

    ## Why is this bad?

    Delta refuses the property with `DELTA_COLUMN_NOT_FOUND_IN_SCHEMA`,
    `DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE` (`boolean`, `binary`, `void`, arrays and maps),
    `DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN`, `DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS` or
    `DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME`, where `.element` is missing in a path. `char` and `varchar` are
    odd: `CREATE TABLE` refuses them and `ALTER TABLE` does not, so in a new table they are a warning.

    ## What to do

    Name other columns. After a rename or a drop Delta changes its own list by itself; change the contract's
    in the same edit.

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
    if value is None or property_problem(_KEY, value) is not None:
        return
    if wrong := next(_wrong(statistics_columns(value), ctx), None):
        message, error = wrong
        yield Problem(
            f"{_KEY} names {message}",
            help="name a column with a least and a greatest value, once",
            severity=None if error else Severity.WARNING,
            object=ObjectRef("property", _KEY),
            new=value,
            delta_error=error,
        )


def _wrong(names: list[_Words], ctx: RuleContext) -> Iterator[tuple[str, str | None]]:
    types: Mapping[_Words, DataType] = {_folded(path): type_ for path, type_ in walk(ctx.after.columns)}
    partitions = ctx.after.partitioned_by if isinstance(ctx.after.partitioned_by, tuple) else ()
    for index, name in enumerate(names):
        text, folded = ".".join(name), tuple(word.lower() for word in name)
        if folded not in types:
            in_array = any(isinstance(types.get(folded[:end]), Array) for end in range(len(folded)))
            error = "DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME" if in_array else "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"
            yield f"{text}, which is no column", error
        elif folded in {(partition.lower(),) for partition in partitions}:
            error = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN"
            yield f"{text}, which is a partition column", error
        elif _has_no_statistics(types[folded]):
            error = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"
            yield f"{text}, whose type has no least and greatest value", error
        # Compared with regard to case: a,A is taken.
        if any(name[: len(other)] == other or other[: len(name)] == name for other in names[:index]):
            yield f"{text} more than once", "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS"

        if ctx.is_new_table and isinstance(types.get(folded), Char | Varchar):
            yield f"{text}, which CREATE TABLE refuses for its type: set the property afterwards", None


def _has_no_statistics(type_: DataType) -> bool:
    if isinstance(type_, Atomic):
        return type_.name in _WITHOUT_STATISTICS
    return isinstance(type_, Array | Map)


def _folded(path: Path) -> _Words:
    return tuple((step.value if isinstance(step, Part) else step).lower() for step in path)
