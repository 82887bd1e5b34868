"""Ask Spark what each way to another type keeps of a table, and whom it stops; record its answers.

``PYTHONPATH=tests python -m engine.record_rewrites`` asks every question again and records the answers. The
column ``c`` of each table (`TABLES`), which holds numbers as text, becomes an ``int`` in each way (`WAYS`).
"""

from __future__ import annotations

import csv
import re
import tempfile
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.answers import new_record, record_path
from engine.record_types import _versions, refusal
from schemalint.delta.change import FieldAdded, TypeChanged, subject_name
from schemalint.delta.diff import diff
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import SparkSession

RECORD = record_path("rewrites")
KEPT = "kept"
MAPPED = "'delta.columnMapping.mode' = 'name'"


class NotAsked(Exception):  # noqa: N818 (it is no error)
    """The engine has no words for the question."""


class Table(NamedTuple):
    """A table by its columns and what follows them in CREATE TABLE; ``c`` is text.

    Attributes:
        columns: The columns beside ``c``, each with a comma at its end.
        column: What stands behind the type of ``c``.
        clauses: What follows the columns.
        properties: The properties as SQL.
        then: Statements after the rows are in.
        insert: The columns to insert, if not all.
        builder: Adds the same columns to a builder of Delta's API: before Delta 4.4, SQL makes no generated
            and no identity columns.
    """

    columns: str = ""
    column: str = ""
    clauses: str = ""
    properties: str = ""
    then: tuple[str, ...] = ()
    insert: str = "c"
    builder: Callable[[Any], Any] | None = None


def _generated(builder: Any) -> Any:  # noqa: ANN401 (the builders of Delta have no types)
    return builder.addColumn("a", "INT").addColumn("g", "INT", generatedAlwaysAs="a + 1")


def _generated_from_it(builder: Any) -> Any:  # noqa: ANN401 (as above)
    return builder.addColumn("g", "STRING", generatedAlwaysAs="concat(c, 'x')")


def _identity(builder: Any) -> Any:  # noqa: ANN401 (as above)
    from delta.tables import IdentityGenerator  # noqa: PLC0415 (only with Delta)

    return builder.addColumn("i", "BIGINT", generatedAlwaysAs=IdentityGenerator())


TABLES: Final = {
    "plain": Table(),
    "all that a table can have": Table(
        "a INT NOT NULL COMMENT 'a number', d INT DEFAULT 7, v VARCHAR(5), w SMALLINT, p INT, ",
        clauses="CLUSTER BY (p) COMMENT 'all orders'",
        properties="'team' = 'sales', 'delta.enableTypeWidening' = 'true', "
        "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true', "
        "'delta.enableRowTracking' = 'true', "
        "'delta.feature.allowColumnDefaults' = 'supported'",
        then=(
            "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (a > 0)",
            "ALTER TABLE {t} ALTER COLUMN w TYPE INT",
        ),
        insert="a, c",
    ),
    "generated": Table("a INT, g INT GENERATED ALWAYS AS (a + 1), ", builder=_generated),
    "identity": Table("i BIGINT GENERATED ALWAYS AS IDENTITY, ", builder=_identity),
    "mapping": Table("a INT, s STRUCT<x: INT>, ", properties=MAPPED),
    "partitioned": Table("p INT, ", clauses="PARTITIONED BY (p)"),
    "the column's own": Table(
        column="NOT NULL DEFAULT '7' COMMENT 'in pieces'",
        properties="'delta.feature.allowColumnDefaults' = 'supported'",
    ),
    "generated from it": Table("g STRING GENERATED ALWAYS AS (concat(c, 'x')), ", builder=_generated_from_it),
    "constraint on it": Table(then=("ALTER TABLE {t} ADD CONSTRAINT filled CHECK (c <> '')",)),
    "partitioned by it": Table("a INT, ", clauses="PARTITIONED BY (c)"),
    "clustered by it": Table("a INT, ", clauses="CLUSTER BY (c)"),
}


def _overwrite(spark: SparkSession, path: str) -> None:
    rows = spark.read.format("delta").load(path)
    converted = rows.withColumn("c", rows["c"].cast("int"))
    converted.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(path)


def _replace(spark: SparkSession, path: str) -> None:
    columns = spark.read.format("delta").load(path).columns
    selected = ", ".join("cast(c AS INT) AS c" if column == "c" else column for column in columns)
    spark.sql(f"CREATE OR REPLACE TABLE delta.`{path}` USING delta AS SELECT {selected} FROM delta.`{path}`")


def _columns(spark: SparkSession, path: str) -> None:
    table = f"delta.`{path}`"
    mode = read_table(path).state.properties.get("delta.columnMapping.mode", "none")
    if mode == "none":
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({MAPPED})")
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (c_new INT)")
    spark.sql(f"UPDATE {table} SET c_new = cast(c AS INT)")
    spark.sql(f"ALTER TABLE {table} DROP COLUMN c")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN c_new TO c")


WAYS: Final[Mapping[str, Callable[[SparkSession, str], None]]] = {
    "overwrite": _overwrite,
    "replace": _replace,
    "columns": _columns,
}


class Refused(NamedTuple):
    """A change of another kind than of a type, which Delta refuses to make in place.

    Attributes:
        columns: The columns of the table before; ``a`` and ``p`` are among them.
        clauses: What follows them.
        wanted: The columns as wanted.
        layout: The clauses as wanted; the overwrite gives what ``PARTITIONED BY`` names to ``partitionBy``.
        then: Statements that define the new table's counters.
        instead: Statements that come close, one after another, and replace nothing.
    """

    columns: str
    wanted: str
    clauses: str = ""
    layout: str = ""
    then: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()


_PLAIN: Final = "a BIGINT, p INT"
CHANGES: Final = {
    "NOT NULL of a column": Refused(
        _PLAIN,
        "a BIGINT NOT NULL, p INT",
        instead=("ALTER TABLE {t} ADD CONSTRAINT a_set CHECK (a IS NOT NULL)",),
    ),
    "partitioned by a column": Refused(_PLAIN, _PLAIN, layout="PARTITIONED BY (p)"),
    "partitioned by another column": Refused(
        _PLAIN, _PLAIN, clauses="PARTITIONED BY (p)", layout="PARTITIONED BY (a)"
    ),
    "no longer partitioned": Refused(_PLAIN, _PLAIN, clauses="PARTITIONED BY (p)"),
    "clustered in place of partitioned": Refused(
        _PLAIN, _PLAIN, clauses="PARTITIONED BY (p)", layout="CLUSTER BY (a)"
    ),
    "without the column that partitions it": Refused(_PLAIN, "a BIGINT", clauses="PARTITIONED BY (p)"),
    "an expression for a column": Refused(_PLAIN, "a BIGINT, p INT GENERATED ALWAYS AS (CAST(a AS INT))"),
    "another expression": Refused(
        "a BIGINT, p INT GENERATED ALWAYS AS (CAST(a AS INT))",
        "a BIGINT, p INT GENERATED ALWAYS AS (CAST(a + 0 AS INT))",
    ),
    "without the expression": Refused("a BIGINT, p INT GENERATED ALWAYS AS (CAST(a AS INT))", _PLAIN),
    "an identity for a column": Refused(
        _PLAIN,
        "a BIGINT GENERATED BY DEFAULT AS IDENTITY, p INT",
        then=("ALTER TABLE {t} ALTER COLUMN a SYNC IDENTITY",),
    ),
    "an identity that takes no value": Refused(_PLAIN, "a BIGINT GENERATED ALWAYS AS IDENTITY, p INT"),
    "without the identity": Refused("a BIGINT GENERATED BY DEFAULT AS IDENTITY, p INT", _PLAIN),
    "a new column that is NOT NULL": Refused(
        _PLAIN,
        "a BIGINT, p INT, n INT NOT NULL",
        instead=(
            "ALTER TABLE {t} ADD COLUMNS (n INT)",
            "UPDATE {t} SET n = 0",
            "ALTER TABLE {t} ADD CONSTRAINT n_set CHECK (n IS NOT NULL)",
        ),
    ),
    "without the column that clusters it": Refused(
        _PLAIN,
        "a BIGINT",
        clauses="CLUSTER BY (p)",
        instead=(
            "ALTER TABLE {t} CLUSTER BY (a)",
            f"ALTER TABLE {{t}} SET TBLPROPERTIES ({MAPPED})",
            "ALTER TABLE {t} DROP COLUMN p",
        ),
    ),
}


_COLUMN: Final = re.compile(
    r"(\w+) (\w+)(?P<required> NOT NULL)?"
    r"(?: GENERATED (?:ALWAYS AS \((?P<expression>.+)\)|(?P<how>ALWAYS|BY DEFAULT) AS IDENTITY))?"
)


def _create(spark: SparkSession, statement: str, columns: str, start: Callable[[Any], Any]) -> None:
    """Create a table by SQL, or by Delta's API where SQL makes no generated and no identity columns."""
    if " AS " not in columns:
        spark.sql(statement)
        return
    if refusal(lambda: spark.sql(statement)) is None:
        return
    from delta.tables import DeltaTable, IdentityGenerator  # noqa: PLC0415 (only with Delta)

    builder = start(DeltaTable)
    for column in columns.split(", "):
        if (parts := _COLUMN.fullmatch(column)) is None:
            raise ValueError(column)
        generated = parts["expression"] or (IdentityGenerator() if parts["how"] == "ALWAYS" else None)
        builder = builder.addColumn(
            parts[1],
            parts[2],
            nullable=parts["required"] is None,
            generatedAlwaysAs=generated,
            generatedByDefaultAs=IdentityGenerator() if parts["how"] == "BY DEFAULT" else None,
        )
    builder.execute()


def _change_by_overwriting(spark: SparkSession, path: str, change: Refused) -> None:
    rows = spark.read.format("delta").load(path).selectExpr(*_selected(change))
    writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    if change.layout.startswith("PARTITIONED"):
        writer = writer.partitionBy(change.layout.partition("(")[2].rstrip(")"))
    elif change.layout:
        if not hasattr(writer, "clusterBy"):  # PySpark 3.5
            raise NotAsked
        writer = writer.clusterBy(change.layout.partition("(")[2].rstrip(")"))
    writer.save(path)


def _change_by_replacing(spark: SparkSession, path: str, change: Refused) -> None:
    table, selected = f"delta.`{path}`", ", ".join(_selected(change))
    spark.sql(
        f"CREATE OR REPLACE TABLE {table} USING delta {change.layout} AS SELECT {selected} FROM {table}"
    )


def _change_by_defining(spark: SparkSession, path: str, change: Refused) -> None:
    # By a path alone, Delta compares the definition with the table that is there, and refuses another one.
    table, version = f"defined_{abs(hash(path))}", read_table(path).version
    spark.sql(f"CREATE TABLE {table} USING delta LOCATION '{path}'")
    definition = f"({change.wanted}) USING delta {change.layout} LOCATION '{path}'"
    creation = f"CREATE OR REPLACE TABLE {table} {definition}"
    _create(spark, creation, change.wanted, lambda api: api.createOrReplace(spark).tableName(table))
    names = ", ".join(part.split()[-1] for part in _selected(change))
    rows = f"SELECT {', '.join(_selected(change))} FROM delta.`{path}` VERSION AS OF {version}"
    spark.sql(f"INSERT INTO {table} ({names}) {rows}")
    for statement in change.then:
        spark.sql(statement.replace("{t}", table))


def _change_instead(spark: SparkSession, path: str, change: Refused) -> None:
    for statement in change.instead:
        spark.sql(statement.replace("{t}", f"delta.`{path}`"))


def _selected(change: Refused) -> list[str]:
    """Return what to select for each wanted column; nobody has written the new one."""
    names = [part.split()[0] for part in change.wanted.split(", ")]
    return ["0 AS n" if name == "n" else name for name in names]


WAYS_OF_CHANGES: Final[Mapping[str, Callable[[SparkSession, str, Refused], None]]] = {
    "overwrite": _change_by_overwriting,
    "replace": _change_by_replacing,
    "define": _change_by_defining,
    "instead": _change_instead,
}
ASKED_OF_CHANGES: Final = [
    (way, about)
    for way in WAYS_OF_CHANGES
    for about, change in CHANGES.items()
    if way != "instead" or change.instead
]


def make_for(spark: SparkSession, path: str, change: Refused) -> None:
    """Create the table before a change, with two rows."""
    table = f"delta.`{path}`"
    creation = f"CREATE TABLE {table} ({change.columns}) USING delta {change.clauses}"
    _create(spark, creation, change.columns, lambda api: api.create(spark).location(path))
    columns = "a" if "AS (" in change.columns else "a, p"
    values = "(1), (2)" if columns == "a" else "(1, 1), (2, 2)"
    spark.sql(f"INSERT INTO {table} ({columns}) VALUES {values}")


def outcome_of(spark: SparkSession, path: str, way: str, change: Refused) -> str:
    """Take a way; return what it changed, and the class that refuses it."""
    before = read_table(path)
    refused = taken(spark, path, way, change)
    after = read_table(path)
    changes = [
        f"{type(each).__name__} {subject_name(each)}".strip()
        + (" NOT NULL" if isinstance(each, FieldAdded) and each.field.nullable is False else "")
        for each in diff(before.state, after.state)
    ]
    changes += ["table id"] if before.metadata.table_id != after.metadata.table_id else []
    rows = spark.read.format("delta").load(path).count()
    changes += [] if rows == 2 else [f"{rows} rows"]
    changes += [f"{after.version - before.version} commits"]
    return "; ".join([*([f"refused {refused}"] if refused else []), *changes])


STREAMS: Final = {
    "plain": {},
    "skipChangeCommits": {"skipChangeCommits": "true"},
    "tracked": {"schemaTrackingLocation": "{checkpoint}/schema"},
}


class Question(NamedTuple):
    """What does a way keep of a table, or how does a stream of it end?"""

    way: str
    about: str


def make(spark: SparkSession, path: str, table: Table) -> None:
    """Create a table with two rows."""
    name = f"delta.`{path}`"
    properties = f" TBLPROPERTIES ({table.properties})" if table.properties else ""
    creation = (
        f"CREATE TABLE {name} ({table.columns}c STRING {table.column}) "
        f"USING delta {table.clauses}{properties}"
    )
    if (refused := refusal(lambda: spark.sql(creation))) is not None:
        if table.builder is None:
            raise RuntimeError(refused)
        from delta.tables import DeltaTable  # noqa: PLC0415 (only with Delta)

        table.builder(DeltaTable.create(spark).location(path)).addColumn("c", "STRING").execute()
    values = "1, '1'), (2, '2'" if table.insert == "a, c" else "'1'), ('2'"
    spark.sql(f"INSERT INTO {name} ({table.insert}) VALUES ({values})")
    for statement in table.then:
        spark.sql(statement.replace("{t}", name))


def outcome(spark: SparkSession, path: str, way: str) -> str:
    """Take the way; return what is not as before, or the class that refuses it and what it left behind."""
    before = read_table(path)
    refused = taken(spark, path, way)
    after = read_table(path)
    changes = [
        f"{type(each).__name__} {subject_name(each)}"
        for each in diff(before.state, after.state)
        if not (isinstance(each, TypeChanged) and each.path == ("c",))
    ]
    changes += ["table id"] if before.metadata.table_id != after.metadata.table_id else []
    changes += [f"{after.version - before.version} commits"]
    return "; ".join([*([f"refused {refused}"] if refused else []), *changes])


def write_null(spark: SparkSession, path: str) -> str | None:
    """Append a row of nulls; return the class that refuses it."""
    rows = (
        spark.read.format("delta")
        .load(path)
        .selectExpr("cast(null AS BIGINT) AS a", "cast(null AS INT) AS p")
    )
    return refusal(lambda: rows.write.format("delta").mode("append").save(path))


def streams_of(way: str) -> Iterator[tuple[str, str]]:
    """Yield changes and kinds of streams to ask about; only an overwrite may leave the schema as it is."""
    if way == "instead":
        of_these = (about for about, change in CHANGES.items() if change.instead)
        yield from product(of_these, ("plain", "tracked"))
        return
    yield from (("partitioned by a column", options) for options in STREAMS)
    if way == "overwrite":
        about = ("without the expression", "without the identity", "without the column that partitions it")
        yield from product(about, ("plain", "tracked"))


def taken(spark: SparkSession, path: str, way: str, change: Refused | None = None) -> str | None:
    """Take the way; return the class that refuses it, or what the engine says without one."""
    refused = refusal(lambda: WAYS_OF_CHANGES[way](spark, path, change) if change else WAYS[way](spark, path))
    return refused and refused.replace(path, "{path}")


def ask(spark: SparkSession, folder: Path) -> dict[Question, str]:
    """Return the answer to every question."""
    answers = {}
    for number, (way, (about, table)) in enumerate((way, table) for way in WAYS for table in TABLES.items()):
        path = str(folder / f"t{number}")
        make(spark, path, table)
        answers[Question(way, about)] = outcome(spark, path, way)
        version = read_table(path).version
        restored = refusal(lambda: spark.sql(f"RESTORE TABLE delta.`{path}` TO VERSION AS OF 1"))  # noqa: B023
        answers[Question(way, f"{about}: restored")] = restored or f"after {version} versions"
    for way, about in ASKED_OF_CHANGES:
        path = str(folder / f"{way}-{about.replace(' ', '-')}")
        make_for(spark, path, CHANGES[about])
        try:
            answers[Question(way, about)] = outcome_of(spark, path, way, CHANGES[about])
        except NotAsked:
            answers[Question(way, about)] = "the writer has no such clause"
        if way == "instead" and " NOT NULL" in CHANGES[about].wanted:
            answers[Question(way, f"{about}: a null")] = str(write_null(spark, path))
    for way in WAYS_OF_CHANGES:
        for about, options in streams_of(way):
            folder_of = folder / f"{way}-{options}-{about.replace(' ', '-')}"
            answers[Question(way, f"{about}: stream: {options}")] = ended(
                spark, folder_of, way, options, CHANGES[about]
            )
    for way in WAYS:
        for options in STREAMS:
            answers[Question(way, f"stream: {options}")] = ended(
                spark, folder / f"{way}-{options}", way, options
            )
        answers[Question(way, "change data feed over it")] = feed(spark, folder / f"{way}-feed", way)
    return answers


def ended(spark: SparkSession, folder: Path, way: str, options: str, change: Refused | None = None) -> str:
    """Let a stream read the table, take the way, and start it again; return how it ends."""
    path, checkpoint = str(folder / "table"), str(folder / "checkpoint")
    make_for(spark, path, change) if change else make(spark, path, Table())
    if way == "columns":
        spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ({MAPPED})")

    def run() -> None:
        reader = spark.readStream.format("delta")
        for key, value in STREAMS[options].items():
            reader = reader.option(key, value.replace("{checkpoint}", checkpoint))
        writer = reader.load(path).writeStream.format("noop").option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()

    starts = [stop(run) for _start in range(2 if options == "tracked" else 1)]
    if refused := taken(spark, path, way, change):
        return f"refused {refused}"
    ends = [stop(run) for _start in range(3)]
    return " | ".join(f"{end or 'runs'}" for end in [*starts[1:], *ends])


def stop(run: Callable[[], None]) -> str | None:
    """Run a stream; return Delta's class in the error that ends it, if one does."""
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        run()
    except PySparkException as error:
        classes = re.findall(r"\b(?:DELTA|DIFFERENT_DELTA)_[A-Z_.]+", str(error))
        return classes[0] if classes else str(error).partition("\n")[0]
    return None


def feed(spark: SparkSession, folder: Path, way: str) -> str:
    """Read the changes from before to after the way; return the class of the refusal, or ``read``."""
    path = str(folder / "table")
    make(spark, path, TABLES["all that a table can have"])
    if refused := taken(spark, path, way):
        return f"refused {refused}"
    reader = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 1)
    return refusal(lambda: reader.load(path).collect()) or "read"


def write_record(answers: Mapping[Question, str], path: Path) -> None:
    """Write a row per question, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*Question._fields, "answer"])
        rows.writerows([*question, answer] for question, answer in answers.items())


def read_record(path: Path = RECORD) -> dict[Question, str]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {Question(row["way"], row["about"]): row["answer"] for row in csv.DictReader(file)}


if __name__ == "__main__":
    from conftest import start_session

    with tempfile.TemporaryDirectory() as temporary:
        session = start_session(Path(temporary, "warehouse"))
        write_record(ask(session, Path(temporary)), new_record("rewrites"))
        session.stop()
