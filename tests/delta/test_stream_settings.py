"""The settings for one stream; ``tests/engine/test_stream_settings_on_the_engine.py`` asks Delta."""

import pytest

from schemalint.delta.stream_settings import java_hash, metadata_paths, reader_options, settings
from schemalint.delta.streams import Blocking


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("s3://chk/orders/sources/0", 1798905778),
        ("s3a://chk/orders/sources/0", 2081284721),
        ("file:/data/ck1/sources/0", 1206671263),
        ("file:/tmp/askf_bn3eb8/c1/sources/0", -794217814),  # these two as Delta 4.4.0 printed them
        ("file:/tmp/askf_bn3eb8/c3 é%20/ß/sources/0", 1661963634),
        ("𝄞", 1772394),  # two UTF-16 units: 31 * 0xD834 + 0xDD1E
    ],
)
def test_the_hash_is_that_of_java(path: str, expected: int) -> None:
    assert java_hash(path) == expected


@pytest.mark.parametrize(
    ("checkpoint", "scheme", "expected"),
    [
        ("s3://chk/orders", None, ["s3://chk/orders", "s3a://chk/orders"]),
        ("s3a://chk/orders/", None, ["s3a://chk/orders", "s3://chk/orders"]),
        ("s3://chk/orders", "s3a", ["s3a://chk/orders"]),
        ("s3://chk//a/./b/../c d%20/", "s3", ["s3://chk/a/c d%20"]),
        ("S3A://chk/x", None, ["S3A://chk/x", "s3://chk/x"]),
        ("abfss://c@a.dfs.core.windows.net/x", "abfss", ["abfss://c@a.dfs.core.windows.net/x"]),
        ("gs://chk/x", None, ["gs://chk/x"]),
        ("/data/ck/", None, ["file:/data/ck"]),
        ("//data//ck/./", None, ["file:/data/ck"]),
        ("file:///data/a%20b", None, ["file:/data/a%20b"]),
        ("/Volumes/main/s/v/ck", None, ["dbfs:/Volumes/main/s/v/ck"]),
        ("/ck", "dbfs", ["dbfs:/ck"]),
        ("dbfs:///ck/", None, ["dbfs:/ck"]),
        ("hdfs://nn:8020/ck", None, ["hdfs://nn:8020/ck"]),
        ("/ck", "hdfs", []),  # the default file system adds its host
        ("s3://chk", None, []),  # Hadoop takes this for the user's home folder
        ("ck/relative", None, []),
    ],
)
def test_the_checkpoint_is_spelled_as_spark_does(
    checkpoint: str, scheme: str | None, expected: list[str]
) -> None:
    assert list(metadata_paths(checkpoint, 2, scheme)) == [f"{root}/sources/2" for root in expected]


def test_both_schemes_are_labelled_and_each_kind_has_a_setting() -> None:
    (s3, s3a) = settings("s3://chk/orders", [Blocking.TYPE_CHANGE, Blocking.RENAME], 12)
    assert (s3.scheme, s3a.scheme) == ("s3", "s3a")
    prefix = "spark.databricks.delta.streaming.allowSourceColumn"
    assert s3.conf == {
        f"{prefix}Rename.ckpt_1798905778": "12",
        f"{prefix}TypeChange.ckpt_1798905778": "12",
    }
    assert set(s3a.conf) == {f"{prefix}Rename.ckpt_2081284721", f"{prefix}TypeChange.ckpt_2081284721"}


def test_without_a_version_the_kinds_are_allowed_always() -> None:
    assert reader_options([Blocking.DROP]) == {"allowSourceColumnDrop": "always"}
    (only,) = settings("/data/ck1", [Blocking.DROP])
    assert only.conf == {"spark.databricks.delta.streaming.allowSourceColumnDrop.ckpt_1206671263": "always"}
