from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import PropertyChanged
from schemalint.delta.properties import APPEND_ONLY, is_true
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_ERROR = "DELTA_CANNOT_MODIFY_APPEND_ONLY"
_ALTER_FIRST = f"before the build, set {APPEND_ONLY} to false on the table"


@rule(
    "RB009",
    on=(Contract, LiveTable, PropertyChanged),
    severity=Severity.ERROR,
    tables="rebuilt",
    verdict="impossible",
    delta_errors=(_ERROR,),
)
def rebuild_of_append_only_table(
    fact: Contract | LiveTable | PropertyChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """A tool is to replace a table that allows appends only.

    ## What it does

    Finds tables with `managed_by: {tool: dbt, how: replace}` (a `table` model of dbt) whose declaration or
    live table has `delta.appendOnly: true`. Delta refuses to replace such a table, with `AS SELECT` and
    without (`DELTA_CANNOT_MODIFY_APPEND_ONLY`, Delta 4.4.0), whatever the new statement says: what the table
    has counts. So the first build succeeds, and each later one fails.

    A table that is built aside and renamed (`how: rename`) is a new one each time, which Delta allows.

    ## Why is this bad?

    The table keeps the rows of its last build until somebody alters it. To take the line out of the
    declaration does not help: the statement that would remove the property is refused.

    ## What to do

    Do not declare it, and set it to false on a table that has it:
    `ALTER TABLE … SET TBLPROPERTIES ('delta.appendOnly' = 'false')`. Where rows must never change, append
    to the table instead of replacing it.

    Where somebody sets it to false by hand before the build, approve that with an exception in
    `exceptions.yaml`: `{table: …, rule: RB009, property: delta.appendOnly, via: rewrite, reason: …}`, and
    `from: "true"` if the finding is about a line that is gone.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: audit.logins
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: user_id, type: bigint}
      - {name: logged_in_at, type: timestamp}
    ```

    ```yaml title="after"
    schemalint: 1
    table: audit.logins
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: user_id, type: bigint}
      - {name: logged_in_at, type: timestamp}
    properties: {delta.appendOnly: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: audit.logins
    managed_by: {tool: dbt, how: alter}
    columns:
      - {name: user_id, type: bigint}
      - {name: logged_in_at, type: timestamp}
    properties: {delta.appendOnly: true}
    ```
    """
    if ctx.contract.managed_how != "replace":
        return
    declared, tool = ctx.contract.state, ctx.contract.managed_by
    is_declared = declared.enabled(APPEND_ONLY)
    match fact:
        case Contract() if is_declared:
            what = f"{tool} builds the table once, and then fails"
            help_text = "take the property away, or append to the table instead of replacing it"
        case LiveTable(state=live) if live.enabled(APPEND_ONLY) and APPEND_ONLY not in declared.properties:
            what, help_text = f"the next build of {tool} fails", _ALTER_FIRST
        case PropertyChanged(key=key, old=str(old)) if (
            key == APPEND_ONLY and is_true(old) and not is_declared
        ):
            what, help_text = f"the next build of {tool} fails", _ALTER_FIRST
        case _:
            return
    yield Problem(
        f"{what}: Delta replaces no table that has {APPEND_ONLY}=true",
        help=help_text,
        object=ObjectRef("property", APPEND_ONLY),
        delta_error=_ERROR,
    )
