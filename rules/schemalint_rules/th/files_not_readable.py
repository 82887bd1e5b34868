from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.footer_summary import PhysicalTypes, Standing, StoredType
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule

_MISMATCH = "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH"


@rule("TH011", on=PhysicalTypes, severity=Severity.ERROR, delta_errors=(_MISMATCH,))
def files_not_readable(found: PhysicalTypes, _ctx: RuleContext) -> Iterator[Problem]:
    """A data file holds a type that readers do not take for the declared one.

    ## What it does

    With `audit --files`, reads the Parquet footers of all live data files and compares the type of each
    column with the declared one. A file may hold the declared type, or an older one of which
    `delta.typeChanges` records that it became the declared one. Files that are gone, or are no Parquet
    files, are told too.

    ## Why is this bad?

    Where nothing leads from the stored type to the declared one, Delta Spark fails every query that reads
    the column, with `FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH`. Where the type could be widened and
    nobody recorded it, Delta Spark reads the file, and others may fail or misread it: a reader has to promote
    recorded changes only (PROTOCOL.md, "Reader Requirements for Type Widening").

    ## What to do

    The schema was changed without Delta, or a writer added files of another schema. Bring the old type back
    with `RESTORE`, or rewrite the named files with the declared type.

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
    for one in found.types:
        if one.standing in (Standing.UNRECORDED, Standing.UNREADABLE):
            yield _problem(one)
    for reason, files in found.damaged.items():
        yield Problem(
            f"{_counted(files.count)} cannot be read, {reason}: {_named(files.count, files.examples)}",
            help="bring the files back from a copy; if there is none, overwrite what was in them",
            old=reason,
        )


def _problem(one: StoredType) -> Problem:
    column, stored, declared = format_path(one.path), print_type(one.stored), print_type(one.declared)
    is_readable = one.standing == Standing.UNRECORDED
    why = (
        f"and nothing records that it became {declared}"
        if is_readable
        else f"from which nothing leads to {declared}"
    )
    files = _counted(one.files.count, "holds", "hold")
    return Problem(
        f"{files} {column} as {stored}, {why}: {_named(one.files.count, one.files.examples)}",
        help=f"rewrite the files with {declared}, or bring the old schema back with RESTORE",
        path=one.path,
        old=stored,
        new=declared,
        delta_error=None if is_readable else _MISMATCH,
    )


def _counted(count: int, one: str = "", many: str = "") -> str:
    return f"{count} data file {one}".rstrip() if count == 1 else f"{count} data files {many}".rstrip()


def _named(count: int, examples: tuple[str, ...]) -> str:
    return ", ".join(examples) + (f" and {count - len(examples)} more" if count > len(examples) else "")
