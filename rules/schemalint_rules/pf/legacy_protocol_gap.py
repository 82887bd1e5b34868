from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemalint.delta.feature import CHECKPOINT_PROTECTION, FEATURES, closure
from schemalint.delta.protocol import above_limits, format_limits, minimum_versions
from schemalint.plugin import ObjectRef, Problem, ProtocolUpgrade, RuleContext, Severity, rule


@rule("PF004", on=ProtocolUpgrade, severity=Severity.ERROR)
def legacy_protocol_gap(upgrade: ProtocolUpgrade, ctx: RuleContext) -> Iterator[Problem]:
    """The declared state needs table features that the table does not support yet.

    ## What it does

    Compares the features that the table supports (offline: the features that Delta gives a table created from
    the base) with the features that properties, columns, constraints and `features` of the contract need, and
    reports what Delta would add and why. The finding is an error until the contract sets
    `protocol: {allow_upgrade: true}`, and an info after that; beyond `max_reader` or `max_writer` it stays an
    error.

    Any statement also adds a feature that the live table uses but does not support. If Spark refuses such a
    table, no statement adds it: then only PF010 or PF013 reports it.

    ## Why is this bad?

    Delta adds the features silently: one property in a contract, and every client that does not know the
    feature loses the table. A reader that lacks a reader feature fails with
    `DELTA_UNSUPPORTED_FEATURES_FOR_READ`, a writer that lacks a feature with
    `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE`.

    The rule compares protocols as sets of features. The pair of versions says little: older documentation
    gives (2,5) for column mapping and (1,4) for the change data feed, current tables get (2,7) and (1,7) with
    exactly the features they use, and a pair below writer version 7 stands for all features up to it.

    Versions never decrease, and removing a property leaves its feature behind. `ALTER TABLE … DROP FEATURE`
    reverts some features: it rewrites what uses the feature, needs several commits, and for features that
    leave traces in the history adds the feature `checkpointProtection`, unless the history is truncated,
    which takes a day of waiting by default. Other features stay for good, with the features that they
    require: domainMetadata beside clustering. `checkpointProtection` itself goes only with the history.

    ## What to do

    Find out who reads and writes the table, then allow the upgrade. `allow` cannot waive this rule: the
    upgrade needs `allow_upgrade` itself.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableDeletionVectors: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableDeletionVectors: true}
    protocol: {allow_upgrade: true}
    ```
    """
    exceeded = _exceeded_limits(upgrade, ctx)
    allowed = ctx.contract.protocol.allow_upgrade and not exceeded
    because = ", ".join(_cause(*cause) for cause in upgrade.because)
    yield Problem(
        f"the protocol rises from {_protocol(upgrade.before)} to {_protocol(upgrade.after)}"
        + (f" because of {because}" if because else "")
        + (f"; this exceeds {exceeded}" if exceeded else ""),
        help=" ".join(_help(upgrade, allow=ctx.wording.allow_upgrade, allowed=allowed, exceeded=exceeded)),
        severity=Severity.INFO if allowed else Severity.ERROR,
        object=ObjectRef(*upgrade.because[0][:2]) if upgrade.because else None,
    )


def _protocol(features: frozenset[str]) -> str:
    reader, writer = minimum_versions(features)
    return f"reader {reader}, writer {writer} ({_list(features) or 'no features'})"


def _cause(kind: str, name: str, features: frozenset[str]) -> str:
    if kind == "feature":
        return f"feature {name}"
    return f"{'the clustering' if kind == 'clustering' else f'{kind} {name}'} ({_list(features)})"


def _exceeded_limits(upgrade: ProtocolUpgrade, ctx: RuleContext) -> str:
    """Return the contract's limits that only this upgrade exceeds, as text; PF020 reports the others."""
    limits = (ctx.contract.protocol.max_reader, ctx.contract.protocol.max_writer)
    before = above_limits(minimum_versions(upgrade.before), *limits)
    after = above_limits(minimum_versions(upgrade.after), *limits)
    return format_limits({name: limit for name, limit in after.items() if name not in before})


def _help(upgrade: ProtocolUpgrade, *, allow: str, allowed: bool, exceeded: str) -> Iterator[str]:
    if exceeded:
        yield f"Raise {exceeded}, or do without the features."
    elif allow and not allowed:
        yield f"Allow it with {allow}."
    rows = [FEATURES[name] for name in sorted(upgrade.added) if name in FEATURES]
    if readers := [row.name for row in rows if row.reader]:
        yield f"Clients without {_list(readers)} lose access."
    if writers := [row.name for row in rows if not row.reader]:
        yield f"Clients without {_list(writers)} can no longer write."
    lasting = closure({name for name in upgrade.after if name in FEATURES and not FEATURES[name].removable})
    droppable = [row for row in rows if row.name not in lasting]
    if removable := [row.name for row in droppable if row.name != CHECKPOINT_PROTECTION]:
        yield f"DROP FEATURE reverts {_list(removable)}, in several commits that may rewrite files."
    if traces := [row.name for row in droppable if row.drop_needs_history]:
        yield f"For {_list(traces)} it leaves checkpointProtection until the history is truncated."
    if len(removable) < len(droppable):
        yield f"Only DROP FEATURE … TRUNCATE HISTORY reverts {CHECKPOINT_PROTECTION}."
    if final := [row.name for row in rows if row.name in lasting]:
        yield f"DROP FEATURE cannot revert {_list(final)}."


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
