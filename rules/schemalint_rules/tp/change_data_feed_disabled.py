from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import PropertyChanged
from schemalint.delta.change_data import FEED_KEYS, has_feed
from schemalint.delta.properties import property_problem
from schemalint.delta.table import TableState
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_MISSING_CHANGE_DATA"


@rule(
    "TP010",
    on=PropertyChanged,
    severity=Severity.WARNING,
    scope="effect",
    tables="any",
    delta_errors=(_ERROR,),
)
def change_data_feed_disabled(change: PropertyChanged, ctx: RuleContext) -> Iterator[Problem]:
    """The change data feed of a table is turned off.

    ## What it does

    Finds `delta.enableChangeDataFeed` that was `true` and is now `false` or `null`. If the line is only gone,
    the table keeps its feed: TP005 reports that.

    ## Why is this bad?

    Delta records no changes from then on, and nothing records them later. A batch read of the feed
    (`table_changes`, or the option `readChangeFeed`) whose range contains the commit that turns the feed off,
    or any later one without the feed, fails with `DELTA_MISSING_CHANGE_DATA`, and so does a stream that
    starts there. Turning the feed on again does not help: its readers must start again from a full copy.

    ## What to do

    Keep the feed while anything reads it. Otherwise let the readers finish first.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableChangeDataFeed: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableChangeDataFeed: false}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableChangeDataFeed: true}
    ```
    """
    if _feed_key(ctx.before) != change.key or _feed_key(ctx.after) is not None:
        return
    new = change.new if isinstance(change.new, str) else None
    if new is None or property_problem(change.key, new) is None:
        yield Problem(
            f"{change.key} is turned off: changes are no longer recorded, and batch reads of the change data "
            "feed over this point fail",
            help="keep it `true` while anything reads the feed; turned on again, it starts anew",
            delta_error=_ERROR,
        )


def _feed_key(state: TableState) -> str | None:
    """Return the property that turns the feed on; None if the feed is off."""
    if not has_feed(state):
        return None
    return next(key for key in FEED_KEYS if state.properties.get(key) is not None)
