from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.equivalence import with_names_of
from schemalint.delta.path import format_path
from schemalint.delta.properties import (
    APPEND_ONLY,
    CONSTRAINT_PREFIX,
    FEATURE_PREFIX,
    KEPT_BY_REPLACE,
    find_property,
)
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_NOT_PROPERTIES = (CONSTRAINT_PREFIX, FEATURE_PREFIX)


@rule("RB008", on=LiveTable, severity=Severity.WARNING)
def live_state_lost_by_rebuild(table: LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """The live table has what its next build takes away, because no declaration says it.

    ## What it does

    Compares the live table with the declaration, if another tool builds the table anew
    (`managed_by: {tool: dbt, how: replace}`): `CREATE OR REPLACE TABLE … AS SELECT` makes the table that its
    statement says. Properties, CHECK constraints and clustering that somebody gave the table go with the next
    build. Each of them is one finding of `check --live`; [DR001](dr001.md) reports columns. Delta keeps
    deletion vectors, row tracking and `delta.checkpointPolicy` without being told, so these are none.

    For a table that is built aside and renamed, grants and history go too; [RB007](rb007.md) says so once.

    ## Why is this bad?

    What somebody set by hand is there until the next night, and nothing fails when it goes. A change feed
    ends, a constraint no longer keeps bad rows out, and queries read more files than before.

    ## What to do

    Declare it where the tool reads it (of dbt: `tblproperties`, `constraints`, `liquid_clustered_by`),
    or take it out of the table.

    ## Example

    The declaration:

    ```yaml title="contract"
    schemalint: 1
    table: web.visits
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: visit_id, type: bigint}
    ```

    The live table, as a contract:

    ```yaml title="live"
    schemalint: 1
    table: web.visits
    columns:
      - {name: visit_id, type: bigint}
    properties: {delta.deletedFileRetentionDuration: interval 30 days}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: web.visits
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: visit_id, type: bigint}
    properties: {delta.deletedFileRetentionDuration: interval 30 days}
    ```
    """
    contract = ctx.contract
    if not contract.is_rebuilt:
        return
    tool, live, declared = contract.managed_by, table.state, contract.state
    for key, value in sorted(live.set_properties.items()):
        row = find_property(key)
        is_set = not key.startswith(_NOT_PROPERTIES) and (row is None or not row.written_by_delta)
        if is_set and key not in declared.properties and not _is_kept(contract, key):
            yield _lost(tool, f"property {key}={value}", ObjectRef("property", key))
    for name in sorted(
        live.constraints.keys() - with_names_of(declared.constraints, live.constraints).keys()
    ):
        yield _lost(tool, f"constraint {name}", ObjectRef("constraint", name))
    if isinstance(live.clustered_by, tuple) and live.clustered_by and declared.clustered_by is UNMANAGED:
        columns = ", ".join(map(format_path, live.clustered_by))
        yield _lost(tool, f"clustering by {columns}", ObjectRef("clustering", columns))


def _is_kept(contract: Contract, key: str) -> bool:
    return contract.managed_how == "replace" and (
        key in KEPT_BY_REPLACE or key == APPEND_ONLY  # RB009 reports it: Delta refuses the build
    )


def _lost(tool: str, what: str, object_: ObjectRef) -> Problem:
    return Problem(
        f"the live table has the {what}, which the next build of {tool} takes away: nothing declares it",
        help=f"declare it where {tool} reads it",
        object=object_,
    )
