"""Contracts: read, judged, shown in every format, fixed, planned; with the base and the live table.

An input has up to three parts, as contracts: ``head``, ``base`` and ``live``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.oracle import (
    BUG,
    Found,
    line_breaks,
    only_errors_of_the_input,
    require,
    require_no_bug,
    require_rendered,
)
from fuzz.parts import joined, split
from schemalint import contract as contracts
from schemalint.author.pull import updated_text
from schemalint.author.pull.live_declaration import Scope
from schemalint.author.reversal import reverse_changes
from schemalint.author.revert_contract import reverted_text
from schemalint.base.errors import SchemalintError
from schemalint.base.values import replace
from schemalint.contract.fixes import fixed_files
from schemalint.delta.properties import PROPERTIES
from schemalint.deploy.deploy_input import Deployment
from schemalint.model.finding import Severity
from schemalint.model.table_plan import Plan
from schemalint.project.git import Contents, File, Revision, Worktree
from schemalint.report import plan as plans
from schemalint.review.check_input import CheckInput, LiveSide
from schemalint.review.rulebook import load_rules
from schemalint.review.run_check import check, check_and_fix
from support import seam
from support.effective import counting
from support.judging import judge_pair, rule_sets
from support.live_side import told_live_side
from support.rule_cases import load_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.delta.table import LiveTable
    from schemalint.model.contract import Contract

FILE = "orders.yml"
RULES = load_rules()
STYLES = tuple(plans.get(name) for name in plans.names())
WORDS = (
    *("schemalint: 1\n", "table: ", "columns:\n", "- {name: ", "type: ", "properties:\n", "constraints:\n"),
    *("renamed_from: ", "type_changes:\n", "{from: int, to: bigint}", "dropped: ", "nullable: false"),
    *("default: ", "generated: ", "partitioned_by: ", "clustered_by: ", "protocol: {allow_upgrade: true}\n"),
    *(
        "drop_features: ",
        "allow:\n",
        "targets:\n",
        "consumers:\n",
        "absent: true\n",
        "location: ",
        "comment: ",
    ),
    *(
        "type: struct\n",
        "columns: ",
        "array<",
        "map<",
        "decimal(10,2)",
        "=== base\n",
        "=== live\n",
        "identity: ",
    ),
    *sorted(PROPERTIES)[:60],
)
LONGEST = 4_000


def run(data: bytes) -> None:
    """Check the head against the base and the live table, and fix it; then plan it."""
    parts = split(data)
    head = parts.get("head", data)
    live = _created(parts.get("live"))
    request = CheckInput(
        base=Revision("main", "c0ffee" * 6, "test"),
        head=Worktree(),
        contents=Contents(_files(parts.get("base")), _files(head)),
        rules=rule_sets(RULES),
        everything=True,
        live=_side(live) if live else None,
    )
    with only_errors_of_the_input():
        result = check(request)
        require_no_bug(result.errors)
        require_rendered(result)
        if any(finding.fix for finding in result.findings):
            _require_fixed(request)
        base = contracts.read(FILE, parts.get("base", b"")).contracts[:1]
        for declared in contracts.read(FILE, head).contracts:
            _require_planned(declared, live)
            _require_printed(declared)
            _require_edited(declared, head.decode(), live, *base)


def _require_fixed(request: CheckInput) -> None:
    try:
        result, files = check_and_fix(request, unsafe=True)
        left = fixed_files(result.findings, result.sources or {}, unsafe=True)
    except SchemalintError as error:
        raise Found(f"a fix fails: {error}") from error
    require_no_bug(result.errors)
    require(not left, "the fixes do not end")
    for file in files.values():
        read = contracts.read(FILE, file.after)
        require(bool(read.contracts) and not read.errors, f"a fixed file cannot be read: {read.errors}")
        if len(line_breaks(file.before)) == 1:
            require(line_breaks(file.after) == line_breaks(file.before), "a fix changes line ends")


def _require_planned(declared: Contract, live: LiveTable | None) -> None:
    plan = seam.planned(None, declared, live)
    for refusal in plan.refusals:
        require(refusal.kind.exit_status != BUG, f"a plan ends as a bug: {refusal.reason}")
    deployment = Deployment(Plan("dev", (plan,)), {plan.table: counting(declared)})
    for style in STYLES:
        style.render(deployment)


def _require_printed(declared: Contract) -> None:
    with only_errors_of_the_input():
        printed = contracts.read(FILE, contracts.print_contract(declared))
        expected = replace(declared, document_index=0)
        require(printed.contracts == (expected,), f"{expected} is printed as {printed}")


def _require_edited(
    declared: Contract, text: str, live: LiveTable | None, base: Contract | None = None
) -> None:
    """Require that `pull` and `revert` edit the text, or say why they cannot."""
    with only_errors_of_the_input():
        if live is not None:
            after = updated_text(FILE, text, declared.table, live, lambda contract: contract, Scope.ALL)
            require(len(line_breaks(text)) != 1 or line_breaks(after) == line_breaks(text), "other line ends")
    with only_errors_of_the_input():
        if base is not None:
            reverted_text(declared, text, reverse_changes([base, declared]))


def _files(text: bytes | None) -> dict[str, File]:
    return {} if text is None else {FILE: File(FILE, text, None)}


def _created(text: bytes | None) -> LiveTable | None:
    """Return the table that a contract creates; None if Delta would create none."""
    if text is None:
        return None
    read = contracts.read("live.yml", text)
    if read.errors or len(read.contracts) != 1:
        return None
    (declared,) = read.contracts
    if any(finding.severity >= Severity.ERROR for finding in judge_pair(None, declared, RULES)):
        return None
    return seam.created_table(declared)


def _side(live: LiveTable) -> LiveSide:
    return told_live_side(lambda _contract: live, lambda _contract: live.uri, "dev")


def seeds() -> Iterator[bytes]:
    """Yield the contracts of the rules' cases."""
    names = {"after": "head", "before": "base", "live": "live"}
    for case in load_cases():
        parts = {names[name]: text.encode() for name, text in case.texts.items() if name in names}
        if "head" in parts:
            yield joined(parts)
