"""What is wrong on the day of adoption: what `check --all` and `audit --all` find, before a file is written.

Some findings are those of a table that is made anew, and the tables are there: only the change that brings
the contracts has these. What would fail it gets entries that were compared with nothing, so no later run
misses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final

from schemalint import contract as contracts
from schemalint.base.errors import SchemalintError
from schemalint.base.values import replace
from schemalint.contract.contract_files import contract_files
from schemalint.model.contract import Contract
from schemalint.model.effective import effective
from schemalint.model.finding import CheckResult, Severity
from schemalint.project.config.trust import Trusted, TrustedTarget
from schemalint.project.git import Contents, EmptyTree, File, Repository, Worktree, changes
from schemalint.review.audit_cases import TableReading, audit_cases, read_for_audit
from schemalint.review.baseline import rewritten, text_of
from schemalint.review.check_input import CheckInput
from schemalint.review.rule_sets import rule_sets_of
from schemalint.review.run_audit import audit
from schemalint.review.run_check import check
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.table_requests import TableRequest, TargetContracts
from schemalint.tables.storage.table_workers import TableWorkers
from schemalint.tables.table_json import TableDocument

_NOTHING: Final = EmptyTree("before the adoption")
_BY_ADOPTION: Final = ("nothing",)


def baseline_of(
    repository: Repository,
    settings: Trusted,
    target: TrustedTarget,
    new: Mapping[str, str],
    via: Catalog | None,
    workers: TableWorkers,
) -> tuple[str, int, tuple[SchemalintError, ...]]:
    """Return the text of a baseline, the number of findings in it, and why others may be missing."""
    chosen = contract_files(settings.config)
    change = changes(repository, _NOTHING, Worktree(), chosen.format_of, chosen.listed)
    files = {**change.head, **{path: File(path, text.encode(), None) for path, text in new.items()}}
    rules = rule_sets_of([settings.config])

    def findings_with(base: Mapping[str, File]) -> CheckResult:
        return check(
            CheckInput(
                base=_NOTHING,
                head=Worktree(),
                contents=Contents(base, files, change.unread),
                rules=rules,
                everything=True,
                configurations=(settings.config,),
                repository=repository.root,
            )
        )

    first, later = findings_with({}), findings_with(files)
    where = TargetContracts(settings, target, repository, via)
    errors: list[SchemalintError] = []
    requests = list(_requests(chain.from_iterable(map(_contracts_in, files.values())), where, errors))
    tables = read_for_audit(requests, workers, files=False)
    audited = audit(
        audit_cases((table for table in tables if _counts(table, new)), rules, where),
        target=target.name,
        client_rows=settings.config.clients,
    )
    fingerprints = {finding.fingerprint for finding in later.findings}
    failing = min(Severity.ERROR, settings.config.fail_on or Severity.ERROR)
    # Some rules are stricter with a new table, and to the adoption each table is new.
    worst = {finding.fingerprint: finding.severity for finding in first.findings}
    only_first = (
        replace(finding, against=_BY_ADOPTION)
        for finding in first.findings
        if finding.severity >= failing and finding.fingerprint not in fingerprints
    )
    lasting = (
        replace(finding, severity=max(finding.severity, worst.get(finding.fingerprint, finding.severity)))
        for finding in (*later.findings, *audited.findings)
        if finding.severity >= Severity.WARNING  # an information fails no run
    )
    entries = rewritten(None, (*only_first, *lasting), {}, lambda _entry: True, grow=True)
    number = sum(entry.count for entry in entries)
    return text_of(entries), number, (*first.errors, *errors, *audited.errors)


def _counts(table: TableReading, new: Mapping[str, str]) -> bool:
    """Whether a table is there: one that was declared before may be absent."""
    contract = table.request.contract
    return isinstance(table.found, TableDocument) or (contract is not None and contract.file in new)


def _contracts_in(file: File) -> Iterable[Contract]:
    return contracts.read_file(file).contracts


def _requests(
    declared: Iterable[Contract], where: TargetContracts, errors: list[SchemalintError]
) -> Iterator[TableRequest]:
    for contract in declared:
        counting = effective(contract, where.environment)
        if counting.absent:
            continue
        try:
            yield where.request_for(counting)
        except SchemalintError as error:
            errors.append(error)
