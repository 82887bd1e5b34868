from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from schemalint.delta.datatype import Field, Struct, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.delta.properties import value_of as property_value
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

MODE = "delta.columnMapping.mode"
MAX_ID = "delta.columnMapping.maxColumnId"


@rule(
    "CM005",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=(
        "ColumnMappingException",
        "ColumnMappingUnsupportedException",
        "UNSUPPORTED_TABLE_CHANGE",
        "DELTA_ENABLING_COLUMN_MAPPING_DISALLOWED_WHEN_COLUMN_MAPPING_METADATA_ALREADY_EXISTS",
    ),
)
def mapping_metadata_inconsistent(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The ids and physical names of the columns do not fit the table's column mapping.

    ## What it does

    Where column mapping is on, every live field, also inside of structs, needs an id and a physical name of
    its own, and `delta.columnMapping.maxColumnId` is at least the highest id. Where it is off there are
    none.

    ## Why is this bad?

    Readers find the data of a column by these. Without them Delta Spark does not read the table ("Missing
    column ID", a `ColumnMappingException`); with one of them twice it alters nothing any more, and reads or
    writes fail. A mode that it does not know is a `ColumnMappingUnsupportedException`; a maxColumnId that
    is no number makes every change fail with `UNSUPPORTED_TABLE_CHANGE`. A maxColumnId that is too low is
    raised by Spark with the next column, but other writers may give an id again. Ids without column mapping
    are not read, and keep it from being enabled:
    `DELTA_ENABLING_COLUMN_MAPPING_DISALLOWED_WHEN_COLUMN_MAPPING_METADATA_ALREADY_EXISTS`; these two are
    warnings (all measured on Delta 4.4.0).

    ## What to do

    `RESTORE` the last version that was right, and find out which writer lost the metadata of the fields.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol: {minReaderVersion: 2, minWriterVersion: 5}
      metaData:
        fields: [{name: order_id, type: long}]
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "1"}
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol: {minReaderVersion: 2, minWriterVersion: 5}
      metaData:
        fields:
          - name: order_id
            type: long
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: col-1}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "1"}
    ```
    """
    fields = tuple(walk_fields(table.state.columns))
    mode = (property_value(MODE, table.state.properties) or "none").lower()
    if mode == "none":
        yield from _left_over(fields)
    elif mode not in ("name", "id"):
        yield Problem(
            f"there is no column mapping mode {mode!r}",
            help="go back to the version before",
            object=ObjectRef("property", MODE),
            delta_error="ColumnMappingUnsupportedException",
        )
    else:
        yield from _missing(fields)
        yield from _repeated("id", ((path, field.column_id) for path, field in fields))
        yield from _repeated("physical name", _physical_paths(table.state.columns))
        yield from _highest(fields, table.state.properties.get(MAX_ID))


def _left_over(fields: Iterable[tuple[Path, Field]]) -> Iterator[Problem]:
    names = [
        format_path(path) for path, field in fields if field.column_id is not None or field.physical_name
    ]
    if names:
        yield Problem(
            f"column mapping is off, and {', '.join(names)} has ids or physical names of it",
            help="nobody reads them, but column mapping cannot be enabled until the table is rewritten",
            severity=Severity.WARNING,
            object=ObjectRef("property", MODE),
        )


def _missing(fields: Iterable[tuple[Path, Field]]) -> Iterator[Problem]:
    for path, field in fields:
        lacking = [
            word
            for word, value in (("id", field.column_id), ("physical name", field.physical_name))
            if value is None
        ]
        if lacking:
            yield Problem(
                f"{format_path(path)} has no column-mapping {' and no '.join(lacking)}",
                help="restore the last version that had it",
                path=path,
                delta_error="ColumnMappingException",
            )


def _repeated(what: str, values: Iterable[tuple[Path, Hashable]]) -> Iterator[Problem]:
    owners: defaultdict[Hashable, list[Path]] = defaultdict(list)
    for path, value in values:
        if value is not None:
            owners[value].append(path)
    for paths in owners.values():
        if len(paths) > 1:
            yield Problem(
                f"{' and '.join(format_path(path) for path in paths)} have the same column-mapping {what}",
                help="restore the last version in which they differ",
                path=paths[-1],
                delta_error="ColumnMappingException",
            )


def _physical_paths(columns: Struct) -> Iterator[tuple[Path, Hashable]]:
    """Where the data of each field lies: two structs may hold fields of one physical name."""
    physical: dict[Path, tuple[object, ...]] = {}
    for path, field in walk_fields(columns):
        above = next((end for end in range(len(path) - 1, 0, -1) if path[:end] in physical), 0)
        own = field.physical_name or field.name
        physical[path] = (*physical.get(path[:above], ()), *path[above:-1], own)
        yield path, physical[path]


def _highest(fields: Iterable[tuple[Path, Field]], text: str | None) -> Iterator[Problem]:
    highest = max((field.column_id or 0 for _path, field in fields), default=0)
    object_ = ObjectRef("property", MAX_ID)
    if text is not None and not text.isdecimal():
        yield Problem(
            f"{MAX_ID} is {text!r}, which is no number",
            help="restore the last version in which it is one",
            object=object_,
            delta_error="UNSUPPORTED_TABLE_CHANGE",
        )
    elif text is None or int(text) < highest:
        yield Problem(
            f"{MAX_ID} is {text or 'absent'}, and the highest id of a column is {highest}",
            help="Spark raises it when it adds a column; other writers may give an id again",
            severity=Severity.WARNING,
            object=object_,
        )
