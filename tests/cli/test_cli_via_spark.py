"""``--via spark`` with a fake engine: when a session starts, with which settings, and when it stops."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.base.errors import ApplyError
from schemalint.spark import session as sessions
from schemalint.spark.connect_server import require_understanding
from support.project import ORDERS

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.project.config import SparkSettings
    from support.project import Project

SETTINGS = '[targets.dev]\ncatalog = "spark_catalog"\n[spark]\nconf = {"spark.jars" = "/trusted.jar"}\n'


@dataclass
class Engine:
    """A fake engine that records starts, queries and stops, and fails on every query."""

    started: list[SparkSettings] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    stopped: int = 0
    already_running: bool = False
    settings: dict[str, str] = field(default_factory=dict)
    settings_of_queries: list[dict[str, str]] = field(default_factory=list)

    @property
    def conf(self) -> Engine:
        return self

    def isModifiable(self, key: str) -> bool:  # noqa: N802 (pyspark's)
        return not key.startswith("spark.jars")

    def get(self, key: str, default: str | None) -> str | None:
        return self.settings.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.settings[key] = value

    def unset(self, key: str) -> None:
        del self.settings[key]

    def start(self, settings: SparkSettings) -> Engine:
        self.started.append(settings)
        return self

    def sql(self, query: str) -> None:
        self.queries.append(query)
        self.settings_of_queries.append(dict(self.settings))
        raise ConnectionError("the engine is gone")

    def stop(self) -> None:
        self.stopped += 1


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    fake = Engine()
    monkeypatch.setattr(sessions, "start", fake.start)
    monkeypatch.setattr(sessions, "is_running", lambda: fake.already_running)
    return fake


@pytest.fixture
def project(project: Project) -> Project:
    """A project with a contract and a target whose tables only a Spark session finds."""
    project.repo.write("schemalint.toml", SETTINGS)
    project.declare(ORDERS)
    project.repo.commit()
    return project


COMMANDS = [
    ("check", "--live", "--all"),
    ("show", "--target", "dev", "sales.orders"),
    ("show", "spark_catalog.sales.orders"),
    ("show", "orders"),
    ("pull", "sales.orders"),
    ("pull", "--all", "--into", "{table}.yml"),
    ("init",),
    ("plan",),
    ("apply",),
    ("audit", "--target", "dev", "--all"),
]


@pytest.mark.parametrize("already_running", [False, True])
@pytest.mark.parametrize("arguments", COMMANDS)
def test_only_a_session_that_schemalint_started_is_stopped(
    project: Project, engine: Engine, arguments: tuple[str, ...], *, already_running: bool
) -> None:
    """A session that ran before gets its own settings again, also after a failure."""
    engine.already_running = already_running
    engine.settings = {"a": "own"}
    run = project.run(*arguments, "--via", "spark", "--conf", "a=b", "--conf", "c=d")
    assert run.status == 2
    assert "the engine is gone" in run.out + run.err
    assert [settings.conf for settings in engine.started] == [
        {"spark.jars": "/trusted.jar", "a": "b", "c": "d"}
    ]
    assert engine.stopped == (0 if already_running else 1)
    meanwhile = {"a": "b", "c": "d"} if already_running else {"a": "own"}
    assert all(settings == meanwhile for settings in engine.settings_of_queries)
    assert engine.settings == {"a": "own"}


def test_session_of_spark_submit_is_not_stopped(
    project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    project.run("plan", "--via", "spark")
    assert (len(engine.started), engine.stopped) == (1, 0)


@pytest.mark.parametrize(
    "arguments", [("check", "--live"), ("show", "."), ("pull", "--table", "a.b", "lake/orders")]
)
def test_no_session_starts_without_table_names(
    project: Project, engine: Engine, arguments: tuple[str, ...]
) -> None:
    project.run(*arguments, "--via", "spark")
    assert engine.started == []


def test_revert_plans_through_the_session(project: Project, engine: Engine) -> None:
    project.declare(ORDERS.replace("bigint", "bigint, comment: new"))
    project.repo.commit()
    run = project.run("revert", "sales.orders", "--via", "spark")
    assert "the engine is gone" in run.err
    assert engine.queries[0] == "DESCRIBE TABLE EXTENDED `spark_catalog`.`sales`.`orders`"
    assert engine.stopped == 1


@pytest.mark.parametrize("command", ["check", "show", "pull", "plan", "revert"])
def test_spark_options_without_via_are_refused(project: Project, command: str) -> None:
    table = () if command in ("check", "plan") else ("sales.orders",)
    run = project.run(command, *table, "--conf", "a=b")
    assert run.status == 2
    assert "--conf has no effect without Spark" in run.out + run.err
    assert "add --via spark" in run.out + run.err


@pytest.mark.parametrize("arguments", [(), ("--live-from", "tables.jsonl")])
def test_check_refuses_via_without_live(project: Project, engine: Engine, arguments: tuple[str, ...]) -> None:
    run = project.check(*arguments, "--via", "spark")
    assert run.status == 2
    assert "--via needs --live" in run.err
    assert engine.started == []


@pytest.mark.parametrize("arguments", [*COMMANDS[:7], COMMANDS[-1]])
def test_pull_request_cannot_choose_what_spark_runs(
    project: Project,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
) -> None:
    base = project.repo.head()
    project.repo.git("checkout", "--quiet", "-b", "feature")
    project.repo.write("schemalint.toml", SETTINGS.replace("trusted", "evil").replace("spark_c", "evil_c"))
    project.repo.commit()
    event = {"pull_request": {"base": {"sha": base, "ref": "main"}, "head": {"sha": project.repo.head()}}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    project.run(*arguments, "--via", "spark")
    assert [settings.conf for settings in engine.started] == [{"spark.jars": "/trusted.jar"}]
    assert "evil" not in "".join(engine.queries)


def test_waiting_for_a_connect_server_is_printed_without_its_token(project: Project, engine: Engine) -> None:
    remote = "sc://127.0.0.1:1/;token=secret"
    run = project.run("show", "--via", "spark", "--remote", remote, "sales.orders")
    assert "waiting for Spark at sc://127.0.0.1:1\n" in run.err
    assert "secret" not in run.out + run.err
    engine.already_running = True
    assert "waiting" not in project.run("show", "--via", "spark", "--remote", remote, "sales.orders").err
    engine.already_running = False
    assert "waiting" not in project.run("show", "--via", "spark", "--master", "local", "sales.orders").err


@pytest.mark.parametrize("command", [("show", "--via", "spark", "sales.orders"), ("apply", "--yes")])
def test_a_connect_server_without_an_answer_is_an_error_after_the_longest_wait(
    project: Project, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "lake").mkdir()
    if command[0] == "apply":
        project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{tmp_path}/lake"\n')
        project.repo.commit()
    # A new process: PySpark cannot import Connect after a classic session of another test.
    code = (
        "import sys; from schemalint.cli import main; from schemalint.spark import connect_server; "
        "connect_server._LONGEST_WAIT = 0.2; sys.exit(main(sys.argv[1:]))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *command, "--remote", "sc://127.0.0.1:1/;token=secret"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "no Spark Connect server answers at sc://127.0.0.1:1 within" in run.stderr
    assert "secret" not in run.stdout + run.stderr


class OlderServer:
    """A session at a Connect server that reads no statement in what its newer client sends."""

    version = "3.5.7"

    def sql(self, _query: str) -> None:
        raise ValueError("[PARSE_SYNTAX_ERROR] Syntax error at or near end of input.\n\n== SQL ==\n")


def test_a_connect_server_that_is_older_than_its_client_is_one_error() -> None:
    session: Any = OlderServer()
    with pytest.raises(ApplyError) as error:
        require_understanding(session)
    assert error.value.message.startswith("the Connect server, Spark 3.5.7, does not understand this client")
    assert error.value.message.endswith("[PARSE_SYNTAX_ERROR] Syntax error at or near end of input.")
    assert "pyspark[connect]==3.5.*" in error.value.help
    assert error.value.exit_status == 2
