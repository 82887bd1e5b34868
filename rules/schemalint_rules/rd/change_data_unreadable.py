from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved, FieldRenamed, PropertyChanged, TypeChanged
from schemalint.delta.change_data import LostRange, has_feed, lost_range
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"
_MOST = 20
_LOST = {
    LostRange.ACROSS: "ranges of the change data feed that begin before this change and end at or after it",
    LostRange.BEFORE: "ranges of the change data feed that begin before this change, wherever they end",
}


@rule(
    "RD014",
    on=(FieldRenamed, FieldRemoved, TypeChanged, PropertyChanged),
    severity=Severity.WARNING,
    scope="effect",
    delta_errors=(_ERROR, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE"),
)
def change_data_unreadable(
    change: FieldRenamed | FieldRemoved | TypeChanged | PropertyChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """A declared consumer can no longer read a range of the change data feed.

    ## What it does

    Finds, on a table with a change data feed and a consumer with `cdf: true`, columns that are renamed,
    dropped or widened, and column mapping that is turned off. One finding per change lists all of these
    consumers. Streams of the feed meet a change as other streams do, so consumers with a `stream` are not
    among them. TP010 reports a feed that is turned off.

    ## Why is this bad?

    A batch read of the feed (`table_changes`, or the option `readChangeFeed`) has one schema for its whole
    range. A range across such a change fails with `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA`, or with
    `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE` where the range has several changes. After a widening
    on a table without column mapping every range that begins before it fails, because Delta then reads each
    range with the newest schema.

    ## What to do

    Let the consumer read the feed up to the version before the change, and apply the change then. From the
    version of the change on it reads the feed again. A session that sets
    `spark.databricks.delta.changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled` to `true` reads
    across the change, with the newest names and types.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: cust, type: string}
    properties: {delta.columnMapping.mode: name, delta.enableChangeDataFeed: true}
    consumers: [{name: search_index, cdf: true, owner: "@search"}]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: customer, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name, delta.enableChangeDataFeed: true}
    consumers: [{name: search_index, cdf: true, owner: "@search"}]
    ```

    ## Use instead

    A new column, which reads of the feed pass:

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: cust, type: string}
      - {name: customer, type: string}
    properties: {delta.columnMapping.mode: name, delta.enableChangeDataFeed: true}
    consumers: [{name: search_index, cdf: true, owner: "@search"}]
    ```
    """
    readers = ctx.feed_readers
    if not readers or not has_feed(ctx.before) or not has_feed(ctx.after):
        return
    if not isinstance(change, PropertyChanged) and not ctx.alters(change):
        return
    lost = lost_range(change, ctx.before, ctx.after)
    if lost is not None:
        names = [consumer.described for consumer in readers[:_MOST]]
        who = ", ".join(names) + (f" and {len(readers) - _MOST} more" if len(readers) > _MOST else "")
        yield Problem(
            f"{who} can no longer read {_LOST[lost]}",
            help="let it read the feed up to the version before this change, then apply the change; from the "
            "version of the change on it reads the feed again",
            delta_error=_ERROR,
        )
