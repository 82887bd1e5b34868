"""The client table: every row is valid, and a question gets the verdict of the right row."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any, TypedDict

import pytest

from schemalint.base.document.shape import check_for
from schemalint.clients.client_table import client_names, file_data, find_client, read_row
from schemalint.clients.support import form_of, support
from schemalint.delta.datatype import Struct
from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type
from schemalint.model.client import EVERY, Support, TableForm, Trait, Verdict, parse_versions
from schemalint.model.consumer import Consumer
from schemalint.project.config.consumer_keys import RowKeys

if TYPE_CHECKING:
    from collections.abc import Iterator

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class _FileKeys(TypedDict, total=False):
    client: str
    title: str
    newest: str
    read_paths: list[str]
    reads: str
    as_of: str
    rows: list[RowKeys]


@pytest.mark.parametrize("name", client_names())
def test_every_row_of_a_file_is_valid(name: str) -> None:
    data = file_data(name)
    assert check_for(_FileKeys)(data), name
    assert data["client"] == name
    assert {"title", "as_of", "rows"} <= data.keys()
    for row in data["rows"]:
        value = read_row(row, data["as_of"])
        assert value.features <= FEATURES.keys(), row
        assert value.read_path in (None, *data.get("read_paths", ())), row
        assert _DATE.fullmatch(value.evidence.as_of), row
        assert dt.date.fromisoformat(value.evidence.as_of), row
        assert value.evidence.source, row
        assert "newest" in data or value.versions == EVERY, f"{name} has versions and no newest one"


@pytest.mark.parametrize("name", client_names())
def test_every_row_can_decide(name: str) -> None:
    """A row that an earlier one covers wholly would never be read."""
    client = find_client(name)
    assert client is not None
    for index, row in enumerate(client.rows):
        for earlier in client.rows[:index]:
            same = all(
                getattr(earlier, key) in (None, getattr(row, key))
                for key in ("mapping", "reader", "writer", "read_path", "format")
            )
            covers = (
                earlier.versions.low <= row.versions.low
                and (
                    earlier.versions.high is None or (row.versions.high or (10**9,)) <= earlier.versions.high
                )
                and earlier.features >= row.features
                and earlier.type_changes >= row.type_changes
                and earlier.findings >= row.findings
                and bool(earlier.findings) == bool(row.findings)
                and bool(earlier.features) == bool(row.features)
                and bool(earlier.type_changes) == bool(row.type_changes)
                and earlier.types >= row.types
                and bool(earlier.types) == bool(row.types)
                and earlier.access == row.access
            )
            assert not (same and covers), (row, earlier)


def _asked(
    client: str,
    version: str | None,
    form: TableForm,
    *,
    rows: tuple[dict[str, Any], ...] = (),
    access: str = "read",
    read_path: str | None = None,
) -> Support:
    return support(Consumer("reader", client, version, read_path, access), form, rows)


def _form(
    *features: str,
    reader: int = 3,
    mapping: str = "none",
    type_changes: frozenset[tuple[str, str]] = frozenset(),
    formats: frozenset[str] = frozenset(),
) -> TableForm:
    of_readers = frozenset(name for name in features if FEATURES[name].reader)
    return TableForm(reader, 7, frozenset(features), of_readers, mapping, type_changes, formats)


_MAPPED_LEGACY = _form("columnMapping", reader=2, mapping="name")
_MAPPED = _form("columnMapping", mapping="name")
_VECTORS = _form("deletionVectors")


def _questions() -> Iterator[tuple[str, Support, str]]:
    yield "NULLs of the form (2,7)", _asked("deltalake", "1.6.4", _MAPPED_LEGACY), "wrong"
    yield "(3,7) is refused", _asked("deltalake", "1.6.4", _MAPPED), "refuses"
    both = _form("columnMapping", "deletionVectors", reader=2, mapping="name")
    refused = _asked("deltalake", "1.6.6", both, read_path="pyarrow")
    yield "what is refused is not read wrongly", refused, "refuses"
    yield "older versions refuse", _asked("deltalake", "1.6.3", _MAPPED_LEGACY), "refuses"
    yield "one read path", _asked("deltalake", "1.6.6", _MAPPED_LEGACY, read_path="query-builder"), "ok"
    yield "the worst of a range", _asked("deltalake", ">=1.5,<2", _MAPPED_LEGACY), "wrong"
    yield "a range without it", _asked("deltalake", ">=1.5,<1.6.4", _MAPPED_LEGACY), "refuses"
    yield "wrong outranks refuses", _asked("trino", ">=400", _VECTORS), "wrong"
    yield "a version below all rows", _asked("duckdb", "1.0", _VECTORS), "unknown"
    yield "a version above all rows", _asked("duckdb", "1.6", _VECTORS), "ok"
    yield "no version", _asked("trino", None, _VECTORS), "unknown"
    yield "no such client", _asked("trinoo", "476", _VECTORS), "unknown"
    yield "no version at all", _asked("trino", "latest", _VECTORS), "unknown"
    yield "a feature without a row", _asked("athena", None, _form("variantType")), "unknown"
    yield "features of writers only", _asked("athena", None, _form("rowTracking", reader=1)), "ok"
    yield "a writer needs them", _asked("trino", "476", _form("rowTracking"), access="write"), "refuses"
    yield "what every table has", _asked("athena", None, _form("appendOnly", reader=1), access="write"), "ok"
    yield "without UniForm", _asked("iceberg", None, _VECTORS), "refuses"
    yield "with UniForm", _asked("iceberg", None, _form(formats=frozenset({"iceberg"}))), "ok"
    yield "UniForm is read only", _asked("iceberg", None, _form(formats=frozenset({"iceberg"})), access="write"), "refuses"  # fmt: skip  # noqa: E501
    narrow = _form("typeWidening-preview", type_changes=frozenset({("smallint", "int")}))
    wide = _form("typeWidening-preview", type_changes=frozenset({("int", "bigint")}))
    yield "a pair that is known", _asked("delta-spark", "3.2.0", narrow), "ok"
    yield "a pair that is not", _asked("delta-spark", "3.2.0", wide), "refuses"


@pytest.mark.parametrize(("answer", "expected"), [pytest.param(a, e, id=i) for i, a, e in _questions()])
def test_a_question_gets_the_verdict_of_the_right_row(answer: Support, expected: str) -> None:
    assert answer.verdict.value == expected, answer


def test_a_newer_version_is_assumed_and_a_known_one_is_not() -> None:
    assert _asked("duckdb", "1.6", _VECTORS).assumed
    assert not _asked("duckdb", "1.5.5", _VECTORS).assumed
    assert _asked("delta-spark", "4.5.0", _VECTORS).assumed
    assert not _asked("delta-spark", "4.4.0", _VECTORS).assumed


def test_a_pair_is_a_reason_of_its_own_only_if_the_feature_is_known() -> None:
    form = _form("typeWidening", type_changes=frozenset({("int", "bigint")}))
    (reason,) = _asked("polars", "2.1.0", form).reasons
    assert (reason.trait, reason.name) == (Trait.FEATURE, "typeWidening")


def test_rows_of_the_user_precede_the_shipped_ones_and_add_clients() -> None:
    row = {
        "client": "duckdb",
        "feature": "deletionVectors",
        "versions": "1.5.5",
        "verdict": "refuses",
        "evidence": {"run": "own build"},
        "as_of": "2026-11-20",
    }
    assert _asked("duckdb", "1.5.5", _VECTORS, rows=(row,)).verdict is Verdict.REFUSES
    own = _asked("inhouse", "1.5.5", _VECTORS, rows=({**row, "client": "inhouse"},))
    assert own.verdict is Verdict.REFUSES
    assert own.reasons[0].evidence is not None
    assert own.reasons[0].evidence.source == "own build"


def test_a_live_table_keeps_its_protocol_versions_and_its_own_reader_features() -> None:
    live = Protocol(3, 7, frozenset({"fooBar"}), frozenset({"fooBar", "fooWrite"}))
    form = form_of(TableState(), live.features, live)
    assert form.reader == 3
    assert form.reader_features == {"fooBar"}
    assert _asked("duckdb", "1.5.5", form).because == "feature fooBar"


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("1.6.4", "1.6.4", "1.6.5"),
        ("1.6", "1.6.9", "1.7"),
        ("476", "476", "477"),
        (">=1.6,<2", "1.99", "2.0"),
        (">1.6.3", "1.6.4", "1.6.3"),
        ("<=2", "2.5", "3"),
        ("15.4 LTS", "15.4", "15.5"),
        (">=2.0", "2", "1.9"),
    ],
)
def test_a_range_holds_the_versions_that_it_names(text: str, inside: str, outside: str) -> None:
    versions = parse_versions(text)
    assert parse_versions(inside).low in versions
    assert parse_versions(outside).low not in versions


@pytest.mark.parametrize("text", ["", "latest", ">=2,<1", "1.6,1.7", "~=1.6", "1..6", ">=", "1" * 40])
def test_a_text_without_versions_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="version"):
        parse_versions(text)


@pytest.mark.parametrize(
    ("columns", "client", "version", "verdict"),
    [
        ("struct<c: int, C: int>", "delta-spark", "4.4.0", Verdict.REFUSES),
        ("struct<c: int, C: int>", "deltalake", "1.6.6", Verdict.REFUSES),
        ("struct<c: int, C: int>", "duckdb", "1.5.5", Verdict.REFUSES),
        ("struct<c: int, C: int>", "trino", "476", Verdict.UNKNOWN),
        ("struct<s: array<struct<c: int, C: int>>>", "delta-spark", "4.4.0", Verdict.REFUSES),
        ("struct<c: int, s: struct<C: int>>", "delta-spark", "4.4.0", Verdict.OK),
    ],
)
def test_names_that_differ_only_in_case_are_a_trait_of_a_table(
    columns: str, client: str, version: str, verdict: Verdict
) -> None:
    struct = parse_type(columns)
    assert isinstance(struct, Struct)
    form = form_of(TableState(columns=struct), frozenset({"appendOnly", "invariants"}))
    assert support(Consumer("x", client, version), form).verdict is verdict
