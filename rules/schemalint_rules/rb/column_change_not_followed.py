from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded, FieldRemoved, TypeChanged
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("RB006", on=(FieldAdded, FieldRemoved, TypeChanged), severity=Severity.WARNING, scope="effect")
def column_change_not_followed(
    change: FieldAdded | FieldRemoved | TypeChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """The tool that alters a table does not follow a change of its columns.

    ## What it does

    Finds changes of columns that Delta can make, and that the tool of `managed_by` does not make:
    `on_column_change: append` adds columns only, `ignore` does nothing, and `fail` ends the run. For
    a model of dbt that is its `on_schema_change`.

    ## Why is this bad?

    The declaration and the table differ from then on: a new column never gets to the table, an old one stays
    in it and is NULL in new rows, and a value that only the wider type holds fails the run. With `fail` no
    run succeeds until somebody rebuilds the table.

    ## What to do

    Rebuild the table once (`dbt run --full-refresh`), which reads all sources again, or alter it by hand
    before the next run.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: support.tickets
    managed_by: {tool: dbt, on_column_change: fail}
    columns:
      - {name: ticket_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: support.tickets
    managed_by: {tool: dbt, on_column_change: fail}
    columns:
      - {name: ticket_id, type: bigint}
      - {name: channel, type: string}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: support.tickets
    managed_by: {tool: dbt, on_column_change: append}
    columns:
      - {name: ticket_id, type: bigint}
      - {name: channel, type: string}
    ```
    """
    follows, tool, name = ctx.contract.on_column_change, ctx.contract.managed_by, format_path(change.path)
    if follows in (None, "sync") or (follows == "append" and isinstance(change, FieldAdded)):
        return
    help_text = "rebuild the table once, or alter it before the next run"
    if follows == "fail":
        yield Problem(
            f"the next run of {tool} fails at {name}: it is to fail when columns differ",
            help=help_text,
            severity=Severity.ERROR,
        )
        return
    match change:
        case FieldAdded():
            what = f"{tool} does not add {name} to the table"
        case FieldRemoved():
            what = f"{tool} leaves {name} in the table, and new rows are NULL there"
        case TypeChanged(old=old):
            what = f"{tool} leaves {name} as {print_type(old)}, and a larger value fails the run"
    yield Problem(what, help=help_text)
