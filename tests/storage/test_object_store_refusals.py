"""Stores that deny access, fail or never answer: an error, no missing table, and no secret in the message."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from schemalint.base.errors import LiveError
from schemalint.report import findings as report
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import find_tables, holds_files, read_table
from support.project import ORDERS
from support.repo import Repo
from support.servers import ACCOUNT, ACCOUNT_KEY, refusing_server

SECRET = "hunter2-of-the-store"  # noqa: S105 (a made-up value)
KEYS = {"access_key_id": "AKIAHUNTER2", "secret_access_key": SECRET, "session_token": f"{SECRET}-token"}
CODE = (
    "<Error><Code>{}</Code><Message>{{request}}</Message><AWSAccessKeyId>AKIAHUNTER2</AWSAccessKeyId></Error>"
)
QUICK = {"timeout": "200 ms", "connect_timeout": "200 ms"}


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (403, CODE.format("AccessDenied"), "access to bucket lake is denied (the store says AccessDenied)"),
        (403, CODE.format("SignatureDoesNotMatch"), "is denied (the store says SignatureDoesNotMatch)"),
        (403, "", "access to bucket lake is denied"),
        (401, "{request}", "access to bucket lake is denied"),
        (400, CODE.format("ExpiredToken"), "have expired"),
        (400, CODE.format("InvalidToken"), "is denied"),
        (400, CODE.format("AuthorizationHeaderMalformed"), "is in another region"),
        (301, CODE.format("PermanentRedirect"), "is in another region"),
        (404, CODE.format("NoSuchBucket"), "there is no bucket lake"),
        (
            404,
            "<html>{request}</html>",
            "there is no bucket lake, or it does not answer like an object store",
        ),
        (418, "{request}", "gives no usable answer"),
        (200, "<html>{request}</html>", "gives no usable answer"),
    ],
)
def test_an_error_answer_is_an_error_and_no_missing_table(status: int, body: str, message: str) -> None:
    with refusing_server(status, body) as endpoint:
        storage = {"endpoint": endpoint, "allow_http": "true", **KEYS}
        with pytest.raises(LiveError) as caught:
            read_table("s3://lake/t", storage=storage)
    assert message in caught.value.message
    assert caught.value.help
    assert not isinstance(caught.value, NoTable)
    _assert_no_secret(str(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


STORES = {
    "s3://lake/t": {"endpoint": "", **KEYS},
    "gs://lake/t": {"endpoint": "", "anonymous": "true"},
    "az://lake/t": {"endpoint": "", "account_name": ACCOUNT, "account_key": ACCOUNT_KEY},
}
LISTING = (
    "<ListBucketResult><Name>lake</Name><Contents><Key>t/_delta_log/00000000000000000000.json</Key>"
    "<Size>900</Size><LastModified>2026-11-01T10:00:00Z</LastModified></Contents></ListBucketResult>"
)
LOGIN_PAGE = "<html><head><title>Sign in</title></head><body></body></html>"
EMPTY_LISTING = "<ListBucketResult><Name>lake</Name><KeyCount>0</KeyCount></ListBucketResult>"
NO_KEY = CODE.format("NoSuchKey")


@pytest.mark.parametrize("uri", STORES)
@pytest.mark.parametrize(
    "body",
    [LOGIN_PAGE, '<?xml version="1.0"?><feed/>', '{"kind": "page"}', "", LISTING[: len(LISTING) // 2]],
    ids=["login page", "XML", "JSON", "nothing", "truncated listing"],
)
def test_an_answer_that_is_no_listing_is_an_error_and_no_missing_table(uri: str, body: str) -> None:
    with refusing_server(200, body) as endpoint:
        storage = {**STORES[uri], "endpoint": endpoint, "allow_http": "true"}
        for read in (
            read_table,
            partial(read_table, history=False),
            holds_files,
            lambda uri, storage: list(find_tables(uri, storage=storage)),
        ):
            with pytest.raises(LiveError) as caught:
                read(uri, storage=storage)
            assert not isinstance(caught.value, NoTable)
            assert re.search("gives no usable answer|it may be a login page", caught.value.message)
            assert caught.value.help


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, NO_KEY), (403, CODE.format("AccessDenied"))],
    ids=["no such file", "only this prefix can be listed"],
)
def test_an_empty_listing_of_a_store_is_a_missing_table(status: int, body: str) -> None:
    with refusing_server(status, body, EMPTY_LISTING) as endpoint:
        storage = {**KEYS, "endpoint": endpoint, "allow_http": "true"}
        for history in (True, False):
            with pytest.raises(NoTable):
                read_table("s3://lake/t", storage=storage, history=history)
        assert not holds_files("s3://lake/t", storage)


def test_a_page_in_place_of_a_commit_is_an_error() -> None:
    with refusing_server(200, LOGIN_PAGE, LISTING) as endpoint, pytest.raises(LiveError) as caught:
        read_table("s3://lake/t", storage={**KEYS, "endpoint": endpoint, "allow_http": "true"})
    assert not isinstance(caught.value, NoTable)


def test_neither_check_nor_plan_take_a_login_page_for_a_store_without_tables(tmp_path: Path) -> None:
    with refusing_server(200, LOGIN_PAGE) as endpoint:
        repo = _repository(tmp_path, endpoint, 1)
        run = _schemalint(repo, "check", "--live", "--all")
        plan = _schemalint(repo, "plan")
    assert (run.returncode, plan.returncode) == (2, 2)
    assert "login page" in run.stdout
    assert "login page" in plan.stderr
    assert "CREATE" not in plan.stdout


@pytest.mark.parametrize("create", [True, False])
def test_a_root_without_tables_is_named_and_an_error_if_the_target_creates_none(
    tmp_path: Path, *, create: bool
) -> None:
    with refusing_server(404, NO_KEY, EMPTY_LISTING) as endpoint:
        repo = _repository(tmp_path, endpoint, 2, create=create)
        run = _schemalint(repo, "check", "--live", "--all", "--output-format", "concise")
        plan = _schemalint(repo, "plan")
    assert (run.returncode, plan.returncode) == ((0, 0) if create else (2, 2))
    message = "no Delta table was found below the root of "
    assert (run.stdout.count("DR010 warning"), run.stdout.count(message)) == (int(create), 1)
    assert message in plan.stderr
    for text in (run.stdout, plan.stderr):
        assert "s3://lake/tables" in text
    assert ("CREATE TABLE" in plan.stdout) == create


def test_an_overloaded_store_is_an_error_after_retries() -> None:
    with (
        refusing_server(503, CODE.format("SlowDown")) as endpoint,
        pytest.raises(LiveError, match="overloaded"),
    ):
        read_table("s3://lake/t", storage={"endpoint": endpoint, "allow_http": "true", **KEYS})


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        ({"endpoint": "http://127.0.0.1:1", "allow_http": "true"}, "cannot be reached"),
        ({"endpoint": "https://store.invalid"}, "cannot be reached"),
        ({"endpoint": "http://127.0.0.1:1"}, "an endpoint without TLS is not allowed"),
        ({"endpoint": "127.0.0.1:1"}, "endpoint is not a URL"),
        ({"secret_access_key": f"{SECRET}\n"}, "secret_access_key contains a line break"),
        ({"session_token": f"{SECRET}\r"}, "session_token contains a line break"),
        ({SECRET: "x"}, "setting of the store is unknown"),
        ({"timeout": SECRET}, "setting of the store is unknown"),
        ({"skip_signature": SECRET}, "setting of the store is unknown"),
    ],
)
def test_unusable_settings_are_errors_without_secrets(storage: Mapping[str, str], message: str) -> None:
    with pytest.raises(LiveError, match=message) as caught:
        read_table("s3://lake/t", storage={**KEYS, **QUICK, **storage})
    assert not isinstance(caught.value, NoTable)
    _assert_no_secret(str(caught.value))


@pytest.mark.parametrize("key", [f"{{{SECRET}", '{"private_key": "' + SECRET + '"}'])
def test_a_malformed_google_key_is_an_error_without_the_key(key: str) -> None:
    with pytest.raises(LiveError, match="incomplete or malformed") as caught:
        read_table("gs://lake/t", storage={"service_account_key": key})
    _assert_no_secret(str(caught.value))


def test_missing_credentials_are_an_error() -> None:
    with refusing_server(404) as metadata, pytest.raises(LiveError, match="no credentials were found"):
        read_table("s3://lake/t", storage={"metadata_endpoint": metadata})


def test_a_store_that_never_answers_is_an_error(silent: socket.socket) -> None:
    storage = {"endpoint": _address(silent), "allow_http": "true", **KEYS, **QUICK}
    with pytest.raises(LiveError, match="does not answer in time") as caught:
        read_table("s3://lake/t", storage=storage)
    assert not isinstance(caught.value, NoTable)


def test_without_obstore_the_error_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(LiveError) as caught:
        read_table("s3://lake/t")
    assert "pip install 'schemalint[live]'" in caught.value.help


@pytest.mark.parametrize("tables", [1, 40])
def test_ctrl_c_ends_a_check_that_waits_for_the_store(
    silent: socket.socket, tmp_path: Path, tables: int
) -> None:
    repo = _repository(tmp_path, _address(silent), tables)
    command = [sys.executable, "-m", "schemalint", "check", "--live", "--all"]
    with subprocess.Popen(
        command,
        cwd=repo.path,
        env=_environment(repo),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_restore_ctrl_c,  # noqa: PLW1509 (no threads here)
    ) as process:
        connection, _ = silent.accept()
        with connection:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
    assert process.returncode == 130, out + err
    assert b"Traceback" not in err


def _restore_ctrl_c() -> None:
    """Handle SIGINT again: background processes of a shell ignore it, and so do their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_the_reading_of_one_table(silent: socket.socket) -> None:
    code = (
        "import sys; from schemalint.tables.storage import find_tables, holds_files, read_table; "
        "read_table('s3://lake/t', storage=eval(sys.argv[1]))"
    )
    storage = {"endpoint": _address(silent), "allow_http": "true", **KEYS}
    with subprocess.Popen(
        [sys.executable, "-c", code, repr(storage)],
        stderr=subprocess.PIPE,
        preexec_fn=_restore_ctrl_c,  # noqa: PLW1509 (no threads here)
    ) as process:
        connection, _ = silent.accept()
        with connection:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=120)
    assert b"KeyboardInterrupt" in err


@pytest.mark.wide
@pytest.mark.parametrize("style", report.names())
def test_check_reports_denied_access_without_secrets(tmp_path: Path, style: str) -> None:
    with refusing_server(403, CODE.format("AccessDenied")) as endpoint:
        repo = _repository(tmp_path, endpoint, 3)
        run = _schemalint(repo, "check", "--live", "--all", "--output-format", style)
        plan = _schemalint(repo, "plan", "--head", "worktree")
    assert run.returncode == 2
    assert "AccessDenied" in run.stdout + run.stderr
    assert plan.returncode == 2
    assert "CREATE" not in plan.stdout
    for text in (run.stdout, run.stderr, plan.stdout, plan.stderr):
        _assert_no_secret(text)


def test_an_unset_variable_is_an_error_with_its_name(tmp_path: Path) -> None:
    repo = _repository(tmp_path, "https://store.invalid", 1)
    for command in (["check", "--live", "--all"], ["plan", "--head", "worktree"]):
        run = _schemalint(repo, *command, STORE_SECRET="")
        assert run.returncode == 2
        assert "STORE_SECRET is not set" in run.stdout + run.stderr


def test_a_change_under_review_cannot_send_the_credentials_elsewhere(tmp_path: Path) -> None:
    with refusing_server(403, CODE.format("AccessDenied")) as trusted, refusing_server(500) as evil:
        repo = _repository(tmp_path, trusted, 1)
        base = repo.commit()
        repo.git("checkout", "--quiet", "-b", "feature")
        settings = repo.path / "schemalint.toml"
        settings.write_text(settings.read_text().replace(trusted, evil))
        head = repo.commit()
        event = tmp_path / "event.json"
        event.write_text(
            f'{{"pull_request": {{"base": {{"sha": "{base}", "ref": "main"}}, "head": {{"sha": "{head}"}}}}}}'
        )
        review = {"CI": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(event)}
        run = _schemalint(repo, "check", "--live", "--all", **review)
    assert run.returncode == 2
    assert "AccessDenied" in run.stdout


@pytest.mark.parametrize("name", ["endpoint", "AWS_ENDPOINT_URL", "aws_endpoint_url_s3"])
def test_credentials_are_not_sent_without_encryption(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    plain = {"allow_http": "true", name: "http://store.invalid:9000"}
    for secrets in (KEYS, {}):  # without keys of the target, those of the environment
        with pytest.raises(LiveError, match=f"{name} is not https: credentials would be sent"):
            read_table("s3://lake/t", storage={**secrets, **QUICK, **plain})
    with pytest.raises(LiveError, match="cannot be reached"):
        read_table("s3://lake/t", storage={**QUICK, **plain, "anonymous": "true"})
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://store.invalid:9000")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    with pytest.raises(LiveError, match="AWS_ENDPOINT_URL is not https"):
        read_table("s3://lake/t", storage={**KEYS, **QUICK})


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)  # a command that ends at once must not block the test
        yield server


def _address(server: socket.socket) -> str:
    return f"http://127.0.0.1:{server.getsockname()[1]}"


def _repository(folder: Path, endpoint: str, tables: int, *, create: bool = True) -> Repo:
    repo = Repo(folder / "repository")
    repo.write(
        "schemalint.toml",
        f"""\
[targets.prod]
root = "s3://lake/tables"
create = {str(create).lower()}

[targets.prod.storage]
endpoint = "{endpoint}"
allow_http = "true"
access_key_id = "${{STORE_KEY}}"
secret_access_key = "${{STORE_SECRET}}"
""",
    )
    for number in range(tables):
        repo.write(f"t{number}.yml", ORDERS.replace("sales.orders", f"sales.t{number}"))
    return repo


def _environment(repo: Repo, **more: str) -> dict[str, str]:
    keys = {"STORE_KEY": "AKIAHUNTER2", "STORE_SECRET": SECRET}
    return {"PATH": os.environ["PATH"], **repo.env, **keys, **more}


def _schemalint(repo: Repo, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "schemalint", *arguments],
        cwd=repo.path,
        env=_environment(repo, **environment),
        capture_output=True,
        text=True,
        check=False,
    )


def _assert_no_secret(text: str) -> None:
    assert "hunter2" not in text.lower()
