"""The exceptions of an audit: those of the contracts of its tables, and those outside of the contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.base.errors import SchemalintError
from schemalint.base.values import replace
from schemalint.contract.revisions import contracts_at
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.lint.exception_files import merged_exceptions
from schemalint.lint.exception_findings import AUDITED, judge_exception, judged_exceptions
from schemalint.lint.exceptions import approve
from schemalint.lint.judge import ordered
from schemalint.lint.written_exceptions import written_exceptions
from schemalint.model.contract import table_key
from schemalint.model.exception import ExceptionSource
from schemalint.project.git import Worktree

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping

    from schemalint.lint.scopes import Scopes
    from schemalint.model.contract import Contract
    from schemalint.model.exception import WrittenException
    from schemalint.model.finding import CheckResult, Finding
    from schemalint.project.config.trust import Trusted
    from schemalint.project.git import Repository


def with_exceptions(
    result: CheckResult,
    contracts: Iterable[Contract],
    scopes: Scopes,
    repository: Repository,
    settings: Trusted,
    *,
    env: Mapping[str, str],
    today: dt.date,
    files: bool,
) -> CheckResult:
    """Let exceptions approve findings of an audit, and say which of those for audits approve nothing.

    Args:
        result: The result of an audit.
        contracts: The contracts of its tables, in the working tree.
        scopes: The rules.
        repository: The repository of the contracts.
        settings: The configuration that counts.
        env: The environment with the CI variables.
        today: The date of the run.
        files: Whether the data files were read.
    """
    try:
        found = merged_exceptions(repository, Worktree(), settings, env)
    except SchemalintError as error:
        return replace(result, errors=(*result.errors, error))
    declared = {contract.key: contract for contract in contracts}
    at_base: Mapping[str, Contract] = declared
    if found.reviewed and any(contract.exceptions for contract in declared.values()):
        at_base = contracts_at(repository, found.reviewed, settings.config.globs).contracts
    pairs = [(at_base.get(key), contract) for key, contract in declared.items()]
    exceptions = written_exceptions(pairs, found.exceptions, found.void)
    outcome = approve(result.findings, exceptions, scopes.rules, today)
    named = outcome.used | (outcome.failed or {}).keys()
    # `check` judges the others.
    facts = AUDITED if files else AUDITED - {PhysicalTypes}
    of_audits = {
        name for rule in scopes.rules if facts.issuperset(rule.subjects) for name in (rule.code, rule.name)
    }
    judged = {table_key(table) for table in result.run.compared}

    def is_judged(written: WrittenException) -> bool:
        return written in named or (
            written.exception.rule in of_audits and table_key(written.table) in judged
        )

    def reports(finding: Finding) -> bool:
        contract = declared.get(table_key(finding.table))
        return scopes.of(contract.file if contract else None).reports(finding)

    relevant = filter(is_judged, exceptions)
    about = [
        finding
        for fact in judged_exceptions(relevant, outcome, scopes.rules, today, lambda *_of_audit: True)
        for finding in judge_exception(fact, scopes.rules)
    ]
    return replace(
        result,
        findings=ordered((*outcome.remaining, *filter(reports, about))),
        approved=outcome.approved,
        accepts=frozenset(source for source in ExceptionSource if found.void(source) is None),
    )
