"""A dialect of thirty lines, whose files a glob chooses: they are judged and planned as native ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from schemalint.contract import dialects
from schemalint.contract.contract_files import ContractFiles
from schemalint.contract.contract_history import ContractHistory
from schemalint.model.contract import FileFormat
from schemalint.project.git import Worktree, open_repository
from support.project import Project
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

WORDS: Final = '''\
"""Tables in words: ``sales.orders has id bigint, amount decimal(10,2)``, one on a line."""

from schemalint.base.errors import ContractError, Location
from schemalint.base.wording import Wording
from schemalint.contract.dialects import Reading
from schemalint.delta.datatype import Field, Struct
from schemalint.delta.table import TableState
from schemalint.delta.type_text import TypeTextError, parse_type
from schemalint.model.contract import Contract

EXPRESSES = frozenset()
WORDING = Wording()
IS_EDITED = False


def candidate(path, data):
    return b" has " in data


def table_names(data, settings):
    return [line.partition(" has ")[0] for line in data.decode(errors="replace").splitlines()]


def read(path, data, older, settings):
    contracts, errors = [], []
    for number, line in enumerate(data.decode().splitlines()):
        where = Location(path, number + 1, 1)
        table, _, columns = line.partition(" has ")
        try:
            fields = [column.split(" ", 1) for column in columns.split(", ")]
            state = TableState(Struct(tuple(Field(name, parse_type(type_)) for name, type_ in fields)))
            anchors = {("table",): where}
            contracts.append(Contract(table, state, file=path, document_index=number, anchors=anchors))
        except (TypeTextError, ValueError) as error:
            errors.append(ContractError(f"no columns: {error}", location=where))
    return Reading(tuple(contracts), tuple(errors))
'''
ORDERS: Final = "sales.orders has id bigint, amount decimal(10,2)\n"
NARROWED: Final = ORDERS.replace("bigint", "int")
NATIVE: Final = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: bigint}\n"
SETTINGS: Final = 'contracts = [{path = "words/**/*.txt", format = "words"}]\n'
EXCEPTIONS: Final = """\
schemalint_exceptions: 1
exceptions:
  - {table: sales.orders, rule: TW001, column: id, from: bigint, to: int, via: rewrite, reason: built anew}
"""


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """A repository as the working directory, with a table in words, and with other files beside it."""
    project = Project(Repo(tmp_path / "repository"), capsys)
    for name, value in project.repo.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project.repo.path)
    (tmp_path / "added").mkdir()
    (tmp_path / "added/words.py").write_text(WORDS, encoding="utf-8")
    monkeypatch.setattr(dialects, "__path__", [*dialects.__path__, str(tmp_path / "added")])
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.write("words/orders.txt", ORDERS)
    project.repo.write("words/README.txt", "Nothing is declared here.\n")
    project.repo.write("elsewhere.txt", "sales.elsewhere has id void\n")
    project.repo.commit()
    return project


def test_a_change_is_judged_at_its_line(words: Project) -> None:
    assert words.check("--all").out.startswith("no findings in 1 table")
    words.repo.write("words/orders.txt", f"sales.items has id bigint\n{NARROWED}")
    run = words.check()
    assert run.out.splitlines()[0].startswith("words/orders.txt:2:1: TW001 error")
    assert run.status == 1


def test_native_contracts_are_read_as_before(words: Project) -> None:
    words.declare(NATIVE.replace("sales.orders", "sales.items"), "anywhere/items.yml")
    words.repo.commit()
    words.declare(
        NATIVE.replace("sales.orders", "sales.items").replace("bigint", "int"), "anywhere/items.yml"
    )
    assert words.check().codes == ["TW001"]


def test_an_unreadable_table_hides_no_other(words: Project) -> None:
    words.repo.write("words/orders.txt", f"sales.items has id nothing\n{NARROWED}")
    run = words.check()
    assert run.status == 2
    assert "TW001" in run.codes
    assert "words/orders.txt:1:1" in run.out
    assert "no columns" in run.out


@pytest.mark.parametrize("file", ["words/copy.txt", "copy.yml"])
def test_a_table_that_is_declared_twice_is_found_in_files_that_did_not_change(
    words: Project, file: str
) -> None:
    words.repo.write(file, ORDERS if file.endswith("txt") else NATIVE)
    run = words.check()
    assert run.codes == ["CT002"]
    assert run.out.startswith(f"{file}:")


def test_a_new_native_contract_is_a_duplicate_of_one_in_words_too(words: Project) -> None:
    words.repo.write("copy.yml", NATIVE)
    assert "words/orders.txt:1:1" in words.check().out


def test_an_exception_beside_the_configuration_approves(words: Project) -> None:
    words.repo.write("words/orders.txt", NARROWED)
    words.repo.write("exceptions.yaml", EXCEPTIONS)
    run = words.check()
    assert run.status == 0
    assert "TW001" not in run.codes
    words.repo.write("exceptions.yaml", EXCEPTIONS.replace("to: int", "to: smallint"))
    assert "TW001" in words.check().codes


def test_no_fix_is_offered_for_a_file_that_is_not_edited(words: Project) -> None:
    native = NATIVE.replace("bigint", "int").replace("sales.orders", "sales.items")
    words.declare(native)
    words.repo.write("words/orders.txt", NARROWED)
    words.repo.commit()
    words.repo.write("words/orders.txt", ORDERS)
    words.declare(native.replace("int}", "bigint}"))
    run = words.check("--fix")
    assert "fixed contracts/orders.yml" in run.err
    assert "words" not in run.err
    assert (words.repo.path / "words/orders.txt").read_text() == ORDERS


def test_a_table_is_planned(words: Project, tmp_path: Path) -> None:
    words.repo.write("schemalint.toml", f'{SETTINGS}[targets.dev]\nroot = "{tmp_path}/lake"\n')
    words.repo.commit()
    (tmp_path / "lake").mkdir()
    run = words.run("plan", "--output-format", "sql")
    assert run.status == 0, run.out + run.err
    assert "CREATE TABLE" in run.out
    assert "decimal(10,2)" in run.out.lower()


def test_the_history_has_the_revisions_of_all_formats(words: Project) -> None:
    words.repo.write("words/orders.txt", NARROWED)
    words.repo.commit()
    (words.repo.path / "words/orders.txt").unlink()
    words.declare(NATIVE)
    words.repo.commit()
    files = ContractFiles(others=(("words/**/*.txt", FileFormat("words")),))
    history = ContractHistory(open_repository(words.repo.path, words.repo.env), files, Worktree())
    found = [(contract.dialect, contract.file) for _commit, contract in history.newest_first("sales.orders")]
    assert found == [
        ("native", "contracts/orders.yml"),
        ("words", "words/orders.txt"),
        ("words", "words/orders.txt"),
    ]


def test_revert_leaves_files_alone_that_it_cannot_edit(words: Project) -> None:
    words.repo.write("words/orders.txt", NARROWED)
    run = words.run("revert", "sales.orders")
    assert run.status == 2
    assert "sales.orders is declared in words/orders.txt" in run.err


def test_a_folder_below_has_its_own_settings(words: Project) -> None:
    words.repo.write("words/schemalint.toml", 'ignore = ["TW001"]\n')
    words.repo.commit()
    words.repo.write("words/orders.txt", NARROWED)
    assert words.check().codes == []


def test_a_glob_that_matches_nothing_is_an_error(words: Project) -> None:
    words.repo.write("schemalint.toml", SETTINGS.replace("words/**", "wrods/**"))
    run = words.check("--all")
    assert run.status == 2
    assert "'wrods/**/*.txt' of `contracts` matches no file" in run.out


def test_contracts_that_become_files_of_another_format_are_a_loosening(words: Project) -> None:
    words.declare(NATIVE.replace("sales.orders", "sales.items"))
    words.repo.commit()
    words.repo.write("schemalint.toml", SETTINGS.replace("words/**/*.txt", "**/*.yml"))
    assert "CF001" in words.check().codes
