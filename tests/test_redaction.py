"""Credentials leave through no text."""

from __future__ import annotations

import datetime as dt
import json
import os
import traceback
from time import process_time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemalint.base.errors import LiveError, Location, SchemalintError
from schemalint.base.printable import json_text, printable
from schemalint.base.redaction import hide, hide_nothing, masked, without_secrets
from schemalint.model.finding import CheckResult, ObjectRef
from schemalint.project import config
from schemalint.project.config.storage_settings import resolve_variables
from schemalint.project.git.globs import parse_glob
from schemalint.report.explain import explain
from schemalint.spark.findings_sink import AuditRun, rows_of
from schemalint.tables.table_json import from_json
from support.attack_texts import CREDENTIAL, URIS
from support.report_cases import finding, run


@pytest.mark.parametrize("name", URIS)
def test_credentials_become_a_mark_wherever_they_are(name: str) -> None:
    uri = URIS[name]
    for text in (
        uri,
        repr(uri),
        repr(repr(f"cannot open '{uri}'")),
        uri.replace("//", "/"),
        f"({uri})",
        f"{uri},{uri}",
        f"{uri}\n{uri}",
    ):
        assert CREDENTIAL not in without_secrets(text)
        assert "***" in without_secrets(text)
        assert CREDENTIAL not in printable(text)
        assert CREDENTIAL not in json_text({text: [text]})
        assert CREDENTIAL not in str(LiveError(text, help=text))


@pytest.mark.parametrize(
    "text",
    [
        "abfss://container@account.dfs.core.windows.net/t",
        "s3://bucket/path@v12",
        "https://host:8080/path@v1",
        "dbfs:/me@example.com/t",
        "url NOT LIKE 'http://%@%'",
        "url RLIKE 'https://[^@]+@'",
        r"url RLIKE '^https?://[^@]+@|ftp://([a-z0-9_.-]+):\\S{1,20}@'",
        "https://host/t?page=2&sort=token",
        "'https://host' || 'a@b.example'",
        "token = 5",
        "a & sig = b",
        "@team, see a@b.example",
        "concat('?token=', id)",
        "file:///lake/a=1/b",
        "file:/lake@v12 and /lake@v12 and C:/lake@v12",
        "contracts/a.yml:1:1: a@b.example",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize("name", URIS)
def test_masked_text_keeps_all_positions(name: str) -> None:
    text = f"see {URIS[name]} here"
    assert CREDENTIAL not in masked(text)
    assert len(masked(text)) == len(text)
    assert masked(text).endswith(" here")
    assert without_secrets(masked(text)) == masked(text)


@given(st.text())
def test_text_without_credentials_becomes_the_same_text_twice(text: str) -> None:
    once = without_secrets(text)
    assert without_secrets(once) == once


@pytest.mark.parametrize("secret", ["p/ss+w rd", 'quo"te\\back', "ümlaut", "  padded  ", "two\nlines of it"])
def test_a_hidden_value_is_found_in_the_forms_that_libraries_print(secret: str) -> None:
    hide(secret)
    shown = [
        secret,
        secret.strip(),
        quote(secret, safe=""),
        json.loads(json_text({"a": secret}))["a"],
        json_text([f"x{secret}y"]),
        printable(f"error: {secret.splitlines()[-1].strip()}"),
    ]
    for text in shown:
        clean = without_secrets(text)
        assert secret.strip() not in clean
        assert quote(secret.strip(), safe="") not in clean
        assert json.dumps(secret.strip())[1:-1] not in clean
    hide_nothing()
    assert without_secrets(secret) == secret


def test_short_values_and_words_are_not_hidden() -> None:
    hide("abc")
    hide("True")
    assert without_secrets("abcdef is True") == "abcdef is True"


def test_the_secrets_of_a_target_are_hidden_and_its_public_settings_are_not() -> None:
    target = config.Target("dev", storage={"secret_access_key": "${KEY}", "region": "${REGION}"})
    resolve_variables(target, {"KEY": "hunter2hunter2", "REGION": "eu-west-1"})
    assert without_secrets("hunter2hunter2 in eu-west-1") == "*** in eu-west-1"


def test_a_text_is_cut_after_its_credentials_are_hidden() -> None:
    uri = f"https://user:{CREDENTIAL}{'x' * 300}@host/"
    for refuse in (
        lambda: from_json({"format": uri}),
        lambda: parse_glob(uri + "/x" * 4_000),
        lambda: explain(uri, ()),
    ):
        with pytest.raises(SchemalintError) as caught:
            refuse()
        assert CREDENTIAL not in str(caught.value)


def test_a_traceback_shows_no_message_of_the_engine() -> None:
    from schemalint.spark.statements import StatementError, ask  # noqa: PLC0415 (imports no pyspark)

    class Session:
        conf = None

        def sql(self, sqlQuery: str) -> object:  # noqa: N803 (pyspark's own name)
            raise ValueError(f"{sqlQuery}: {URIS['SAS']}")

    with pytest.raises(StatementError) as caught:
        ask(Session(), f"SELECT '{URIS['password']}'")
    assert CREDENTIAL not in "".join(traceback.format_exception(caught.value))


def test_the_table_of_findings_gets_no_credentials() -> None:
    uri = URIS["password"]
    location = Location("c.yml")
    result = CheckResult(
        run(target=uri),
        (finding(uri, location, table=uri, delta_error=uri, object=ObjectRef("column", uri)),),
        (LiveError(uri),),
    )
    rows = rows_of(result, AuditRun(uri, dt.datetime(2026, 11, 20, tzinfo=dt.UTC)))
    assert len(rows) == 2
    assert CREDENTIAL not in str(rows)
    assert str(rows).count("***") >= 7


# Each begins many matches that fail late.
SLOW = ["a://", "://a:", "?", "&x", "&sig", "?a=", ";token", "authorization:", "x-amz-", "://a:b", "?sig=&"]


@pytest.mark.parametrize("piece", SLOW)
def test_time_is_linear_in_the_text(piece: str) -> None:
    def seconds(number: int) -> float:
        text = f"{piece * number}=://"
        start = process_time()
        without_secrets(text)
        return process_time() - start

    seconds(10)
    small, large = min(seconds(2_000) for _ in range(3)), min(seconds(32_000) for _ in range(3))
    assert large < max(small, 0.0005) * 16 * 8, (small, large)


def test_nothing_is_hidden_at_the_start_of_a_run() -> None:
    assert without_secrets(os.environ["PATH"]) == os.environ["PATH"]
