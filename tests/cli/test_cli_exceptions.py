"""Exceptions that a change adds count where its author may push; those of the base count by themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from support.project import ORDERS, Project, Run
from support.review import CONTRACT, Review

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAPPED: Final = "properties: {delta.columnMapping.mode: name}\n"
BASE: Final = ORDERS + "  - {name: code, type: string, deprecated: {remove_after: 2999-12-31}}\n" + MAPPED
DROPPED: Final = ORDERS + MAPPED + "dropped: [code]\n"
ENTRY: Final = 'rule: CT003, column: code, from: string, reason: unused, approved_by: "@data"'
REMOVAL: Final = "rule: CT001, object: table, reason: unused, approved_by: '@data'"


def exceptions(*entries: str) -> str:
    lines = "".join(f"  - {{table: Sales.orders, {entry}}}\n" for entry in entries)
    return f"schemalint_exceptions: 1\nexceptions:\n{lines}"


# By kind: the name of its source, and the files of a change with the exception.
KINDS: Final[dict[str, tuple[str, dict[str, str | None]]]] = {
    "contract": ("contract", {CONTRACT: f"{DROPPED}allow:\n  - {{{ENTRY}}}\n"}),
    "file": ("file", {CONTRACT: DROPPED, "exceptions.yaml": exceptions(ENTRY)}),
    "removal": ("file", {CONTRACT: None, "exceptions.yaml": exceptions(REMOVAL)}),
}
OURS: Final = {"base": {"id": 1}, "head": {"id": 1}}
FORKS: Final[dict[str, Mapping[str, Any]]] = {
    "fork": {"base": {"id": 1}, "head": {"id": 2}},
    "deleted fork": {"base": {"id": 1}, "head": None},
    "no ids": {"base": {}, "head": {}},
    "id of another kind": {"base": {"id": True}, "head": {"id": True}},
}


@pytest.fixture
def review(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Review:
    return Review(project, monkeypatch, tmp_path)


def errors(run: Run) -> list[str]:
    return [code for code in run.codes if code in ("CT001", "CT003")]


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_of_the_change_counts_in_the_same_repository(
    review: Review, kind: str, tmp_path: Path
) -> None:
    source, head = KINDS[kind]
    file = tmp_path / "report.json"
    run = review.check({CONTRACT: BASE}, head, "--output-format", f"json:{file}", repositories=OURS)
    (approved,) = json.loads(file.read_text())["approved"]
    assert run.status == 0
    assert (approved["by"]["source"], approved["by"]["added"]) == (source, True)
    assert approved["by"]["claim"] == "approval claimed for @data by this change"


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_of_a_fork_never_counts(review: Review, kind: str) -> None:
    _source, head = KINDS[kind]
    run = review.check({CONTRACT: BASE}, head, repositories=FORKS["fork"])
    assert run.status == 1
    assert len(errors(run)) == 1
    assert "CT012" in run.codes
    assert "it comes from a fork" in run.out


@pytest.mark.parametrize("name", FORKS)
def test_a_head_of_unknown_origin_is_a_fork(review: Review, name: str) -> None:
    run = review.check({CONTRACT: BASE}, KINDS["contract"][1], repositories=FORKS[name])
    assert (run.status, errors(run)) == (1, ["CT003"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_base_says_which_kinds_count_at_once(review: Review, kind: str) -> None:
    """A head that accepts its own kind accepts nothing: the configuration of the base counts."""
    source, head = KINDS[kind]
    others = sorted({"contract", "file"} - {source})
    base = {CONTRACT: BASE, "schemalint.toml": f"exceptions.accept = {others}\n"}
    widened = {"schemalint.toml": f'exceptions.accept = ["{source}"]\n', **head}
    run = review.check(base, widened, repositories=OURS)
    assert run.status == 1
    assert len(errors(run)) == 1
    assert "CT012" in run.codes
    assert f"exceptions.accept of the base leaves out {source}" in run.out


@pytest.mark.parametrize("kind", ["contract", "file", "removal"])
def test_an_exception_of_the_base_counts_by_itself(review: Review, kind: str) -> None:
    """Also in a fork, and where the base accepts none at once."""
    _source, head = KINDS[kind]
    closed = "exceptions.accept = []\n"
    base = {"schemalint.toml": closed}
    merged = {name: text for name, text in head.items() if name != CONTRACT}
    contract = f"{BASE}allow:\n  - {{{ENTRY}}}\n" if kind == "contract" else BASE
    change = {name: text for name, text in head.items() if name == CONTRACT}
    run = review.check({CONTRACT: contract, **base, **merged}, change, repositories=FORKS["fork"])
    assert (run.status, errors(run)) == (0, []), run.out


def test_an_exception_of_the_base_that_the_change_prolongs_is_a_new_one(review: Review) -> None:
    old = exceptions(f"{ENTRY}, expires: 2020-01-01")
    new = exceptions(f"{ENTRY}, expires: 2999-01-01")
    head = {CONTRACT: DROPPED, "exceptions.yaml": new}
    run = review.check({CONTRACT: BASE, "exceptions.yaml": old}, head, repositories=FORKS["fork"])
    assert (run.status, errors(run)) == (1, ["CT003"])


@pytest.mark.parametrize(
    ("event", "status"), [("push", 0), ("merge_group", 0), ("workflow_dispatch", 0), ("workflow_run", 1)]
)
def test_exceptions_count_on_a_push_and_in_a_merge_group(review: Review, event: str, status: int) -> None:
    commit, _tip = review.commits({CONTRACT: BASE}, KINDS["contract"][1])
    payload = {
        "before": commit,
        "merge_group": {"base_sha": commit},
        "repository": {"default_branch": "main"},
    }
    review.project.repo.git("update-ref", "refs/remotes/origin/main", commit)
    review.project.repo.git("update-ref", "refs/remotes/origin/HEAD", commit)
    assert review.run(event, payload, "--against", commit).status == status


def test_exceptions_count_outside_of_ci(project: Project) -> None:
    project.declare(BASE)
    project.repo.commit()
    project.declare(str(KINDS["contract"][1][CONTRACT]))
    assert project.check().status == 0


def test_unused_exceptions_of_a_file_are_removed(review: Review) -> None:
    """Others, comments and line ends stay as they are."""
    kept = exceptions(f"{ENTRY}").replace("exceptions:\n", "exceptions:\n  # used\n").replace("\n", "\r\n")
    unused = "  - {table: sales.orders, rule: CT003, column: other, from: string, reason: x}\r\n"
    review.write({CONTRACT: BASE})
    review.project.repo.commit()
    review.write({CONTRACT: DROPPED})
    path = review.project.repo.path / "exceptions.yaml"
    path.write_bytes((kept + unused).encode())
    run = review.project.check("--fix")
    assert (run.status, path.read_bytes()) == (0, kept.encode()), run.out


def test_unused_exceptions_in_a_layout_that_cannot_be_edited_are_findings_without_a_fix(
    project: Project,
) -> None:
    text = (
        ORDERS
        + "? allow\n: - {rule: NC009, column: id, reason: x}\n  - {rule: TP001, property: a, reason: x}\n"
    )
    file = project.declare(text)
    run = project.check("--against", "none", "--fix")
    assert (run.status, run.codes) == (0, ["CT005", "CT005"]), run.out
    assert file.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schemalint_exceptions: 2\nexceptions: []\n", '"schemalint_exceptions" must be'),
        ("schemalint_exceptions: 1\nexceptions:\n  - {rule: TW001, reason: x}\n", '"table" is missing'),
        ("schemalint_exceptions: 1\nexceptions: []\nexception: []\n", 'unknown key "exception"'),
        ("a: [\n", "exceptions.yaml:"),
    ],
)
def test_a_file_that_is_no_list_of_exceptions_is_an_error(review: Review, text: str, message: str) -> None:
    review.write({CONTRACT: BASE, "exceptions.yaml": text})
    review.project.repo.commit()
    run = review.project.check("--all")
    assert run.status == 2
    assert message in run.out + run.err


def test_each_unused_entry_is_removed_by_its_own_edit(project: Project) -> None:
    """One finding with the edits of all would make a report the square of their number."""
    entries = "".join(
        f"  - {{table: a.t{number}, rule: CT001, object: table, reason: x}}\n" for number in range(3)
    )
    used = exceptions("rule: NO002, object: table, reason: x")
    allow = "".join(f"  - {{rule: NC009, column: c{number}, reason: x}}\n" for number in range(3))
    project.repo.write("exceptions.yaml", used + entries)
    project.declare(f"{ORDERS}allow:\n  - {{rule: NO001, column: id, reason: x}}\n{allow}")
    report = json.loads(project.run("check", "--all", "--against", "none", "--output-format", "json").out)
    fixes = [finding["fix"]["edits"] for finding in report["findings"] if finding["code"] == "CT005"]
    assert [len(edits) for edits in fixes] == [1] * 6
    assert project.check("--all", "--against", "none", "--fix").status == 0
    assert (project.repo.path / "exceptions.yaml").read_text("utf-8") == used
    assert (project.repo.path / CONTRACT).read_text("utf-8").count("NC009") == 0
