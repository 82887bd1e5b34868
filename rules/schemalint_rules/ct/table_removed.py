from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Contract, Problem, RuleContext, Severity, TableRetired, rule


@rule("CT001", on=TableRetired, severity=Severity.ERROR)
def table_removed(retired: TableRetired, _ctx: RuleContext) -> Iterator[Problem]:
    """A contract was removed, or its table was renamed, but the table stays.

    ## What it does

    Finds a table that a contract of the base declares and no current contract does. A contract that moves to
    another file is the same contract: its `table` identifies it. If a new contract takes the removed one's
    file or location, the table was renamed in the contract.

    ## Why is this bad?

    schemalint never drops a table. Without a contract the table stays unchanged, schemalint no longer checks
    it, and its readers learn nothing of later changes. A new name does not rename the table either: a
    contract without `location` has its table at a place that follows from the name, so the data stays at the
    old one, and `apply` would create an empty table. `plan` refuses that while the old table exists.

    ## What to do

    To give the table another name, keep its place: write the old location under `location`; in a catalog,
    run `ALTER TABLE sales.orders RENAME TO sales.purchases` first. Then approve the removal of the old name
    as below.

    To remove the table, move its consumers first, drop it by hand, and approve the removal in
    `exceptions.yaml`, beside the configuration:

    ```yaml
    schemalint_exceptions: 1
    exceptions:
      - table: sales.orders
        rule: CT001
        object: table
        reason: replaced by sales.orders_v2
        approved_by: "@data-platform"
    ```

    If the table stays and another owner alters it, keep the contract and set `managed_by`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - {name: dashboards, client: trino, version: "476"}
    ```

    ```yaml title="after"
    # no contract any more
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    managed_by: shop-team
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - {name: dashboards, client: trino, version: "476"}
    ```
    """
    approve = "approve the removal in exceptions.yaml; the table stays"
    if retired.renamed_to is not None:
        yield _renamed(retired, retired.renamed_to, approve)
        return
    reason = retired.why or (f"the file {retired.file_now}" if retired.file_now else "")
    yield Problem(
        "the contract was removed" + (f": {reason}" if reason else "") + _consumers(retired.contract),
        help=f"restore it, or {'delete the file and ' if retired.file_now else ''}{approve}",
    )


def _consumers(contract: Contract) -> str:
    """Return the consumers of the table in all targets, with their owners."""
    of_targets = (consumer for overlay in contract.targets.values() for consumer in overlay.consumers)
    owners = {consumer.name: consumer.owner for consumer in (*contract.consumers, *of_targets)}
    names = ", ".join(f"{name} ({owner})" if owner else name for name, owner in owners.items())
    if names:
        return f", but the table has consumers: {names}"
    return ""


def _renamed(retired: TableRetired, name: str, approve: str) -> Problem:
    old = retired.contract
    location = old.location or old.default_location
    in_catalog = f"in a catalog, rename the table first: `ALTER TABLE {old.table} RENAME TO {name}`"
    if old.managed_by != "schemalint":
        return Problem(
            f"{old.managed_by} builds {name} from now on: the table {old.table} stays as it is, "
            f"and nobody writes it{_consumers(old)}",
            help=f"restore the name, or rename the table before the next run: `ALTER TABLE {old.table} "
            f"RENAME TO {name}`; then {approve}",
        )
    if not retired.moves:
        return Problem(
            f"the contract declares {name} now: the table keeps its location {location} and loses this name"
            f"{_consumers(old)}",
            help=f"{in_catalog}; then {approve}",
        )
    return Problem(
        f"the contract declares {name} now, at another location: the table and its data stay at {location}, "
        f"and a new table would be empty{_consumers(old)}",
        help=f"restore the name, or keep the table with `location: {location}`; {in_catalog}; then {approve}",
    )
