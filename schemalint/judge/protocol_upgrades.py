"""Upgrades of the protocol that a declaration needs, and the findings that they supersede."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from schemalint.delta import feature, protocol
from schemalint.delta.engine_answers import activated_by
from schemalint.delta.properties import FEATURE_PREFIX, VERSION_KEYS
from schemalint.delta.requests import granted_features
from schemalint.model.fact import ProtocolUpgrade
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import RuleContext


def protocol_upgrades(ctx: RuleContext, without: frozenset[str] = frozenset()) -> tuple[ProtocolUpgrade, ...]:
    """Return the protocol upgrade that the declared state requires, if any.

    Args:
        ctx: The declaration and the table.
        without: Features that the upgrade does not include.
    """
    declared = ctx.contract.state.set_properties
    granted = granted_features(ctx.contract.state, ctx.live, new_table=ctx.is_new_table)
    by_version = protocol.features_of_versions(declared, ctx.features)
    active = activated_by(ctx.engine, ctx.after.active_features, ctx.features | granted)
    needed = protocol.needed_to_alter(ctx.features | by_version, active, granted)
    added = needed - ctx.features - without
    if not added:
        return ()
    because = [
        *[("property", key, by_version) for key in VERSION_KEYS if key in declared][-1:],
        *protocol.feature_causes(
            ctx.after.columns, ctx.after.properties, sorted(granted), sorted(ctx.after.constraints)
        ),
    ]
    if ctx.after.clustered_by:
        because.append(("clustering", "clustered_by", feature.closure(protocol.CLUSTERING)))
    return (
        ProtocolUpgrade(
            ctx.features,
            ctx.features | added,
            tuple((kind, name, names & added) for kind, name, names in because if names & added),
        ),
    )


def standing_upgrades(
    ctx: RuleContext, findings: Iterable[Finding], without: frozenset[str] = frozenset()
) -> tuple[ProtocolUpgrade, ...]:
    """Return the upgrades that are judged after the change: one with a refused cause needs no approval."""
    of_change = tuple(findings)
    return tuple(
        upgrade for upgrade in protocol_upgrades(ctx, without) if not is_superseded(upgrade, of_change)
    )


def is_superseded(upgrade: ProtocolUpgrade, findings: Iterable[Finding]) -> bool:
    """Return whether the causes of an upgrade are refused themselves.

    One statement, `SET TBLPROPERTIES`, sets all properties and features, and Delta executes or refuses it as
    a whole: if it refuses one cause, the others upgrade nothing.
    """
    refused = {
        subject_of(finding)
        for finding in findings
        if finding.severity >= Severity.ERROR and not finding.existing
    }
    causes = {cause_of(kind, name) for kind, name, _ in upgrade.because}
    set_together = {cause for cause in causes if cause[0] in _TABLE_PROPERTIES}
    if not set_together.isdisjoint(refused):
        refused |= set_together
    return bool(causes) and causes <= refused


def with_upgrade_findings(
    findings: Sequence[Finding], upgrade: ProtocolUpgrade, of_upgrade: Sequence[Finding]
) -> tuple[Finding, ...]:
    """Add the findings of a table's upgrade, with one finding for each line of the contract.

    An upgrade with an error hides the lesser findings of the properties and features that cause it, and of
    the features that it adds: they can wait until the upgrade is allowed. Columns and constraints keep their
    findings: they are about types and expressions, which an allowed upgrade leaves as they are.
    """
    if not any(finding.severity >= Severity.ERROR for finding in of_upgrade):
        return (*findings, *of_upgrade)
    hidden = {cause_of(kind, name) for kind, name, _ in upgrade.because if kind in _TABLE_PROPERTIES}
    hidden |= {("feature", name) for name in upgrade.added}
    kept = (
        finding
        for finding in findings
        if finding.severity >= Severity.ERROR or subject_of(finding) not in hidden
    )
    return (*kept, *of_upgrade)


_TABLE_PROPERTIES: Final = ("property", "feature")


def subject_of(finding: Finding) -> tuple[str, str]:
    """Return a finding's object as upgrades name it: a nested field counts as its column."""
    if finding.object.kind == "column" and finding.path:
        return cause_of("column", str(finding.path[0]))
    return cause_of(finding.object.kind, finding.object.name)


def cause_of(kind: str, name: str) -> tuple[str, str]:
    """Normalize an object that brings a feature.

    ``delta.feature.<name>`` is the feature, and both version keys are one cause.
    """
    if kind == "column":
        return kind, name.lower()
    if kind == "property" and name.lower().startswith(FEATURE_PREFIX):
        return "feature", protocol.canonical(name[len(FEATURE_PREFIX) :])
    return kind, VERSION_KEYS[0] if name in VERSION_KEYS else name
