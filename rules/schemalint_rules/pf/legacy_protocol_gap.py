from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import minimum_versions
from schemalint.plugin import ObjectRef, Problem, ProtocolUpgrade, RuleContext, Severity, rule


@rule("PF004", on=ProtocolUpgrade, severity=Severity.ERROR)
def legacy_protocol_gap(upgrade: ProtocolUpgrade, ctx: RuleContext) -> Iterator[Problem]:
    """The declared state needs table features that the table does not support yet.

    ## What it does

    Compares the features that the table supports (offline: those that Delta gives a table made from the base)
    with those that properties, columns, constraints and `features` of the contract need, and says what
    Delta would add and because of what. It is an error until the contract says `protocol: {allow_upgrade:
    true}`, and a notice then; beyond `max_reader` or `max_writer` it stays an error.

    A feature that the live table uses already, and does not support, comes with any statement too. Where
    Spark refuses such a table, no statement brings it: then PF010 or PF013 speaks alone.

    ## Why is this bad?

    Delta adds the features without a word: one property in a contract, and every client that does not know
    the feature loses the table. A reader without a feature of the reader's list fails with
    `DELTA_UNSUPPORTED_FEATURES_FOR_READ`, a writer with `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE`.

    Protocols are compared as sets of features. The pair of versions says little: older pages give (2,5) for
    column mapping and (1,4) for the change data feed, today's tables get (2,7) and (1,7) with exactly the
    features they use, and a pair below writer version 7 stands for all features up to it.

    Versions never go down again, and a property that is taken away leaves its feature behind. `ALTER TABLE …
    DROP FEATURE` takes off some of them: it rewrites what uses the feature, needs several commits, and for
    features that leave traces in the history adds the feature `checkpointProtection`, unless the history is
    truncated, which takes a day of waiting by default. Others stay for good.

    ## What to do

    Find out who reads and writes the table, then allow the upgrade. This rule cannot be waived by `allow`:
    the upgrade needs that one word.

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
    beyond = _beyond(upgrade, ctx)
    allowed = ctx.contract.protocol.allow_upgrade and not beyond
    because = ", ".join(_cause(*cause) for cause in upgrade.because)
    yield Problem(
        f"the protocol rises from {_protocol(upgrade.before)} to {_protocol(upgrade.after)}"
        + (f" because of {because}" if because else "")
        + (f"; this passes {beyond}" if beyond else ""),
        help=" ".join(_help(upgrade.added, allowed=allowed, beyond=beyond)),
        severity=Severity.INFO if allowed else Severity.ERROR,
        object=ObjectRef(*upgrade.because[0][:2]) if upgrade.because else None,
    )


def _protocol(features: frozenset[str]) -> str:
    reader, writer = minimum_versions(features)
    return f"reader {reader}, writer {writer} ({_list(features) or 'no features'})"


def _cause(kind: str, name: str, features: frozenset[str]) -> str:
    if kind == "feature":
        return f"feature {name}"
    return f"{name if kind == 'clustering' else f'{kind} {name}'} ({_list(features)})"


def _beyond(upgrade: ProtocolUpgrade, ctx: RuleContext) -> str:
    """The contract's limits that the versions pass, as text."""
    limits = ctx.contract.protocol
    named = (("max_reader", limits.max_reader), ("max_writer", limits.max_writer))
    versions = minimum_versions(upgrade.after)
    return " and ".join(
        f"{name}: {limit}"
        for (name, limit), version in zip(named, versions, strict=True)
        if limit is not None and version > limit
    )


def _help(added: frozenset[str], *, allowed: bool, beyond: str) -> Iterator[str]:
    if beyond:
        yield f"Raise {beyond}, or do without."
    elif not allowed:
        yield "Allow it with `protocol: {allow_upgrade: true}`."
    rows = [FEATURES[name] for name in sorted(added) if name in FEATURES]
    if readers := [row.name for row in rows if row.reader]:
        yield f"Who does not know {_list(readers)} cannot read or write the table any more."
    if writers := [row.name for row in rows if not row.reader]:
        yield f"Who does not know {_list(writers)} cannot write to it any more."
    if removable := [row.name for row in rows if row.removable]:
        yield f"DROP FEATURE takes off {_list(removable)}, in several commits that may rewrite files."
    if traces := [row.name for row in rows if row.removable and row.drop_needs_history]:
        yield f"For {_list(traces)} it leaves checkpointProtection until the history is truncated."
    if final := [row.name for row in rows if not row.removable]:
        yield f"There is no way back for {_list(final)}."


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
