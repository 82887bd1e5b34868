"""`check --baseline` and `audit --baseline`: findings of the past do not fail a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Field
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project
    from support.review import Review

FILE = "baseline.json"
CONTRACT = "contracts/orders.yml"
# A warning, and errors, of the contract itself.
FAULTY = ORDERS.replace("decimal(10,2)", "decimal(39,2)") + "properties: {delta.nope: a}\n"
ALL = ("check", "--all", "--against", "none", "--output-format=concise")


def _baseline(project: Project) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((project.repo.path / FILE).read_text("utf-8"))["findings"]
    return found


@pytest.fixture
def estate(project: Project) -> Project:
    """A repository whose contract has findings, and their baseline."""
    project.declare(FAULTY)
    project.repo.write("schemalint.toml", f'baseline = "{FILE}"\n')
    run = project.run(*ALL, "--write-baseline")
    assert run.status == 0, run.out
    assert f"wrote {project.repo.path / FILE}: findings in 2 entries" in run.err, run.out
    project.repo.commit()
    return project


def test_findings_of_the_baseline_do_not_fail_and_new_ones_do(estate: Project) -> None:
    assert [(each["table"], each["code"], each["object"]) for each in _baseline(estate)] == [
        ("sales.orders", "TP001", "property delta.nope"),
        ("sales.orders", "TW004", "column amount"),
    ]
    for options in ((), ("--strict",), ("--fail-on", "info")):
        run = estate.run(*ALL, *options)
        assert run.status == 0, run.out
        assert "2 findings in the baseline" in run.out, run.out
    report = json.loads(estate.run(*ALL[:-1], "--output-format=json").out)
    assert [finding["existing"] for finding in report["findings"]] == [True, True]
    # Other lines, another order of columns, and another file.
    (estate.repo.path / CONTRACT).unlink()
    lines = FAULTY.splitlines()
    estate.declare("\n".join(["# moved", *lines[:3], *lines[4:6], lines[3], *lines[6:], ""]), "other/o.yml")
    assert estate.run(*ALL).status == 0
    estate.declare(FAULTY.replace("delta.nope", "delta.nopes"), "other/o.yml")
    run = estate.run(*ALL)
    assert (run.status, sorted(run.codes)) == (1, ["CT005", "TP001", "TW004"])


def test_without_the_baseline_the_findings_fail(estate: Project) -> None:
    estate.repo.write("schemalint.toml", "")
    assert estate.run(*ALL).status == 1
    assert estate.run(*ALL, "--baseline", FILE).status == 0


def test_an_entry_that_matches_nothing_is_a_finding_that_the_next_writing_removes(estate: Project) -> None:
    estate.declare(FAULTY.replace("decimal(39,2)", "decimal(38,2)"))
    run = estate.run(*ALL)
    assert run.status == 0, run.out
    assert f"{FILE}:5:1: CT005" in run.out, run.out
    assert estate.run(*ALL, "--ignore", "TW004").codes == ["TP001"]  # not judged
    run = estate.run(*ALL, "--write-baseline")
    assert (run.status, [each["code"] for each in _baseline(estate)]) == (0, ["TP001"])
    estate.declare(FAULTY)
    run = estate.run(*ALL, "--write-baseline")
    assert (run.status, [each["code"] for each in _baseline(estate)]) == (1, ["TP001"])
    run = estate.run(*ALL, "--write-baseline", "--grow")
    assert (run.status, [each["code"] for each in _baseline(estate)]) == (0, ["TP001", "TW004"])


def test_a_run_for_some_tables_keeps_the_entries_of_others(estate: Project) -> None:
    estate.declare(ORDERS.replace("sales.orders", "a.b"), "other/o.yml")
    before = _baseline(estate)
    assert estate.run("check", "other", "--write-baseline", "--against", "none").status == 0
    assert _baseline(estate) == before


def test_a_baseline_that_cannot_be_read_is_never_green(estate: Project) -> None:
    for text, said in (
        (None, "there is no baseline"),
        ("{}", "is no baseline of schemalint"),
        (FAULTY, "is no baseline of schemalint"),
    ):
        (estate.repo.path / FILE).unlink(missing_ok=True)
        if text is not None:
            estate.repo.write(FILE, text)
        run = estate.run(*ALL)
        assert run.status == 2, run.out
        assert said in run.out, run.out
    assert estate.run(*ALL, "--baseline", ".").status == 2


def test_a_baseline_that_is_not_committed_is_missing_in_the_commit(estate: Project) -> None:
    estate.repo.git("rm", "--quiet", "--cached", FILE)
    estate.repo.git("commit", "--quiet", "--all", "--message", "without the baseline")
    run = estate.run(*ALL, "--head", "HEAD")
    assert run.status == 2, run.out
    assert f"there is no baseline {FILE} in {estate.repo.head()[:12]}" in run.out, run.out


def test_a_file_that_is_no_baseline_is_not_overwritten(estate: Project) -> None:
    run = estate.run(*ALL, "--write-baseline", CONTRACT)  # the configuration names a valid one
    assert run.status == 2, run.out
    assert "is no baseline of schemalint" in run.out, run.out
    assert (estate.repo.path / CONTRACT).read_text("utf-8") == FAULTY
    assert estate.run(*ALL, "--write-baseline", "other.json").status == 0
    assert (estate.repo.path / "other.json").read_bytes() == (estate.repo.path / FILE).read_bytes()


def test_an_incomplete_run_writes_nothing(estate: Project) -> None:
    before = (estate.repo.path / FILE).read_bytes()
    estate.declare("schemalint: 1\n", "broken.yml")
    run = estate.run(*ALL, "--write-baseline")
    assert run.status == 2
    assert "was not written" in run.err
    assert (estate.repo.path / FILE).read_bytes() == before


def test_options_that_need_others(project: Project) -> None:
    project.declare(ORDERS)
    assert "--grow needs --write-baseline" in project.run(*ALL, "--grow").err
    assert "--write-baseline needs a file" in project.run(*ALL, "--write-baseline").out


NARROWED = ORDERS.replace("bigint", "int")


def _grown(review: Review) -> str:
    """Return the text of a baseline with the finding of a narrowing."""
    project = review.project
    project.declare(ORDERS)
    project.repo.commit()
    project.declare(NARROWED)
    assert project.run("check", "--write-baseline", FILE).status == 0
    text = (project.repo.path / FILE).read_text("utf-8")
    assert '"TW001"' in text
    (project.repo.path / FILE).unlink()
    return text


EMPTY = '{"schemalint_baseline": 1, "findings": []}'


@pytest.mark.parametrize(
    ("settings", "of_fork", "status"),
    [
        ("", False, 0),
        ("", True, 1),
        ("[exceptions]\naccept = []\n", False, 1),
        ('locked = ["TW001"]\n', False, 1),
    ],
)
def test_what_a_pull_request_adds_counts_by_the_rules_of_exceptions(
    review: Review,
    settings: str,
    of_fork: bool,  # noqa: FBT001
    status: int,
) -> None:
    grown = _grown(review)
    base = {"schemalint.toml": f'baseline = "{FILE}"\n{settings}', FILE: EMPTY}
    ids = {"base": {"id": 1}, "head": {"id": 2 if of_fork else 1}}
    run = review.check(base, {CONTRACT: NARROWED, FILE: grown}, repositories=ids)
    assert (run.status, "TW001 error" in run.out) == (status, status == 1), run.out


def test_a_baseline_that_a_pull_request_names_does_not_count_yet(review: Review) -> None:
    grown = _grown(review)
    head = {CONTRACT: NARROWED, FILE: grown, "schemalint.toml": f'baseline = "{FILE}"\n'}
    ids = {"base": {"id": 1}, "head": {"id": 1}}
    run = review.check({"schemalint.toml": ""}, head, repositories=ids)
    assert (run.status, run.codes) == (1, ["TW001", "CF001"])
    assert review.project.check("--baseline", FILE).status == 0  # the job's own choice


@pytest.mark.parametrize("base", [{}, {"schemalint.toml": ""}])
@pytest.mark.parametrize(("text", "said"), [(None, "there is no baseline"), ("{}", "is no baseline")])
def test_a_pull_request_that_names_a_baseline_brings_it(
    review: Review, base: dict[str, str | None], text: str | None, said: str
) -> None:
    """Otherwise it is green, and every run after its merge ends with status 2."""
    head = {"schemalint.toml": f'baseline = "{FILE}"\n', FILE: text}
    run = review.check(base, head, repositories={"base": {"id": 1}, "head": {"id": 1}})
    assert run.status == 2, run.out
    assert said in run.out, run.out
    run = review.project.check("--write-baseline", FILE)
    assert run.status == (0 if text is None else 2), run.out
    review.write({FILE: EMPTY})
    assert review.project.check().status == 0


def test_audit_is_red_on_new_findings_only(project: Project, tmp_path: Path) -> None:
    table = tmp_path / "lake" / "t"
    actions = [
        [
            protocol(),
            metadata(Field("id", LONG), properties={"delta.checkpointInterval": "x"}),
            commit_info("CREATE TABLE"),
        ]
    ]
    write_log(table, actions)
    audit = ("audit", str(table), "--fail-on", "info", "--output-format=concise")
    first = project.run(*audit)
    assert first.status == 1, first.out
    assert "TP002" in first.out, first.out
    assert project.run(*audit, "--write-baseline", FILE).status == 0
    run = project.run(*audit, "--baseline", FILE)
    assert run.status == 0, run.out
    assert "in the baseline\n" in run.out, run.out
    other = tmp_path / "lake" / "u"
    write_log(other, actions)
    assert project.run("audit", str(table), str(other), *audit[2:], "--baseline", FILE).status == 1
    assert project.run(*audit, "--baseline", "none.json").status == 2


def test_a_baseline_that_a_fork_makes_a_link_out_of_the_repository_never_counts(
    review: Review, tmp_path: Path
) -> None:
    (tmp_path / FILE).write_text(_grown(review), "utf-8")
    commit, _tip = review.commits({"schemalint.toml": f'baseline = "{FILE}"\n', FILE: EMPTY}, {})
    review.write({CONTRACT: NARROWED, FILE: None})
    (review.project.repo.path / FILE).symlink_to(tmp_path / FILE)
    sides = {"base": {"sha": commit, "ref": "main", "repo": {"id": 1}}}
    sides["head"] = {"sha": review.project.repo.commit(), "repo": {"id": 2}}
    run = review.run("pull_request", {"pull_request": sides})
    assert run.status == 2
    assert f"failure: {FILE} cannot be read: it is a symbolic link" in run.out
