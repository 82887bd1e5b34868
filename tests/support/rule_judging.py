"""One rule, asked about the texts of two contracts, and of the live table where it is about that."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from schemalint import contract as contracts
from schemalint.delta.protocol import Protocol
from schemalint.delta.stored_types import physical_types
from schemalint.delta.table import CatalogTable, LiveTable, Metadata
from schemalint.git import File
from schemalint.lint.duplicates import duplicates
from schemalint.lint.judge import Judge, git_context, judge_pair
from schemalint.lint.live import LiveComparison, judge_live
from schemalint.lint.rulebook import load_rules
from schemalint.lint.table import judge_table
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.fact import Drift, DuplicateTable, ProtocolUpgrade
from schemalint.values import replace
from support.short_footers import tallied
from support.short_logs import logged_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemalint.model.finding import Finding
    from schemalint.plugin import Rule

TEXTS = {"before", "after", "live", "applied", "log", "files", "catalog"}

Texts = dict[str, str]
"""The texts of a case, each of which may be missing.

``before`` and ``after`` as in git, ``live`` for the table, ``applied`` for what was applied to it last;
``log`` for the table's log (see `support.short_logs`), judged with the contract of ``after`` or without one;
``files`` for its data files (see `support.short_footers`); ``catalog`` for what a catalog keeps of the table,
written as a contract.
"""


@cache
def built_in() -> Mapping[str, Rule]:
    """The built-in rules by name."""
    return {rule.name: rule for rule in load_rules() if rule.module.startswith("schemalint_rules.")}


def findings(rule: Rule, texts: Texts) -> tuple[Finding, ...]:
    """What the rule alone has to say."""
    if "log" in texts:
        with TemporaryDirectory() as folder:
            table = replace(logged_table(texts["log"], Path(folder)), catalog=_in_catalog(texts))
        if ProtocolUpgrade in rule.subjects:
            return _of_upgrade(rule, texts, table)
        files = physical_types(table, tallied(texts["files"])) if "files" in texts else None
        return judge_table(
            table, [rule], name="sales.orders", contract=_contract("after", texts), files=files
        )
    if DuplicateTable in rule.subjects:
        return tuple(_duplicates(rule, texts["after"]))
    before, after = _contract("before", texts), _contract("after", texts)
    if Drift in rule.subjects:
        assert after is not None
        # The other rules tell this one why a difference cannot be removed.
        everything = tuple(built_in().values())
        applied = _contract("applied", texts)
        comparison = LiveComparison(after, _live(texts["live"]), base=before, applied=applied)
        found = judge_live(comparison, everything)
        return tuple(one for one in found if one.code == rule.code)
    return judge_pair(before, after, [rule])


def _of_upgrade(rule: Rule, texts: Texts, table: LiveTable) -> tuple[Finding, ...]:
    """The other rules say what the table itself lacks."""
    after = _contract("after", texts)
    assert after is not None
    everything = tuple(built_in().values())
    of_table = judge_table(table, everything, contract=after)
    comparison = LiveComparison(after, table, base=_contract("before", texts), of_table=of_table)
    return tuple(one for one in judge_live(comparison, everything) if one.code == rule.code)


def told(found: tuple[Finding, ...]) -> str:
    """All that a user is told: place, code, severity and message, below it Delta's error and the help."""
    ordered = sorted(found, key=lambda one: (one.location, one.code, one.message))
    return "".join(_told(one) for one in ordered)


def fixed(found: tuple[Finding, ...], text: str) -> str:
    """The text of ``after`` with every safe fix made; two findings may ask for the same edit."""
    edits = dict.fromkeys(edit for one in found if one.fix and one.fix.safe for edit in one.fix.edits)
    (declared,) = contracts.read("after.yaml", text).contracts
    for change in reversed(contracts.text_changes(declared, text, list(edits))):
        text = text[: change.start] + change.text + text[change.end :]
    return text


def _told(finding: Finding) -> str:
    place = f"{finding.location.line}:{finding.location.column}"
    lines = [f"{place} {finding.code} {finding.severity.label} {finding.message}"]
    lines += [f"    Delta: {finding.delta_error}"] if finding.delta_error else []
    lines += [f"    help: {finding.help}"] if finding.help else []
    return "\n".join(lines) + "\n"


def _contract(name: str, texts: Texts) -> Contract | None:
    if name not in texts:
        return None
    read = contracts.read(f"{name}.yaml", texts[name])
    assert not read.errors, read.errors
    (declared,) = read.contracts
    return declared


def _in_catalog(texts: Texts) -> CatalogTable | None:
    kept = _contract("catalog", texts)
    if kept is None:
        return None
    return CatalogTable(kept.table, "uc", "file:/lake/orders", kept.state.columns, kept.state.set_properties)


def _live(text: str) -> LiveTable:
    """A table that Delta would make of a contract."""
    declared = _contract("live", {"live": text})
    assert declared is not None
    protocol = Protocol(3, 7, frozenset(), declared.created_features)
    return LiveTable("file:/lake/orders", 0, protocol, Metadata("id", created_state(declared.state)))


def _duplicates(rule: Rule, text: str) -> Iterator[Finding]:
    file = File("after.yaml", text.encode(), None)
    for fact in duplicates({file.path: file}, {file.path}):
        yield from Judge((rule,))(fact, git_context(None, fact.contract), ("contract",))
