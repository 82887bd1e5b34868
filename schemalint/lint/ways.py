"""The ways out of a finding about what Delta cannot change in place, and whom they stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.base.values import replace
from schemalint.delta.change import (
    FieldAdded,
    FieldRemoved,
    GeneratedChanged,
    IdentityChanged,
    NullabilityChanged,
    PartitioningChanged,
    TypeChanged,
)

if TYPE_CHECKING:
    from schemalint.model.fact import Fact
    from schemalint.model.finding import Finding
    from schemalint.plugin import RuleContext


_WITH_WAYS = (
    FieldAdded,
    FieldRemoved,
    GeneratedChanged,
    IdentityChanged,
    NullabilityChanged,
    PartitioningChanged,
    TypeChanged,
)


def with_ways(finding: Finding, fact: Fact, ctx: RuleContext) -> Finding:
    """Return a finding with the ways out, if it is about a change that only a rewrite can make.

    Where the rule has an edit that makes the change possible, nobody needs a rewrite.
    """
    if not finding.needs_rewrite or finding.fix is not None or not isinstance(fact, _WITH_WAYS):
        return finding
    from schemalint.delta.ways import last_day_of_restore, ways_out  # noqa: PLC0415 (few runs have such a finding)

    by_tracking: tuple[list[str], list[str]] = ([], [])
    for consumer in ctx.consumers:
        if consumer.stream is not None:
            by_tracking[consumer.stream.schema_tracking_location is not None].append(consumer.name)
    streams, tracked = map(tuple, by_tracking)
    size = ctx.live.size() if ctx.live is not None and ctx.live.size is not None else None
    until = last_day_of_restore(ctx.before, ctx.today) if ctx.live is not None else None
    ways = (
        replace(
            way,
            streams=streams if way.stops else (),
            tracked=tracked if way.stops_tracked else (),
            size=size if way.rewrites else None,
            until=until if way.rewrites else None,
        )
        for way in ways_out(fact, ctx.before, ctx.engine)
    )
    return replace(finding, ways=tuple(ways))
