"""Whether clients can open a table at all: the client table says of odd logs what the clients did."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from engine.answers import NEWEST, OLDER, record_path
from engine.record_logs import ACCEPTED, log_text, read_record
from probe.asking import about
from probe.process import run_command
from probe.recipes import recipe_file
from schemalint.base.values import Itself, replace
from schemalint.clients.client_table import find_client
from schemalint.judge.client_losses import known_clients, today
from schemalint.judge.table_judge import faults_of
from schemalint.model.client import Verdict
from schemalint.model.consumer import Consumer
from schemalint.tables.storage import read_table
from support.short_files import write_data_files
from support.short_logs import write_short_log

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemalint.delta.table import LiveTable

RECORD = read_record()
SECONDS = 120.0
VERSIONS = [version for version in (*OLDER, NEWEST) if record_path("logs", version).exists()]

# The engine's first read fails, or what the files hold decides.
OTHERWISE = {
    "log-inconsistent/checksum-with-another-schema": Verdict.UNKNOWN,
    "null-forbidden-later/tightened": Verdict.OK,
    "unrecorded-type-change/renamed-and-changed": Verdict.OK,
}
# In 3.3.2, what the files hold decides, or how it reads a text or a record that Delta does not write.
OTHERWISE_IN = {
    "3.3.2": {
        **dict.fromkeys(
            (
                "unrecorded-type-change/hand-edited",
                "unrecorded-type-change/nested",
                "unrecorded-type-change/overwritten-in-part",
                "unrecorded-type-change/unknown-operation",
                "type-changes-misplaced/across-a-struct",
                "unknown-column-in-expression/live-with-a-cast-that-alter-refuses",  # `::` is of Spark 4
            ),
            Verdict.OK,
        ),
        "type-change-illegal-in-metadata/text": Verdict.REFUSES,
    }
}


def _verdict(table: LiveTable, consumer: Consumer) -> Verdict:
    (answer,) = today("sales.orders", table, [consumer])
    return answer.after.verdict


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, LiveTable]:
    root = tmp_path_factory.mktemp("logs")
    found: dict[str, LiveTable] = {}
    for number, case in enumerate(RECORD):
        write_short_log(log_text(case), root / str(number))
        write_data_files(root / str(number))
        found[case] = read_table(str(root / str(number)))
    return found


@pytest.mark.wide
@pytest.mark.parametrize("version", VERSIONS)
def test_delta_spark_reads_the_tables_that_the_engine_read_and_no_others(
    version: str, tables: Mapping[str, LiveTable]
) -> None:
    spark = Consumer("etl", "delta-spark", version)
    otherwise = {**OTHERWISE, **OTHERWISE_IN.get(version, {})}
    expected = {
        case: otherwise.get(case, Verdict.OK if answer.read == ACCEPTED else Verdict.REFUSES)
        for case, answer in read_record(record_path("logs", version)).items()
    }
    assert {case: _verdict(table, spark) for case, table in tables.items()} == expected


def test_no_client_is_said_to_open_a_table_that_delta_spark_cannot_open(
    tables: Mapping[str, LiveTable],
) -> None:
    known = known_clients()
    writers = [replace(consumer, access="write") for consumer in known]
    for case, table in tables.items():
        faults = faults_of(Itself(table))
        readers = [consumer for consumer in known if consumer.client != "delta-spark"]
        for answer in today(case, table, readers if faults.unreadable else ()):
            assert answer.after.verdict is not Verdict.OK, (case, answer.consumer)
        for answer in today(case, table, writers if faults.unwritable - {"PF013"} else ()):
            assert answer.after.verdict is not Verdict.OK, (case, answer.consumer)


@pytest.mark.wide
@pytest.mark.parametrize(
    ("client", "read_path"), [("deltalake", "pyarrow"), ("deltalake", "query-builder"), ("duckdb", "")]
)
def test_clients_refuse_the_tables_of_which_their_rows_say_so(
    client: str, read_path: str, tables: Mapping[str, LiveTable]
) -> None:
    if find_spec(client) is None and not os.environ.get("SCHEMALINT_TEST_ALL"):
        pytest.skip(f"{client} is not installed")
    found = find_client(client)
    assert found is not None
    refused = frozenset[str]().union(*(row.findings for row in found.rows))
    faults = {case: faults_of(Itself(table)).unreadable & refused for case, table in tables.items()}
    assert frozenset[str]().union(*faults.values()) == refused
    asked = [case for case in tables if faults[case]]
    recipe = recipe_file(client)
    assert about(recipe, sys.executable, SECONDS).version == found.newest
    reader = recipe.parents[1] / "reader.py"
    places = [tables[case].uri for case in asked]
    run = run_command([sys.executable, "-I", str(reader), str(recipe), read_path, *places], SECONDS)
    answers = zip(asked, run.output.splitlines(), strict=True)
    assert [case for case, line in answers if not line.startswith('{"error"')] == []
