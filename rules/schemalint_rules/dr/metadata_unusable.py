from __future__ import annotations

import json
from collections.abc import Iterator

from schemalint.delta.datatype import Unknown, walk, walk_fields
from schemalint.delta.field_metadata import recorded_type
from schemalint.delta.live_effect import way_back
from schemalint.delta.path import format_path
from schemalint.delta.properties import is_true
from schemalint.delta.schema_faults import metadata_faults, type_fault
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_REPAIR = "repair the log with the tool that wrote it: Spark refuses RESTORE too"
_ROW_TRACKING = "delta.enableRowTracking"
_ROW_ID, _ROW_VERSION = (
    f"delta.rowTracking.materialized{part}ColumnName" for part in ("RowId", "RowCommitVersion")
)
_NO_NAME = "DELTA_MATERIALIZED_ROW_TRACKING_COLUMN_NAME_MISSING"
_TIMESTAMPS = "delta.enableInCommitTimestamps"
_ENABLEMENT = tuple(f"delta.inCommitTimestampEnablement{part}" for part in ("Version", "Timestamp"))
_HALF = "IllegalStateException"
_NO_COLUMN = "NoSuchElementException"


@rule(
    "DR011",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=(
        "ClassCastException",
        "DELTA_IDENTITY_COLUMN_INCONSISTENT_METADATA",
        "DELTA_UNRECOGNIZED_INVARIANT",
        "INVALID_JSON_DATA_TYPE",
        "IllegalArgumentException",
        "JsonEOFException",
        "JsonParseException",
        "MismatchedInputException",
        "_LEGACY_ERROR_TEMP_2120",
        _HALF,
        _NO_COLUMN,
        _NO_NAME,
    ),
    verdict="impossible",
)
def metadata_unusable(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The metadata of the table has something that Delta Spark cannot work with, or lacks what it needs.

    ## What it does

    Looks at the newest state of the log, and finds

    - types that Delta 4.4 does not know: names of SQL or of another system (`int`, `bigint`, `str`), and
      types of a newer Delta;
    - comments, defaults, generation expressions and invariants that are no text, invariants that are not as
      Delta writes them, and lists of values of different types in the metadata of a column;
    - an identity that lacks a part, has texts for numbers, or has the step 0;
    - row tracking without the names of its columns in data files;
    - in-commit timestamps with only one of the two properties that say since when;
    - clustering by a column that the table does not have.

    ## Why is this bad?

    Delta Spark writes none of this; other writers and edited logs do. It does not open a table with an
    unknown type (`INVALID_JSON_DATA_TYPE`) or with a comment that is a number (`ClassCastException`, which
    names no column), or with a list in a list (an error without a name). An identity without a part
    fails with `DELTA_IDENTITY_COLUMN_INCONSISTENT_METADATA`; with texts the table can be read, and each write
    that needs a number fails (`ClassCastException`, with the step 0 `IllegalArgumentException`). A malformed
    invariant fails each write and each `ALTER TABLE`, with `JsonParseException`, `JsonEOFException`,
    `MismatchedInputException` or `DELTA_UNRECOGNIZED_INVARIANT`. Without the name for row ids each INSERT
    fails with `DELTA_MATERIALIZED_ROW_TRACKING_COLUMN_NAME_MISSING`, without the other each UPDATE, which is
    a warning. With one of the two properties of in-commit timestamps each commit fails with
    `IllegalStateException`. A clustering column that is gone fails `ALTER TABLE`, `OPTIMIZE` and
    `DESCRIBE DETAIL` with `NoSuchElementException` (all measured on Delta 4.4.0).

    ## What to do

    Follow the help: some of it one `ALTER TABLE` mends. What Spark does not open, and an identity with texts,
    which RESTORE cannot read either, only the tool that wrote the log can repair, or a newer Delta.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: bigint}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: long}]}
    ```
    """
    yield from _of_columns(table)
    yield from _of_row_tracking(table)
    yield from _of_timestamps(table)
    for path in table.state.clustering_columns:
        if path and table.state.columns.get(str(path[0])) is None:
            yield Problem(
                f"the table is clustered by {format_path(path)}, which is gone: no column can be altered",
                help=way_back(table, "ALTER TABLE … CLUSTER BY fails too"),
                object=ObjectRef("clustering", "clustered_by"),
                delta_error=_NO_COLUMN,
            )


def _of_columns(table: LiveTable) -> Iterator[Problem]:
    for path, type_ in walk(table.state.columns):
        if (fault := type_fault(type_, path)) is not None:
            known = recorded_type(json.loads(type_.json)) if isinstance(type_, Unknown) else None
            yield Problem(
                fault.what,
                help=_REPAIR if known else "a newer Delta may know it; else repair the log",
                path=path,
                delta_error=fault.error,
                unreadable=True,
            )
    for path, field in walk_fields(table.state.columns):
        for fault in metadata_faults(field, path):
            effect = "writes fail" if fault.is_readable else "Spark does not open the table"
            is_restorable = fault.is_readable and fault.is_restorable
            yield Problem(
                f"{fault.what}: {effect}",
                help=way_back(table, "no statement changes it") if is_restorable else _REPAIR,
                path=path,
                delta_error=fault.error,
                unreadable=not fault.is_readable,
            )


def _of_row_tracking(table: LiveTable) -> Iterator[Problem]:
    properties = table.state.properties
    supports = table.protocol.features >= {"rowTracking", "domainMetadata"}  # else PF010 reports it
    if not supports or not is_true(properties.get(_ROW_TRACKING)):
        return
    missing = [key for key in (_ROW_ID, _ROW_VERSION) if not properties.get(key)]
    if missing:
        fails = "INSERT" if _ROW_ID in missing else "UPDATE"
        yield Problem(
            f"row tracking is on, but {' and '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not set: each {fails} fails ({_NO_NAME})",
            help="set any property: each `ALTER TABLE` adds the names",
            severity=None if fails == "INSERT" else Severity.WARNING,
            object=ObjectRef("property", _ROW_TRACKING),
            delta_error=_NO_NAME if fails == "INSERT" else None,
        )


def _of_timestamps(table: LiveTable) -> Iterator[Problem]:
    properties = table.state.properties
    present = [key for key in _ENABLEMENT if properties.get(key)]
    if is_true(properties.get(_TIMESTAMPS)) and len(present) == 1:
        (missing,) = set(_ENABLEMENT) - set(present)
        yield Problem(
            f"{present[0]} is set, but {missing} is not: no commit succeeds",
            help=f"set {_TIMESTAMPS} to false",
            object=ObjectRef("property", _TIMESTAMPS),
            delta_error=_HALF,
        )
