"""Findings of one rule for the texts of a case: two contracts, and the live table if the rule needs it."""

from __future__ import annotations

import datetime as dt
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import yaml

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.contract.consumers import with_consumers
from schemalint.contract.fixes import fixed_files
from schemalint.delta.engine import Engines, parse_engine
from schemalint.delta.footer_summary import physical_types
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import CatalogTable, LiveTable, Metadata
from schemalint.judge.case import git_context
from schemalint.judge.client_losses import unknown_support
from schemalint.judge.rule_judge import AskedRules
from schemalint.judge.rule_set import rules_for
from schemalint.model.client import SupportUnknown
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.fact import Drift, DuplicateTable, JudgedException, ProtocolUpgrade
from schemalint.project.config import Target, parse
from schemalint.project.config.trust import TrustedTarget
from schemalint.project.git import Contents, File
from schemalint.review.approve import approve
from schemalint.review.duplicates import duplicates
from schemalint.review.exception_findings import judged_exceptions, needs_live, removals
from schemalint.review.exceptions import Exceptions
from schemalint.review.rule_sets import rule_sets_of
from schemalint.review.rulebook import load_rules
from schemalint.tables.catalog.contract_progress import with_progress
from support.effective import counting
from support.judging import clients_offline, judge_live, judge_pair, judge_table, live_case
from support.short_footers import summary_of_footers
from support.short_logs import logged_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemalint.model.finding import Finding
    from schemalint.plugin import Rule

TEXTS = {
    "before",
    "after",
    "live",
    "applied",
    "log",
    "files",
    "catalog",
    "engine",
    "configuration",
    "checkpoints",
}

TODAY: Final = dt.date(2026, 6, 15)
"""The day on which exceptions are judged."""

Texts = dict[str, str]
"""The texts of a case, each of which may be missing.

``before`` and ``after`` as in git, ``live`` for the table, ``applied`` for what was applied to it last;
``log`` for the table's log (see `support.short_logs`), judged with the contract of ``after`` or without
one; ``files`` for its data files (see `support.short_footers`); ``catalog`` for what a catalog keeps of the
table, written as a contract; ``engine`` for the engine that runs the statements, ``delta-spark 4.4.0``, and
other writers below it; ``configuration`` for ``schemalint.toml`` of both sides, with the rule's options;
``checkpoints`` for the files of streams below ``/lake``, by their path: the target's root is ``/lake``.
"""


@cache
def built_in() -> Mapping[str, Rule]:
    """Return the built-in rules by name."""
    return {rule.name: rule for rule in load_rules() if rule.module.startswith("schemalint_rules.")}


def findings(rule: Rule, texts: Texts) -> tuple[Finding, ...]:
    """Return the findings of this rule alone."""
    rule = _configured(rule, texts)
    if "checkpoints" in texts:
        with TemporaryDirectory() as folder:
            return tuple(_with_checkpoints(rule, texts, Path(folder).resolve()))
    if "log" in texts:
        with TemporaryDirectory() as folder:
            table = replace(logged_table(texts["log"], Path(folder)), catalog=_in_catalog(texts))
        if ProtocolUpgrade in rule.subjects:
            return _of_upgrade(rule, texts, table)
        files = physical_types(table, summary_of_footers(texts["files"])) if "files" in texts else None
        contract, name = _contract("after", texts), "sales.orders"
        if contract is not None and "engine" in texts:
            contract = contract.for_engines(_engines(texts["engine"]), "dev")
        return judge_table(table, [rule], name=name, contract=contract, files=files)
    if DuplicateTable in rule.subjects:
        return tuple(_duplicates(rule, texts["after"]))
    before, after = _contract("before", texts), _contract("after", texts)
    if Drift in rule.subjects:
        assert after is not None
        # The other rules tell this one why a difference cannot be removed.
        all_rules = tuple(built_in().values())
        applied = _contract("applied", texts)
        comparison = live_case(after, _live(texts["live"]), base=before, applied=applied)
        all_findings = judge_live(comparison, all_rules)
        return tuple(finding for finding in all_findings if finding.code == rule.code)
    engines: dict[str | None, Engines] = {}
    if "engine" in texts:
        engines = {"dev": _engines(texts["engine"])}
    if SupportUnknown in rule.subjects:
        assert after is not None
        unknown = unknown_support(clients_offline(before, after, engines))
        return tuple(
            finding
            for fact in unknown
            for finding in AskedRules((rule,))(fact, git_context(counting(before), counting(after)), ("git",))
        )
    if JudgedException in rule.subjects:
        assert after is not None
        return tuple(_about_exceptions(rule, before, after, texts["after"]))
    if "live" in texts:
        assert after is not None
        return judge_live(live_case(after, _live(texts["live"]), base=before), [rule])
    return judge_pair(before, after, [rule], engines)


def _configured(rule: Rule, texts: Texts) -> Rule:
    """Return the rule with the options that a configuration has for the table."""
    text = texts.get("configuration", "")
    if "options" not in text:
        return rule
    sets = rule_sets_of([parse("schemalint.toml", text.encode())]).everywhere
    contract = _contract("after", texts) or _contract("before", texts)
    by_code = {each.code: each for each in rules_for(sets, contract.table if contract else "sales.orders")}
    return by_code[rule.code]


def _engines(text: str) -> Engines:
    first, *others = map(parse_engine, text.strip().splitlines())
    return Engines(first, (first, *others))


def _about_exceptions(rule: Rule, before: Contract | None, after: Contract, text: str) -> Iterator[Finding]:
    """Judge the exceptions of ``after`` by the findings of all rules, on `TODAY`."""
    rules = tuple(built_in().values())
    exceptions = Exceptions().with_contracts([(before, after)])
    outcome = approve(judge_pair(before, after, rules), exceptions, rules, TODAY)
    facts = judged_exceptions(
        exceptions, outcome, rules, TODAY, lambda written, rule: not needs_live(written, rule)
    )
    found = [
        (fact, finding)
        for fact in facts
        for finding in AskedRules((rule,))(fact, git_context(None, counting(after)), ("contract",))
    ]
    changes = removals((fact.written for fact, finding in found if finding.fix), {"after.yaml": text})
    for fact, finding in found:
        own = changes.get(fact.written, ())
        yield replace(finding, text_changes=own, fix=finding.fix if own else None)


def _with_checkpoints(rule: Rule, texts: Texts, folder: Path) -> Iterator[Finding]:
    """Judge the contract of ``after`` and its table with the files of its streams."""
    lake = f"{folder}/lake"
    for name, content in yaml.load(texts["checkpoints"].replace("/lake", lake), yaml.CSafeLoader).items():
        file = Path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    table = logged_table(texts["log"], folder / "table")
    contract = _contract("after", {**texts, "after": texts["after"].replace("/lake", lake)})
    assert contract is not None
    target = TrustedTarget(Target("dev", root=lake))
    comparison = live_case(with_progress(counting(contract), table, target, folder), table)
    for finding in judge_live(comparison, [rule]):
        yield replace(finding, message=finding.message.replace(lake, "/lake"))


def _of_upgrade(rule: Rule, texts: Texts, table: LiveTable) -> tuple[Finding, ...]:
    """The other rules say what the table itself lacks."""
    after = _contract("after", texts)
    assert after is not None
    all_rules = tuple(built_in().values())
    comparison = live_case(after, table, base=_contract("before", texts))
    return tuple(finding for finding in judge_live(comparison, all_rules) if finding.code == rule.code)


def report_text(found: tuple[Finding, ...]) -> str:
    """Return location, code, severity and message of each finding, then Delta's error and the help."""
    ordered = sorted(found, key=lambda finding: (finding.location, finding.code, finding.message))
    return "".join(_finding_text(finding) for finding in ordered)


def fixed_text(found: tuple[Finding, ...], text: str) -> str:
    """Return ``after`` with every safe fix applied; two findings may share an edit."""
    if any(finding.text_changes for finding in found):
        (file,) = fixed_files(found, {"after.yaml": text})
        return file.after
    edits = dict.fromkeys(
        edit for finding in found if finding.fix and finding.fix.safe for edit in finding.fix.edits
    )
    (declared,) = contracts.read("after.yaml", text).contracts
    for change in reversed(contracts.editor(declared, text).text_changes(list(edits))):
        text = text[: change.start] + change.text + text[change.end :]
    return text


def _finding_text(finding: Finding) -> str:
    position = f"{finding.location.line}:{finding.location.column}"
    lines = [f"{position} {finding.code} {finding.severity.label} {finding.message}"]
    lines += [f"    Delta: {finding.delta_error}"] if finding.delta_error else []
    lines += [f"    help: {finding.help}"] if finding.help else []
    return "\n".join(lines) + "\n"


def _contract(name: str, texts: Texts) -> Contract | None:
    if name not in texts:
        return None
    read = contracts.read(f"{name}.yaml", texts[name])
    assert not read.errors, read.errors
    (declared,) = read.contracts
    text = texts.get("configuration", "")
    return with_consumers(declared, parse("schemalint.toml", text.encode()))


def _in_catalog(texts: Texts) -> CatalogTable | None:
    entry = _contract("catalog", texts)
    if entry is None:
        return None
    return CatalogTable(
        entry.table, "uc", "file:/lake/orders", entry.state.columns, entry.state.set_properties
    )


def _live(text: str) -> LiveTable:
    """Return the table that Delta would create from a contract."""
    declared = _contract("live", {"live": text})
    assert declared is not None
    protocol = Protocol(3, 7, frozenset(), declared.created_features)
    return LiveTable("file:/lake/orders", 0, protocol, Metadata("id", created_state(declared.state)))


def _duplicates(rule: Rule, text: str) -> Iterator[Finding]:
    file = File("after.yaml", text.encode(), None)
    contents = Contents({}, {file.path: file})
    for fact, _existing in duplicates(contents, {file.path}, {}, Path(), {}):
        yield from AskedRules((rule,))(fact, git_context(None, counting(fact.contract)), ("contract",))
