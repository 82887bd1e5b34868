"""The work of a check, a pull and a revert grows with the width of a table, not with its square."""

from __future__ import annotations

import pytest

from schemalint.author.pull import updated_text
from schemalint.author.pull.live_declaration import Scope
from schemalint.author.reversal import reverse_changes
from schemalint.author.revert_contract import reverted_text
from schemalint.base.values import replace
from schemalint.contract import read
from schemalint.delta.datatype import Field, Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import History, HistoryEntry, LiveTable, Metadata, TableState
from schemalint.model.consumer import Consumer, Stream
from schemalint.model.contract import Contract
from schemalint.project.git import Contents, File, Worktree
from schemalint.report import findings as reports
from schemalint.review.check_input import CheckInput
from schemalint.review.run_check import check, check_and_fix
from support.judging import judge_pair, rule_sets
from support.operations import assert_linear
from support.rule_judging import built_in
from support.wide import CHANGES

NUMBER = 30
# None is so large that the values alone, each read for a proof, fill the cache of read texts.
WIDTH_FIXED = 25
WIDTH_PULLED = 35
WIDTH_REVERTED = 50


def request(change: str, number: int) -> CheckInput:
    """Return the input of a check of one contract with so many columns."""
    before, after = (text(number) for text in CHANGES[change])
    base, head = ({"a.yml": File("a.yml", text.encode(), None)} if text else {} for text in (before, after))
    return CheckInput(Worktree(), Worktree(), Contents(base, head), rule_sets(tuple(built_in().values())))


@pytest.mark.wide
@pytest.mark.parametrize("change", CHANGES)
def test_twice_the_columns_take_about_twice_the_calls(change: str) -> None:
    assert_linear(lambda number: check(request(change, number)), NUMBER)


def test_twice_the_streams_take_about_twice_the_calls() -> None:
    """The second half of the streams is removed by the change that blocks them all."""
    texts = ("{name: id, type: int}", "{name: key, type: int, renamed_from: id}")
    base, head = (
        read(
            "a.yml",
            f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\n"
            "properties: {delta.columnMapping.mode: name}\n",
        ).contracts[0]
        for columns in texts
    )

    def run(number: int) -> None:
        streams = tuple(
            Consumer(f"s{index}", stream=Stream(f"/c{index}", schema_tracking_location=f"/c{index}"))
            for index in range(number)
        )
        before, after = replace(base, consumers=streams), replace(head, consumers=streams[: number // 2])
        (finding,) = judge_pair(before, after, [built_in()["stream-blocked"]])
        assert finding.message.count("removed in this change") == number - number // 2

    assert_linear(run, 20 * NUMBER)


@pytest.mark.parametrize("style", reports.names())
def test_twice_the_findings_take_about_twice_the_calls_in_every_format(style: str) -> None:
    results = {number: check(request("widened, enabled", number)) for number in (2, NUMBER, 2 * NUMBER)}
    assert_linear(lambda number: reports.get(style).render(results[number]), NUMBER)


@pytest.mark.parametrize("change", ["widened", "struct text", "struct levels", "type_changes, wrong"])
def test_twice_the_fixes_take_about_twice_the_calls(change: str) -> None:
    """The fixes of one struct add to one list, or make it: they are applied together."""
    assert_linear(lambda number: check_and_fix(request(change, number), unsafe=False), WIDTH_FIXED)


def contracts(change: str, number: int) -> tuple[Contract, Contract]:
    """Return the contract before and after a change."""
    before, after = (read("a.yml", text(number)).contracts[0] for text in CHANGES[change])
    return before, after


def stored(field: Field) -> Field:
    """Return a column of a contract as a column of a table, whose log knows it by its name before."""
    name = field.renamed_from or field.name
    return replace(
        field,
        column_id=int("".join(filter(str.isdigit, name)) or -1),
        physical_name=name,
        renamed_from=None,
        comment=field.comment or None,
    )


def live(before: TableState, after: TableState) -> LiveTable:
    """Return a table with the state after the change, whose log knows the state before."""
    states = [
        replace(state, columns=Struct(tuple(map(stored, state.columns.fields)))) for state in (before, after)
    ]
    entries = [HistoryEntry(version, metadata=Metadata("id", state)) for version, state in enumerate(states)]
    return LiveTable(
        "/lake/t", 1, Protocol(3, 7), Metadata("id", states[1]), history=History(tuple(entries), 0)
    )


COLUMNS = (
    "widened",
    "widened, in blocks",
    "narrowed",
    "renamed",
    "all names new",
    "all dropped",
    "comments",
    "nullability",
    "defaults",
    "generated",
    "identity",
    "type_changes",
    "type_changes, wrong",
    "struct text",
    "struct text, all names new",
    "struct levels",
    "struct text, recorded",
    "struct levels, recorded",
    "struct levels, all names new",
)
SETTINGS = ("user properties", "constraints")


@pytest.mark.wide
@pytest.mark.parametrize("change", [*COLUMNS, *SETTINGS])
def test_a_pull_of_twice_the_columns_takes_about_twice_the_calls(change: str) -> None:
    def pull(number: int) -> None:
        before, after = contracts(change, number)
        text, table = CHANGES[change][0](number), live(before.state, after.state)
        edited = updated_text("a.yml", text, "sales.orders", table, lambda contract: contract, Scope.ALL)
        (pulled,) = read("a.yml", edited).contracts
        assert [field.name for field in pulled.state.columns.fields] == [
            field.name for field in after.state.columns.fields
        ]
        assert edited != text

    assert_linear(pull, WIDTH_PULLED)


REVERTED = (
    "renamed",
    "all names new",
    "all new, mapped",
    "case changed",
    "all dropped",
    "comments",
    "nullability",
    "defaults",
    "struct text, all names new",
    "struct levels, all names new",
    "struct levels, renamed",
    "properties",
    "constraints",
    "dropped",
    "all dropped, listed",
)


@pytest.mark.wide
@pytest.mark.parametrize("change", REVERTED)
def test_a_revert_of_twice_the_columns_takes_about_twice_the_calls(change: str) -> None:
    def revert(number: int) -> None:
        before, after = contracts(change, number)
        text = CHANGES[change][1](number)
        reverted = reverted_text(after, text, reverse_changes([before, after]))
        assert (reverted == text) == (change == "dropped")  # a listed deletion may have taken effect

    assert_linear(revert, WIDTH_REVERTED)


EXCEPTED = {
    "entries": (
        "allow:\n",
        "  - {{name: a{}, type: void}}\n",
        "  - {{rule: NC009, column: a{}, reason: x}}\n",
    ),
}


@pytest.mark.parametrize("kind", EXCEPTED)
def test_twice_the_exceptions_take_about_twice_the_calls(kind: str) -> None:
    key, column, entry = EXCEPTED[kind]

    def run(number: int) -> None:
        columns = "".join(column.format(index) for index in range(number))
        entries = "".join(entry.format(index) for index in range(number))
        table = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: int}\n"
        text = f"{table}{columns}{key}{entries}"
        old, new = ({"a.yml": File("a.yml", f"{text}{end}".encode(), None)} for end in ("", "\n"))
        rules = tuple(built_in().values())
        result = check(
            CheckInput(Worktree(), Worktree(), Contents(old, new), rule_sets(rules), everything=True)
        )
        assert len(result.approved) == (0 if kind == "comments" else number)

    assert_linear(run, 4 * NUMBER)


TABLE = "schemalint: 1\ntable: sales.t{}\ncolumns: [{{name: id, type: int}}]\n"
UNUSED = "{{rule: NC009, column: a{}, reason: x}}"
# By layout: what is before the exceptions, each of them, and what is after them.
REMOVED = {
    "a list": (TABLE.format("") + "allow:\n  - {rule: NO001, reason: x}\n", f"  - {UNUSED}\n", ""),
    "a whole list": (TABLE.format("") + "allow:\n", f"  - {UNUSED}\n", ""),
    "in brackets": (TABLE.format("") + "allow: [", f"{UNUSED}, ", "]\n"),
    "many documents": ("", f"{TABLE}allow: [{UNUSED}]\n---\n", TABLE.format("")),
}


@pytest.mark.wide
@pytest.mark.parametrize("layout", REMOVED)
def test_the_removal_of_twice_the_exceptions_takes_about_twice_the_calls(layout: str) -> None:
    """Each proof of an edit reads the whole file: there is one for all of them."""
    start, entry, end = REMOVED[layout]

    def run(number: int) -> None:
        text = start + "".join(entry.format(index, index) for index in range(number)) + end
        head = {"a.yml": File("a.yml", text.encode(), None)}
        rules = (built_in()["exception-unused"], built_in()["void-column"])
        fixing = CheckInput(Worktree(), Worktree(), Contents({}, head), rule_sets(rules), everything=True)
        result, files = check_and_fix(fixing, unsafe=False)
        assert not result.findings
        assert "a0" not in files["a.yml"].after

    assert_linear(run, NUMBER)
