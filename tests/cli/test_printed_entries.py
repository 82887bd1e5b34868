"""An exception or a fix that is printed is one that `check` and `plan` then take.

All rules' cases are tables of one repository, whose live tables are as the base declares them.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from itertools import dropwhile
from typing import TYPE_CHECKING, Final

import pytest

from schemalint import contract as contracts
from schemalint.delta.feature import FEATURES, TABLE_FEATURES_READER, TABLE_FEATURES_WRITER
from schemalint.delta.protocol import minimum_versions
from schemalint.model.finding import Severity
from schemalint.project import git
from schemalint.report.findings._ways import ways_out
from schemalint.review.check_session import ReviewOptions, open_check
from schemalint.review.live_tables import live_side
from support.logs import Action, clustering, commit_info, marker, metadata, protocol, write_log
from support.rule_cases import load_cases
from support.seam import created_table

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.model.finding import CheckResult
    from support.project import Project

REASON: Final = "the readers agreed"
REFUSED: Final = {"rule", "declaration", "live", "operation"}
"""The kinds of refusals that no approved finding may have: an approved one waits, or has its statements."""


def _cases() -> dict[str, tuple[str | None, str]]:
    """Return the texts of base and head by the names of their tables, which are unique."""
    found: dict[str, tuple[str | None, str]] = {}
    for case in load_cases():
        texts = case.texts
        if texts.keys() - {"before", "after", "live"} or "after" not in texts or "allow:" in texts["after"]:
            continue
        name = f"s.c{len(found)}"
        before, after = (_named(texts.get(side), name) for side in ("before", "after"))
        if after is not None and _is_one_table(after) and (before is None or _is_one_table(before)):
            found[name] = before, after
    return found


def _named(text: str | None, name: str) -> str | None:
    return None if text is None else re.sub(r"(?m)^table: .*$", f"table: {name}", text)


def _is_one_table(text: str) -> bool:
    read = contracts.read("c.yml", text)
    return not read.errors and len(read.contracts) == 1 and "location:" not in text


def _protocol(features: frozenset[str]) -> Action:
    reader, writer = minimum_versions(features)
    readers = sorted(name for name in features if name in FEATURES and FEATURES[name].reader)
    return protocol(
        reader,
        writer,
        readers if reader == TABLE_FEATURES_READER else None,
        sorted(features) if writer == TABLE_FEATURES_WRITER else None,
    )


def _write_table(folder: Path, text: str, revision: str) -> None:
    """Write the log of the table that Delta creates from a contract, applied at a revision."""
    (contract,) = contracts.read("c.yml", text).contracts
    if contract.absent:
        return
    table = created_table(contract)
    state = table.state
    constraints = {f"delta.constraints.{name}": text for name, text in state.constraints.items() if text}
    layout = state.clustered_by if isinstance(state.clustered_by, tuple) else ()
    clustered = [[str(part) for part in path] for path in layout]
    write_log(
        folder,
        [
            [
                commit_info("CREATE TABLE"),
                _protocol(state.features),
                metadata(
                    *state.columns.fields,
                    properties={**state.set_properties, **constraints},
                    partitioned_by=state.partitioned_by if isinstance(state.partitioned_by, tuple) else (),
                ),
                *([clustering(*clustered)] if clustered else []),
                marker(text, revision),
            ]
        ],
    )


@pytest.fixture
def cases(project: Project) -> dict[str, str]:
    """A repository with all cases: the texts of the head, by table."""
    repo = project.repo
    texts = _cases()
    repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    repo.write(".gitignore", "lake/\n")
    for name, (before, _after) in texts.items():
        if before is not None:
            project.declare(before, _file(name))
    revision = repo.commit()
    for name, (before, after) in texts.items():
        if before is not None:
            _write_table(repo.path / "lake" / name.replace(".", "/"), before, revision)
        project.declare(after, _file(name))
    return {name: after for name, (_before, after) in texts.items()}


def _file(name: str) -> str:
    return f"contracts/{name}.yml"


def _checked(project: Project, *, live: bool) -> CheckResult:
    repo = project.repo
    session = open_check(git.open_repository(repo.path, repo.env), ReviewOptions(repo.env, is_live=live))
    if live:
        assert session.connecting is not None
        side = live_side(session.project, session.connecting, None, session.sides.head)
        session = session.with_tables(side, lambda _stage, _done, _total, _table: None)
    return session.check()


def _entries(result: CheckResult) -> dict[str, list[str]]:
    """Return the lines of the printed entries, by file."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    printed = (ways_out(finding, result.tables_by_name, result).approval for finding in result.findings)
    for approval in dict.fromkeys(filter(None, printed)):
        entry = dropwhile(lambda line: not line.startswith("  - "), approval.lines)  # keys and files are new
        lines[approval.file] += (line.replace('""}', f"{REASON}}}") for line in entry)
    return lines


# A check with live tables has the findings of git, too.
@pytest.mark.parametrize(
    "live",
    [
        pytest.param(False, id="git", marks=pytest.mark.answers),
        pytest.param(True, id="live", marks=pytest.mark.wide),
    ],
)
def test_each_printed_exception_approves_its_finding_in_check_and_plan(
    project: Project, cases: dict[str, str], *, live: bool
) -> None:
    first = _checked(project, live=live)
    tables = first.tables_by_name
    approved = {each.identity for each in first.findings if ways_out(each, tables, first).approval}
    assert len(approved) > 200
    for file, lines in _entries(first).items():
        if file == "exceptions.yaml":
            project.repo.write(file, "\n".join(["schemalint_exceptions: 1", "exceptions:", *lines, ""]))
        else:
            name = file.removeprefix("contracts/").removesuffix(".yml")
            project.declare("\n".join([cases[name].rstrip("\n"), "allow:", *lines, ""]), file)
    second = _checked(project, live=live)
    assert [str(error) for error in second.errors] == [str(error) for error in first.errors]
    left = [finding for finding in second.findings if finding.identity in approved]
    assert [(finding.table, finding.code, finding.message) for finding in left] == []
    assert [finding.message for finding in second.findings if finding.code in ("CT005", "CT012")] == []
    if not live:
        return
    failing = {finding.table for finding in second.findings if finding.severity is Severity.ERROR}
    plan = json.loads(project.run("plan", "--output-format", "json").out)
    refused = [
        (table["table"], refusal["kind"], refusal["code"], refusal["reason"])
        for table in plan["tables"]
        if table["table"] not in failing
        for refusal in table["refusals"]
        if refusal["kind"] in REFUSED
    ]
    assert refused == []


@pytest.mark.wide
def test_each_printed_fix_resolves_its_finding_in_check_and_plan(
    project: Project, cases: dict[str, str]
) -> None:
    assert cases
    repo = project.repo
    session = open_check(git.open_repository(repo.path, repo.env), ReviewOptions(repo.env))
    fixable = {(each.table, each.code, each.path) for each in session.check().findings if each.text_changes}
    assert len(fixable) > 20
    for file, fixed in session.fixes(unsafe=True).items():
        project.declare(fixed.after, file)
    left = {(each.table, each.code, each.path) for each in _checked(project, live=True).findings}
    assert fixable & left == set()
    plan = json.loads(project.run("plan", "--output-format", "json").out)
    refused = {(table["table"], refusal["code"]) for table in plan["tables"] for refusal in table["refusals"]}
    assert refused & {(table, code) for table, code, _path in fixable} == set()
