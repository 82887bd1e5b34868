from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from schemalint.delta.datatype import Field, physical_paths, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.delta.properties import COLUMN_MAPPING_MODE
from schemalint.delta.schema_history import MAX_COLUMN_ID, MOST_DIGITS
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_COPY = (
    "Spark refuses RESTORE too: create a new table from the last correct version, with "
    "`CREATE TABLE … AS SELECT * FROM … VERSION AS OF …`"
)


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
    verdict="impossible",
)
def mapping_metadata_inconsistent(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The column ids and physical names do not fit the table's column mapping.

    ## What it does

    If column mapping is on, every live field, including the fields inside structs, needs an id and a physical
    name of its own, and `delta.columnMapping.maxColumnId` must be at least the highest id. If it is off, no
    field may have either.

    ## Why is this bad?

    Readers find the data of a column by its id and physical name. Without them Delta Spark does not read the
    table ("Missing column ID", a `ColumnMappingException`); with a duplicate it no longer alters the table,
    and reads or writes fail. An unknown mode is a `ColumnMappingUnsupportedException`; a maxColumnId that is
    not a number makes every change fail with `UNSUPPORTED_TABLE_CHANGE`. Spark raises a maxColumnId that is
    too low when it adds the next column, but other writers may reuse an id. Readers ignore ids without column
    mapping, but the ids prevent enabling it:
    `DELTA_ENABLING_COLUMN_MAPPING_DISALLOWED_WHEN_COLUMN_MAPPING_METADATA_ALREADY_EXISTS`. The last two are
    warnings (all measured on Delta 4.4.0).

    ## What to do

    `RESTORE` the last correct version, and find out which writer lost the metadata of the fields. If the mode
    or maxColumnId is invalid, Delta refuses `RESTORE` too (measured on Delta 4.4.0), but reads the last
    correct version: `CREATE TABLE … AS SELECT * FROM … VERSION AS OF …` copies it to a new table.

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
    mode = table.state.column_mapping
    if mode == "none":
        yield from _left_over(fields)
    elif mode not in ("name", "id"):
        yield Problem(
            f"the column mapping mode {mode!r} does not exist",
            help=_COPY,
            object=ObjectRef("property", COLUMN_MAPPING_MODE),
            delta_error="ColumnMappingUnsupportedException",
            unreadable=True,
        )
    else:
        yield from _missing(fields)
        yield from _repeated("id", ((path, field.column_id) for path, field in fields))
        yield from _repeated("physical name", physical_paths(table.state.columns))
        yield from _highest(fields, table.state.properties.get(MAX_COLUMN_ID))


def _left_over(fields: Iterable[tuple[Path, Field]]) -> Iterator[Problem]:
    names = [
        format_path(path) for path, field in fields if field.column_id is not None or field.physical_name
    ]
    if names:
        yield Problem(
            f"column mapping is off, but its ids or physical names remain on {', '.join(names)}",
            help="readers ignore them, but column mapping cannot be enabled until the table is rewritten",
            severity=Severity.WARNING,
            object=ObjectRef("property", COLUMN_MAPPING_MODE),
        )


def _missing(fields: Iterable[tuple[Path, Field]]) -> Iterator[Problem]:
    for path, field in fields:
        missing = [
            noun
            for noun, value in (("id", field.column_id), ("physical name", field.physical_name))
            if value is None
        ]
        if missing:
            yield Problem(
                f"{format_path(path)} has no column-mapping {' and no '.join(missing)}",
                help="restore the last version that had it",
                path=path,
                delta_error="ColumnMappingException",
                unreadable=True,
            )


def _repeated(noun: str, values: Iterable[tuple[Path, Hashable]]) -> Iterator[Problem]:
    owners: defaultdict[Hashable, list[Path]] = defaultdict(list)
    for path, value in values:
        if value is not None:
            owners[value].append(path)
    for paths in owners.values():
        if len(paths) > 1:
            yield Problem(
                f"{' and '.join(format_path(path) for path in paths)} have the same column-mapping {noun}",
                help="restore the last version in which they differ",
                path=paths[-1],
                delta_error="ColumnMappingException",
            )


def _highest(fields: Iterable[tuple[Path, Field]], text: str | None) -> Iterator[Problem]:
    highest = max((field.column_id or 0 for _path, field in fields), default=0)
    object_ = ObjectRef("property", MAX_COLUMN_ID)
    if text is not None and not (text.isdecimal() and len(text) <= MOST_DIGITS):
        yield Problem(
            f"{MAX_COLUMN_ID} is {text!r}, which is not a number",
            help=_COPY,
            object=object_,
            delta_error="UNSUPPORTED_TABLE_CHANGE",
        )
    elif text is None or int(text) < highest:
        yield Problem(
            f"{MAX_COLUMN_ID} is {text or 'absent'}, but the highest column id is {highest}",
            help="Spark raises it when it adds a column; other writers may reuse an id",
            severity=Severity.WARNING,
            object=object_,
        )
