"""What people see while a run goes through many tables."""

from __future__ import annotations

import sys
from threading import Event
from typing import TYPE_CHECKING

import pytest

from schemalint.base.printable import status_line, terminal_text
from schemalint.cli._output import print_note, show
from schemalint.cli._progress import Progress
from schemalint.tables.storage.table_workers import TableWorkers

if TYPE_CHECKING:
    from support.project import Project

ERASED = "\r\x1b[K"
PATIENCE = 120  # seconds, for a thread of a busy machine


def test_one_line_of_a_terminal_is_rewritten_until_other_output_comes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(in_terminal=True)
    progress.tell("planning", 12, 1_000, "sales.orders")
    progress.draw()
    progress.draw()
    progress.tell("planning", 13, 1_000, "sales.returns")
    progress.draw()
    print_note("a note")
    progress.draw()
    show(terminal_text(["the report"]))
    progress.tell("planning", 1_000, 1_000, "")
    progress.draw()
    captured = capsys.readouterr()
    first = "planning: 12 of 1,000 tables done, 988 left, now sales.orders"
    second = "planning: 13 of 1,000 tables done, 987 left, now sales.returns"
    assert captured.out == "the report\n"
    assert captured.err == f"{ERASED}{first}{ERASED}{second}{ERASED}a note\n{ERASED}{second}{ERASED}"


def test_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    """Each wait of the thread that draws stands for the seconds between two lines."""
    progress = Progress(in_terminal=False)
    moments = iter(
        [
            ("reading", 0, 2, "s.a"),
            ("reading", 0, 2, "s.a"),
            ("reading", 1, 2, "s.\x1b[31mb"),
            ("reading", 2, 2, ""),
        ]
    )
    drawn = Event()

    def wait(ended: Event, seconds: float) -> bool:
        assert seconds >= 5
        if (moment := next(moments, None)) is not None:
            progress.tell(*moment)
            return False
        drawn.set()
        return ended.wait()

    with progress.shown(wait):
        assert drawn.wait(PATIENCE)
    assert capsys.readouterr().err.splitlines() == [
        "reading: 0 of 2 tables done, 2 left, now s.a",
        "reading: 0 of 2 tables done, 2 left, now s.a",
        r"reading: 1 of 2 tables done, 1 left, now s.\x1b[31mb",
    ]


@pytest.mark.parametrize(
    ("text", "columns", "line"),
    [
        ("planning", 80, f"{ERASED}planning"),
        ("planning", 5, f"{ERASED}plan"),
        ("名前です", 6, f"{ERASED}名前"),
        ("a\r\x1b[2J\n##[error]x", 80, rf"{ERASED}a\r\x1b[2J\n#\x23[error]x"),
        ("", 80, ERASED),
    ],
)
def test_status_line_is_narrower_than_the_terminal_and_obeys_nobody(
    text: str, columns: int, line: str
) -> None:
    assert status_line(text, columns) == line


def test_tables_are_counted_when_they_end_and_the_oldest_is_named() -> None:
    told: list[tuple[str, int, int, str]] = []

    def work(table: str) -> str:
        if table == "bad":
            raise ValueError(table)
        return table.upper()

    workers = TableWorkers(1, lambda *moment: told.append(moment))
    assert workers.each("reading", work, ["a", "b"], str) == ["A", "B"]
    assert told == [
        ("reading", 0, 2, "a"),
        ("reading", 1, 2, ""),
        ("reading", 1, 2, "b"),
        ("reading", 2, 2, ""),
    ]
    told.clear()
    with pytest.raises(ValueError, match="bad"):
        workers.each("reading", work, ["bad", "b"], str)
    assert told == [("reading", 0, 2, "bad"), ("reading", 1, 2, "")]


def test_results_come_in_order_and_each_job_works_on_one_table_at_a_time() -> None:
    """The second table ends before the first one: a later one is begun, and its result waits."""
    second, third = Event(), Event()
    told: list[tuple[str, int, int, str]] = []

    def work(table: str) -> str:
        if table == "a":
            assert second.wait(PATIENCE)
            assert third.wait(PATIENCE)
        {"b": second, "c": third}.get(table, Event()).set()
        return table

    workers = TableWorkers(2, lambda *moment: told.append(moment))
    assert list(workers.stream("reading", work, ["a", "b", "c", "d"], str)) == ["a", "b", "c", "d"]
    assert [moment[1] for moment in told] == sorted(moment[1] for moment in told)
    assert ("reading", 2, 4, "a") in told
    assert told[-1] == ("reading", 4, 4, "")


@pytest.mark.parametrize("option", [(), ("--no-progress",)])
@pytest.mark.parametrize(("command", "stages"), [("plan", ["planning"]), ("check", ["reading", "checking"])])
def test_progress_is_drawn_on_standard_error_alone(
    committed: Project,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    stages: list[str],
    option: tuple[str, ...],
) -> None:
    """In this test, drawing follows every step of the run."""
    committed.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    (committed.repo.path / "lake").mkdir()
    committed.repo.commit()
    committed.declare("schemalint: 1\ntable: a.b\ncolumns: []\n", "contracts/new.yml")
    plain = committed.run(command, "--no-progress")
    tell = Progress.tell

    def tell_and_draw(progress: Progress, *moment: object) -> None:
        tell(progress, *moment)  # type: ignore[arg-type]
        progress.draw()

    monkeypatch.setattr(Progress, "tell", tell_and_draw)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    run = committed.run(command, *option)
    assert (run.status, run.out) == (plain.status, plain.out)
    assert [stage for stage in stages if f"{stage}: 0 of" in run.err] == ([] if option else stages)
    assert run.err.endswith(ERASED) == (not option)
