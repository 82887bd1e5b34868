"""A table of two files is found, however its name is written; files that cannot clash are not parsed."""

from __future__ import annotations

import string
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from schemalint.base.document import yaml_reader
from schemalint.contract.contract_files import ContractFiles
from schemalint.contract.name_search import FOLDED_TO_ASCII
from schemalint.project.git import Contents, File, Revision, Worktree, changes, open_repository
from schemalint.review.check_input import CheckInput
from schemalint.review.run_check import check
from support.judging import rule_sets
from support.repo import Repo
from support.rule_judging import built_in

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = "columns:\n  - {name: id, type: int, comment: to be counted}\n"
FILES = 20


def request(unchanged: Mapping[str, str], *changed: str) -> CheckInput:
    """Return the input of a check whose head has new files beside unchanged ones."""
    base = {path: File(path, text.encode(), None) for path, text in unchanged.items()}
    new = {f"new{number}.yml": text.encode() for number, text in enumerate(changed)}
    head = {**base, **{path: File(path, data, None) for path, data in new.items()}}
    return CheckInput(
        Worktree(), Worktree(), Contents(base, head), rule_sets((built_in()["duplicate-table"],))
    )


def contract(table: str) -> str:
    return f"schemalint: 1\ntable: {table}\n{COLUMNS}"


NAMES = (
    *(
        ("sales.orders", "sales.orders"),
        ("Sales.ORDERS", "sales.orders"),
        ("'`sales`.`orders`'", "sales.orders"),
        ('"sales.orders"', "sales.orders"),
        ('"sales.\\u006frders"', "sales.orders"),
        ('"sales.\\x6frders"', "sales.orders"),
        ('"sales.or\\\n  ders"', "sales.orders"),
        (">-\n  sales.orders", "sales.orders"),
        ("sales.`my\n  orders`", "sales.`my orders`"),
        ("sales.`or``ders`", "sales.orders"),
        ("sales.straße", "sales.STRASSE"),
        ("sales.\u212a1", "sales.k1"),
        ("sales.größe", "sales.GRÖSSE"),
        ("sales.日本", "sales.日本"),
        ("sales.`-`", "sales.`-`"),
    ),
)
"""The names of a table in an unchanged and in a new contract."""


@pytest.mark.parametrize(("old", "new"), NAMES)
def test_a_table_is_found_however_its_name_is_written(old: str, new: str) -> None:
    result = check(request({"a.yml": contract(old), "b.yml": contract("sales.other")}, contract(new)))
    assert not result.errors
    assert [finding.location.file for finding in result.findings] == ["new0.yml"]


@pytest.mark.parametrize(("old", "new"), NAMES)
def test_git_finds_the_files_that_may_declare_a_table(old: str, new: str, tmp_path: Path) -> None:
    result = check(
        request_in(Repo(tmp_path / "shop"), {"a.yml": contract(old), "b.yml": contract("sales.t")}, new)
    )
    assert [finding.location.file for finding in result.findings] == ["new.yml"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s3://lake/a", "s3://lake/a"),
        ("s3://lake/x/../a", "s3://lake/a/"),
        ("file:/lake/%78yz", "/lake/xyz"),
        ('"s3://lake/\\x78yz"', "s3://lake/xyz"),
        ("s3://lake/größe", "s3://lake/größe"),
        ("s3://lake/-e", "s3://lake/-e"),
        pytest.param(
            f"s3://lake/{'x' * 200_000}", f"s3://lake/{'x' * 200_000}", id="longer than an argument"
        ),
    ],
)
def test_git_finds_the_files_that_may_have_a_location(old: str, new: str, tmp_path: Path) -> None:
    located = f"sales.other\nlocation: {old}"
    result = check(
        request_in(Repo(tmp_path / "shop"), {"a.yml": contract(located)}, f"sales.shop_01\nlocation: {new}")
    )
    assert [finding.location.file for finding in result.findings] == ["new.yml"]


def request_in(repo: Repo, unchanged: Mapping[str, str], new: str) -> CheckInput:
    """Return the input of a check of a repository, where git searches the unchanged files."""
    for path, text in unchanged.items():
        repo.write(path, text)
    repo.commit()
    repo.write("new.yml", contract(new))
    base = Revision("HEAD", repo.git("rev-parse", "HEAD"), "test")
    contents = changes(
        open_repository(repo.path, repo.env),
        base,
        Worktree(),
        ContractFiles().format_of,
        reads_unchanged=False,
    )
    return CheckInput(base, Worktree(), contents, rule_sets((built_in()["duplicate-table"],)))


def test_letters_that_fold_to_the_characters_of_words_are_known() -> None:
    characters = {*string.ascii_lowercase, *string.digits, "_"}
    others = (chr(number) for number in range(0x80, sys.maxunicode + 1))
    assert {*FOLDED_TO_ASCII} == {letter for letter in others if not characters.isdisjoint(letter.casefold())}


def written(style: str, name: str) -> str:
    """Return a contract in a style."""
    text = contract(name)
    match style:
        case "quoted":
            return text.replace(name, f"'{name}'")
        case "JSON":
            columns = '"columns": [{"name": "id", "type": "int", "comment": "to be counted"}]'
            return f'{{"schemalint": 1, "table": "{name}", {columns}}}\n'
        case "flow":
            columns = "columns: [{name: id, type: int, comment: to be counted}]"
            return f"{{schemalint: 1, table: {name}, {columns}}}\n"
        case "several documents":
            return f"{text}---\n{contract(name + '_too')}"
        case "CRLF":
            return text.replace("\n", "\r\n")
        case "comments":
            return "# c --- c\n" + text.replace("\n", "  # to be counted\n")
        case "byte order mark":
            return "\ufeff" + text
        case "folded":
            return text.replace(name, f">-\n  {name}")
        case _:
            return text


STYLES = (
    *(
        "block",
        "quoted",
        "JSON",
        "flow",
        "several documents",
        "CRLF",
        "comments",
        "byte order mark",
        "folded",
    ),
)


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """All events that the parser gives."""
    found: list[object] = []
    whole = yaml_reader.events

    def counted(text: str) -> object:
        next_event = whole(text)

        def counting() -> object:
            found.append(event := next_event())
            return event

        return counting

    monkeypatch.setattr(yaml_reader, "events", counted)
    return found


@pytest.mark.parametrize("style", STYLES)
def test_files_that_cannot_clash_are_not_parsed(style: str, events: list[object]) -> None:
    unchanged = {f"{number}.yml": written(style, f"db.t{number}") for number in range(FILES)}
    check(request(unchanged, contract(f"db.{style.replace(' ', '_')}")))
    own = len(events)
    events.clear()
    check(request({}, contract(f"db.{style.replace(' ', '_')}_alone")))
    assert own == len(events)


@pytest.mark.parametrize("style", STYLES)
def test_files_with_the_word_of_a_name_are_parsed_to_the_table(style: str, events: list[object]) -> None:
    unchanged = {f"{number}.yml": written(style, f"db.t{number}") for number in range(FILES)}
    check(request({}, contract("db.counted_alone")))
    own = len(events)
    events.clear()
    check(request(unchanged, contract("db.counted")))
    documents = FILES * (2 if style == "several documents" else 1)
    assert len(events) == own + 7 * documents


def test_many_changed_files_are_compared_with_the_others() -> None:
    unchanged = {f"{number}.yml": contract(f"db.t{number}") for number in range(FILES)}
    result = check(request(unchanged, *(contract(f"db.T{number}") for number in range(5, FILES + 5))))
    assert len(result.findings) == FILES - 5
