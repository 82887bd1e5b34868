from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import DataType, Field, Struct, field_at, type_at, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import Record, is_subsequence, record_of
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("TH010", on=LiveTable, severity=Severity.WARNING)
def type_changes_differ_from_live(table: LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """The contract and the log record different type histories of a column.

    ## What it does

    Compares `type_changes` of the contract with `delta.typeChanges` of the live field, type by type, if both
    have the same type now and the contract has the key. The contract must list all types that the log names,
    in the same order. The log may have fewer: one contract describes several tables, and a younger table has
    less history; an overwritten table has none.

    ## Why is this bad?

    The contract shows which types the table's files may hold. If the log has more of them, the contract lacks
    a change that another writer made, or a merge of the contract went wrong.

    ## What to do

    `schemalint pull` copies the history from the log into the contract.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: qty, type: bigint, type_changes: [{from: smallint, to: bigint}]}
    properties: {delta.enableTypeWidening: true}
    ```

    The log, with the schema written out:

    ```yaml title="log"
    - protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields: [{name: qty, type: long, metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}}]
        configuration: {delta.enableTypeWidening: "true"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - name: qty
        type: bigint
        type_changes: [{from: smallint, to: int}, {from: int, to: bigint}]
    properties: {delta.enableTypeWidening: true}
    ```
    """
    for path, declared in walk_fields(ctx.contract.state.columns):
        live = _live_field(table.state.columns, ctx.contract.state.columns, path)
        if live is None or not isinstance(declared.type_changes, tuple):
            continue
        for at in dict.fromkeys(entry.at for entry in record_of(live)):
            if type_at(declared.type, at) != type_at(live.type, at):
                continue
            declared_types, live_types = _types(record_of(declared, at)), _types(record_of(live, at))
            if not is_subsequence(live_types, declared_types):
                yield Problem(
                    f"the log records {format_path((*path, *at))} as {_print_types(live_types)}, and "
                    f"type_changes as {_print_types(declared_types)}",
                    help="copy the history from the log: `schemalint pull`",
                    path=(*path, *at),
                    old=_print_types(live_types),
                    new=_print_types(declared_types),
                )


def _live_field(live: Struct, declared: Struct, path: Path) -> Field | None:
    """Return the live field, by its old name if the rename is not applied yet."""
    live_field = field_at(live, path)
    declared_field = field_at(declared, path)
    if live_field is None and declared_field is not None and declared_field.renamed_from:
        return field_at(live, (*path[:-1], declared_field.renamed_from))
    return live_field


def _types(record: Record) -> list[DataType]:
    """Return the types of a record, from the first to the last."""
    if record:
        return [record[0].from_type, *(entry.to_type for entry in record)]
    return []


def _print_types(types: list[DataType]) -> str:
    return " -> ".join(map(print_type, types)) or "nothing"
