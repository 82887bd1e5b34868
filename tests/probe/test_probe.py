"""A probe: what it makes of each behaviour of a reader, within limits of time and output."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from probe import process
from probe.asking import Answer, about, ask_recipe
from probe.tables import PLAIN, all_tables
from schemalint.base.errors import UsageError
from schemalint.model.client import Verdict

PATIENCE = 120  # seconds, for a process on a busy machine
TABLES = {table.name: table for table in all_tables()}
MAPPED = TABLES["mapping-name-2-7"]
Ask: TypeAlias = Callable[..., Answer]
RIGHT: list[dict[str, object]] = [{"ID": 2, "value": None}, {"ID": "1", "value": "-5000000000"}]


NULLS = "it returns NULL in place of every id, and not 1, 2"


def _row(key: object, value: object) -> dict[str, object]:
    return {"id": key, "value": value}


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Ask a recipe with these lines in its function for a table at ``path``."""

    def asked(code: str, table: str = MAPPED.name, *, seconds: float = 30.0) -> Answer:
        recipe = tmp_path / "recipe.py"
        recipe.write_text(f"def read(path):\n{textwrap.indent(code, '    ')}\nREAD_PATHS = {{'': read}}\n")
        (answer,) = ask_recipe(recipe, sys.executable, "", [(TABLES[table], "/lake/t")], seconds)
        return answer

    return asked


def _returning(rows: object) -> str:
    return f"return {rows!r}"


@pytest.mark.parametrize(
    ("code", "verdict", "detail"),
    [
        (_returning(RIGHT), "ok", ""),
        ("raise ValueError(f'no {path}\\nin the log')", "refuses", "ValueError: no {path}"),
        (_returning(RIGHT[:1]), "wrong", "it returns the ids 2, and not 1, 2"),
        (_returning([]), "wrong", "it returns the ids none, and not 1, 2"),
        (_returning([_row(None, None)] * 2), "wrong", NULLS),
        (_returning([{"id": 1}, {"id": 2}]), "wrong", "the column value is missing"),
        (_returning([_row(1, None), _row(2, None)]), "wrong", "it returns NULL in place of -5000000000"),
        (_returning([_row(1, 5), _row(2, None)]), "wrong", "it returns 5 in place of -5000000000"),
        ("import os; os.kill(os.getpid(), 11)", "unknown", "the signal 11 ended it"),
    ],
)  # fmt: skip
def test_the_verdict_follows_the_rows(ask: Ask, code: str, verdict: str, detail: str) -> None:
    answer = ask(code)
    assert (answer.verdict.value, answer.detail) == (verdict, detail)


def test_values_are_compared_in_any_notation(ask: Ask) -> None:
    rows = [_row(1, "2024-05-06T00:00:00.000Z"), _row(2, None)]
    rows += [_row(11, "2024-05-06 07:08:09.000000 UTC"), _row(12, None)]
    assert ask(_returning(rows), "widened-date-timestamp_ntz").verdict is Verdict.OK
    rows[2]["value"] = "2024-05-06 08:08:09"
    assert ask(_returning(rows), "widened-date-timestamp_ntz").verdict is Verdict.WRONG


def test_a_reader_that_hangs_ends_with_its_children(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, wait = tmp_path / "child", subprocess.Popen.wait

    def time_is_over(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        """The reader's time is over as soon as its child runs."""
        if timeout is None:
            return wait(process)
        _wait_for_text(started)
        raise subprocess.TimeoutExpired(process.args, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", time_is_over)
    child = f"import os, time; open({str(started)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    answer = ask(code, seconds=5.0)
    assert (answer.verdict, answer.detail) == (Verdict.UNKNOWN, "it did not end within 5 seconds")
    stat = Path("/proc", started.read_text(), "stat")
    deadline = time.monotonic() + PATIENCE
    while _is_alive(stat) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_alive(stat)


def _is_alive(stat: Path) -> bool:
    """Whether a process runs; nobody may wait for one that has ended."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _wait_for_text(file: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not (file.exists() and file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)


def test_endless_output_is_not_kept(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_OUTPUT", 1 << 20)
    assert ask("return [{'id': 'a' * 3_000_000, 'value': None}]").verdict is Verdict.UNKNOWN


def test_a_reader_that_cannot_read_the_plain_table_is_no_reader(ask: Ask, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not read a table without any feature: OSError: no such file"):
        ask("raise OSError('no such file')", PLAIN)
    with pytest.raises(UsageError, match="'/no/python' cannot be started: No such file"):
        about(tmp_path / "recipe.py", "/no/python", 1.0)
    with pytest.raises(UsageError, match="the recipe none does not run with"):
        about(tmp_path / "none.py", sys.executable, PATIENCE)


def test_a_recipe_that_crashes_is_asked_for_the_rest(tmp_path: Path) -> None:
    recipe = tmp_path / "crashing.py"
    recipe.write_text(
        "import os\n"
        "def read(path):\n"
        "    os.system('echo a library prints')\n"
        "    if path == 'crash': os.abort()\n"
        f"    return {[_row(1, -5000000000), _row(2, None)]!r}\n"
        "READ_PATHS = {'': read}\n"
    )
    asked = [(MAPPED, "a"), (TABLES["protocol-3-7"], "crash"), (MAPPED, "b")]
    answers = list(ask_recipe(recipe, sys.executable, "", asked, 30.0))
    assert [answer.verdict for answer in answers] == [Verdict.OK, Verdict.UNKNOWN, Verdict.OK]
    assert answers[1].detail == "the signal 6 ended it"
