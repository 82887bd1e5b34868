"""Parsing commits: actions, unusual layout, errors and limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.delta.datatype import INTEGER, LONG, Field, Struct
from schemalint.delta.protocol import Protocol
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.actions import ActionError, CommitInfo, TableActions
from schemalint.tables.delta_log.file_names import LogFile, log_file
from schemalint.tables.delta_log.json_lines import parse_lines, read_commit_info, read_lines
from schemalint.tables.delta_log.store import LogStore
from schemalint.tables.storage.kinds.local import open_store
from support.logs import Action, add, clustering, commit_info, metadata, protocol, remove, write_commit


def lines(*actions: Action) -> bytes:
    return "".join(json.dumps(action) + "\n" for action in actions).encode()


def parse_commit(data: bytes) -> TableActions:
    return parse_lines((data,))


CREATED = lines(commit_info("CREATE TABLE"), metadata(Field("id", LONG)), protocol(1, 2), add())


def test_protocol_and_info_are_found_between_file_actions() -> None:
    actions = parse_commit(lines(add(), commit_info("WRITE", 5, userMetadata="me"), protocol(1, 3), add()))
    assert actions == TableActions(
        protocol=Protocol(1, 3), info=CommitInfo("WRITE", 5, "me"), adds_files=True
    )


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + CREATED,
        CREATED.rstrip(b"\n"),
        CREATED.replace(b"\n", b"\r\n"),
        b"\n\n" + CREATED.replace(b"\n", b"\n\n") + b"  \n",
        CREATED.replace(b'{"metaData":', b'{ "metaData" :'),
        CREATED + b'{"somethingNew":{"metaData":{"id":"other"}}}\n',
        CREATED + lines(add(), add(), add()),
    ],
    ids=["bom", "no-final-newline", "crlf", "empty-lines", "blanks", "unknown-action", "more-files"],
)
def test_unusual_text_layout_changes_nothing(data: bytes) -> None:
    assert parse_commit(data) == parse_commit(CREATED)
    assert parse_commit(data).metadata is not None


def test_a_commit_with_only_file_actions_is_not_parsed() -> None:
    assert parse_commit(lines(commit_info(), add())) == TableActions()
    assert parse_commit(b'{"add":rubbish}\n{"remove":}') == TableActions()
    assert parse_commit(b"") == TableActions()


def test_the_last_of_several_metadata_actions_counts() -> None:
    actions = parse_commit(lines(metadata(Field("a", LONG)), add(), metadata(Field("b", LONG))))
    assert actions.metadata is not None
    assert actions.metadata.schema == Struct((Field("b", LONG),))
    assert actions.repeated == (("metaData", 3),)
    assert parse_commit(lines(clustering(["a"]), clustering(["b"]))).repeated == ()


def test_other_metadata_domains_are_ignored() -> None:
    other = {"domainMetadata": {"domain": "delta.rowTracking", "configuration": "{}", "removed": False}}
    assert parse_commit(lines(other)) == TableActions()
    assert parse_commit(lines(clustering(["a", "b"]), other)).clustering == (("a", "b"),)
    assert parse_commit(lines(clustering(["a"], removed=True))).clustering == ()


def test_the_in_commit_timestamp_overrides_the_timestamp() -> None:
    info = commit_info("WRITE", 5, inCommitTimestamp=9)
    assert parse_commit(lines(info, protocol())).info.timestamp == 9


def test_commit_info_gives_operation_user_and_engine() -> None:
    parameters = {"mode": "Overwrite", "partitionBy": "[]", "statsOnLoad": False, "nothing": None}
    info = commit_info(
        "WRITE", operationParameters=parameters, userId="7", userName="ada", engineInfo="Apache-Spark/4.2.0"
    )
    parsed = parse_commit(lines(info, protocol())).info
    assert parsed.parameters == {"mode": "Overwrite", "partitionBy": "[]", "statsOnLoad": "false"}
    assert (parsed.user, parsed.engine) == ("ada", "Apache-Spark/4.2.0")
    assert parse_commit(lines(commit_info(userId="7"), protocol())).info.user == "7"


def test_only_actions_about_files_count_as_added_and_removed_files() -> None:
    added: Action = {"add": {"path": "x", "partitionValues": {}}}
    flags = [
        (parse.adds_files, parse.removes_files)
        for parse in map(
            parse_commit,
            (
                lines(protocol(), remove()),
                lines(added, protocol()),
                lines(protocol(), commit_info(userMetadata='"add":')),
            ),
        )
    ]
    assert flags == [(False, True), (True, False), (False, False)]
    assert parse_commit(b'{ "remove" : {"path": "x"}}\n' + CREATED).removes_files
    word: Action = {"add": {"path": "x", "partitionValues": {"remove": "remove"}, "tags": {"remove": "a"}}}
    assert not parse_commit(lines(protocol(), word, commit_info(userMetadata='"remove":'))).removes_files


def test_commit_info_values_of_the_wrong_type_are_ignored() -> None:
    info: Action = {
        "commitInfo": {
            "operation": ["WRITE"],
            "timestamp": "now",
            "userMetadata": {},
            "operationParameters": 5,
            "userName": True,
        }
    }
    assert parse_commit(lines(info, protocol())).info == CommitInfo()


def test_invalid_timestamps_are_ignored() -> None:
    times: list[Any] = [10**15, -(10**15), True, "5", 5.0]
    for time in times:
        actions = parse_commit(
            lines(commit_info(timestamp=time, inCommitTimestamp=time), metadata(createdTime=time))
        )
        assert (actions.info.timestamp, actions.info.in_commit_timestamp) == (None, None)
        assert actions.metadata is not None
        assert actions.metadata.created_time is None


def test_lone_surrogates_become_replacement_characters() -> None:
    field = Field("\U0001f600 \ud800", LONG, comment="\udc00")
    actions = parse_commit(
        lines(metadata(field, description="a\ud83d", properties={"\udfff": "\ud83d\ude00"}))
    )
    assert actions.metadata is not None
    assert actions.metadata.schema == Struct((Field("\U0001f600 \ufffd", LONG, comment="\ufffd"),))
    assert actions.metadata.description == "a\ufffd"
    assert actions.metadata.configuration == {"\ufffd": "\U0001f600"}


def test_configuration_values_that_are_no_text_become_text() -> None:
    body = metadata(configuration={"a": True, "b": None, "c": 3})
    actions = parse_commit(lines(body))
    assert actions.metadata is not None
    assert actions.metadata.configuration == {"a": "true", "c": "3"}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (metadata(schemaString="{"), "schemaString cannot be read: the schema is not JSON"),
        (metadata(schemaString=5), "schemaString is not a string"),
        (metadata(partitionColumns="day"), "partitionColumns is not a list of names"),
        (metadata(configuration=[1]), "the configuration of metaData is not an object"),
        ({"protocol": {"minReaderVersion": 1}}, "minReaderVersion and minWriterVersion"),
        ({"protocol": {"minReaderVersion": True, "minWriterVersion": 2}}, "minReaderVersion"),
        ({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": [5]}}, "not a list"),
        ({"domainMetadata": {"domain": "delta.clustering", "configuration": "["}}, "not JSON"),
        ({"domainMetadata": {"domain": "delta.clustering", "configuration": "[]"}}, "not a JSON object"),
        (
            {"domainMetadata": {"domain": "delta.clustering", "configuration": "[" * 10**5}},
            "nested too deeply",
        ),
        (clustering("a"), "clusteringColumns is not a list of names"),
    ],
)
def test_the_error_for_an_invalid_action_names_its_line(action: Action, message: str) -> None:
    with pytest.raises(ActionError, match=message) as caught:
        parse_commit(lines(add(), action))
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"metaData":{"id":}}', "not JSON"),
        (b'{"metaData":"\xff"}', "not JSON"),
        (b'["metaData", {}]\n{}', "not a JSON object"),
        (b'{"metaData":' + b"[" * 10**5 + b"}", "nested too deeply"),
        (b'{"metaData":' + b"9" * 5000 + b"}", "not JSON"),
    ],
    ids=["syntax", "utf-8", "array", "deep", "number"],
)
def test_the_error_for_an_unreadable_line_names_its_line(line: bytes, message: str) -> None:
    with pytest.raises(ActionError, match=message) as caught:
        parse_commit(lines(add(), add()) + line)
    assert caught.value.line == 3


@pytest.mark.parametrize("cut", [2, 20, len(CREATED) // 2])
def test_a_truncated_commit_is_refused(cut: int) -> None:
    with pytest.raises(ActionError, match="ends within an action"):
        parse_commit(CREATED.rstrip()[:-cut])


def test_a_huge_action_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_limits, "MAX_ACTION", 1000)
    with pytest.raises(ActionError, match="larger than"):
        parse_commit(lines(metadata(Field("id", LONG, comment="x" * 1000))))
    assert parse_commit(lines(add("x" * 1000), protocol())).protocol == Protocol(1, 2)


@pytest.mark.parametrize("size", [7, 100, 1000, 1 << 20])
def test_reading_a_large_file_in_blocks_gives_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    actions = [commit_info("WRITE", 5), add(), metadata(Field("a", LONG)), protocol(1, 3), add(), remove()]
    for ending in (b"", b"\n", b"\n\n  \n"):
        data = lines(*actions, metadata(Field("b", LONG)), *[add()] * 20).rstrip() + ending
        store, file = stored(tmp_path, data)
        with monkeypatch.context() as patch:
            patch.setattr(log_limits, "BLOCK", size)
            assert read_lines(store, file) == parse_commit(data)
            assert read_commit_info(store, file).timestamp == 5


@pytest.mark.parametrize("size", [7, 100, 1000])
def test_lines_are_counted_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(log_limits, "BLOCK", size)
    for rubbish in (b'{"metaData": rubbish}\n', b'{"protocol": {}}\n', b'{"add": '):
        store, file = stored(tmp_path, lines(*[add()] * 9) + rubbish)
        with pytest.raises(ActionError) as caught:
            read_lines(store, file)
        assert caught.value.line == 10


def test_a_huge_line_in_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_limits, "BLOCK", 100)
    monkeypatch.setattr(log_limits, "MAX_LINE", 1000)
    with pytest.raises(ActionError, match="larger than"):
        read_lines(*stored(tmp_path, lines(protocol(), add("x" * 2000))))


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, len(CREATED)))
def test_a_commit_with_random_bytes_is_read_or_refused(rubbish: bytes, position: int) -> None:
    head, tail = CREATED[:position], CREATED[position:]
    for data in (rubbish, head + rubbish, head + rubbish + tail):
        assert_read_or_refused(data)


@settings(deadline=None, max_examples=300)
@given(st.integers(0, len(CREATED) * 8 - 1))
def test_a_commit_with_a_flipped_bit_is_read_or_refused(bit: int) -> None:
    data = bytearray(CREATED)
    data[bit // 8] ^= 1 << bit % 8
    assert_read_or_refused(bytes(data))


def test_a_repeated_schema_is_parsed_once() -> None:
    first = parse_commit(lines(metadata(Field("id", INTEGER)))).metadata
    second = parse_commit(lines(metadata(Field("id", INTEGER), description="new"))).metadata
    assert first is not None
    assert second is not None
    assert first.schema is second.schema


def stored(table: Path, data: bytes) -> tuple[LogStore, LogFile]:
    path = write_commit(table, 0, data)
    file = log_file(path.name, size=len(data))
    assert file is not None
    return open_store(str(table)), file


def assert_read_or_refused(data: bytes) -> None:
    refused = None
    try:
        parse_commit(data)
    except ActionError as error:
        refused = error
    assert refused is None or refused.line
