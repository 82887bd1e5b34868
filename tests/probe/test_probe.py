"""A probe: what it makes of each behaviour of a reader, within limits of time and output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml

from schemalint.cli import main
from schemalint.clients import read_row
from schemalint.errors import UsageError
from schemalint.model.client import Verdict
from schemalint.probe import process
from schemalint.probe.asking import Answer, ask_command, ask_recipe
from schemalint.probe.tables import PLAIN, all_tables

PATIENCE = 120  # seconds, for a process on a busy machine
TABLES = {table.name: table for table in all_tables()}
MAPPED = TABLES["mapping-name-2-7"]
RIGHT: list[dict[str, object]] = [{"ID": 2, "value": None}, {"ID": "1", "value": "-5000000000"}]


NULLS = "it returns NULL in place of every id, and not 1, 2"


def _row(key: object, value: object) -> dict[str, object]:
    return {"id": key, "value": value}


def _ask(code: str, table: str = MAPPED.name, *, seconds: float = 30.0) -> Answer:
    """Ask a reader that is a Python program, with the path as its argument."""
    (answer,) = ask_command([sys.executable, "-c", code, "{path}"], [(TABLES[table], "/lake/t")], seconds)
    return answer


def _printing(rows: object) -> str:
    return f"print({json.dumps(rows)!r})"


@pytest.mark.parametrize(
    ("code", "verdict", "detail"),
    [
        (_printing(RIGHT), "ok", ""),
        ("\n".join(map(_printing, RIGHT)), "ok", ""),
        ("import sys; sys.exit(f'no {sys.argv[1]}')", "refuses", "no {path}"),
        ("raise ValueError('what the reader says')", "refuses", "ValueError: what the reader says"),
        (_printing(RIGHT[:1]), "wrong", "it returns the ids 2, and not 1, 2"),
        (_printing([]), "wrong", "it returns the ids none, and not 1, 2"),
        ("", "wrong", "it returns the ids none, and not 1, 2"),
        (_printing([_row(None, None)] * 2), "wrong", NULLS),
        (_printing([{"id": 1}, {"id": 2}]), "wrong", "the column value is missing"),
        (_printing([_row(1, None), _row(2, None)]), "wrong", "it returns NULL in place of -5000000000"),
        (_printing([_row(1, 5), _row(2, None)]), "wrong", "it returns 5 in place of -5000000000"),
        ("print('id | value')", "unknown", "it prints no JSON: id | value"),
        ("import os; os.kill(os.getpid(), 11)", "unknown", "the signal 11 ended it"),
    ],
)  # fmt: skip
def test_the_verdict_follows_rows_and_status(code: str, verdict: str, detail: str) -> None:
    answer = _ask(code)
    assert (answer.verdict.value, answer.detail) == (verdict, detail)


def test_values_are_compared_in_any_notation() -> None:
    rows = [_row(1, "2024-05-06T00:00:00.000Z"), _row(2, None)]
    rows += [_row(11, "2024-05-06 07:08:09.000000 UTC"), _row(12, None)]
    assert _ask(_printing(rows), "widened-date-timestamp_ntz").verdict is Verdict.OK
    rows[2]["value"] = "2024-05-06 08:08:09"
    assert _ask(_printing(rows), "widened-date-timestamp_ntz").verdict is Verdict.WRONG


def test_a_reader_that_hangs_ends_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    answer = _ask(code, seconds=5.0)
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


def test_endless_output_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_OUTPUT", 1 << 20)
    answer = _ask("print('[' + ' ' * 3_000_000 + ']')")
    assert (answer.verdict, answer.detail) == (Verdict.UNKNOWN, "it prints more than 1 MiB")


def test_a_reader_that_cannot_read_the_plain_table_is_no_reader() -> None:
    with pytest.raises(UsageError, match="does not read a table without any feature: no such file"):
        _ask("import sys; sys.exit('no such file')", PLAIN)
    with pytest.raises(UsageError, match="'/no/reader' cannot be started: No such file"):
        next(ask_command(["/no/reader", "{path}"], [(MAPPED, "")], 1.0))


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


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [TABLES[name] for name in (PLAIN, "mapping-name-2-7", "feature-fooBar", "protocol-3-7")]
    monkeypatch.setattr("schemalint.cli.probe.all_tables", lambda: tables)


# Reads no deletion vectors and nothing else that is new, but ignores column mapping.
READER = """\
import json, pathlib, sys
log = pathlib.Path(sys.argv[1], "_delta_log/00000000000000000000.json").read_text()
if "readerFeatures" in log and "fooBar" in log:
    sys.exit("\\x1b[31munknown feature\\nin readerFeatures")
null = "columnMapping" in log
print(json.dumps([{"id": None if null else 1, "value": None if null else -5000000000},
                  {"id": None if null else 2, "value": None}]))
"""


@pytest.mark.usefixtures("few")
def test_a_command_gives_verdicts_and_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reader = tmp_path / "reader.py"
    reader.write_text(READER)
    command = ["probe", "--engine", f"{sys.executable} {reader} {{path}}", "--timeout", "30"]
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  ok       plain",
        "  wrong    mapping-name-2-7: it returns NULL in place of every id, and not 1, 2",
        "  refuses  feature-fooBar: \\x1b[31munknown feature",
        "  ok       protocol-3-7",
        "4 tables: 2 ok, 1 refuses, 1 wrong",
    ]
    named = [*command, "--client", "deltalake", "--client-version", "1.6.6", "--read-path", "pyarrow"]
    assert main([*named, "--output-format", "toml"]) == 0
    rows = tomllib.loads(capsys.readouterr().out)["clients"]
    assert main([*named, "--output-format", "yaml"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == [
        {key: value for key, value in row.items() if key != "client"} for row in rows
    ]
    assert [(row.get("feature"), row["verdict"]) for row in rows] == [
        ("columnMapping", "wrong"),
        (None, "ok"),
    ]
    assert {read_row(row).read_path for row in rows} == {"pyarrow"}
    assert main([*named, "--compare"]) == 0
    other = [word.replace("1.6.6", "1.6.3") for word in named]
    assert main([*other, "--compare"]) == 1
    assert (
        "mapping-name-2-7: it returns NULL in place of every id, and not 1, 2 [the client table says refuses]"
        in (capsys.readouterr().out)
    )


@pytest.mark.usefixtures("few")
def test_the_tables_alone_are_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "tables"
    assert main(["probe", "--tables", str(folder)]) == 0
    assert sorted(file.name for file in folder.iterdir()) == [
        "feature-fooBar",
        "mapping-name-2-7",
        "plain",
        "protocol-3-7",
    ]
    echo = "import json, sys; print(sys.argv[1], file=sys.stderr); sys.exit(1)"
    command = ["probe", "--engine", f'{sys.executable} -c "{echo}" {{path}}', "--tables", str(folder)]
    assert main([*command, "--location", "s3://lake/probe/"]) == 2
    assert "without any feature: s3://lake/probe/plain" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--engine or --recipe is needed"),
        (["--engine", "a {path}", "--recipe", "duckdb"], "--engine or --recipe is needed"),
        (["--engine", "a"], "--engine does not use the path"),
        (["--engine", "a '{path}"], "--engine is not a command: No closing quotation"),
        (["--engine", "a {path}", "--compare"], "need --client and --client-version"),
        (["--engine", "a {path}", "--location", "s3://a"], "--location needs --tables"),
    ],
)
@pytest.mark.usefixtures("few")
def test_a_command_line_that_says_too_little(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_signal_ends_the_reader_and_deletes_the_tables(tmp_path: Path) -> None:
    reader = (
        f"{sys.executable} -c 'import sys,time; open(sys.argv[2],\"w\").write(sys.argv[1]); time.sleep(600)'"
    )
    started = tmp_path / "started"
    run = subprocess.Popen(
        [sys.executable, "-m", "schemalint", "probe", "--engine", f"{reader} {{path}} {started}"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
    )
    _wait_for_text(started)
    assert Path(started.read_text()).name == PLAIN
    run.send_signal(signal.SIGTERM)
    assert run.communicate(timeout=PATIENCE)[1] == b"terminated\n"
    assert run.returncode == 143
    assert [file.name for file in tmp_path.iterdir()] == ["started"]
