from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.footer_summary import PhysicalTypes, Standing
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("TH012", on=PhysicalTypes, severity=Severity.INFO)
def type_history_in_files(found: PhysicalTypes, _ctx: RuleContext) -> Iterator[Problem]:
    """The data files tell whether a recorded change of type is still needed.

    ## What it does

    With `audit --files`, says for each widened column which live data files still hold which older type. If
    none of them does, for none of the widened columns, it says that the type history can go.

    ## Why is this bad?

    It is not. But each file of an older type has to be promoted whenever it is read, and keeps clients out
    that do not support type widening. Once all files have the declared types, the feature can be dropped, and
    Delta has no file to rewrite for it.

    ## What to do

    `REORG TABLE … APPLY (UPGRADE TYPES)` is Databricks' statement for it; with Delta Spark the files are
    rewritten by an overwrite, or by `ALTER TABLE … DROP FEATURE typeWidening`, which rewrites those that need
    it.

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
    widened = [one for one in found.types if one.path in found.widened]
    for one in (one for one in widened if one.standing == Standing.RECORDED):
        names = ", ".join(one.files.examples)
        more = f" and {one.files.count - len(one.files.examples)} more"
        yield Problem(
            f"{one.files.count} of {found.count} data files still hold {format_path(one.path)} as "
            f"{print_type(one.stored)}: {names}{more if one.files.count > len(one.files.examples) else ''}",
            help="an overwrite, or ALTER TABLE … DROP FEATURE typeWidening, writes them anew",
            path=one.path,
            old=print_type(one.stored),
            new=print_type(one.declared),
        )
    if found.widened and not found.damaged and all(one.standing == Standing.CURRENT for one in widened):
        yield Problem(
            "no data file holds an older type: the type history can be dropped without a rewrite",
            help="unset delta.enableTypeWidening, then ALTER TABLE … DROP FEATURE typeWidening",
        )
