"""A session judges any texts in place of the head's files, and reads what did not change once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schemalint.base.values import replace
from schemalint.model.finding import CheckResult
from schemalint.project import git
from schemalint.review.check_session import CheckSession, ReviewOptions, open_check
from support.live_side import told_live_side
from support.repo import Repo

ORDERS = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: bigint}\n"
NARROWED = ORDERS.replace("bigint", "int")
CUSTOMERS = ORDERS.replace("sales.orders", "sales.customers")
EXCEPTIONS = """\
schemalint_exceptions: 1
exceptions:
  - {table: sales.orders, rule: TW001, column: id, from: bigint, to: int, reason: built anew}
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.write("orders.yml", ORDERS)
    repo.write("customers.yml", CUSTOMERS)
    repo.commit()
    return repo


def opened(repo: Repo, request: ReviewOptions | None = None) -> CheckSession:
    return open_check(git.open_repository(repo.path, repo.env), request or ReviewOptions(repo.env))


def codes(result: CheckResult) -> list[tuple[str, str]]:
    return [(finding.code, str(finding.location)) for finding in result.findings]


def as_on_disk(repo: Repo, texts: dict[str, str], request: ReviewOptions | None = None) -> CheckResult:
    """Return the result of a check of the same texts in the working tree."""
    before = {name: file.read_text() for name in texts if (file := repo.path / name).exists()}
    for name, text in texts.items():
        repo.write(name, text)
    result = opened(repo, request).check()
    for name in texts:
        (repo.path / name).unlink()
    for name, text in before.items():
        repo.write(name, text)
    return result


CASES = {
    "an edit of a file that did not change": {"orders.yml": NARROWED},
    "a new file": {"new/items.yml": ORDERS.replace("sales.orders", "sales.items").replace("bigint", "nope")},
    "a copy that declares a table twice": {"copy.yml": ORDERS},
    "a contract that is one no longer": {"orders.yml": "# gone\n"},
    "a broken text": {"orders.yml": "schemalint: [\n"},
    "two edits": {"orders.yml": NARROWED, "customers.yml": CUSTOMERS.replace("bigint", "string")},
    "a text that is no contract": {"notes.yml": "a: 1\n", "README.md": "schemalint: 1\n"},
    "an exception": {"orders.yml": NARROWED, "exceptions.yaml": EXCEPTIONS},
    "exceptions that cannot be read": {"exceptions.yaml": "schemalint: 2\n"},
}


@pytest.mark.parametrize("everything", [False, True], ids=["changed", "all"])
@pytest.mark.parametrize("texts", CASES.values(), ids=[*CASES])
def test_texts_are_judged_as_if_the_working_tree_had_them(
    repo: Repo, texts: dict[str, str], *, everything: bool
) -> None:
    request = ReviewOptions(repo.env, everything=everything)
    session = opened(repo, request)
    result = session.check({name: text.encode() for name, text in texts.items()})
    expected = as_on_disk(repo, texts, request)
    assert result.findings == expected.findings
    assert [str(error) for error in result.errors] == [str(error) for error in expected.errors]
    assert (result.run, result.approved) == (expected.run, expected.approved)
    assert (result.sources or {}).items() >= (expected.sources or {}).items()
    # What was judged in place of the files leaves no trace in the session.
    assert session.check().findings == opened(repo, request).check().findings


def test_the_cases_find_something(repo: Repo) -> None:
    session = opened(repo)
    found = {
        name: bool((result := session.check(encoded(texts))).findings or result.errors)
        for name, texts in CASES.items()
    }
    assert [name for name, has_some in found.items() if not has_some] == ["a text that is no contract"]


def encoded(texts: dict[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in texts.items()}


def test_a_text_counts_in_place_of_an_edited_file_too(repo: Repo) -> None:
    repo.write("orders.yml", NARROWED)
    session = opened(repo)
    assert codes(session.check()) == [("TW001", "orders.yml:4:22")]
    assert codes(session.check({"orders.yml": ORDERS.encode()})) == []


def test_what_did_not_change_is_read_once(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened(repo)
    session.check({"orders.yml": NARROWED.encode()})

    def refuse(*arguments: str, **_options: object) -> None:
        raise AssertionError(f"git is asked again: {arguments}")

    monkeypatch.setattr("schemalint.project.git.repository.run_git", refuse)
    monkeypatch.setattr("schemalint.project.git.repository.talk_to_git", refuse)
    result = session.check({"orders.yml": ORDERS.replace("bigint", "smallint").encode()})
    assert codes(result) == [("TW001", "orders.yml:4:22")]


def test_the_environment_is_that_of_the_request(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The process's own would make this a run in CI, with another base and another head."""
    expected = codes(opened(repo).check({"orders.yml": NARROWED.encode()}))
    environment = {**os.environ, "CI": "true", "SCHEMALINT_AGAINST": "nowhere"}
    monkeypatch.setattr(os, "environ", _Untouched(environment))
    assert codes(opened(repo).check({"orders.yml": NARROWED.encode()})) == expected
    assert expected == [("TW001", "orders.yml:4:22")]
    assert capfd.readouterr() == ("", "")


class _Untouched(dict[str, str]):
    """An environment that nobody may ask about CI or schemalint."""

    def __getitem__(self, name: str) -> str:
        assert name != "CI"
        assert not name.startswith(("SCHEMALINT", "GITHUB"))
        return super().__getitem__(name)

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        try:
            return self[name]
        except KeyError:
            return default


def test_live_tables_are_read_once(repo: Repo, tmp_path: Path) -> None:
    read: list[str] = []
    side = told_live_side(
        lambda contract: read.append(contract.table), lambda contract: f"{tmp_path}/{contract.table}"
    )
    session = opened(repo, ReviewOptions(repo.env, everything=True, is_live=True))
    session = session.with_tables(side, lambda _stage, _done, _total, _table: None)
    first = session.check()
    assert sorted(read) == ["sales.customers", "sales.orders"]
    assert session.check().findings == first.findings
    assert len(read) == 2


def test_a_request_chooses_paths_and_rules(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    request = ReviewOptions(repo.env, paths=("customers.yml",))
    texts = {"orders.yml": NARROWED.encode()}
    assert codes(opened(repo, request).check(texts)) == []
    ignoring = replace(ReviewOptions(repo.env).rules, ignore=("TW001",))
    assert codes(opened(repo, ReviewOptions(repo.env, rules=ignoring)).check(texts)) == []


def test_a_removed_document_is_reported_at_the_start_of_its_file(repo: Repo) -> None:
    """Its line in the base has another text in the head."""
    other = NARROWED.replace("sales.orders", "sales.others")
    repo.write("orders.yml", f"{other}---\n{(repo.path / 'orders.yml').read_text()}")
    repo.commit()
    repo.write("orders.yml", other)
    (finding,) = opened(repo, ReviewOptions(repo.env)).check().findings
    assert finding.code == "CT001"
    assert str(finding.location) == "orders.yml:1:1"
    assert finding.previous_location is not None
    assert finding.previous_location.line > len(other.splitlines())
