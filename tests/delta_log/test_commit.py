from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.delta.datatype import INTEGER, LONG, Field, Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta_log import limits
from schemalint.delta_log.actions import ActionError, CommitInfo, TableActions
from schemalint.delta_log.commit import parse_commit, read_commit_info, read_lines
from schemalint.delta_log.names import LogFile, log_file
from schemalint.delta_log.store import LogStore
from schemalint.storage.kinds.local import open_store
from support.logs import Action, add, clustering, commit_info, metadata, protocol, remove, write_commit


def lines(*actions: Action) -> bytes:
    return "".join(json.dumps(action) + "\n" for action in actions).encode()


CREATED = lines(commit_info("CREATE TABLE"), metadata(Field("id", LONG)), protocol(1, 2), add())


def test_protocol_metadata_and_info_are_found_between_files() -> None:
    actions = parse_commit(lines(add(), commit_info("WRITE", 5, userMetadata="me"), protocol(1, 3), add()))
    assert actions == TableActions(protocol=Protocol(1, 3), info=CommitInfo("WRITE", 5, "me"))


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
def test_oddities_of_text_change_nothing(data: bytes) -> None:
    assert parse_commit(data) == parse_commit(CREATED)
    assert parse_commit(data).metadata is not None


def test_a_commit_of_files_only_says_nothing_and_is_not_parsed() -> None:
    assert parse_commit(lines(commit_info(), add())) == TableActions()
    assert parse_commit(b'{"add":rubbish}\n{"remove":}') == TableActions()
    assert parse_commit(b"") == TableActions()


def test_the_last_of_several_metadata_counts() -> None:
    actions = parse_commit(lines(metadata(Field("a", LONG)), add(), metadata(Field("b", LONG))))
    assert actions.metadata is not None
    assert actions.metadata.schema == Struct((Field("b", LONG),))
    assert actions.repeated == (("metaData", 3),)
    assert parse_commit(lines(clustering(["a"]), clustering(["b"]))).repeated == ()


def test_domains_of_others_are_no_clustering() -> None:
    other = {"domainMetadata": {"domain": "delta.rowTracking", "configuration": "{}", "removed": False}}
    assert parse_commit(lines(other)) == TableActions()
    assert parse_commit(lines(clustering(["a", "b"]), other)).clustering == (("a", "b"),)
    assert parse_commit(lines(clustering(["a"], removed=True))).clustering == ()


def test_in_commit_timestamp_comes_before_the_writers_clock() -> None:
    info = commit_info("WRITE", 5, inCommitTimestamp=9)
    assert parse_commit(lines(info, protocol())).info.timestamp == 9


def test_commit_info_says_who_did_what() -> None:
    parameters = {"mode": "Overwrite", "partitionBy": "[]", "statsOnLoad": False, "nothing": None}
    info = commit_info(
        "WRITE", operationParameters=parameters, userId="7", userName="ada", engineInfo="Apache-Spark/4.2.0"
    )
    found = parse_commit(lines(info, protocol())).info
    assert found.parameters == {"mode": "Overwrite", "partitionBy": "[]", "statsOnLoad": "false"}
    assert (found.user, found.engine) == ("ada", "Apache-Spark/4.2.0")
    assert parse_commit(lines(commit_info(userId="7"), protocol())).info.user == "7"


def test_a_commit_that_removes_files_is_told_from_one_that_mentions_the_word() -> None:
    assert parse_commit(lines(protocol(), remove())).removes_files
    assert parse_commit(b'{ "remove" : {"path": "x"}}\n' + CREATED).removes_files
    word: Action = {"add": {"path": "x", "partitionValues": {"remove": "remove"}, "tags": {"remove": "a"}}}
    assert not parse_commit(lines(protocol(), word, commit_info(userMetadata='"remove":'))).removes_files


def test_commit_info_is_free_form() -> None:
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


def test_times_that_are_no_dates_are_left_out() -> None:
    times: list[Any] = [10**15, -(10**15), True, "5", 5.0]
    for time in times:
        found = parse_commit(
            lines(commit_info(timestamp=time, inCommitTimestamp=time), metadata(createdTime=time))
        )
        assert (found.info.timestamp, found.info.in_commit_timestamp) == (None, None)
        assert found.metadata is not None
        assert found.metadata.created_time is None


def test_halves_of_surrogate_pairs_do_not_reach_the_table() -> None:
    field = Field("\U0001f600 \ud800", LONG, comment="\udc00")
    found = parse_commit(lines(metadata(field, description="a\ud83d", properties={"\udfff": "\ud83d\ude00"})))
    assert found.metadata is not None
    assert found.metadata.schema == Struct((Field("\U0001f600 \ufffd", LONG, comment="\ufffd"),))
    assert found.metadata.description == "a\ufffd"
    assert found.metadata.configuration == {"\ufffd": "\U0001f600"}


def test_configuration_of_other_writers_becomes_text() -> None:
    body = metadata(configuration={"a": True, "b": None, "c": 3})
    actions = parse_commit(lines(body))
    assert actions.metadata is not None
    assert actions.metadata.configuration == {"a": "true", "c": "3"}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (metadata(schemaString="{"), "schemaString cannot be read: the schema is not JSON"),
        (metadata(schemaString=5), "schemaString is no string"),
        (metadata(partitionColumns="day"), "partitionColumns is no list of names"),
        (metadata(configuration=[1]), "the configuration of metaData is no object"),
        ({"protocol": {"minReaderVersion": 1}}, "minReaderVersion and minWriterVersion"),
        ({"protocol": {"minReaderVersion": True, "minWriterVersion": 2}}, "minReaderVersion"),
        ({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": [5]}}, "no list"),
        ({"domainMetadata": {"domain": "delta.clustering", "configuration": "["}}, "not JSON"),
        ({"domainMetadata": {"domain": "delta.clustering", "configuration": "[]"}}, "no JSON object"),
        (
            {"domainMetadata": {"domain": "delta.clustering", "configuration": "[" * 10**5}},
            "nested too deeply",
        ),
        (clustering("a"), "clusteringColumns is no list of names"),
    ],
)
def test_an_action_of_the_wrong_kind_names_its_line(action: Action, message: str) -> None:
    with pytest.raises(ActionError, match=message) as caught:
        parse_commit(lines(add(), action))
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"metaData":{"id":}}', "not JSON"),
        (b'{"metaData":"\xff"}', "not JSON"),
        (b'["metaData", {}]\n{}', "no JSON object"),
        (b'{"metaData":' + b"[" * 10**5 + b"}", "nested too deeply"),
        (b'{"metaData":' + b"9" * 5000 + b"}", "not JSON"),
    ],
    ids=["syntax", "utf-8", "array", "deep", "number"],
)
def test_a_line_that_cannot_be_read_names_its_line(line: bytes, message: str) -> None:
    with pytest.raises(ActionError, match=message) as caught:
        parse_commit(lines(add(), add()) + line)
    assert caught.value.line == 3


@pytest.mark.parametrize("cut", [2, 20, len(CREATED) // 2])
def test_a_file_that_ends_within_an_action_is_refused(cut: int) -> None:
    with pytest.raises(ActionError, match="ends within an action"):
        parse_commit(CREATED.rstrip()[:-cut])


def test_a_huge_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ACTION", 1000)
    with pytest.raises(ActionError, match="larger than"):
        parse_commit(lines(metadata(Field("id", LONG, comment="x" * 1000))))
    assert parse_commit(lines(add("x" * 1000), protocol())).protocol == Protocol(1, 2)


@pytest.mark.parametrize("size", [7, 100, 1000, 1 << 20])
def test_a_large_file_is_read_in_blocks_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    actions = [commit_info("WRITE", 5), add(), metadata(Field("a", LONG)), protocol(1, 3), add(), remove()]
    for ending in (b"", b"\n", b"\n\n  \n"):
        data = lines(*actions, metadata(Field("b", LONG)), *[add()] * 20).rstrip() + ending
        store, file = stored(tmp_path, data)
        with monkeypatch.context() as patch:
            patch.setattr(limits, "BLOCK", size)
            assert read_lines(store, file) == parse_commit(data)
            assert read_commit_info(store, file).timestamp == 5


@pytest.mark.parametrize("size", [7, 100, 1000])
def test_a_line_is_counted_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(limits, "BLOCK", size)
    for rubbish in (b'{"metaData": rubbish}\n', b'{"protocol": {}}\n', b'{"add": '):
        store, file = stored(tmp_path, lines(*[add()] * 9) + rubbish)
        with pytest.raises(ActionError) as caught:
            read_lines(store, file)
        assert caught.value.line == 10


def test_a_huge_line_in_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BLOCK", 100)
    monkeypatch.setattr(limits, "MAX_LINE", 1000)
    with pytest.raises(ActionError, match="larger than"):
        read_lines(*stored(tmp_path, lines(protocol(), add("x" * 2000))))


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, len(CREATED)))
def test_rubbish_in_a_commit_gives_an_answer_or_an_error(rubbish: bytes, at: int) -> None:
    for data in (rubbish, CREATED[:at] + rubbish, CREATED[:at] + rubbish + CREATED[at:]):
        read_or_refused(data)


@settings(deadline=None, max_examples=300)
@given(st.integers(0, len(CREATED) * 8 - 1))
def test_a_flipped_bit_gives_an_answer_or_an_error(bit: int) -> None:
    data = bytearray(CREATED)
    data[bit // 8] ^= 1 << bit % 8
    read_or_refused(bytes(data))


def test_a_schema_that_is_repeated_is_read_once() -> None:
    first = parse_commit(lines(metadata(Field("id", INTEGER)))).metadata
    again = parse_commit(lines(metadata(Field("id", INTEGER), description="new"))).metadata
    assert first is not None
    assert again is not None
    assert first.schema is again.schema


def stored(table: Path, data: bytes) -> tuple[LogStore, LogFile]:
    path = write_commit(table, 0, data)
    file = log_file(path.name, size=len(data))
    assert file is not None
    return open_store(str(table)), file


def read_or_refused(data: bytes) -> None:
    refused = None
    try:
        parse_commit(data)
    except ActionError as error:
        refused = error
    assert refused is None or refused.line
