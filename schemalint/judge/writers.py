"""Which of the engines that write a table can no longer use it after a change.

A statement must be legal for the engine that runs it; what it leaves behind must suit all others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Final

from schemalint.delta import protocol, widening
from schemalint.delta.change import TypeChanged
from schemalint.delta.engine import Engine
from schemalint.delta.engine_answers import Answer, drops_fast, knows_feature, reads_type_change
from schemalint.delta.feature import CHECKPOINT_PROTECTION, FEATURES, closure, find_feature
from schemalint.delta.path import Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep
from schemalint.judge.protocol_upgrades import cause_of
from schemalint.model.fact import ProtocolUpgrade, WriterLoss, WritersLost
from schemalint.plugin import RuleContext

_CLUSTERING: Final = ("clustering", "clustered_by", protocol.CLUSTERING)


def writers_lost(
    ctx: RuleContext,
    upgrades: Iterable[ProtocolUpgrade],
    *,
    refused: Collection[tuple[str, str]],
    without: Collection[Path],
) -> Iterator[WritersLost]:
    """Yield the edits after which other engines than the one that runs them cannot use the table.

    Args:
        ctx: The table and its declaration.
        upgrades: The upgrades of the protocol that follow.
        refused: The causes that other findings refuse: they change nothing.
        without: The columns whose change other findings refuse.
    """
    for (kind, name), features in _brought(ctx, upgrades):
        if cause_of(kind, name) in refused:
            continue
        for access, needed in _by_access(features):
            losses = _losses(ctx, access, partial(_knows, features=needed))
            if losses:
                what = "clustering" if kind == "clustering" else f"{kind} {name}"
                names = [one for one in sorted(needed) if any(_lacks(loss.engine, one) for loss in losses)]
                yield WritersLost(
                    (kind, name), f"{what} brings {', '.join(names)}", "do without the change", losses
                )
                break
    for change in ctx.changes:
        if isinstance(change, TypeChanged) and change.path not in without:
            yield from _of_type(ctx, change)


def _brought(
    ctx: RuleContext, upgrades: Iterable[ProtocolUpgrade]
) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
    """Yield what brings features into the table, with these features."""
    for upgrade in upgrades:
        for kind, name, features in upgrade.because:
            yield (kind, name), features
    state = ctx.contract.state
    if ctx.is_new_table:
        created = ctx.contract.created_features - protocol.DEFAULT_FEATURES
        causes = protocol.feature_causes(
            state.columns, state.properties, sorted(state.requested_features), sorted(state.constraints)
        )
        if state.clustering_columns:
            causes = (*causes, _CLUSTERING)
        for kind, name, features in causes:
            yield (kind, name), closure(features) & created
    for entry in sorted(ctx.contract.drop_features):
        row = find_feature(entry)
        is_dropped = row is not None and row.drop_needs_history and row.name in ctx.features
        if is_dropped and entry not in ctx.contract.truncated_features and drops_fast(ctx.engine):
            yield ("feature", entry), frozenset({CHECKPOINT_PROTECTION}) - ctx.features


def _by_access(features: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the features that a reader needs, and all that a writer needs."""
    of_readers = frozenset(name for name in features if name in FEATURES and FEATURES[name].reader)
    if of_readers:
        yield "read", of_readers
    if features:
        yield "write", features


def _of_type(ctx: RuleContext, change: TypeChanged) -> Iterator[WritersLost]:
    """Yield the loss of a table whose log records a type change that an engine does not read."""
    step = widening.step(change.old, change.new, nested=len(change.path) > 1)
    if step is not TypeStep.WIDENING:
        return
    losses = _losses(ctx, "read", partial(reads_type_change, old=change.old, new=change.new))
    if losses:
        old, new = print_type(change.old), print_type(change.new)
        what = f"{format_path(change.path)} changes from {old} to {new}"
        instead = f"keep {old}, and add a column of type {new} that the writers fill"
        yield WritersLost(("column", str(change.path[0])), what, instead, losses, change.path)


def _losses(ctx: RuleContext, access: str, uses: Callable[[Engine], Answer]) -> tuple[WriterLoss, ...]:
    answers = ((engine, uses(engine)) for engine in ctx.contract.engines.others)
    return tuple(
        WriterLoss(engine, access, answer)
        for engine, answer in answers
        if answer.does is False or (answer.does is None and not engine.is_hosted)
    )


def _lacks(engine: Engine, feature: str) -> bool:
    return knows_feature(engine, feature).does is not True


def _knows(engine: Engine, features: Iterable[str]) -> Answer:
    """Return what an engine does with a table that has some features: what stands most against it."""
    answers = [knows_feature(engine, name) for name in sorted(features)]
    return min(answers, key=lambda answer: (answer.does is not False, answer.does is not None))
