"""Each exception counts where it should and ends where it must, wherever it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from support.project import ORDERS, Project, Run
from support.review import CONTRACT, Review

if TYPE_CHECKING:
    from collections.abc import Mapping

OTHER: Final = "contracts/items.yml"
MAPPED: Final = "properties: {delta.columnMapping.mode: name}\n"
CODE: Final = "  - {name: code, type: string, deprecated: {remove_after: 2999-12-31}}\n"
BASE: Final = ORDERS + CODE + MAPPED
DROPPED: Final = ORDERS + MAPPED + "dropped: [code]\n"
NARROWED: Final = BASE.replace("decimal(10,2)", "decimal(8,2)")
ITEMS: Final = BASE.replace("sales.orders", "sales.items")
ENTRY: Final = "rule: CT003, column: code, from: string, reason: unused"
REWRITE: Final = (
    'rule: TW003, column: amount, from: "decimal(10,2)", to: "decimal(8,2)", via: rewrite, reason: small'
)
PAST: Final = ", expires: 2020-01-01"

Files = dict[str, str | None]


def allowing(contract: str, entry: str) -> str:
    return f"{contract}allow:\n  - {{{entry}}}\n"


def listed(entry: str, table: str = "sales.orders") -> Files:
    return {"exceptions.yaml": f"schemalint_exceptions: 1\nexceptions:\n  - {{table: {table}, {entry}}}\n"}


def removing(table: str, more: str = "") -> Files:
    return listed(f"rule: CT001, object: table, reason: x{more}", table)


def with_baseline(project: Project, head: str) -> Files:
    """Return a change that grows the baseline by its own findings, as `--grow` does."""
    project.declare(BASE)
    project.declare(ITEMS, OTHER)
    project.repo.commit()
    project.declare(head)
    assert project.run("check", "--write-baseline", "baseline.json").status == 0
    text = (project.repo.path / "baseline.json").read_text("utf-8")
    (project.repo.path / "baseline.json").unlink()
    return {"baseline.json": text}


# By source and end: the files of the change. A text says why there is no such end.
WRITTEN: Final[dict[str, dict[str, Files | str]]] = {
    "contract": {
        "counts": {CONTRACT: allowing(DROPPED, ENTRY)},
        "expired": {CONTRACT: allowing(DROPPED, ENTRY + PAST)},
        "unused": {CONTRACT: allowing(BASE, ENTRY)},
        "other table": {CONTRACT: DROPPED, OTHER: allowing(ITEMS, ENTRY)},
        "other change": {CONTRACT: allowing(DROPPED, ENTRY.replace("string", "int"))},
    },
    "rewrite": {
        "counts": {CONTRACT: allowing(NARROWED, REWRITE)},
        "expired": {CONTRACT: allowing(NARROWED, REWRITE + PAST)},
        "unused": {CONTRACT: allowing(BASE, REWRITE)},
        "other table": {CONTRACT: NARROWED, OTHER: allowing(ITEMS, REWRITE)},
        "other change": {CONTRACT: allowing(NARROWED, REWRITE.replace("8,2", "9,2"))},
    },
    "file": {
        "counts": {CONTRACT: DROPPED, **listed(ENTRY)},
        "expired": {CONTRACT: DROPPED, **listed(ENTRY + PAST)},
        "unused": {CONTRACT: BASE + "description: x\n", **listed(ENTRY)},
        "other table": {CONTRACT: DROPPED, **listed(ENTRY, "sales.items")},
        "other change": {CONTRACT: DROPPED, **listed(ENTRY.replace("string", "int"))},
    },
    "baseline": {
        "counts": {CONTRACT: DROPPED, "baseline.json": DROPPED},
        "expired": "an entry has no end",
        "unused": {CONTRACT: BASE + "description: x\n", "baseline.json": DROPPED},
        "other table": {CONTRACT: BASE, OTHER: DROPPED.replace("orders", "items"), "baseline.json": DROPPED},
        "other change": {CONTRACT: NARROWED, "baseline.json": NARROWED.replace("8,2", "9,2")},
    },
    "removed": {
        "counts": {CONTRACT: None, **removing("sales.orders")},
        "expired": {CONTRACT: None, **removing("sales.orders", PAST)},
        "unused": {CONTRACT: BASE + "description: x\n", **removing("sales.orders")},
        "other table": {CONTRACT: None, **removing("sales.items")},
        "other change": "a removal has no values",
    },
}
ENDS: Final = ("counts", "expired", "unused", "other table", "other change")
FINDINGS: Final = {"rewrite": "TW003", "removed": "CT001"}
CELLS: Final = [
    (source, end) for source, files in WRITTEN.items() for end in ENDS if not isinstance(files[end], str)
]

GITHUB: Final = {"GITHUB_EVENT_NAME": "pull_request"}
GITLAB: Final = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_PROJECT_ID": "1"}
AZURE: Final = {
    "TF_BUILD": "True",
    "BUILD_REASON": "PullRequest",
    "SYSTEM_PULLREQUEST_PULLREQUESTID": "7",
    "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
}
OURS: Final = {
    "gitlab": {**GITLAB, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1"},
    "azure": {**AZURE, "SYSTEM_PULLREQUEST_ISFORK": "False"},
}
FOREIGN: Final = {
    "gitlab fork": {**GITLAB, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2"},
    "gitlab unknown": GITLAB,
    "azure fork": {**AZURE, "SYSTEM_PULLREQUEST_ISFORK": "True"},
    "azure unknown": AZURE,
    "azure odd": {**AZURE, "SYSTEM_PULLREQUEST_ISFORK": "perhaps"},
    "jenkins": {"JENKINS_URL": "https://jenkins", "CHANGE_ID": "7", "CHANGE_TARGET": "main"},
}


def play(
    review: Review,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    end: str,
    environment: Mapping[str, str],
    settings: str = "",
) -> Run:
    """Check a change with an exception, as the CI service of the variables does."""
    files = WRITTEN[source][end]
    assert isinstance(files, dict)
    base: Files = {CONTRACT: BASE, OTHER: ITEMS, "schemalint.toml": settings}
    change = dict(files)
    if source == "baseline":
        base |= {"baseline.json": '{"schemalint_baseline": 1, "findings": []}'}
        base["schemalint.toml"] = f'baseline = "baseline.json"\n{settings}'
        change |= with_baseline(review.project, str(files["baseline.json"]))
    commit, _tip = review.commits(base, change)
    for name, ref in (("main", commit), ("HEAD", commit)):
        review.project.repo.git("update-ref", f"refs/remotes/origin/{name}", ref)
    gitlab = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": commit} if "GITLAB_CI" in environment else {}
    for name, value in {"CI": "true", **environment, **gitlab}.items():
        monkeypatch.setenv(name, value)
    return review.project.check()


def of_source(source: str) -> str:
    return FINDINGS.get(source, "CT003")


def test_every_source_has_every_end_or_a_reason_why_not() -> None:
    assert all(tuple(files) == ENDS for files in WRITTEN.values())


@pytest.mark.parametrize(("source", "end"), CELLS)
def test_an_exception_counts_for_its_finding_alone_and_ends(
    review: Review, monkeypatch: pytest.MonkeyPatch, source: str, end: str
) -> None:
    run = play(review, monkeypatch, source, end, OURS["gitlab"])
    finding = of_source(source)
    if (source, end) == ("baseline", "other change"):
        finding = "TW003"
    about = {"counts": [], "expired": ["CT004"]}.get(end, ["CT005"])
    if (source, end) == ("baseline", "other table"):
        about = []  # that table was not judged
    left = [] if end in ("counts", "unused") else [finding]
    codes = [code for code in run.codes if code.isupper() and not code.startswith("CF")]
    assert (run.status, sorted(codes)) == (int(bool(left)), sorted([*left, *about])), run.out


@pytest.mark.parametrize("origin", OURS)
@pytest.mark.parametrize("source", WRITTEN)
def test_an_exception_counts_for_a_branch_of_the_repository(
    review: Review, monkeypatch: pytest.MonkeyPatch, source: str, origin: str
) -> None:
    run = play(review, monkeypatch, source, "counts", OURS[origin])
    assert run.status == 0, run.out
    assert of_source(source) not in run.codes, run.out


@pytest.mark.parametrize(
    ("source", "origin"),
    [(source, "gitlab fork") for source in WRITTEN] + [("rewrite", origin) for origin in FOREIGN],
)
def test_an_exception_of_a_fork_or_of_unknown_origin_never_counts(
    review: Review, monkeypatch: pytest.MonkeyPatch, source: str, origin: str
) -> None:
    run = play(review, monkeypatch, source, "counts", FOREIGN[origin])
    assert run.status == 1, run.out
    assert of_source(source) in run.codes, run.out


@pytest.mark.parametrize("source", WRITTEN)
def test_no_exception_of_a_change_counts_where_the_base_accepts_none(
    review: Review, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    run = play(review, monkeypatch, source, "counts", OURS["azure"], "exceptions.accept = []\n")
    assert run.status == 1, run.out
    assert of_source(source) in run.codes, run.out
