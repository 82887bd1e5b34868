"""What the declared clients do with a table before a change and after it, and who loses the table by what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from schemalint.base.values import Itself, grouped, replace
from schemalint.clients.client_table import client_names, find_client
from schemalint.clients.support import cures, form_of, recorded_type_changes, support, types_without_feature
from schemalint.delta import protocol, widening
from schemalint.delta.change import TypeChanged
from schemalint.delta.feature import CHECKPOINT_PROTECTION, FEATURES, closure
from schemalint.delta.path import Path
from schemalint.delta.properties import COLUMN_MAPPING_MODE
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import TYPE_WIDENING_FEATURES
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep
from schemalint.judge.table_judge import faults_of
from schemalint.model.client import (
    ClientSupport,
    Loss,
    LossKind,
    Reason,
    SupportLost,
    SupportUnknown,
    TableForm,
    Trait,
    Verdict,
)
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Contract
from schemalint.model.fact import ProtocolUpgrade
from schemalint.plugin import RuleContext

_Cause = tuple[str, str]
_Key: TypeAlias = tuple[LossKind, _Cause, Path]
_Rows: TypeAlias = Sequence[Mapping[str, Any]]
_FORMATS: Final = "delta.universalFormat.enabledFormats"


def client_support(
    ctx: RuleContext, upgrades: Iterable[ProtocolUpgrade], *, without: Collection[Path] = ()
) -> tuple[ClientSupport, ...]:
    """Return what each declared client does with a table before and after the change.

    Args:
        ctx: The table and its declaration.
        upgrades: The upgrades of the protocol that follow.
        without: The columns whose change of type Delta refuses.
    """
    rows = ctx.contract.client_rows
    before = None
    if not ctx.is_new_table:
        before = _with_faults(form_of(ctx.before, ctx.features, _protocol(ctx)), ctx.live)
    after = form_after(ctx, upgrades, without=without)
    return tuple(
        ClientSupport(
            ctx.contract.table,
            consumer,
            None if before is None else support(consumer, before, rows),
            support(consumer, after, rows),
        )
        for consumer in ctx.consumers
        if consumer.client is not None
    )


def form_after(
    ctx: RuleContext, upgrades: Iterable[ProtocolUpgrade], *, without: Collection[Path]
) -> TableForm:
    """Return the form of the table once it is as declared."""
    features = ctx.contract.created_features if ctx.is_new_table else ctx.features
    features = features.union(*(upgrade.added for upgrade in upgrades))
    dropped = frozenset(map(protocol.canonical, ctx.contract.drop_features)) & features
    truncated = frozenset(map(protocol.canonical, ctx.contract.truncated_features))
    if any(FEATURES[name].drop_needs_history for name in dropped - truncated if name in FEATURES):
        features |= {CHECKPOINT_PROTECTION}
    form = form_of(ctx.after, features - dropped, None if dropped else _protocol(ctx))
    form = _with_faults(form, ctx.live, ctx.contract)
    if dropped & TYPE_WIDENING_FEATURES:
        return form
    recorded = recorded_type_changes(ctx.before)
    return replace(form, type_changes=form.type_changes | recorded | set(_widened(ctx, without)))


def _with_faults(form: TableForm, live: LiveTable | None, contract: Contract | None = None) -> TableForm:
    """Return the form with what stands against opening the table, as it is or with its contract applied."""
    if live is None:
        return form
    faults = faults_of(Itself(live), Itself(contract) if contract else None)
    return replace(form, unreadable=faults.unreadable, unwritable=faults.unwritable)


def losses_of(
    ctx: RuleContext,
    upgrades: tuple[ProtocolUpgrade, ...],
    *,
    refused: Collection[_Cause],
    without: Collection[Path],
) -> tuple[SupportLost, ...]:
    """Return who loses the table by what, one fact for each thing that changes and each way to lose it.

    Args:
        ctx: As for `client_support`.
        upgrades: As for `client_support`.
        refused: The causes that Delta or another rule refuses: they change nothing.
        without: As for `client_support`.
    """
    after = form_after(ctx, upgrades, without=without)
    entries: list[tuple[_Key, Loss]] = []
    for client in client_support(ctx, upgrades, without=without):
        if not client.is_lost:
            continue
        harmful = (Verdict.REFUSES, Verdict.WRONG)
        reasons = tuple(reason for reason in client.new_reasons if reason.verdict in harmful)
        ways = tuple(cures(client.consumer, after, ctx.contract.client_rows))
        keyed = ((key, reason) for reason in reasons for key in _keys(reason, ctx, upgrades))
        for key, own in grouped(keyed).items():
            kind, name = key[1]
            if (kind, name.lower() if kind == "column" else name) not in refused:
                entries.append((key, Loss(client.consumer, own, ways)))
    return tuple(
        SupportLost(kind, cause, losses, path) for (kind, cause, path), losses in grouped(entries).items()
    )


def today(
    name: str, live: LiveTable, consumers: Iterable[Consumer], rows: _Rows = ()
) -> tuple[ClientSupport, ...]:
    """Return what the clients of consumers do with a live table as it is.

    Args:
        name: The name of the table.
        live: The table.
        consumers: The consumers; those without a client are left out.
        rows: The rows of the configuration that precede those of the client table.
    """
    form = _with_faults(form_of(live.state, live.protocol.features, live.protocol), live)
    answers = ((consumer, support(consumer, form, rows)) for consumer in consumers if consumer.client)
    return tuple(ClientSupport(name, consumer, answer, answer) for consumer, answer in answers)


def known_clients(rows: _Rows = ()) -> tuple[Consumer, ...]:
    """Return a consumer for each read path of each client of the table, at its newest known version."""
    names = dict.fromkeys((*client_names(), *(str(row["client"]) for row in rows)))
    clients = [client for name in names if (client := find_client(name, rows))]
    return tuple(
        Consumer(client.name, client.name, client.newest, path)
        for client in clients
        for path in client.read_paths or (None,)
    )


def unknown_support(clients: Iterable[ClientSupport]) -> tuple[SupportUnknown, ...]:
    """Return the clients of which it is unknown what they do after the change, one fact per client."""
    unknown = [
        (client, reason)
        for client in clients
        for reason in client.new_reasons
        if reason.verdict is Verdict.UNKNOWN and client.after.verdict is Verdict.UNKNOWN
    ]
    by_client = grouped(
        ((client.consumer.client, client.consumer.version), (client, reason)) for client, reason in unknown
    )
    return tuple(
        SupportUnknown(
            name or "",
            version,
            tables=tuple(dict.fromkeys(client.table for client, _ in those)),
            consumers=tuple(dict.fromkeys(client.consumer.name for client, _ in those)),
            why=tuple(dict.fromkeys(_unknown_text(reason) for _, reason in those)),
            has_versions=(known := find_client(name or "")) is None or known.newest is not None,
        )
        for (name, version), those in by_client.items()
    )


def _unknown_text(reason: Reason) -> str:
    if reason.trait is Trait.CLIENT:
        return reason.name
    if reason.detail:
        return f"{reason.text} ({reason.detail})"
    return reason.text


def _protocol(ctx: RuleContext) -> protocol.Protocol | None:
    if ctx.live is not None:
        return ctx.live.protocol
    return None


def _widened(ctx: RuleContext, without: Collection[Path]) -> Iterator[tuple[str, str]]:
    """Yield the type changes that Delta would record."""
    for change in _widenings(ctx):
        if change.path not in without:
            yield print_type(change.old), print_type(change.new)


def _widenings(ctx: RuleContext) -> Iterator[TypeChanged]:
    for change in ctx.changes:
        if isinstance(change, TypeChanged):
            step = widening.step(change.old, change.new, nested=len(change.path) > 1)
            if step is TypeStep.WIDENING:
                yield change


def _keys(reason: Reason, ctx: RuleContext, upgrades: Iterable[ProtocolUpgrade]) -> Iterator[_Key]:
    """Yield how a client loses the table, and by what: a type change by each column that changes so."""
    cause, is_named = _cause_of(reason, ctx, upgrades)
    is_pair = reason.trait is Trait.TYPE_CHANGE
    kind: LossKind = "implicit"
    if reason.verdict is Verdict.WRONG:
        kind = "wrong"
    elif reason.access == "write":
        kind = "writes"
    elif is_pair:
        kind = "type change"
    elif is_named:
        kind = "refuses"
    changed = [
        change.path
        for change in _widenings(ctx)
        if is_pair and f"{print_type(change.old)} -> {print_type(change.new)}" == reason.name
    ]
    if not changed:
        yield kind, cause, ()
    for path in changed:
        yield kind, ("column", str(path[0])), path


def _cause_of(reason: Reason, ctx: RuleContext, upgrades: Iterable[ProtocolUpgrade]) -> tuple[_Cause, bool]:
    """Return the object that brings a trait into the table, and whether the contract names the trait."""
    causes = [cause for upgrade in upgrades for cause in upgrade.because]
    if ctx.is_new_table:
        state = ctx.contract.state
        causes += protocol.feature_causes(
            state.columns, state.properties, sorted(state.requested_features), sorted(state.constraints)
        )
    if reason.trait is Trait.FORMAT:
        return ("property", _FORMATS), True
    if reason.trait is Trait.FEATURE:
        bringing = [cause for cause in causes if reason.name in closure(cause[2])]
        of_feature = next((cause for cause in bringing if cause[:2] == ("feature", reason.name)), None)
        first = of_feature or next(iter(bringing), None)
        if first is not None:
            return (first[0], first[1]), of_feature is not None
        if reason.name == "columnMapping" and ctx.before.column_mapping != ctx.after.column_mapping:
            return ("property", COLUMN_MAPPING_MODE), True
        return ("feature", reason.name), True
    if reason.trait is Trait.TYPE:
        return ("column", types_without_feature(ctx.after)[reason.name]), True
    first = next(iter(causes), None)
    return ((first[0], first[1]) if first else ("table", "")), False
