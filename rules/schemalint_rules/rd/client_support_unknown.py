from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RuleContext, Severity, SupportUnknown, rule


@rule("RD006", on=SupportUnknown, severity=Severity.INFO, scope="effect")
def client_support_unknown(unknown: SupportUnknown, _ctx: RuleContext) -> Iterator[Problem]:
    """It is unknown whether a declared client can use the tables after this change.

    ## What it does

    Reports the clients for which the client table has no verdict about something that the change brings:
    a feature or a type change for which it has no row, a version below all rows, no version where it
    matters. One line per client and version names all tables of the run. What was unknown before the
    change is not reported again.

    ## Why is this bad?

    Unknown is not yes. Nobody has tried it, or nobody has written it down.

    ## What to do

    Declare the `version`. Else try it: let your reader read a small table that has the feature, and write
    a row under `[[clients]]` in the configuration. A vendor's page is a row too, with its address.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [{name: dashboards, client: deltalake}]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [{name: dashboards, client: deltalake}]
    features: [timestampNtz]
    protocol: {allow_upgrade: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [{name: dashboards, client: deltalake, version: "1.6.6", read_path: pyarrow}]
    features: [timestampNtz]
    protocol: {allow_upgrade: true}
    ```
    """
    client = " ".join(filter(None, (unknown.client, unknown.version)))
    help_ = "Declare its version, or try it and add rows under `[[clients]]`."
    if unknown.version or not unknown.has_versions:
        help_ = "Try it and add rows under `[[clients]]`."
    yield Problem(
        f"it is unknown what {client} ({_some(unknown.consumers)}) does with {_some(unknown.tables)}: "
        f"{', '.join(unknown.why)}",
        help=help_,
    )


_MOST = 5


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
