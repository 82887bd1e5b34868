from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RootWithoutTables, RuleContext, Severity, rule


@rule("DR010", on=RootWithoutTables, severity=Severity.WARNING)
def root_without_tables(root: RootWithoutTables, _ctx: RuleContext) -> Iterator[Problem]:
    """No Delta table was found below the root of the target.

    ## What it does

    If none of the checked tables exists, looks for any Delta table below the target's root in an object
    store, in at most 100 folders. One finding at the first contract names the root. If the target sets
    `create = false`, it is an error of the run, with exit status 2.

    ## Why is this bad?

    A store has no folders, so a root with a misspelt bucket path looks like one whose tables are yet to be
    created: nothing was compared, and `apply` would create empty tables next to the full ones. A missing
    local root is an error.

    ## What to do

    Check the spelling of the root. Before a first deployment the finding is expected; `create = false` in
    the target forbids new tables afterwards.

    ## Example

    A target with the root `s3://lake/tabels`, whose tables are at `s3://lake/tables`:

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ## Use instead

    The root `s3://lake/tables`:

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```
    """
    yield Problem(
        f"no Delta table was found below the root of the target, {root.uri}",
        help="check the spelling of the root; a first deployment creates its tables there",
        new=root.uri,
    )
