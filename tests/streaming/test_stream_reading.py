"""What the files of a stream say, and what is wrong with them; ``test_stream_faults.py`` asks Spark."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from schemalint.delta.stream_progress import StreamPosition, StreamProgress
from schemalint.model.consumer import Stream
from schemalint.tables.storage import open_folder
from schemalint.tables.streaming.stream_checkpoint import read_stream
from support.checkpoints import TABLE_ID, entry, offset, offsets, write_checkpoint

OTHER = "8a333431-083a-49d3-9764-46368a8c6ed6"
LOG = f"s/_schema_log_{TABLE_ID}"


def read(checkpoint: Path, source: int = 0, location: str | None = None) -> StreamProgress:
    stream = Stream(str(checkpoint), None if location is None else f"{checkpoint}/{location}", source)
    store = open_folder(str(checkpoint), [str(checkpoint.parent)])
    assert store is not None
    return read_stream(store, stream, TABLE_ID)


def tracked(checkpoint: Path, files: Mapping[str, str], version: int = 2, index: int = -1) -> StreamProgress:
    write_checkpoint(checkpoint, [offsets(offset(2)), offsets(offset(version, index))], files=files)
    return read(checkpoint, location="s")


@pytest.mark.parametrize(
    ("at", "last", "following"),
    [
        (offset(5), 4, 5),
        (offset(5, 3), 4, 5),
        (offset(5, -20), 4, 5),
        (offset(5, -19), 4, 6),
        (offset(4, 7, initial=True), 3, 5),
        (offset(0), None, 0),
    ],
    ids=["whole", "in part", "before a change", "after a change", "first snapshot", "nothing yet"],
)
def test_a_position_tells_what_was_read_and_what_counts_next(
    tmp_path: Path, at: str, last: int | None, following: int
) -> None:
    progress = read(write_checkpoint(tmp_path / "c", [offsets(at)]))
    assert progress.is_known
    assert (progress.last_version, progress.next_version) == (last, following)


def test_a_planned_batch_is_read_again_from_the_committed_one(tmp_path: Path) -> None:
    batches = [offsets(offset(2)), offsets(offset(6))]
    progress = read(write_checkpoint(tmp_path / "c", batches, committed=1))
    assert (progress.planned, progress.next_version) == (True, 2)
    assert read(write_checkpoint(tmp_path / "d", batches)) == StreamProgress(StreamPosition(TABLE_ID, 6))


def test_each_source_has_its_own_position(tmp_path: Path) -> None:
    folder = write_checkpoint(
        tmp_path / "c", [offsets(offset(9, table_id=OTHER), "-", offset(4), '{"rate":1}')]
    )
    assert read(folder, 2).next_version == 4
    assert read(folder, 1) == StreamProgress()
    (fault,) = read(folder, 0).defects
    assert fault.delta_error == "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"
    assert "reads no Delta table" in str(read(folder, 3).unknown)
    assert "has 4 sources, so that none has index 4" in str(read(folder, 4).unknown)


def test_sources_of_the_newer_format_are_found_by_their_number(tmp_path: Path) -> None:
    text = offsets(f"0:{offset(7)}", f"orders:{offset(9)}").replace("v1", "v2", 1)
    folder = write_checkpoint(tmp_path / "c", [text])
    assert read(folder).next_version == 7
    assert "its sources are named 0, orders" in str(read(folder, 1).unknown)


def test_a_query_that_planned_nothing_yet_is_known(tmp_path: Path) -> None:
    progress = read(write_checkpoint(tmp_path / "c"), location="s")
    assert progress == StreamProgress()
    assert progress.next_version is None


def test_a_missing_checkpoint_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    assert "there is no checkpoint" in str(read(tmp_path / "c").unknown)


def test_the_log_of_a_tracked_stream_counts_and_not_its_offset(tmp_path: Path) -> None:
    path = f"file:{tmp_path}/c/sources/0"
    files = {f"{LOG}/{n}": entry(version, path=path) for n, version in enumerate((1, 5, 6))}
    progress = tracked(tmp_path / "c", files, 5, -20)
    assert progress.current is not None
    assert progress.previous is not None
    assert (progress.previous.version, progress.current.version, progress.next_version) == (5, 6, 7)
    state = progress.current.metadata.state
    assert [field.name for field in state.columns.fields] == ["id", "a"]
    assert state.column_mapping == "name"
    assert "columnMapping" in state.features


def test_an_entry_that_replaces_others_is_compared_with_the_one_before_them(tmp_path: Path) -> None:
    path = f"file:{tmp_path}/c/sources/0"
    files = {f"{LOG}/{n}": entry(n, path=path, replaces=0 if n == 2 else None) for n in range(3)}
    progress = tracked(tmp_path / "c", files)
    assert progress.previous is not None
    assert progress.previous.number == 0


def test_two_sources_in_one_location_have_a_log_each(tmp_path: Path) -> None:
    files = {
        f"{LOG}_{name}/0": entry(version, path=f"file:{tmp_path}/c/sources/{source}")
        for name, version, source in (("a", 1, 0), ("b 1", 3, 1))
    }
    folder = write_checkpoint(tmp_path / "c", [offsets(offset(4), offset(4))], files=files)
    found = [read(folder, source, "s").current for source in (0, 1)]
    assert [log.version for log in found if log] == [1, 3]


def test_a_declared_log_that_does_not_exist_is_said_and_does_not_stop_the_stream(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "c", [offsets(offset(4))])
    progress = read(folder, location="s")
    (defect,) = progress.defects
    assert "is untracked until then" in defect.message
    assert (progress.is_known, progress.next_version) == (True, 4)


@pytest.mark.parametrize(("location", "place"), [("s", ".chk/s"), (".", ".chk")])
def test_the_place_of_a_missing_log_is_named_as_it_is(tmp_path: Path, location: str, place: str) -> None:
    folder = write_checkpoint(tmp_path / ".chk", [offsets(offset(4))])
    (defect,) = read(folder, location=location).defects
    assert defect.message.startswith(f"{tmp_path / place} has no schema log of this table:")


def test_a_location_that_no_folder_can_have_is_unknown(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "c", [offsets(offset(4))])
    assert read(folder, location="a\0b").unknown == "'a\\x00b' is not a path on this machine"


def without(text: str, key: str) -> str:
    first, body = text.split("\n", 1)
    return f"{first}\n{json.dumps({k: v for k, v in json.loads(body).items() if k != key})}"


PATH = "PATH"
GOOD = entry(5, path=PATH)


@pytest.mark.parametrize(
    ("text", "fault", "delta_error"),
    [
        ("", "is empty", "DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED"),
        ("v2" + GOOD[2:], "version 2", "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION"),
        ("v0" + GOOD[2:], "does not begin with", "MALFORMED_LOG_FILE"),
        (GOOD[3:], "does not begin with", "MALFORMED_LOG_FILE"),
        (GOOD[:200], "line 2 is not JSON", None),
        ("v1\n[]", "line 2 is not a JSON object", None),
        ("v1", "line 2 is not JSON", None),
        ("v1\n" + "[" * 100_000, "nested too deeply", None),
        (
            entry(5, path=PATH, table_id=OTHER),
            "another id",
            "DELTA_STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID",
        ),
        (without(GOOD, "tableId"), "another id", "DELTA_STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID"),
        (GOOD.replace(": 5", ': "x"', 1), "deltaCommitVersion", None),
        (GOOD.replace(": 5", ": -5", 1), "deltaCommitVersion", None),
        (without(GOOD, "dataSchemaJson"), "dataSchemaJson", "DELTA_STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED"),
        (
            GOOD.replace('{\\"type\\": \\"struct\\"', "{", 1),
            "cannot be read",
            "DELTA_STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED",
        ),
        (GOOD.replace('{\\"protocol', "{"), "protocolJson", None),
        (
            re.sub(r'minReaderVersion\\": \d', r'minReaderVersion\\": 99', GOOD),
            "feature lists do not fit its versions",
            None,
        ),
        (entry(5, path="file:/x/sources/0"), "is the log of the source 'file:/x/sources/0'", None),
    ],
)
def test_a_faulty_entry_is_named_with_its_line(
    tmp_path: Path, text: str, fault: str, delta_error: str | None
) -> None:
    path = f"file:{tmp_path}/c/sources/0"
    files = {f"{LOG}/0": entry(1, path=path), f"{LOG}/1": text.replace(PATH, path)}
    progress = tracked(tmp_path / "c", files)
    (defect,) = progress.defects
    assert defect.message.startswith(f"{tmp_path}/c/{LOG}/1, line ")
    assert fault in defect.message
    assert (defect.delta_error, defect.stops, progress.is_known) == (delta_error, True, False)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"{GOOD}\n",
        GOOD.replace("\n", "\r\n"),
        GOOD + "\n{}",
        without(GOOD, "protocolJson"),
        without(GOOD, "tableConfigurations"),
        GOOD.replace(": 5", ': "5"', 1),
    ],
)
def test_an_entry_that_delta_reads_is_read(tmp_path: Path, text: str) -> None:
    path = f"file:{tmp_path}/c/sources/0"
    files = {f"{LOG}/0": entry(1, path=path), f"{LOG}/1": text.replace(PATH, path)}
    progress = tracked(tmp_path / "c", files)
    assert progress.defects == ()
    assert progress.next_version == 6


BATCHES = [offsets(offset(2)), offsets(offset(4))]


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"offsets/1": ""}, "offsets/1, line 1 is empty"),
        ({"offsets/0": ""}, "offsets/0, line 1 is empty"),
        ({"offsets/1": "v3" + BATCHES[1][2:]}, "offsets/1, line 1 has version 3"),
        ({"offsets/1": "v1\n{\n" + offset(4)}, "offsets/1, line 2 is not JSON"),
        ({"offsets/1": offsets("{")}, "offsets/1, line 3 is not JSON"),
        ({"offsets/1": offsets("[1]")}, "offsets/1, line 3 is not a JSON object"),
        ({"offsets/1": offsets()}, "offsets/1 has 0 sources"),
        ({"offsets/1": offsets(offset(4).replace(": 1", ": 99", 1))}, "line 3 has another sourceVersion"),
        ({"offsets/1": offsets(offset(-5))}, "line 3 has no reservoirId, reservoirVersion and index"),
        ({"offsets/1": offsets(offset(4).replace(": 4", ': "x"', 1))}, "line 3 has no reservoirId"),
        ({"offsets/1": offsets(offset(2**63))}, "line 3 has no reservoirId"),
        ({"offsets/7": BATCHES[1]}, "offsets/6 is missing"),
        ({"commits/7": "v1\n{}"}, "commits/7 is newer than all offsets, which end at 1"),
        ({"commits/1": ""}, "commits/1, line 1 is empty"),
        ({"commits/1": "v1\n{"}, "commits/1, line 2 is not JSON"),
        ({"offsets/07": BATCHES[1]}, "offsets/07 is no file of a stream, but Spark takes it for 7"),
        ({"offsets/1": "\n" * 2_000}, "offsets/1 has more than 1,000 lines"),
    ],
)
def test_faulty_offsets_are_unknown_and_named(tmp_path: Path, files: Mapping[str, str], fault: str) -> None:
    progress = read(write_checkpoint(tmp_path / "c", BATCHES, files=files))
    assert str(progress.unknown).startswith(f"{tmp_path}/c/")
    assert fault in str(progress.unknown)
    assert not progress.is_known
    assert progress.help


@pytest.mark.parametrize(
    "files",
    [
        {"commits/0": ""},
        {"offsets/foo": "x", "commits/2.tmp": "y", "offsets/.1.crc": "z"},
        {"offsets/1": BATCHES[1] + "\n"},
        {"offsets/1": BATCHES[1].replace("\n", "\r\n")},
        {"offsets/1": offsets(offset(4).replace(": 4", ': "4"', 1))},
    ],
)
def test_what_spark_does_not_read_or_accepts_is_no_fault(tmp_path: Path, files: Mapping[str, str]) -> None:
    progress = read(write_checkpoint(tmp_path / "c", BATCHES, files=files))
    assert (progress.unknown, progress.next_version) == (None, 4)


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "c", BATCHES)
    (folder / "offsets/1").write_bytes(b"v1\n\xff")
    assert "offsets/1 is no text in UTF-8" in str(read(folder).unknown)


def test_pipes_folders_and_links_that_lead_out_are_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text(BATCHES[1])
    folder = write_checkpoint(tmp_path / "root/c", BATCHES[:1])
    os.mkfifo(folder / "offsets/1")
    assert "is not a regular file" in str(read(folder).unknown)
    (folder / "offsets/1").unlink()
    (folder / "offsets/1").symlink_to(outside)
    assert "offsets/1 is a link out of the target's root" in str(read(folder).unknown)
    (folder / "offsets/1").unlink()
    (folder / "offsets/1").symlink_to(folder / "offsets/0")
    assert read(folder).next_version == 2
    (folder / "commits/0").unlink()
    (folder / "commits").rmdir()
    (folder / "commits").symlink_to(tmp_path)
    assert "commits is a link out of the target's root" in str(read(folder).unknown)


def test_a_checkpoint_outside_of_the_roots_is_not_opened(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "outside", BATCHES)
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    for reference in (tmp_path / "outside", root / "link", root / "../outside", f"file:{tmp_path}/outside"):
        assert open_folder(str(reference), [str(root)]) is None
    assert open_folder(f"{tmp_path}/root-2", [str(root)]) is None
    assert open_folder(f"{root}//x/../c", [f"{root}/"]) is not None


def test_a_checkpoint_with_100000_batches_is_read_by_its_newest_files() -> None:
    names = [str(n) for n in range(100_000)]
    newest = {"offsets/99999": BATCHES[1], "offsets/99998": BATCHES[0], "commits/99999": "v1\n{}"}
    opened: list[str] = []

    class Store:
        uri = "/c"

        def files(self, _folder: str) -> list[str]:
            return names

        def folders(self, _folder: str) -> list[str]:
            return []

        def read(self, name: str) -> bytes:
            opened.append(name)
            return newest[name].encode()

    assert read_stream(Store(), Stream("/c"), TABLE_ID).next_version == 4
    assert sorted(opened) == sorted(newest)
