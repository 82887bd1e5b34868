"""Audit live tables and their histories, with or without contracts, and let exceptions approve findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from schemalint.base.errors import SchemalintError
from schemalint.base.values import replace
from schemalint.contract.contract_files import contract_files
from schemalint.contract.contract_revisions import contracts_at
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.judge.case import Case
from schemalint.judge.client_losses import today
from schemalint.judge.rule_judge import collecting, ordered
from schemalint.judge.rule_set import RuleSet
from schemalint.judge.verdict import judge
from schemalint.model.client import ClientSupport
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Contract, table_key
from schemalint.model.exception import WrittenException
from schemalint.model.finding import CheckResult, Finding, JudgedTable, Run, SideRef
from schemalint.model.inventory import Inventory, TableSummary, summary_of
from schemalint.model.stream_report import StreamReport, stream_reports
from schemalint.project.config.trust import Trusted
from schemalint.project.git import Repository, Worktree
from schemalint.review.approve import approve
from schemalint.review.baseline import Baseline
from schemalint.review.exception_files import merged_exceptions
from schemalint.review.exception_findings import AUDITED, judge_exception, judged_exceptions
from schemalint.review.exceptions import Exceptions
from schemalint.review.rule_sets import RuleSets

_HISTORY = SideRef("history", why="as far back as the logs go")
_LIVE = SideRef("live", why="the tables as they are")


def audit(
    cases: Iterable[Case | SchemalintError],
    *,
    target: str | None = None,
    consumers: Sequence[Consumer] | None = None,
    client_rows: Sequence[Mapping[str, Any]] = (),
    keep_tables: bool = False,
) -> CheckResult:
    """Judge every table and its whole history; what cannot be read is an error of the run.

    Args:
        cases: The tables, or why they cannot be read.
        target: The name of the target.
        consumers: The consumers whose clients are asked about every table, beside those of its contract;
            None asks no client.
        client_rows: The rows of the configuration that precede those of the client table.
        keep_tables: Whether the result has the live tables, which take memory.
    """
    findings: list[Finding] = []
    errors: list[SchemalintError] = []
    summaries: list[TableSummary] = []
    clients: list[ClientSupport] = []
    streams: list[StreamReport] = []
    judged: list[JudgedTable] = []
    for case in cases:
        if isinstance(case, SchemalintError):
            errors.append(case)
            continue
        name, table = case.name or case.contract.table, case.live
        if table is None:
            continue
        summaries.append(summary_of(name, table))
        if consumers is not None:
            declared = case.declared.consumers if case.declared else ()
            by_name = {consumer.name: consumer for consumer in (*consumers, *declared)}
            clients += today(name, table, by_name.values(), client_rows)
        judged.append(_judged(name, case, tuple(client_rows), keep_table=keep_tables))
        with collecting(errors, name):
            streams += _streams(name, case.declared)
            findings += judge(case).findings
    return CheckResult(
        run=Run(_HISTORY, _LIVE, target, compared=tuple(summary.table for summary in summaries)),
        findings=ordered(findings),
        errors=tuple(errors),
        inventory=Inventory(tuple(summaries)),
        clients=tuple(clients),
        streams=tuple(streams),
        tables=tuple(judged),
    )


def _judged(
    name: str, case: Case, client_rows: tuple[Mapping[str, Any], ...], *, keep_table: bool
) -> JudgedTable:
    contract, live = case.declared, case.live if keep_table else None
    return JudgedTable(
        name,
        file=contract.file if contract else "",
        owner=contract.owner if contract else None,
        consumers=contract.consumers if contract else (),
        after=live.state if live else None,
        live=live,
        holds_exceptions=contract is None or contract.is_edited,
        has_exceptions=contract is not None and bool(contract.exceptions),
        client_rows=client_rows,
    )


def _streams(name: str, contract: Contract | None) -> list[StreamReport]:
    """Return what each declared stream has still to meet, from where its own files say that it is."""
    streams = [consumer for consumer in contract.consumers if consumer.stream] if contract else []
    if not streams:
        return []
    return [
        report if _is_known(report.consumer) else report.with_unknown_effect()
        for report in stream_reports(name, streams, (), contract.engine if contract else None)
    ]


def _is_known(consumer: Consumer) -> bool:
    """Return whether it is known what a stream has still to meet."""
    return consumer.progress is not None and consumer.progress.to_meet is not None


def with_exceptions(
    result: CheckResult,
    contracts: Iterable[Contract],
    rules: RuleSets,
    repository: Repository | None,
    settings: Trusted,
    baseline: Baseline | None,
    *,
    env: Mapping[str, str],
    files: bool,
) -> CheckResult:
    """Let exceptions and the baseline approve findings, and say which of audits approve nothing."""
    approvals = Exceptions()
    if repository is not None:
        try:
            approvals = merged_exceptions(repository, Worktree(), settings, env)
        except SchemalintError as error:
            result, contracts = replace(result, errors=(*result.errors, error)), ()
    declared = {contract.key: contract for contract in contracts}
    at_base: Mapping[str, Contract] = declared
    if repository and approvals.reviewed and any(contract.exceptions for contract in declared.values()):
        at_base = contracts_at(repository, approvals.reviewed, contract_files(settings.config)).contracts
    pairs = [(at_base.get(key), contract) for key, contract in declared.items()]
    exceptions = approvals.with_contracts(pairs)
    outcome = approve(result.findings, exceptions, rules.rules, approvals.today, baseline)
    decided = outcome.used | outcome.failed.keys()
    # `check` judges the others.
    facts = AUDITED if files else AUDITED - {PhysicalTypes}
    of_audits = {
        name for rule in rules.rules if facts.issuperset(rule.subjects) for name in (rule.code, rule.name)
    }
    judged = {table_key(table) for table in result.run.compared}

    def is_judged(written: WrittenException) -> bool:
        return written in decided or (
            written.exception.rule in of_audits and table_key(written.table) in judged
        )

    def rules_at(table: str) -> tuple[RuleSet, ...]:
        contract = declared.get(table_key(table))
        return rules.of(contract.file if contract else None)

    relevant = filter(is_judged, exceptions)
    about = [
        finding
        for fact in judged_exceptions(
            relevant, outcome, rules.rules, approvals.today, lambda *_of_audit: True
        )
        for finding in judge_exception(fact, rules_at(fact.written.table))
    ]
    return replace(
        result,
        findings=ordered((*outcome.remaining, *about)),
        approved=outcome.approved,
        accepts=approvals.accepts,
        exceptions_file=approvals.as_file,
        covered=outcome.covered,
    )
