from __future__ import annotations

from collections.abc import Iterator, Mapping

from schemalint.delta.datatype import Array, Char, DataType, Field, Map, Struct, Varchar
from schemalint.delta.table import LiveTable
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ID_IN_THE_LOG = "io.unitycatalog.tableId"

# What Unity Catalog works out by itself and the log does not hold as properties (its delta.yaml,
# DeltaTableMetadata.properties).
_DERIVED = frozenset(
    {
        "delta.minReaderVersion",
        "delta.minWriterVersion",
        "delta.clusteringColumns",
        "delta.rowTracking.rowIdHighWaterMark",
        "delta.lastUpdateVersion",
        "delta.lastCommitTimestamp",
    }
)
_MOST = 3


@rule("DR006", on=LiveTable, severity=Severity.WARNING)
def catalog_disagrees(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The catalog keeps another idea of the table than its log.

    ## What it does

    Where a table was found by its name, compares what the catalog says of it with the Delta log: the names,
    order and types of columns, the properties that begin with `delta.`, and the id that the log of a table
    repeats if the catalog manages it. A catalog that keeps no columns, or no properties, contradicts nothing.

    ## Why is this bad?

    The log is the truth for readers of Delta, but not everybody asks it: search, lineage, grants on columns
    and engines that plan from the catalog see the table as it was registered. Another id means that another
    table, or a copy, lies where the catalog sends everybody.

    ## What to do

    Let the catalog take over what the log says: alter the table through the catalog, or register it anew.

    ## Example

    The table's log:

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: long}, {name: note, type: string}]}
    ```

    What the catalog keeps, written as a contract:

    ```yaml title="catalog"
    schemalint: 1
    table: main.sales.orders
    columns:
      - {name: order_id, type: int}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: main.sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: note, type: string}
    ```
    """
    kept = table.catalog
    if kept is None:
        return
    known = table.state.set_properties.get(_ID_IN_THE_LOG)
    if None not in (known, kept.table_id) and known != kept.table_id:
        yield Problem(
            f"the catalog knows the table as {kept.table_id}, and the log belongs to {known}",
            help="look for who moved or copied the table, before anybody writes to it",
            old=known,
            new=kept.table_id,
        )
    for what, differences in (
        ("columns", [] if kept.columns is None else _columns(kept.columns, table.state.columns)),
        ("properties", _properties(kept.properties, table.state.set_properties)),
    ):
        if differences:
            yield Problem(
                f"the catalog keeps other {what} than the log: {_listed(differences)}",
                help="alter the table through the catalog, or register it anew",
            )


def _columns(kept: Struct, logged: Struct) -> list[str]:
    """What the catalog says of each column that differs; of the order only if nothing else does."""
    old, new = _by_name(kept), _by_name(logged)
    found = [
        f"{new[name].name} is {print_type(old[name].type)}, not {print_type(new[name].type)}"
        for name in new
        if name in old and _plain(old[name].type) != _plain(new[name].type)
    ]
    found += [f"{new[name].name} is missing" for name in new if name not in old]
    found += [f"{old[name].name} is not in the log" for name in old if name not in new]
    if not found and list(old) != list(new):
        return [f"their order is {', '.join(field.name for field in kept.fields)}"]
    return found


def _properties(kept: Mapping[str, str], logged: Mapping[str, str]) -> list[str]:
    return [
        f"{key} is {value!r}, {f'not {logged[key]!r}' if key in logged else 'which the log does not have'}"
        for key, value in sorted(kept.items())
        if _is_of_the_log(key) and logged.get(key) != value
    ]


def _is_of_the_log(key: str) -> bool:
    return key.startswith("delta.") and not key.startswith("delta.feature.") and key not in _DERIVED


def _by_name(columns: Struct) -> dict[str, Field]:
    return {field.name.lower(): field for field in columns.fields}


def _plain(type_: DataType) -> str:
    """The type without what catalogs are known to lose: comments, nullability, the case of names, lengths."""
    match type_:
        case Struct(fields=fields):
            return f"struct<{','.join(f'{one.name.lower()}:{_plain(one.type)}' for one in fields)}>"
        case Array(element=element):
            return f"array<{_plain(element)}>"
        case Map(key=key, value=value):
            return f"map<{_plain(key)},{_plain(value)}>"
        case Char() | Varchar():
            return "string"
        case _:
            return print_type(type_)


def _listed(differences: list[str]) -> str:
    more = len(differences) - _MOST
    return "; ".join(differences[:_MOST]) + (f"; and {more} more" if more > 0 else "")
