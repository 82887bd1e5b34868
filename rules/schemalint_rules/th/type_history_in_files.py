from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.footer_summary import PhysicalTypes, Standing
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("TH012", on=PhysicalTypes, severity=Severity.INFO)
def type_history_in_files(physical: PhysicalTypes, _ctx: RuleContext) -> Iterator[Problem]:
    """The data files show whether the recorded type changes are still needed.

    ## What it does

    With `audit --files`, reports for each widened column which live data files still hold which older type.
    If no file holds an older type of any widened column, reports that the type history can be dropped.

    ## Why is this bad?

    It is not bad. But readers must promote a file of an older type on every read, and such files keep out
    clients that do not support type widening. Once all files have the declared types, the feature can be
    dropped without rewriting any file.

    ## What to do

    On Databricks, run `REORG TABLE … APPLY (UPGRADE TYPES)`. With Delta Spark, rewrite the files with an
    overwrite, or with `ALTER TABLE … DROP FEATURE typeWidening`, which rewrites only the files that need it.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields: [{name: qty, type: long, metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}}]
    ```

    What its data files hold:

    ```yaml title="files"
    - {file: part-0.parquet, columns: {qty: integer}}
    - {file: part-1.parquet, columns: {qty: long}}
    ```

    ## Use instead

    ```yaml title="instead"
    - {file: part-1.parquet, columns: {qty: long}}
    - {file: part-2.parquet, columns: {qty: long}}
    ```
    """
    widened = [stored_type for stored_type in physical.types if stored_type.path in physical.widened]
    for stored_type in widened:
        if stored_type.standing != Standing.RECORDED:
            continue
        files, stored = stored_type.files, print_type(stored_type.stored)
        more = files.count - len(files.examples)
        yield Problem(
            f"{files.count} of {physical.count} data files still hold {format_path(stored_type.path)} as "
            f"{stored}: {', '.join(files.examples)}{f' and {more} more' if more > 0 else ''}",
            help="rewrite them with an overwrite, or with ALTER TABLE … DROP FEATURE typeWidening",
            path=stored_type.path,
            old=stored,
            new=print_type(stored_type.declared),
        )
    is_current = all(stored_type.standing == Standing.CURRENT for stored_type in widened)
    if physical.widened and not physical.damaged and is_current:
        yield Problem(
            "no data file holds an older type: the type history can be dropped without a rewrite",
            help="unset delta.enableTypeWidening, then ALTER TABLE … DROP FEATURE typeWidening",
        )
