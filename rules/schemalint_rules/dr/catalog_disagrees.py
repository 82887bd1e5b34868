from __future__ import annotations

from collections.abc import Iterator, Mapping

from schemalint.delta.catalog_entry import stale_properties
from schemalint.delta.datatype import Array, Char, DataType, Field, Map, Struct, Varchar
from schemalint.delta.table import CatalogTable, LiveTable
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ID_IN_THE_LOG = "io.unitycatalog.tableId"

_MAX_LISTED = 3
_REFRESHED_BY_COMMITS = "each commit of this table brings the entry up to date: tell whoever runs the catalog"


@rule("DR006", on=LiveTable, severity=Severity.WARNING)
def catalog_disagrees(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The catalog's entry of the table differs from its log.

    ## What it does

    Compares the Delta log of a table that was found by its name with the catalog's entry: the names, order
    and types of columns, the properties that begin with `delta.`, and the table id, which the log repeats if
    the catalog manages the table. A catalog that stores no columns, or no properties, contradicts nothing.

    ## Why is this bad?

    Delta readers rely on the log, but not every client reads it: search, lineage, grants on columns and
    engines that plan from the catalog see the table as it was registered. Another id means that the catalog's
    location holds another table, or a copy.

    Columns and properties of before are only an information. Nobody who alters an external table does
    something wrong: Delta 4.4 sends Unity Catalog no columns then, so that the entry stays as it was.

    ## What to do

    Nothing in the contract. Whoever runs the catalog brings the entry up to date: on Databricks with
    `MSCK REPAIR TABLE main.sales.orders SYNC METADATA`, elsewhere by registering the table again. After
    `schemalint apply` changed a table, it sends the log's columns and properties itself if the server has
    the Delta API's request `updateTable`. Another id: find out who moved or copied the table.

    ## Example

    The table's log:

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: long}, {name: note, type: string}]}
    ```

    The catalog's entry, written as a contract:

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
    entry = table.catalog
    if entry is None:
        return
    logged_id = table.state.set_properties.get(_ID_IN_THE_LOG)
    if None not in (logged_id, entry.table_id) and logged_id != entry.table_id:
        yield Problem(
            f"the table id is {entry.table_id} in the catalog, but {logged_id} in the log",
            help="find out who moved or copied the table before anybody writes to it",
            old=logged_id,
            new=entry.table_id,
        )
    for noun, differences in (
        ("columns", [] if entry.columns is None else _columns(entry.columns, table.state.columns)),
        ("properties", _properties(entry.properties, table.state.set_properties)),
    ):
        if differences:
            yield Problem(
                f"the {noun} in the catalog differ from the log: {_listed(differences)}",
                help=_REFRESHED_BY_COMMITS if entry.managed_commits else _help(entry),
                severity=Severity.INFO,
            )


def _help(entry: CatalogTable) -> str:
    return (
        "the log counts, for Spark too; the catalog's owner brings its entry up to date, on Databricks with "
        f"MSCK REPAIR TABLE {entry.name} SYNC METADATA; schemalint's apply does so after it changed a table"
    )


def _columns(registered: Struct, logged: Struct) -> list[str]:
    """Describe the catalog's columns that differ; their order only if nothing else differs."""
    old, new = _by_name(registered), _by_name(logged)
    differences = [
        f"{new[name].name} is {print_type(old[name].type)}, not {print_type(new[name].type)}"
        for name in new
        if name in old and _plain(old[name].type) != _plain(new[name].type)
    ]
    differences += [f"{new[name].name} is missing" for name in new if name not in old]
    differences += [f"{old[name].name} is not in the log" for name in old if name not in new]
    if not differences and list(old) != list(new):
        return [f"their order is {', '.join(field.name for field in registered.fields)}"]
    return differences


def _properties(registered: Mapping[str, str], logged: Mapping[str, str]) -> list[str]:
    return [
        f"{key} is {registered[key]!r}, {'which the log does not have' if new is None else f'not {new!r}'}"
        for key, new in stale_properties(registered, logged).items()
    ]


def _by_name(columns: Struct) -> dict[str, Field]:
    return {field.name.lower(): field for field in columns.fields}


def _plain(type_: DataType) -> str:
    """Return the type without what catalogs lose: comments, nullability, the case of names, lengths."""
    match type_:
        case Struct(fields=fields):
            return f"struct<{','.join(f'{field.name.lower()}:{_plain(field.type)}' for field in fields)}>"
        case Array(element=element):
            return f"array<{_plain(element)}>"
        case Map(key=key, value=value):
            return f"map<{_plain(key)},{_plain(value)}>"
        case Char() | Varchar():
            return "string"
        case _:
            return print_type(type_)


def _listed(differences: list[str]) -> str:
    more = len(differences) - _MAX_LISTED
    return "; ".join(differences[:_MAX_LISTED]) + (f"; and {more} more" if more > 0 else "")
