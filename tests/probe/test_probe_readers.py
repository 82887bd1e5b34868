"""The recipes, run for real, against the client table; Trino's with recorded output of its client."""

from __future__ import annotations

import datetime as dt
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from probe.asking import Answer, about, ask_recipe
from probe.recipes import recipe_file, recipe_names
from probe.rows import Reader, client_rows, disagreements
from probe.tables import all_tables
from probe.writing import write_table
from schemalint.clients.client_table import client_names, file_data, read_row
from schemalint.model.client import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

    from probe.asking import Places

SECONDS = 120.0


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    root = tmp_path_factory.mktemp("probe")
    found = []
    for table in all_tables():
        write_table(table, root / table.name)
        found.append((table, str(root / table.name)))
    return found


def _answers(recipe: str, read_path: str, places: Places) -> tuple[Reader, list[Answer]]:
    if find_spec(recipe) is None and not os.environ.get("SCHEMALINT_TEST_ALL"):
        pytest.skip(f"{recipe} is not installed")
    found = about(recipe_file(recipe), sys.executable, SECONDS)
    assert read_path in found.read_paths
    answers = list(ask_recipe(recipe_file(recipe), sys.executable, read_path, places, SECONDS))
    assert [answer.table.name for answer in answers] == [table.name for table, _place in places]
    return Reader(recipe, found.version, read_path), answers


def _names(answers: Iterable[Answer], verdict: Verdict) -> set[str]:
    return {answer.table.name for answer in answers if answer.verdict is verdict}


@pytest.mark.wide
def test_deltalake_returns_nulls_for_mapped_tables_below_reader_version_3(places: Places) -> None:
    reader, answers = _answers("deltalake", "pyarrow", places)
    assert reader.version == "1.6.6"
    mapped = {"mapping-name-2-5", "mapping-name-2-7", "mapping-name-2-7-renamed"}
    assert _names(answers, Verdict.WRONG) == {*mapped, "mapping-id-2-5", "mapping-id-2-7"}
    wrong = next(answer for answer in answers if answer.table.name == "mapping-name-2-7")
    assert wrong.detail == "it returns NULL in place of every id, and not 1, 2"
    assert disagreements(reader, answers) == {}


@pytest.mark.wide
def test_the_query_builder_of_deltalake_reads_mapped_tables(places: Places) -> None:
    reader, answers = _answers("deltalake", "query-builder", places)
    right = _names(answers, Verdict.OK)
    assert {"mapping-name-2-7", "mapping-id-3-7", "deletion-vectors", "v2-checkpoint"} <= right
    assert _names(answers, Verdict.WRONG) == set()
    assert disagreements(reader, answers) == {}


@pytest.mark.wide
def test_duckdb_reads_all_that_it_knows(places: Places) -> None:
    reader, answers = _answers("duckdb", "", places)
    assert reader.version == "1.5.5"
    assert {"deletion-vectors", "widened-date-timestamp_ntz", "mapping-id-2-7"} <= _names(answers, Verdict.OK)
    assert "widened-bigint-int" in _names(answers, Verdict.REFUSES)
    assert disagreements(reader, answers) == {}


REFUSED_BY_SPARK = {
    *("feature-adaptiveMetadata-preview", "feature-catalogManaged", "feature-catalogOwned-preview"),
    *("feature-collations-preview", "feature-fooBar", "feature-redirectReaderWriter-preview"),
    "widened-bigint-int",
}


@pytest.mark.spark
@pytest.mark.engine
def test_spark_reads_the_tables_that_it_knows(spark: SparkSession, places: Places) -> None:
    """The tables are as Delta wants them: what other readers do with them is not the tables' fault."""
    wrong, refused = [], set()
    for table, place in places:
        try:
            rows = [row.asDict() for row in spark.read.format("delta").load(place).collect()]
        except Exception:  # noqa: BLE001 (Spark's errors have no common class)
            refused.add(table.name)
            continue
        if sorted(rows, key=lambda row: row["id"]) != [_widened(row) for row in table.rows]:
            wrong.append((table.name, rows))
    assert (wrong, refused) == ([], REFUSED_BY_SPARK)


def _widened(row: dict[str, object]) -> dict[str, object]:
    match row["value"]:
        case dt.datetime():
            return row
        case dt.date() as day:
            return {**row, "value": dt.datetime.combine(day, dt.time())}
    return row


@pytest.mark.wide
def test_every_row_is_a_row_of_the_client_table(places: Places) -> None:
    reader, answers = _answers("duckdb", "", places)
    rows = list(client_rows(reader, answers, "2026-11-22"))
    for row in rows:
        assert read_row(row).evidence.as_of == "2026-11-22"
    assert {row["type_change"] for row in rows if "type_change" in row} >= {
        "int -> bigint",
        "decimal -> decimal",
    }
    assert {row["verdict"] for row in rows} == {"ok", "refuses"}


@pytest.mark.wide
def test_every_recipe_is_of_a_client() -> None:
    assert set(recipe_names()) <= set(client_names())
    assert "trino" in recipe_names()


@pytest.mark.wide
@pytest.mark.parametrize("name", recipe_names())
def test_rows_that_were_run_say_with_which_versions(name: str) -> None:
    """`make probe` asks these versions again."""
    for row in file_data(name)["rows"]:
        if "run" in row["evidence"]:
            assert row["evidence"]["run"].split(",")[0].split(" ")[0].replace(".", "").isdecimal(), row


# What trino-cli 476 printed, its standard error with a warning of its library for terminals, when a server of
# the test's own answered it. No Trino server is run here: see docs/clients.md.
TRINO = """\
#!{python}
import sys
statement = sys.argv[sys.argv.index("--execute") + 1]
assert "--output-format=JSON" in sys.argv
print("Nov 22, 2026 9:10:07 PM org.jline.utils.Log logr", file=sys.stderr)
print("WARNING: Unable to create a system terminal, creating a dumb terminal", file=sys.stderr)
with open({log!r}, "a") as log:
    print(statement, file=log)
if "version()" in statement:
    print('{{"version":"476"}}')
elif "current_schema" in statement:
    print('{{"name":"default"}}')
elif statement.startswith("CALL"):
    print("CALL", file=sys.stderr)
    if "fooBar" in statement:
        sys.exit("Query 20261122_000000_00000_abcde failed: Unsupported reader features: [fooBar]")
else:
    print('{{"id":2,"value":null}}')
    print('{{"id":1,"value":-5000000000}}')
"""


@pytest.mark.wide
def test_trino_registers_each_table_for_its_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, program = tmp_path / "log", tmp_path / "bin" / "trino"
    program.parent.mkdir()
    program.write_text(TRINO.format(python=sys.executable, log=str(log)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    tables = {table.name: table for table in all_tables()}
    asked = [(tables[name], f"s3://lake/probe/{name}") for name in ("plain", "feature-fooBar")]
    assert about(recipe_file("trino"), sys.executable, SECONDS).version == "476"
    plain, unknown = ask_recipe(recipe_file("trino"), sys.executable, "", asked, SECONDS)
    assert plain.verdict is Verdict.OK
    assert (unknown.verdict, unknown.detail) == (
        Verdict.REFUSES,
        "RuntimeError: Unsupported reader features: [fooBar]",
    )
    name = "schema_name => 'default', table_name => 'schemalint_probed'"
    assert log.read_text().splitlines()[2:5] == [
        f"CALL system.register_table({name}, table_location => 's3://lake/probe/plain')",
        "SELECT * FROM schemalint_probed",
        f"CALL system.unregister_table({name})",
    ]
