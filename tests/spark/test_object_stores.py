"""The packages and settings that a session of schemalint's own gets for the target's object store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import UsageError
from schemalint.base.values import replace
from schemalint.cli._connection import Spark, running_spark
from schemalint.cli._typed import Connection, typed
from schemalint.project.config import SparkSettings, Target
from schemalint.project.config.trust import TrustedSpark, TrustedTarget
from schemalint.spark.object_stores import (
    left_out,
    missing_packages,
    schemes_of,
    with_packages,
    with_store_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NONE = TrustedSpark(SparkSettings())
AWS = "org.apache.hadoop:hadoop-aws:3.5.0"
SDK = ("software.amazon.awssdk:s3-transfer-manager:2.35.4", "software.amazon.awssdk:sts:2.35.4")
S3A = "spark.hadoop.fs.s3a."
GS = "spark.hadoop.fs.gs."
AZURE = "spark.hadoop.fs.azure.account."
OAUTH = "org.apache.hadoop.fs.azurebfs.oauth2."
HOST = "acct.dfs.core.windows.net"
LAKE = f"abfss://c@{HOST}/lake"
S3_IMPL = {
    "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
}


@pytest.fixture(autouse=True)
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the jars of a Spark with Hadoop 3.5.0."""
    folder = tmp_path / "jars"
    folder.mkdir()
    (folder / "hadoop-client-api-3.5.0.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    for name in os.environ:
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)
    return folder


@pytest.mark.parametrize(
    ("root", "names"),
    [
        ("s3://lake", (AWS, *SDK)),
        ("s3a://lake", (AWS, *SDK)),
        ("gs://lake", ("org.apache.hadoop:hadoop-gcp:3.5.0",)),
        ("abfss://c@a.dfs.core.windows.net/lake", ("org.apache.hadoop:hadoop-azure:3.5.0",)),
        ("/lake", ()),
        (None, ()),
    ],
)
def test_each_store_has_its_package_in_the_version_of_sparks_hadoop(
    root: str | None, names: tuple[str, ...]
) -> None:
    schemes = schemes_of(TrustedTarget(Target("prod", root=root)))

    assert missing_packages(NONE, schemes).names == names


def test_allowed_locations_count_too() -> None:
    target = TrustedTarget(Target("prod", root="/lake", allowed_locations=("gs://a", "abfs://b@c")))

    assert missing_packages(NONE, schemes_of(target)).names == (
        "org.apache.hadoop:hadoop-azure:3.5.0",
        "org.apache.hadoop:hadoop-gcp:3.5.0",
    )


def test_jar_with_all_of_amazons_sdk_is_left_out() -> None:
    own = replace(NONE, packages=("a:b:1",), conf={"spark.jars.excludes": "c:d"})

    added = with_packages(own, missing_packages(own, ["s3"]))

    assert added.packages == ("a:b:1", AWS, *SDK)
    assert added.conf == {"spark.jars.excludes": "c:d,software.amazon.awssdk:bundle"}


def test_other_version_of_hadoop_gets_its_package_whole(jars: Path) -> None:
    (jars / "hadoop-client-api-3.5.0.jar").rename(jars / "hadoop-client-api-3.4.2.jar")

    missing = missing_packages(NONE, ["s3"])

    assert (missing.names, missing.conf) == (("org.apache.hadoop:hadoop-aws:3.4.2",), {})


@pytest.mark.parametrize(
    "settings",
    [
        SparkSettings(packages=("org.apache.hadoop:hadoop-aws:3.4.1",)),
        SparkSettings(conf={"spark.jars.packages": AWS}),
        SparkSettings(conf={"spark.jars": "/opt/hadoop-aws-3.5.0.jar"}),
        SparkSettings(conf={"spark.driver.extraClassPath": "/opt/hadoop-aws-3.5.0.jar"}),
    ],
)
def test_what_the_settings_have_is_not_missing(settings: SparkSettings) -> None:
    assert missing_packages(TrustedSpark(settings), ["s3"]).names == ()


def test_what_spark_has_is_not_missing(jars: Path) -> None:
    (jars / "hadoop-aws-3.5.0.jar").touch()

    assert missing_packages(NONE, ["s3"]).names == ()


def test_spark_without_hadoop_is_reported(jars: Path) -> None:
    (jars / "hadoop-client-api-3.5.0.jar").rename(jars / "other.jar")

    with pytest.raises(UsageError, match="no Hadoop"):
        missing_packages(NONE, ["s3"])


@pytest.mark.parametrize(
    ("root", "storage", "conf"),
    [
        (
            "s3://lake",
            {
                "endpoint": "https://minio",
                "aws_region": "eu-central-1",
                "access_key_id": "${KEY}",
                "AWS_SECRET_ACCESS_KEY": "${SECRET}",
                "session_token": "${TOKEN}",
            },
            {
                **S3_IMPL,
                f"{S3A}endpoint": "https://minio",
                f"{S3A}endpoint.region": "eu-central-1",
                f"{S3A}access.key": "${env.KEY}",
                f"{S3A}secret.key": "${env.SECRET}",
                f"{S3A}session.token": "${env.TOKEN}",
                f"{S3A}path.style.access": "true",
            },
        ),
        (
            "s3a://lake",
            {"endpoint_url": "${WHERE}", "virtual_hosted_style_request": "true", "timeout": "1 minute"},
            {f"{S3A}endpoint": "${env.WHERE}"},
        ),
        (
            "s3a://lake",
            {"anonymous": "true"},
            {f"{S3A}aws.credentials.provider": "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"},
        ),
        ("s3a://lake", {}, {}),
        ("s3://lake", {}, S3_IMPL),
        ("gs://lake", {"timeout": "1 minute"}, {}),
        (
            "gs://lake",
            {"service_account": "${KEYFILE}"},
            {
                f"{GS}auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
                f"{GS}auth.service.account.json.keyfile": "${env.KEYFILE}",
            },
        ),
        (
            "gs://lake",
            {"application_credentials": "${GOOGLE_APPLICATION_CREDENTIALS}"},
            {f"{GS}auth.type": "APPLICATION_DEFAULT"},
        ),
        (
            LAKE,
            {"account_name": "acct", "account_key": "${KEY}"},
            {f"{AZURE}auth.type.{HOST}": "SharedKey", f"{AZURE}key.{HOST}": "${env.KEY}"},
        ),
        (
            LAKE,
            {"sas_token": "${SAS}"},
            {
                f"{AZURE}auth.type.{HOST}": "SAS",
                f"spark.hadoop.fs.azure.sas.fixed.token.{HOST}": "${env.SAS}",
            },
        ),
        (
            LAKE,
            {
                "AZURE_STORAGE_CLIENT_ID": "${CLIENT}",
                "client_secret": "${SECRET}",
                "authority_id": "${TENANT}",
            },
            {
                f"{AZURE}auth.type.{HOST}": "OAuth",
                f"{AZURE}oauth.provider.type.{HOST}": f"{OAUTH}ClientCredsTokenProvider",
                f"{AZURE}oauth2.client.id.{HOST}": "${env.CLIENT}",
                f"{AZURE}oauth2.client.secret.{HOST}": "${env.SECRET}",
                f"{AZURE}oauth2.client.endpoint.{HOST}": (
                    "https://login.microsoftonline.com/${env.TENANT}/oauth2/token"
                ),
            },
        ),
        (
            LAKE,
            {"client_id": "${CLIENT}", "tenant_id": "${TENANT}", "federated_token_file": "${FILE}"},
            {
                f"{AZURE}auth.type.{HOST}": "OAuth",
                f"{AZURE}oauth.provider.type.{HOST}": f"{OAUTH}WorkloadIdentityTokenProvider",
                f"{AZURE}oauth2.client.id.{HOST}": "${env.CLIENT}",
                f"{AZURE}oauth2.msi.tenant.{HOST}": "${env.TENANT}",
                f"{AZURE}oauth2.token.file.{HOST}": "${env.FILE}",
            },
        ),
        (
            LAKE,
            {"client_id": "${CLIENT}"},
            {
                f"{AZURE}auth.type.{HOST}": "OAuth",
                f"{AZURE}oauth.provider.type.{HOST}": f"{OAUTH}MsiTokenProvider",
                f"{AZURE}oauth2.client.id.{HOST}": "${env.CLIENT}",
            },
        ),
        (LAKE, {}, {}),
        ("/lake", {"endpoint": "https://minio"}, {}),
    ],
)
def test_settings_of_the_store_reach_the_session_and_secrets_stay_in_the_environment(
    root: str, storage: Mapping[str, str], conf: Mapping[str, str]
) -> None:
    assert with_store_of(NONE, TrustedTarget(Target("prod", root=root, storage=storage))).conf == conf


def test_environment_comes_before_storage_and_the_users_settings_before_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    target = TrustedTarget(Target("prod", root="s3a://lake", storage={"region": "eu-west-1"}))
    own = replace(NONE, conf={f"{S3A}path.style.access": "false"})

    assert with_store_of(own, target).conf == {
        f"{S3A}endpoint.region": "eu-west-1",
        f"{S3A}endpoint": "${env.AWS_ENDPOINT_URL}",
        f"{S3A}path.style.access": "false",
    }


@pytest.mark.parametrize(
    ("root", "variables", "conf"),
    [
        ("gs://lake", ["GOOGLE_APPLICATION_CREDENTIALS"], {f"{GS}auth.type": "APPLICATION_DEFAULT"}),
        (
            LAKE,
            ["AZURE_STORAGE_ACCOUNT_KEY", "AZURE_CLIENT_ID"],
            {
                f"{AZURE}auth.type.{HOST}": "SharedKey",
                f"{AZURE}key.{HOST}": "${env.AZURE_STORAGE_ACCOUNT_KEY}",
            },
        ),
    ],
)
def test_credentials_of_the_environment_reach_the_session_if_the_target_has_none(
    monkeypatch: pytest.MonkeyPatch, root: str, variables: list[str], conf: Mapping[str, str]
) -> None:
    for name in variables:
        monkeypatch.setenv(name, "secret")

    assert with_store_of(NONE, TrustedTarget(Target("prod", root=root))).conf == conf
    own = {"bearer_token": "${TOKEN}", "account_key": "${KEY}", "service_account": "${FILE}"}
    assert with_store_of(NONE, TrustedTarget(Target("prod", root=root, storage=own))).conf == {}


def test_credentials_of_the_target_are_not_completed_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "secret")
    target = TrustedTarget(Target("prod", root=LAKE, storage={"sas_key": "${SAS}"}))

    assert with_store_of(NONE, target).conf[f"{AZURE}auth.type.{HOST}"] == "SAS"


def test_each_account_of_a_target_gets_the_settings() -> None:
    places = ("abfs://d@other.dfs.core.windows.net/x", "/local")
    target = Target("prod", root=LAKE, allowed_locations=places, storage={"account_key": "${KEY}"})

    conf = with_store_of(NONE, TrustedTarget(target)).conf

    assert {key for key in conf if ".key." in key} == {
        f"{AZURE}key.{HOST}",
        f"{AZURE}key.other.dfs.core.windows.net",
    }


@pytest.mark.parametrize(
    ("root", "storage", "names"),
    [
        ("gs://lake", {"service_account_key": "${KEY}"}, "targets.prod.storage.service_account_key"),
        ("gs://lake", {"anonymous": "true"}, "targets.prod.storage.anonymous"),
        ("gs://lake", {"anonymous": "false"}, None),
        (
            "gs://lake",
            {"application_credentials": "${FILE}", "base_url": "https://gcs"},
            "targets.prod.storage.application_credentials, targets.prod.storage.base_url",
        ),
        (LAKE, {"use_azure_cli": "true"}, "targets.prod.storage.use_azure_cli"),
        (LAKE, {"endpoint": "https://azurite", "account_key": "${KEY}"}, "targets.prod.storage.endpoint"),
        (LAKE, {"account_key": "${KEY}", "timeout": "1 minute"}, None),
        ("s3a://lake", {"role_arn": "${ROLE}"}, "targets.prod.storage.role_arn"),
        ("s3a://lake", {"region": "eu-west-1", "anonymous": "true"}, None),
    ],
)
def test_what_hadoop_has_no_setting_for_is_told_before_the_session_starts(
    started: list[TrustedSpark],
    capsys: pytest.CaptureFixture[str],
    root: str,
    storage: Mapping[str, str],
    names: str | None,
) -> None:
    target = TrustedTarget(Target("prod", root=root, storage=storage))

    _ = Spark(NONE, target, adds_packages=True).session

    notes = [line for line in capsys.readouterr().err.splitlines() if "Hadoop has no setting" in line]
    assert len(started) == 1
    assert [note.partition("for ")[2].partition(": set")[0] for note in notes] == ([names] if names else [])
    own = {f"spark.hadoop.fs.{kind}x": "y" for kind in ("gs.", "azure.", "s3a.")}
    assert not [*left_out(replace(NONE, conf=own), target)]


IN_S3 = TrustedTarget(Target("prod", root="s3a://lake", storage={"region": "eu-west-1"}))
NOTE = f'packages = ["{AWS}"] under [spark]'


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[TrustedSpark]:
    """Return the settings of the sessions that start; none does really."""
    settings: list[TrustedSpark] = []
    monkeypatch.setattr("schemalint.spark.session.start", settings.append)
    monkeypatch.setattr("schemalint.spark.session.is_running", lambda: False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    return settings


@pytest.mark.parametrize(
    ("own", "adds_packages", "packages", "has_region", "noted"),
    [
        (NONE, False, (), True, True),
        (NONE, True, (AWS, *SDK), True, False),
        (replace(NONE, master="yarn"), False, (), False, True),
        (replace(NONE, master="yarn"), True, (AWS, *SDK), False, False),
        (replace(NONE, remote="sc://spark"), False, (), False, False),
    ],
)
def test_own_session_starts_with_the_store_of_its_target(
    started: list[TrustedSpark],
    capsys: pytest.CaptureFixture[str],
    own: TrustedSpark,
    *,
    adds_packages: bool,
    packages: tuple[str, ...],
    has_region: bool,
    noted: bool,
) -> None:
    _ = Spark(own, IN_S3, adds_packages=adds_packages).session

    (settings,) = started
    assert settings.packages == packages
    assert (settings.conf.get(f"{S3A}endpoint.region") == "eu-west-1") == has_region
    assert (NOTE in capsys.readouterr().err) == noted


def test_running_session_keeps_its_settings(
    started: list[TrustedSpark], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schemalint.spark.session.is_running", lambda: True)

    _ = Spark(NONE, IN_S3, adds_packages=True).session

    assert started == [NONE]


def test_connect_server_takes_no_packages() -> None:
    given = {"with_packages": True, "remote": "sc://spark"}
    with pytest.raises(UsageError, match="the server has its own packages"):
        typed(Connection, given)
    settings = replace(NONE, remote="sc://spark")
    options = Connection(with_packages=True)
    with pytest.raises(UsageError, match="the server has its own packages"), running_spark(settings, options):
        pass
