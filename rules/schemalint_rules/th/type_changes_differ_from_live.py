from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import DataType, Field, RecordedChange, Struct, field_at, type_at, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import record_of
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule

Record = tuple[RecordedChange, ...]


@rule("TH010", on=LiveTable, severity=Severity.WARNING)
def type_changes_differ_from_live(table: LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """The contract and the log tell different histories of a column's type.

    ## What it does

    Compares `type_changes` of the contract with `delta.typeChanges` of the live field, type by type,
    wherever both have the same type now and the contract has the key. The types that the log names must all
    stand in the contract, in that order. The log may know fewer: one contract describes several tables, and
    a younger one has less history; a table that was overwritten has none.

    ## Why is this bad?

    One sees from the contract which types the table's files may hold. Where the log has more, the contract
    was not told of a change that another writer made, or it was merged wrongly.

    ## What to do

    `schemalint pull` takes the history of the log into the contract.

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
        for way in dict.fromkeys(entry.at for entry in record_of(live)):
            ours, theirs = record_of(declared, way), record_of(live, way)
            if type_at(declared.type, way) == type_at(live.type, way) and not _is_within(
                _types(theirs), _types(ours)
            ):
                yield Problem(
                    f"the log records {format_path((*path, *way))} as {_told(theirs)}, and type_changes as "
                    f"{_told(ours)}",
                    help="take over what the log records: `schemalint pull`",
                    path=(*path, *way),
                    old=_told(theirs),
                    new=_told(ours),
                )


def _live_field(live: Struct, declared: Struct, path: Path) -> Field | None:
    """The live field, under the name from before where a rename is still to be made."""
    found = field_at(live, path)
    wanted = field_at(declared, path)
    if found is None and wanted is not None and wanted.renamed_from:
        return field_at(live, (*path[:-1], wanted.renamed_from))
    return found


def _types(record: Record) -> list[DataType]:
    """The types that a record passes."""
    return [record[0].from_type, *(entry.to_type for entry in record)] if record else []


def _is_within(known: list[DataType], path: list[DataType]) -> bool:
    left = iter(path)
    return all(type_ in left for type_ in known)


def _told(record: Record) -> str:
    return " -> ".join(print_type(type_) for type_ in _types(record)) or "nothing"
