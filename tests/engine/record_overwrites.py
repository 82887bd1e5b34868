"""Let `apply` rewrite tables of many shapes, and record what became of each; rows are compared by id.

``PYTHONPATH=tests python -m engine.record_overwrites`` asks every question again and records the answers. The
rows of every table are known here: no SQL says what must be in them afterwards. The tables of a batch are
made, filled and rewritten together, by one run of `apply` each.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from datetime import date, datetime
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from engine.answers import new_record, record_path
from engine.record_types import _versions
from schemalint.deploy.prepare import prepare_requested
from schemalint.deploy.results import DeployLog
from schemalint.project import git
from schemalint.project.config.trust import find_trusted
from schemalint.spark.apply_options import ApplyOptions, Unattended
from schemalint.spark.runner import run_confirmed
from schemalint.spark.session_catalog import SessionCatalog
from support.lakehouse import FOR_FEW_ROWS, Lakehouse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from schemalint.deploy.results import AppliedTable

RECORD = record_path("overwrites")
ALLOW: Final = ("rewrite", "destructive", "upgrade")
REWRITTEN: Final = "rewritten, all rows converted, nothing else changed"
BATCH: Final = 7


class Change(NamedTuple):
    """A column that gets another type, or a table that gets another layout.

    Attributes:
        before: The entry of the column in the contract.
        after: Its entry afterwards.
        type: The type afterwards, as Spark prints it.
        values: Its values as SQL, and what they become.
        layout: What stands in place of ``partitioned_by: [p]`` afterwards.
        laid_out: The partition columns and the clustering columns afterwards, as DESCRIBE DETAIL has them.
    """

    before: str
    after: str
    type: str
    values: Mapping[str, object]
    layout: str = ""
    laid_out: tuple[list[str], list[str]] | None = None


def _column(old: str, new: str, values: Mapping[str, object], tail: str = "") -> Change:
    """Return a change of the column by a cast."""
    rewrite = f'rewrite: {{from: "{old}", with: "cast(c as {new})"{tail}}}'
    before = f'{{name: c, type: "{old}", comment: euros}}'
    after = f'{{name: c, type: "{new}", comment: euros, {rewrite}}}'
    return Change(before, after, new, values)


def _laid_out(layout: str, laid_out: tuple[list[str], list[str]]) -> Change:
    """Return another layout of a partitioned table."""
    column = "{name: c, type: string}"
    more = f"{layout}rewrite: {{from: {{partitioned_by: [p]}}}}\n"
    return Change(column, column, "string", {"'a'": "a", "'b'": "b"}, more, laid_out=laid_out)


NULL: Final[Mapping[str, object]] = {"NULL": None}
BERLIN: Final = ", time_zone: Europe/Berlin"
_NINE: Final = datetime(2026, 1, 31, 9, tzinfo=ZoneInfo("Europe/Berlin")).timestamp()
CHANGES: Final = {
    "string to decimal": _column(
        "string", "decimal(12,2)", {"'1.50'": Decimal("1.50"), "' -3 '": Decimal("-3.00"), **NULL}
    ),
    "bigint to int": _column("bigint", "int", {"7L": 7, "-2147483648L": -2147483648, **NULL}),
    "double to decimal": _column(
        "double", "decimal(10,2)", {"1.25D": Decimal("1.25"), "-0.5D": Decimal("-0.50"), **NULL}
    ),
    "int to string": _column("int", "string", {"7": "7", "-1": "-1", **NULL}),
    "string to boolean": _column("string", "boolean", {"'true'": True, "'false'": False, **NULL}),
    "string to date": _column("string", "date", {"'2026-01-31'": date(2026, 1, 31), **NULL}),
    "string to timestamp": _column("string", "timestamp", {"'2026-01-31 09:00:00'": _NINE, **NULL}, BERLIN),
    "string to timestamp_ntz": _column(
        "string",
        "timestamp_ntz",
        {"'2026-01-31 09:00:00'": datetime(2026, 1, 31, 9).timestamp(), **NULL},  # noqa: DTZ001
    ),
    "timestamp to date": _column(
        "timestamp",
        "date",
        {"TIMESTAMP'2026-01-30 23:30:00+00:00'": date(2026, 1, 31), **NULL},
        f"{BERLIN}, inexact: keep_converted",
    ),
    "values that may be lost": _column(
        "string", "int", {"'7'": 7, "'a few'": None, **NULL}, ", unfilled: keep_null"
    ),
    "a field": Change(
        "{name: c, type: struct, columns: [{name: x, type: string, comment: inside}, {name: y, type: int}]}",
        "{name: c, type: struct, columns: [{name: x, type: int, comment: inside, "
        'rewrite: {from: string, with: "cast(c.x as int)"}}, {name: y, type: int}]}',
        "struct<x:int,y:int>",
        {
            "named_struct('x', '1', 'y', 2)": {"x": 1, "y": 2},
            # Before Delta 4.4, INSERT makes a struct of nulls of a null: there is none here.
            "named_struct('x', CAST(NULL AS string), 'y', 3)": {"x": None, "y": 3},
        },
    ),
    "a field of a field": Change(
        "{name: c, type: struct, columns: [{name: s, type: struct, comment: deep, "
        "columns: [{name: x, type: string, comment: inside}, {name: y, type: int}]}]}",
        "{name: c, type: struct, columns: [{name: s, type: struct, comment: deep, "
        "columns: [{name: x, type: date, comment: inside, "
        'rewrite: {from: string, with: "cast(c.s.x as date)"}}, {name: y, type: int}]}]}',
        "struct<s:struct<x:date,y:int>>",
        {
            "named_struct('s', named_struct('x', '2026-01-31', 'y', 2))": {
                "s": {"x": date(2026, 1, 31), "y": 2}
            },
            "named_struct('s', named_struct('x', CAST(NULL AS string), 'y', 3))": {"s": {"x": None, "y": 3}},
        },
    ),
    "an array": _column(
        "array<string>",
        "array<date>",
        {"array('2026-01-31', NULL)": [date(2026, 1, 31), None], "array()": [], **NULL},
    ),
    "an array of structs": _column(
        "array<struct<x:string,y:int>>",
        "array<struct<x:int,y:int>>",
        {"array(named_struct('x', '1', 'y', 2))": [{"x": 1, "y": 2}], "array()": [], **NULL},
    ),
    "a map": _column(
        "map<string,string>", "map<string,int>", {"map('a', '1', 'b', NULL)": {"a": 1, "b": None}, **NULL}
    ),
    "to clusters": _laid_out("partitioned_by: []\nclustered_by: [p]\n", ([], ["p"])),
    "to no partitions": _laid_out("partitioned_by: []\n", ([], [])),
    "to other partitions": _laid_out("partitioned_by: [c]\n", (["c"], [])),
    "to clusters, and another type": _column(
        "string", "decimal(12,2)", {"'1.50'": Decimal("1.50"), **NULL}
    )._replace(
        layout="partitioned_by: []\nclustered_by: [c]\nrewrite: {from: {partitioned_by: [p]}}\n",
        laid_out=([], ["c"]),
    ),
}


class Shape(NamedTuple):
    """A table around the column.

    Attributes:
        column: The column beside ``id`` and ``c``, which is called ``p``.
        more: The rest of the contract.
        values: What the other columns have in every row, as SQL, and as Python reads it.
        then: Statements about the table after the rows are in.
        gone: The ids of the rows that these remove.
    """

    column: str = "{name: p, type: int}"
    more: str = ""
    values: tuple[str, object] = ("1", 1)
    then: tuple[str, ...] = ()
    gone: frozenset[int] = frozenset()


def _properties(**values: str) -> str:
    pairs = ", ".join(f"delta.{key.replace('_', '.')}: {value}" for key, value in values.items())
    return f"properties: {{{pairs}}}\n"


PARTITIONED: Final = "partitioned_by: [p]\n"
SHAPES: Final = {
    "plain": Shape(),
    "comments": Shape("{name: p, type: string, comment: a note}", "description: all orders\n", ("'x'", "x")),
    "partitioned": Shape(more=PARTITIONED),
    "partitioned by it": Shape(more="partitioned_by: [c]\n"),
    "clustered": Shape(more="clustered_by: [p]\n"),
    "clustered by it": Shape(more="clustered_by: [c]\n"),
    "mapped": Shape(more=_properties(columnMapping_mode="name")),
    "mapped by id": Shape(more=_properties(columnMapping_mode="id")),
    "mapped and partitioned": Shape(more=PARTITIONED + _properties(columnMapping_mode="name")),
    "change feed": Shape(more=_properties(enableChangeDataFeed="true")),
    "change feed and partitioned": Shape(more=PARTITIONED + _properties(enableChangeDataFeed="true")),
    "deletion vectors": Shape(
        more=_properties(enableDeletionVectors="true"),
        then=("DELETE FROM {t} WHERE id = 1",),
        gone=frozenset({1}),
    ),
    "row tracking": Shape(more=_properties(enableRowTracking="true")),
    "constraints": Shape(more="constraints: {known: id > 0, few: p < 9}\n"),
    "constraint on it": Shape(more="constraints: {short: c IS NULL OR length(c) < 20}\n"),
    "timestampNtz": Shape(more="features: [timestampNtz]\n"),
    "a history of types": Shape(
        "{name: p, type: smallint}",
        _properties(enableTypeWidening="true"),
        then=("ALTER TABLE {t} ALTER COLUMN p TYPE int",),
    ),
    "all of these": Shape(
        "{name: p, type: string, comment: a note}",
        "description: all orders\nclustered_by: [p]\nconstraints: {known: id > 0}\n"
        + _properties(
            columnMapping_mode="name",
            enableDeletionVectors="true",
            enableRowTracking="true",
        ),
        ("'x'", "x"),
        ("DELETE FROM {t} WHERE id = 1",),
        frozenset({1}),
    ),
    "mapped, with a change feed": Shape(
        more=_properties(columnMapping_mode="name", enableChangeDataFeed="true")
    ),
    "a default": Shape('{name: p, type: int, default: "7"}', "features: [allowColumnDefaults]\n"),
    "a length": Shape("{name: p, type: varchar(5)}", values=("'x'", "x")),
    "NOT NULL": Shape("{name: p, type: int, nullable: false}"),
    "a generated column": Shape("{name: p, type: int, generated: id + 1}", values=("", 1)),
    "an identity": Shape("{name: p, type: bigint, identity: {}}", values=("", 1)),
}
BY_API: Final = {"a generated column", "an identity"}
"""The shapes that Delta's API makes: before Delta 4.4, no SQL does."""

REFUSED: Final = {
    "NOT NULL": "it would lose NOT NULL of p",
    "a generated column": "it would lose the generation expression of p",
    "an identity": "it would lose the identity of p",
    "mapped, with a change feed": "with column mapping and a change data feed Delta refuses an overwrite "
    "that changes columns (DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION): switch the feed off in a change "
    "of its own before",
    "string to timestamp_ntz": "its new type needs timestampNtz: apply `features: [timestampNtz]` by itself "
    "before",
}
"""Why tables are refused beforehand, by their shape, or by the change."""

LAYOUTS: Final = [name for name, change in CHANGES.items() if change.layout]
ON_IT: Final = ("partitioned by it", "clustered by it", "constraint on it")
"""The shapes of tables that are about the column."""
_EVERYWHERE: Final = ("string to decimal", "a field")
_TYPES: Final = [name for name in CHANGES if name not in (*LAYOUTS, *_EVERYWHERE)]
_AROUND: Final = [name for name in SHAPES if name not in ("timestampNtz", *ON_IT)]
_PARTITIONED: Final = [name for name, shape in SHAPES.items() if PARTITIONED in shape.more]
QUESTIONS: Final = [
    *product(_AROUND, ["string to decimal"]),
    *product(_PARTITIONED, LAYOUTS),
    *product(_AROUND, ["a field"]),
    *product(ON_IT, ["string to decimal"]),
    *product(["plain"], _TYPES),
    ("timestampNtz", "string to timestamp_ntz"),
    *product(_AROUND[1 : _AROUND.index("constraints")], ["an array"]),
]


def contract(table: str, shape: str, change: str, *, after: bool) -> str:
    """Return the contract of a table before or after a change."""
    around, kind = SHAPES[shape], CHANGES[change]
    column, other, more = kind.before, around.column, around.more
    if after:
        column = kind.after
        other = other.replace("type: smallint", "type: int")
        more = more.replace(PARTITIONED, kind.layout or PARTITIONED)
    columns = f"[{{name: id, type: int}}, {column}, {other}]"
    return f"schemalint: 1\ntable: {table}\ncolumns: {columns}\n{more}protocol: {{allow_upgrade: true}}\n"


class Asked(NamedTuple):
    """A table of a batch.

    Attributes:
        name: Its name.
        path: Its location.
    """

    name: str
    path: str
    shape: str
    change: str

    @property
    def sql(self) -> str:
        """The table in SQL."""
        return f"delta.`{self.path}`"


def outcomes(lakehouse: Lakehouse, questions: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Make the tables of a batch, rewrite them, and return what became of each."""
    batch = [
        Asked(f"sales.t{number}", str(lakehouse.root / f"sales/t{number}"), *question)
        for number, question in enumerate(questions)
    ]
    made = _applied(lakehouse, batch, after=False)
    faults = {asked: f"not made: {fault}" for asked in batch if (fault := made[asked.name][1])}
    batch = [asked for asked in batch if asked not in faults]
    for asked in batch:
        _fill(lakehouse.session, asked)
    before = {asked: _metadata(asked.path) for asked in batch}
    applied = _applied(lakehouse, batch, after=True)
    again = _applied(lakehouse, batch, after=True)
    answers = dict(faults)
    for asked in batch:
        result, fault = applied[asked.name]
        differences = list(_differences(lakehouse.session, asked, before[asked]))
        if fault:
            unchanged = _metadata(asked.path) == before[asked]
            answers[asked] = fault if unchanged else f"{fault}; and changed"
            continue
        if again[asked.name][0].outcome.name != "NOTHING":
            differences.append(f"then {again[asked.name][0].outcome.value}")
        answers[asked] = "; ".join(differences) or f"{REWRITTEN}: {len(result.done)} commits"
    return {(asked.shape, asked.change): answer for asked, answer in answers.items()}


def _applied(
    lakehouse: Lakehouse, batch: Sequence[Asked], *, after: bool
) -> dict[str, tuple[AppliedTable, str]]:
    """Apply the contracts of a batch; return what became of each table, and why it was not applied."""
    for asked in batch:
        if not after and asked.shape in BY_API:
            _create_by_api(lakehouse.session, asked)
        text = contract(asked.name, asked.shape, asked.change, after=after)
        lakehouse.repo.write(f"contracts/{asked.name}.yml", text)
    lakehouse.repo.commit()
    repository = git.open_repository(lakehouse.repo.path, os.environ)
    settings = find_trusted(repository, os.environ)
    options = ApplyOptions(allow=ALLOW)
    via = SessionCatalog(lambda: lakehouse.session)
    deployment = prepare_requested(repository, settings, options, via=via, applies=True)
    run = run_confirmed(deployment, lambda: lakehouse.session, options, Unattended(), DeployLog(None))
    reasons = {
        plan.table: "; ".join(f"refused: {refusal.reason}" for refusal in plan.refusals)
        for plan in deployment.plan.tables
    }
    return {
        result.table: (result, reasons.get(result.table) or _text(result.error))
        for result in run.results or ()
    }


def _text(error: object) -> str:
    return "" if error is None else " ".join(str(error).split())[:300]


def _create_by_api(spark: SparkSession, asked: Asked) -> None:
    """Create a table with a generated column or an identity."""
    from delta.tables import DeltaTable, IdentityGenerator  # noqa: PLC0415 (only with Delta)

    types = {
        "string to decimal": "STRING",
        "an array": "ARRAY<STRING>",
        "a field": "STRUCT<x: STRING, y: INT>",
    }
    builder = DeltaTable.create(spark).location(asked.path).addColumn("id", "INT")
    builder = builder.addColumn("c", types[asked.change])
    if asked.shape == "an identity":
        builder = builder.addColumn("p", "BIGINT", generatedAlwaysAs=IdentityGenerator())
    else:
        builder = builder.addColumn("p", "INT", generatedAlwaysAs="id + 1")
    builder.execute()


def _fill(spark: SparkSession, asked: Asked) -> None:
    """Write the rows of a table, and what comes after them."""
    shape = SHAPES[asked.shape]
    other = shape.values[0] and f", {shape.values[0]}"
    rows = [f"({id_}, {value}{other})" for id_, value in enumerate(CHANGES[asked.change].values, 1)]
    names = "id, c, p" if other else "id, c"
    spark.sql(f"INSERT INTO {asked.sql} ({names}) VALUES {', '.join(rows)}")
    for statement in shape.then:
        spark.sql(statement.replace("{t}", asked.sql))


def _differences(spark: SparkSession, asked: Asked, before: dict[str, Any]) -> Iterator[str]:
    """Yield what differs in a rewritten table from what it must be, without a word of schemalint."""
    shape, change = SHAPES[asked.shape], CHANGES[asked.change]
    frame = spark.sql(f"SELECT * FROM {asked.sql}")
    found = {
        row["id"]: {name: _plain(row[name]) for name in ("c", "p")} for row in map(_as_dict, frame.collect())
    }
    expected = {
        id_: {"c": value, "p": shape.values[1]}
        for id_, value in enumerate(change.values.values(), 1)
        if id_ not in shape.gone
    }
    if found != expected:
        yield f"other rows: {found}"
    if (type_ := frame.schema["c"].dataType.simpleString()) != change.type:
        yield f"another type: {type_}"
    after = _metadata(asked.path)
    if change.laid_out is not None:
        (detail,) = spark.sql(f"DESCRIBE DETAIL {asked.sql}").collect()
        laid_out = [*detail["partitionColumns"]], [*detail["clusteringColumns"]]
        if laid_out != change.laid_out:
            yield f"another layout: {laid_out}"
        for metadata in (before, after):
            for name in ("partitionColumns", "protocol", "delta.clustering"):
                metadata.pop(name, None)
    if asked.shape == "a history of types":
        for metadata in (before, after):  # Delta 3.3.2 keeps it (measured), later ones do not
            metadata["schemaString"][0][1]["metadata"].pop("delta.typeChanges", None)
    for name in before.keys() | after.keys():
        if before.get(name) != after.get(name):
            yield f"another {name}: {before.get(name)} became {after.get(name)}"


def _as_dict(row: Any) -> dict[str, Any]:  # noqa: ANN401 (pyspark's rows)
    found: dict[str, Any] = row.asDict(recursive=True)
    return found


def _plain(value: object) -> object:
    return value.timestamp() if isinstance(value, datetime) else value


def _metadata(path: str) -> dict[str, Any]:
    """Return what the log says of a table, without the type of the column and what Delta numbers."""
    found: dict[str, Any] = {}
    clustering = None
    for file in sorted(Path(path, "_delta_log").glob("*.json")):
        for line in file.read_text("utf-8").splitlines():
            action = json.loads(line)
            found |= action.get("metaData", {})
            found |= {"protocol": action["protocol"]} if "protocol" in action else {}
            domain = action.get("domainMetadata", {})
            if domain.get("domain") == "delta.clustering" and not domain["removed"]:
                clustering = json.loads(domain["configuration"])["clusteringColumns"]
    fields = json.loads(found["schemaString"])["fields"]
    comments = [str(field["metadata"].get("comment")) for field in fields]
    others = [field for field in fields if field["name"] != "c"]
    kept = dict(found["configuration"])
    kept.pop("delta.columnMapping.maxColumnId", None)
    return {
        **found,
        "configuration": kept,
        "schemaString": [others, comments],
        "delta.clustering": clustering,
    }


def ask(
    spark: SparkSession, folder: Path, questions: Sequence[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the answer to each question."""
    for start in range(0, len(questions), BATCH):
        lakehouse = Lakehouse.make(folder / f"r{start}", spark)
        yield from outcomes(lakehouse, questions[start : start + BATCH]).items()


def read_record(path: Path = RECORD) -> dict[tuple[str, str], str]:
    """Return the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        _versions_line, *lines = file
    return {(row["shape"], row["change"]): row["answer"] for row in csv.DictReader(lines)}


def main() -> None:
    """Ask all questions, and record the answers of the installed Delta.

    With ``continue`` as the argument, those that the record has are not asked again.
    """
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    for name, value in {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}.items():
        os.environ[name] = value
    path = new_record("overwrites")
    answered = read_record(path) if sys.argv[1:] == ["continue"] and path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        for key, value in FOR_FEW_ROWS.items():
            session.conf.set(key, value)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(f"# {_versions()}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("shape", "change", "answer"))
            writer.writerows((*question, answer) for question, answer in answered.items())
            file.flush()
            left = [question for question in QUESTIONS if question not in answered]
            for question, answer in ask(session, Path(folder), left):
                writer.writerow((*question, answer))
                sys.stdout.write(f"{question}: {answer}\n")
                sys.stdout.flush()
                file.flush()
        session.stop()


if __name__ == "__main__":
    main()
