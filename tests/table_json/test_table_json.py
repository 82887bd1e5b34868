"""Live tables to JSON and back, checked against the JSON schema."""

from __future__ import annotations

import datetime as dt
import json
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from schemalint.base.values import replace
from schemalint.cli.schema import schema_of
from schemalint.delta.datatype import LONG, STRING, Field
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import (
    CatalogTable,
    History,
    HistoryEntry,
    LiveTable,
    LogDefect,
    LogDefectKind,
    Metadata,
)
from schemalint.tables.storage import read_table
from schemalint.tables.table_json import (
    TableDocument,
    TableFailure,
    TableJsonError,
    failure_to_json,
    from_json,
    read_lines,
    to_json,
)
from support.logs import clustering, commit_info, metadata, protocol, write_log
from support.strategies import structs, table_states, texts

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

LOGS = Path(__file__).parent.parent / "delta_log" / "logs"
TABLES = sorted(folder.name for folder in LOGS.iterdir() if folder.is_dir())
READ_AT = dt.datetime(2026, 11, 20, 10, tzinfo=dt.UTC)
VALIDATOR = Draft202012Validator(schema_of("table"))
MAYBE_TEXT = st.none() | texts()
NUMBERS = st.none() | st.integers(0, 2**53)


@st.composite
def protocols(draw: DrawFn) -> Protocol:
    names = st.frozensets(st.sampled_from(("typeWidening", "appendOnly", "someday")))
    lists = st.none() | st.tuples(st.booleans(), st.booleans())
    return Protocol(draw(st.integers(1, 3)), draw(st.integers(1, 7)), draw(names), draw(names), draw(lists))


@st.composite
def metadatas(draw: DrawFn, features: frozenset[str]) -> Metadata:
    state = replace(draw(table_states()), features=features, dropped=())
    return Metadata(draw(texts()), state, draw(MAYBE_TEXT), draw(NUMBERS))


@st.composite
def histories(draw: DrawFn) -> History:
    entries = []
    features: frozenset[str] = frozenset()
    for version in range(draw(st.integers(0, 4))):
        changed = draw(st.none() | protocols())
        features = changed.features if changed else features
        entries.append(
            HistoryEntry(
                version,
                timestamp=draw(NUMBERS),
                operation=draw(MAYBE_TEXT),
                parameters=draw(st.dictionaries(texts(), texts(), max_size=2)),
                user=draw(MAYBE_TEXT),
                engine=draw(MAYBE_TEXT),
                user_metadata=draw(MAYBE_TEXT),
                metadata=draw(st.none() | metadatas(features)),
                protocol=changed,
                removes_files=draw(st.booleans()),
                adds_files=draw(st.booleans()),
            )
        )
    file_versions = st.none() | st.frozensets(st.integers(0, 2**53), max_size=3)
    return History(tuple(entries), draw(st.integers(0, 5)), draw(file_versions))


@st.composite
def live_tables(draw: DrawFn) -> LiveTable:
    protocol_ = draw(protocols())
    defects = st.builds(
        LogDefect, st.sampled_from(LogDefectKind), texts(), texts(), st.none() | st.integers(1), MAYBE_TEXT
    )
    catalogs = st.builds(
        CatalogTable,
        texts(),
        texts(),
        texts(),
        st.none() | structs(),
        st.dictionaries(texts(), texts(), max_size=2),
        MAYBE_TEXT,
        st.booleans(),
    )
    return LiveTable(
        draw(texts()),
        draw(st.integers(0, 2**53)),
        protocol_,
        draw(metadatas(protocol_.features)),
        draw(histories()),
        tuple(draw(st.lists(texts(), max_size=2))),
        tuple(draw(st.lists(defects, max_size=2))),
        draw(st.none() | catalogs),
        draw(st.dictionaries(texts(), st.integers(-(2**63), 2**63 - 1), max_size=2)),
    )


def as_line(table: TableDocument) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(json.dumps(to_json(table)))
    return line


@pytest.mark.wide
@settings(deadline=None, max_examples=50)
@given(live=live_tables(), name=MAYBE_TEXT, is_latest=st.booleans())
def test_every_table_survives_the_round_trip_through_json(
    live: LiveTable, name: str | None, *, is_latest: bool
) -> None:
    table = TableDocument(live, READ_AT, name, "prod", is_latest)
    line = as_line(table)
    VALIDATOR.validate(line)
    back = from_json(line)
    assert back == table
    assert isinstance(back, TableDocument)
    # `Protocol.lists` is not part of equality, but rules read it.
    assert back.live.protocol.lists == live.protocol.lists
    assert [entry.protocol and entry.protocol.lists for entry in back.live.history.entries] == [
        entry.protocol and entry.protocol.lists for entry in live.history.entries
    ]


@pytest.mark.parametrize("name", TABLES)
def test_tables_written_by_spark_survive_the_round_trip(name: str) -> None:
    table = TableDocument(read_table(str(LOGS / name)), READ_AT)
    line = as_line(table)
    VALIDATOR.validate(line)
    assert from_json(line) == table


def test_a_history_entry_holds_only_what_its_commit_changed(tmp_path: Path) -> None:
    first = [commit_info("CREATE TABLE"), protocol(1, 2), metadata(Field("id", LONG))]
    second = [commit_info("SET TBLPROPERTIES"), metadata(Field("id", LONG), properties={"team": "sales"})]
    third = [
        commit_info("CLUSTER BY"),
        protocol(1, 7, None, ["clustering", "domainMetadata"]),
        clustering(["id"]),
    ]
    table = write_log(tmp_path, [first, second, third])
    history = as_line(TableDocument(read_table(str(table)), READ_AT))["history"]
    assert [entry["schema_changed"] for entry in history] == [True, False, False]
    assert history[1]["metadata"] == {"configuration": {"team": "sales"}}
    assert history[2]["metadata"] == {"clustering_columns": [["id"]]}
    assert [entry["stops_tracked_streams"] for entry in history] == [False, False, True]


def test_a_table_that_could_not_be_read_survives_the_round_trip() -> None:
    failure = TableFailure(
        "s3://lake/x", "access is denied", READ_AT, "Ask for it.", "sales.x", "prod", missing=True
    )
    line = json.loads(json.dumps(failure_to_json(failure)))
    VALIDATOR.validate(line)
    assert from_json(line) == failure


def test_the_json_schema_requires_every_key_and_allows_no_others() -> None:
    Draft202012Validator.check_schema(schema_of("table"))
    line = as_line(
        TableDocument(
            LiveTable("t", 0, Protocol(), Metadata("id", read_table(str(LOGS / "mapped")).state)), READ_AT
        )
    )
    VALIDATOR.validate(line)
    for key in line:
        broken = deepcopy(line)
        del broken[key]
        assert not VALIDATOR.is_valid(broken)
    assert not VALIDATOR.is_valid({**line, "more": 1})


INVALID: dict[str, tuple[dict[str, Any], str]] = {
    "another format": ({"format": 2}, "format must be 1, not 2"),
    "no version": ({"version": None}, "version must be a whole number"),
    "true as the version": ({"version": True}, "version must be a whole number"),
    "a column without a type": (
        {"schema": {"type": "struct", "fields": [{"name": "a"}]}},
        "schema must be a schema as Delta writes it",
    ),
    "text as the schema": ({"schema": "struct"}, "schema must be an object"),
    "a time without a zone": ({"read_at": "2026-11-20T10:00:00"}, "read_at must be a time with a time zone"),
    "no time": ({"read_at": "yesterday"}, "read_at must be a time with a time zone"),
    "a number as a feature": (
        {"protocol": {"min_reader_version": 1, "min_writer_version": 2, "reader_features": [1]}},
        "protocol.reader_features[0] must be text",
    ),
    "a defect of an unknown kind": (
        {"defects": [{"kind": "bent"}]},
        "defects[0].kind must be one of repeated_action",
    ),
    "a number as a clustering column": (
        {"clustering_columns": [3]},
        "clustering_columns must be a list of paths",
    ),
    "an object as the history": ({"history": {}}, "history must be a list"),
}


@pytest.mark.parametrize("case", INVALID)
def test_the_error_names_a_value_of_the_wrong_kind(case: str) -> None:
    change, message = INVALID[case]
    line = as_line(TableDocument(read_table(str(LOGS / "clustered")), READ_AT))
    with pytest.raises(TableJsonError) as caught:
        from_json({**line, **change})
    assert message in caught.value.message


def test_each_line_of_a_file_is_a_table() -> None:
    lines = [
        json.dumps(as_line(TableDocument(read_table(str(LOGS / name)), READ_AT)))
        for name in ("mapped", "clustered")
    ]
    data = "\ufeff" + "\r\n\n".join(lines)
    tables = read_lines("live.jsonl", data.encode())
    assert [Path(table.uri).name for table in tables] == ["mapped", "clustered"]


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"", "the file holds no table", 1),
        (b"\n{", "this is not JSON", 2),
        (b"\n\n[]", "a line must be an object", 3),
        (b'{"format": 9}', "format must be 1, not 9", 1),
        (b"[" * 100_000, "this is not JSON", 1),
        (b"\xff\xfe\x00", "this is not JSON", 1),
    ],
)
def test_an_invalid_file_is_one_error_with_its_line(data: bytes, message: str, line: int) -> None:
    with pytest.raises(TableJsonError) as caught:
        read_lines("live.jsonl", data)
    assert caught.value.message == message
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == ("live.jsonl", line)


def test_a_column_added_later_is_missing_in_older_history_entries() -> None:
    line = as_line(TableDocument(read_table(str(LOGS / "mapped")), READ_AT))
    back = from_json(line)
    assert isinstance(back, TableDocument)
    first = back.live.history.entries[0].metadata
    assert first is not None
    assert first.state.columns.get("note") is None
    assert back.live.state.columns.get("note") == Field(
        "note",
        STRING,
        comment="added",
        column_id=6,
        physical_name=back.live.state.columns.fields[-1].physical_name,
    )
