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

    Finds changes of columns that Delta can make, and that the tool of `managed_by` does not make. For a model
    of dbt, `on_column_change` is its `on_schema_change`. What the statements of dbt-spark and dbt-databricks
    do on Delta 4.4.0:

    | | a new column | one that is gone | a wider type |
    | --- | --- | --- | --- |
    | `append` | is added | dbt-spark fails, dbt-databricks writes NULL | stays as it was |
    | `sync` | is added | dbt-spark fails, dbt-databricks drops it | is altered |
    | `ignore` | is not added | fails; dbt-databricks writes NULL if it appends | stays as it was |
    | `fail` | fails | fails | fails |

    No adapter alters a field of a struct: a new one, one that is gone, and with `sync` a wider one fail the
    run.

    ## Why is this bad?

    The declaration and the table differ from then on: a new column never gets to the table, an old one stays
    in it, and a value that only the wider type holds fails the run. Where a run fails, no later one succeeds
    until somebody rebuilds or alters the table.

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
    help_text = "rebuild the table once, or alter it before the next run"
    reason = _failure(change, follows)
    if reason is not None:
        what = f"the next run of {tool} fails at {name}: {reason}"
        yield Problem(what, help=help_text, severity=Severity.ERROR)
        return
    match change, follows:
        case FieldAdded(), "ignore":
            what = f"{tool} does not add {name} to the table"
        case FieldRemoved(), "sync":
            what = f"{tool} drops {name}, or its next run fails: dbt-spark drops no column"
        case FieldRemoved(), "append" | "ignore":
            what = f"{tool} leaves {name} in the table, and its next run fails, or writes NULL there"
        case TypeChanged(old=old), "append" | "ignore":
            what = f"{tool} leaves {name} as {print_type(old)}, and a larger value fails the run"
        case _:
            return
    yield Problem(what, help=help_text)


def _failure(change: FieldAdded | FieldRemoved | TypeChanged, follows: str | None) -> str | None:
    """Return why the next run fails whatever the adapter is; None if it may succeed."""
    if follows == "fail":
        return "it is to fail when columns differ"
    is_written = isinstance(change, TypeChanged) and follows != "sync"
    if follows is None or len(change.path) == 1 or is_written:
        return None
    return "it alters nothing inside a column"
