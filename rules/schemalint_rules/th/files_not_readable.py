from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.footer_summary import Files, PhysicalTypes, Standing, StoredType
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule

_MISMATCH = "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH"


@rule("TH011", on=PhysicalTypes, severity=Severity.ERROR, delta_errors=(_MISMATCH,), verdict="impossible")
def files_not_readable(physical: PhysicalTypes, _ctx: RuleContext) -> Iterator[Problem]:
    """A data file stores a column in a type that readers may not accept.

    ## What it does

    With `audit --files`, reads the Parquet footers of all live data files and compares the stored type of
    each column with the declared one. A file may hold the declared type, or an older type from which the
    changes in `delta.typeChanges` lead to the declared one. The rule also reports files that are missing, and
    files that are not Parquet.

    ## Why is this bad?

    If the stored type cannot be widened to the declared one, Delta Spark fails every query that reads the
    column, with `FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH`. If it can be widened but the log does
    not record the change, Delta Spark reads the file; other readers may fail or return wrong values, because
    readers need to promote recorded changes only (PROTOCOL.md, "Reader Requirements for Type Widening").

    ## What to do

    Either the schema was changed without Delta, or a writer added files with another schema. Restore the old
    type with `RESTORE`, or rewrite the named files with the declared type.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}]}
    ```

    What its data files hold:

    ```yaml title="files"
    - {file: part-0.parquet, columns: {qty: long}}
    - {file: part-1.parquet, columns: {qty: integer}}
    ```

    ## Use instead

    ```yaml title="instead"
    - {file: part-1.parquet, columns: {qty: integer}}
    - {file: part-2.parquet, columns: {qty: integer}}
    ```
    """
    for stored_type in physical.types:
        if stored_type.standing in (Standing.UNRECORDED, Standing.UNREADABLE):
            yield _problem(stored_type)
    for reason, files in physical.damaged.items():
        yield Problem(
            f"{_count_files(files.count)} cannot be read, {reason}: {_file_names(files)}",
            help="restore the files from a copy; if there is none, overwrite the data that they held",
            old=reason,
        )


def _problem(stored_type: StoredType) -> Problem:
    column, files = format_path(stored_type.path), stored_type.files
    stored, declared = print_type(stored_type.stored), print_type(stored_type.declared)
    is_readable = stored_type.standing == Standing.UNRECORDED
    why = f"which cannot be widened to {declared}"
    if is_readable:
        why = f"and no recorded type change leads to {declared}"
    counted = _count_files(files.count, "holds", "hold")
    return Problem(
        f"{counted} {column} as {stored}, {why}: {_file_names(files)}",
        help=f"rewrite the files with {declared}, or restore the old schema with RESTORE",
        path=stored_type.path,
        old=stored,
        new=declared,
        delta_error=None if is_readable else _MISMATCH,
    )


def _count_files(count: int, singular: str = "", plural: str = "") -> str:
    return (f"{count} data file {singular}" if count == 1 else f"{count} data files {plural}").rstrip()


def _file_names(files: Files) -> str:
    more = files.count - len(files.examples)
    return ", ".join(files.examples) + (f" and {more} more" if more > 0 else "")
