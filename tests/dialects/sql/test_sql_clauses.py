"""What becomes of each clause of SQL files, beside what Delta does with the same statements.

The cases are in ``cases.yaml``, the engine's answers in ``answers.yaml``. With ``SCHEMALINT_UPDATE_GOLDEN=1``
the test marked ``spark`` asks again, and `test_the_table_of_clauses` writes what becomes of each case.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from schemalint.base.values import replace
from schemalint.contract.dialects import Reading, sql
from schemalint.delta.diff import diff
from schemalint.model.contract import FileFormat
from schemalint.model.declaration import created_state
from support.golden import UPDATE, assert_golden
from support.logs import read_live

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schemalint.delta.table import TableState

HERE: Final = Path(__file__).parent
DOCS: Final = HERE.parents[2] / "docs"
INTRODUCTION: Final = """\
# Clauses of SQL files

What becomes of the statements in files that an entry of `contracts` with `format = "sql"`
[names](configuration.md#tables-in-sql-files): what Delta 4.4.0 with Spark 4.2.0 takes is *read*, and makes
the same table; what it refuses is *refused*, with an error at the line of the clause that says what to write
instead. A test runs {number} statements for that ([the list](../tests/dialects/sql/cases.yaml)). Different:

- *unmanaged*: the table is read, and what is named here is not in Delta's log; `check` counts it;
- *skipped*: the statement declares no Delta table, or not its columns; `check` counts it;
- *read, though Delta refuses it*: a rule has a finding, or the answer depends on the table;
- *refused, though Delta takes it*: the statement has not all of the table, or the file is no declaration.

With a star: only Databricks reads it, so it was not run.\
"""
CASES: Final[dict[str, list[dict[str, Any]]]] = yaml.load(
    (HERE / "cases.yaml").read_text("utf-8"), yaml.CSafeLoader
)
ALL: Final = [(group, case) for group, cases in CASES.items() for case in cases]
ANSWERS: Final = HERE / "answers.yaml"
ACCEPTED: Final = "accepted"
WAREHOUSE: Final = "/lake"
"""Where `{warehouse}` is in the table of clauses; the engine has another place."""

CORPORA: Final[list[dict[str, Any]]] = yaml.load((HERE / "corpora.yaml").read_text("utf-8"), yaml.CSafeLoader)
OTHERS: Final = """\

## Files of others

Of the statements in SQL files of {count} public repositories, each alone, {read:,} are read, {skipped:,}
skipped and {refused:,} refused, on 2026-11-28: `tests/dialects/sql/corpora.yaml` has commits and counts.
None is left out in silence. Most refused ones are about a table that another file creates, or of other
databases. Of the tables that are read in 32 of these folders, Delta 4.4.0 accepted 182, 4.0.1 181 and 3.3.2
130, and the log had each as it was read; of what is refused they accepted queries alone (`on_engine.py`).
Of the two largest, all were asked of each: of 295 tables in manishchaudhary-sudo/emea_prod_sync-db-, 293
are as read, and two set a property of Databricks ([TP008](rules/tp008.md)); of mariana-pineda/RedShift, 102
are as read on 4.4.0, and 97 on the other two, which do not know `TIMESTAMP WITHOUT TIME ZONE`.

Of 325 different ALTER TABLE and COMMENT ON TABLE in the tests of sqlfluff and sqlglot, each behind a table
that was made for it, 25 are read and make the same table on all three; 19 are read, and are about what only
Databricks' catalog stores. What is refused, Delta refuses too, or it is a migration.
"""

ADDED: Final = frozenset({"delta.columnMapping.maxColumnId", "delta.feature.allowColumnDefaults"})
"""Properties that Delta keeps for itself, or does not store."""

BY_DESIGN: Final = frozenset(
    {"AS SELECT", "DEFAULT COLLATION", "IDENTIFIER()"}
    | {
        "ADD COLUMNS",
        "ALTER TABLE of another file's table",
        "ALTER COLUMN … SET NOT NULL",
        "CLUSTER BY of a table",
        "RENAME TO",
    }
    | {"DROP TABLE before CREATE TABLE", "a table twice", "BEGIN … END"}
)
"""What the engine takes and schemalint refuses, because the columns or the table are not in the statement, or
because the file is no declaration."""


def reading_of(text: str, warehouse: str = WAREHOUSE) -> Reading:
    """Read the statements of a case."""
    data = text.replace("{warehouse}", warehouse).encode()
    return sql.read("tables.sql", data, None, FileFormat("sql"))


def outcome(reading: Reading) -> tuple[str, str]:
    """Return what becomes of the statements, and the words that say so."""
    if reading.errors:
        error = reading.errors[0]
        assert error.location is not None
        return "refused", f"{error.message} ({error.help})"
    unmanaged = [kind for kind in sorted(reading.left_out) if kind.islower()]
    if unmanaged:
        return "unmanaged", ", ".join(unmanaged)
    if reading.contracts:
        return "read", ""
    return "skipped", ", ".join(f"{number} {kind}" for kind, number in sorted(reading.left_out.items()))


def answers() -> dict[str, str]:
    """Return the engine's recorded answers by statement."""
    recorded: dict[str, str] = yaml.load(ANSWERS.read_text("utf-8"), yaml.CSafeLoader) or {}
    return recorded


READ: Final = "read"


def test_the_table_of_clauses() -> None:
    recorded = answers()
    lines = [INTRODUCTION.format(number=len(ALL))]
    for group, cases in CASES.items():
        clauses: dict[str, list[str]] = {}
        for case in cases:
            shown = _shown(case, recorded.get(case["sql"], ACCEPTED))
            if shown is not None:
                clauses.setdefault(shown[0], []).append(shown[1])
        if clauses:
            lines += ["", f"## {group}", ""]
            lines += [f"- *{kind}*: {'; '.join(texts)}" for kind, texts in clauses.items()]
    counts = {kind: sum(corpus[kind] for corpus in CORPORA) for kind in ("read", "skipped", "refused")}
    count = len({corpus["repository"] for corpus in CORPORA})
    assert_golden("\n".join([*lines, OTHERS.format(count=count, **counts)]), DOCS / "sql-clauses.md")


def _shown(case: dict[str, Any], engine: str) -> tuple[str, str] | None:
    """Return what becomes of a clause, and its text on the page; None where both agree."""
    what, words = outcome(reading_of(case["sql"]))
    clause: str = case["clause"]
    if case.get("databricks"):
        return what, f"{clause} \\*"
    if what == READ:
        return None if engine == ACCEPTED else ("read, though Delta refuses it", f"{clause} ({engine})")
    if what != "refused":
        return what, clause
    return (f"refused, though Delta takes it: {words}", clause) if engine == ACCEPTED else None


@pytest.mark.parametrize("case", [case for _group, case in ALL], ids=[f"{g}: {c['clause']}" for g, c in ALL])
def test_schemalint_reads_what_delta_takes_and_refuses_what_it_refuses(case: dict[str, Any]) -> None:
    """What rules judge, such as a type that Delta does not store, is read."""
    what, _words = outcome(reading_of(case["sql"]))
    if case.get("databricks"):
        assert what != "refused"
    elif answers()[case["sql"]] != ACCEPTED:
        assert what in {"refused", "skipped"} or case.get("judged")
    elif case["clause"] in BY_DESIGN or what == "skipped":
        assert what in {"refused", "skipped"}
    else:
        assert what == READ


@pytest.mark.spark
def test_delta_makes_the_table_that_was_read(spark: SparkSession, tmp_path: Path) -> None:
    """Every statement is run, and the table in the log is the one that the contract declares."""
    asked: dict[str, str] = {}
    for _group, case in ALL:
        if case.get("databricks"):
            continue
        for name in ("t", "u"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")
        warehouse = tmp_path / str(len(asked))
        asked[case["sql"]] = _answer(spark, case["sql"].replace("{warehouse}", str(warehouse)))
        reading = reading_of(case["sql"], str(warehouse))
        if asked[case["sql"]] == ACCEPTED and reading.contracts and not reading.errors:
            (contract,) = reading.contracts
            live = read_live(spark.sql("DESCRIBE DETAIL t").first()["location"])
            assert live is not None
            assert diff(_comparable(created_state(contract.state)), _comparable(live.state)) == (), case[
                "sql"
            ]
    spark.sql("DROP TABLE IF EXISTS t")
    if UPDATE:
        ANSWERS.write_text(yaml.safe_dump(asked, sort_keys=False, allow_unicode=True, width=200), "utf-8")
    assert asked == answers()


def _comparable(state: TableState) -> TableState:
    """Return a state without what the engine adds by itself."""
    kept = {key: value for key, value in state.set_properties.items() if key not in ADDED}
    return replace(state, features=frozenset(), properties=kept)


def _answer(spark: SparkSession, text: str) -> str:
    """Run statements one by one, and return the first error class."""
    from pyspark.errors import PySparkException  # noqa: PLC0415

    for statement in re.split(r";\s+(?=[A-Z])", text):
        try:
            spark.sql(statement)
        except PySparkException as error:
            return error.getCondition() or type(error).__name__
        except Exception as error:  # noqa: BLE001 (of Java, without a class of Spark)
            return type(error).__name__
    return ACCEPTED
