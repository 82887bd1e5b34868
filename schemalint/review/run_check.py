"""Run a check: judge the cases, let exceptions approve, and collect the result; fix, and check again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final

from schemalint import contract as contracts
from schemalint.base.errors import ContractError, Location
from schemalint.base.printable import visible
from schemalint.base.values import replace
from schemalint.contract.consumers import configuration_faults
from schemalint.judge.case import Case
from schemalint.judge.consumer_findings import each_client_once, each_stream_once
from schemalint.judge.rule_judge import collecting, ordered, worst_of_each
from schemalint.judge.verdict import judge
from schemalint.model.client import ClientSupport
from schemalint.model.contract import Contract, table_key
from schemalint.model.contract_edit import TextChange
from schemalint.model.fact import AskSpark
from schemalint.model.finding import CheckResult, Finding, JudgedTable, Run, Severity, SideRef
from schemalint.project.git import Side
from schemalint.review.approve import ExceptionResult, approve
from schemalint.review.check_cases import CheckCases, PairedContracts, is_unchanged
from schemalint.review.check_input import CheckInput

if TYPE_CHECKING:
    from schemalint.contract.contract_editor import Editor
    from schemalint.contract.fixes import FixedFile
    from schemalint.model.stream_report import StreamReport


def check(request: CheckInput) -> CheckResult:
    """Judge every changed table."""
    return _Check(request).run()


class _Check:
    def __init__(self, request: CheckInput) -> None:
        self.request = request
        self.changed = [path for path in self._paths() if self._is_selected(path)]
        self.sides = PairedContracts(request, self.changed)
        self.cases = CheckCases(request, self.sides)
        self.errors = self.sides.errors
        self.editors: dict[str, Editor] = {}
        self.clients: list[ClientSupport] = []
        self.streams: list[StreamReport] = []

    def run(self) -> CheckResult:
        request, live = self.request, self.request.live
        if live is not None:
            live.fetch(self.cases.contracts_to_read(live))
        findings: list[Finding] = []
        for key in request.counted("checking", self.sides.tables()):
            with collecting(self.errors, key):
                findings += self._verdict_on(key)
        if request.ask is not None:
            findings = self._as_spark_says(findings, request.ask)
        with collecting(self.errors, "all contracts"):
            findings += self._of_duplicates()
        with collecting(self.errors, "the target"):
            findings += _judged(self.cases.about_root())
        if self.clients:
            from schemalint.judge.client_losses import unknown_support  # noqa: PLC0415 (only with clients)

            unknown = unknown_support(each_client_once(self.clients))
            findings += _judged(self.cases.about_clients(unknown))
        self.errors += self.cases.without_live_tables()
        outcome, about = self._excepted(findings)
        return CheckResult(
            run=Run(
                base=_side_ref(request.base),
                head=_side_ref(request.head),
                target=live.target if live else None,
                compared=tuple(sorted(contract.table for contract in self._compared())),
                skipped=(*self.sides.skipped, *self.cases.skipped),
                engines=request.judged_as,
            ),
            findings=ordered((*map(self._with_text, outcome.remaining), *about)),
            approved=outcome.approved,
            errors=(
                *self.errors,
                *request.exceptions.errors,
                *configuration_faults(request.configurations[-1]),
                *contracts.unread_files(request.contents),
            ),
            sources=self._sources,
            clients=each_client_once(self.clients),
            streams=each_stream_once(self.streams),
            tables=tuple(map(self._judged_table, self.sides.tables())),
            accepts=request.exceptions.accepts,
            exceptions_file=request.exceptions.as_file,
            covered=outcome.covered,
        )

    def _judged_table(self, key: str) -> JudgedTable:
        before, after = self.sides.before.get(key), self.sides.after.get(key)
        declared = after or self.sides.before[key]
        return JudgedTable(
            declared.table,
            file=declared.file,
            owner=declared.owner,
            consumers=declared.consumers,
            before=before.state if before else None,
            after=after.state if after else None,
            live=self.cases.live_tables.get(key),
            holds_exceptions=declared.is_edited,
            has_exceptions=bool(declared.exceptions),
            client_rows=declared.client_rows,
        )

    def _paths(self) -> list[str]:
        return sorted({*self.request.contents.base, *self.request.contents.head})

    def _is_selected(self, path: str) -> bool:
        if self.request.only is not None and not self.request.only(path):
            return False
        return self.request.everything or not is_unchanged(self.request, path)

    def _verdict_on(self, key: str) -> Iterable[Finding]:
        """Judge a table for each target; a finding of several counts once, with its highest severity."""
        verdicts = [judge(case) for case in self.cases.of(key)]
        for verdict in verdicts:
            self.clients += verdict.clients
            self.streams += verdict.streams
        return worst_of_each(verdict.findings for verdict in verdicts)

    def _as_spark_says(self, findings: list[Finding], ask: AskSpark) -> list[Finding]:
        """Return the findings with Spark's verdict about expressions in place of the offline model's."""
        from schemalint.judge.asked_expressions import asked_expressions  # noqa: PLC0415 (only with Spark)

        after = self.sides.after
        contracts = {
            key: (self.sides.before.get(key), after[key]) for key in self.sides.tables() if key in after
        }
        asked = asked_expressions(contracts, ask, findings)
        return [
            *(finding for finding in findings if not asked.gives_way(finding)),
            *_judged(self.cases.about_expressions(asked.refused)),
        ]

    def _of_duplicates(self) -> Iterable[Finding]:
        return worst_of_each(
            [replace(finding, existing=existing) for finding in judge(case).findings]
            for case, existing in self.cases.about_duplicates(set(self.changed))
        )

    def _excepted(self, findings: Iterable[Finding]) -> tuple[ExceptionResult, tuple[Finding, ...]]:
        """Let the exceptions approve findings, and return with the result the findings about exceptions."""
        request, sides = self.request, self.sides
        pairs = [(sides.before.get(key), sides.after.get(key)) for key in sides.tables()]
        exceptions = request.exceptions.with_contracts(pairs)
        outcome = approve(
            findings, exceptions, request.rules.rules, request.exceptions.today, request.baseline
        )
        if not exceptions:
            return outcome, ()
        from schemalint.review.exception_findings import exception_findings  # noqa: PLC0415 (only with exceptions)

        about = exception_findings(exceptions, outcome, request, self.cases, self._sources)
        return outcome, tuple(about)

    def _compared(self) -> list[Contract]:
        everything = {**self.sides.before, **self.sides.after}
        return [everything[key] for key in self.sides.tables() if key not in self.cases.not_compared]

    def _with_text(self, finding: Finding) -> Finding:
        key = table_key(finding.table)
        contract = self.sides.after.get(key)
        if contract is None and key in self.sides.before and finding.location.file in self._sources:
            # The position is that of the base, and the head has another text there.
            finding = replace(finding, location=Location(finding.location.file))
        made = self.request.made_with_overlays
        if made is not None:
            finding = made.explained(finding, contract)
        if finding.fix is None or contract is None:
            return finding
        if not contract.is_edited:
            return replace(finding, fix=None)
        changes: tuple[TextChange, ...] = ()
        # A layout that no edit can handle: the finding has no fix, and its help says what to write.
        with collecting(self.errors, contract.table), suppress(ContractError):
            if contract.key not in self.editors:
                self.editors[contract.key] = contracts.editor(contract, self._sources[contract.file])
            changes = self.editors[contract.key].text_changes(finding.fix.edits)
        return replace(finding, text_changes=changes, fix=finding.fix if changes else None)

    @cached_property
    def _sources(self) -> dict[str, str]:
        read = {contract.file: contracts.text_of(contract) for contract in self.sides.after.values()}
        texts = {
            visible(path): read.get(visible(path)) or file.data.decode("utf-8", "replace")
            for path in self.changed
            if (file := self.request.contents.head.get(path)) is not None
        }
        made = self.request.made_with_overlays
        if made is not None:
            texts |= made.texts_of(self.sides.after.values())
        return {**self.request.exceptions.texts, **texts}


def _judged(cases: Iterable[Case]) -> Iterator[Finding]:
    for case in cases:
        yield from judge(case).findings


def with_exit_status(result: CheckResult, fail_on: Severity | None) -> CheckResult:
    """Return the result with its exit status: that of its errors, else 1 if a finding fails the run."""
    result = replace(result, fail_on=fail_on)
    statuses = [error.exit_status for error in result.errors]
    return replace(result, exit_status=max(statuses or [int(any(map(result.fails, result.findings)))]))


def _side_ref(side: Side) -> SideRef:
    return SideRef(side.spec, side.commit, side.why)


_MORE_ROUNDS: Final = 5
"""A fix may enable another one.

Of fixes that overlap, a round applies one. So there may be as many more rounds as the first result has fixes.
"""


def check_and_fix(request: CheckInput, *, unsafe: bool) -> tuple[CheckResult, dict[str, FixedFile]]:
    """Check, fix and check again, without writing anything.

    Returns:
        The result of the last check, and the fixed files by their paths in the repository.
    """
    from schemalint.contract.fixes import fixed_files  # noqa: PLC0415 (only with --fix or --diff)

    result, paths = check(request), _paths(request)
    fixed: dict[str, FixedFile] = {}
    fixes = sum(finding.fix is not None for finding in result.findings)
    for _round in range(fixes + _MORE_ROUNDS):
        files = fixed_files(result.findings, result.sources or {}, unsafe=unsafe)
        if not files:
            break
        for file in files:
            path = paths.get(file.file, file.file)
            first = fixed.get(path)
            fixed[path] = replace(file, before=first.before if first else file.before)
        result = check(with_texts(request, {path: file.after.encode() for path, file in fixed.items()}))
    return result, fixed


def with_texts(request: CheckInput, texts: Mapping[str, bytes]) -> CheckInput:
    """Return the input as it were if files of the head had other texts.

    Args:
        request: The input.
        texts: Texts of contracts, and of ``exceptions.yaml``, by their paths in the repository. A text that
            the configuration chooses is one of the head even if the head has no such file.
    """
    exceptions = request.exceptions
    if exceptions.file in texts:
        exceptions = exceptions.with_text(texts[exceptions.file])
    contents = request.contents.with_texts(texts, request.format_of)
    return replace(request, contents=contents, exceptions=exceptions)


def _paths(request: CheckInput) -> dict[str, str]:
    """Map the printed form of each path of the head to the path; a path may contain a line break."""
    return {visible(path): path for path in (*request.contents.head, request.exceptions.file)}
