"""The kinds of files in a log, by their names."""

from __future__ import annotations

import pytest

from schemalint.tables.delta_log.file_names import Kind, log_file

VERSION = "00000000000000000007"
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (f"{VERSION}.json", Kind.COMMIT),
        (f"{VERSION}.crc", Kind.CHECKSUM),
        (f"{VERSION}.checkpoint.parquet", Kind.CHECKPOINT),
        (f"{VERSION}.checkpoint.{UUID}.parquet", Kind.V2_CHECKPOINT),
        (f"{VERSION}.checkpoint.{UUID}.json", Kind.V2_CHECKPOINT),
        (f"{VERSION}.checkpoint.0000000002.0000000003.parquet", Kind.MULTI_PART_CHECKPOINT),
        (f"{VERSION}.00000000000000000012.compacted.json", Kind.COMPACTED),
        (f"_staged_commits/{VERSION}.{UUID}.json", Kind.STAGED_COMMIT),
    ],
)
def test_a_log_file_with_a_version_is_recognized(name: str, kind: Kind) -> None:
    file = log_file(name, modified_ms=5)
    assert file is not None
    assert (file.kind, file.version, file.modified_ms) == (kind, 7, 5)


def test_a_log_file_without_a_version_is_recognized() -> None:
    file = log_file("_last_checkpoint")
    assert file is not None
    assert file.kind is Kind.LAST_CHECKPOINT


def test_part_numbers_and_the_end_of_a_compaction_are_read() -> None:
    part = log_file(f"{VERSION}.checkpoint.0000000002.0000000003.parquet")
    compacted = log_file(f"{VERSION}.00000000000000000012.compacted.json")
    assert part is not None
    assert compacted is not None
    assert (part.part, part.parts) == (2, 3)
    assert (compacted.version, compacted.end) == (7, 12)


@pytest.mark.parametrize(
    "name",
    [
        f".{VERSION}.json.crc",
        f".{VERSION}.json.tmp",
        f"{VERSION}.json.tmp",
        f"{VERSION}.json~",
        f"{VERSION}.json\n",
        f"{VERSION}.checkpoint.parquet.tmp",
        f"_staged_commits/{VERSION}.json",
        "7.json",
        "".join(map(chr, [0x660] * 19 + [0x667])) + ".json",
        "_delta_index",
        "README.md",
        "",
    ],
)
def test_hidden_and_foreign_files_are_no_log_files(name: str) -> None:
    assert log_file(name) is None
