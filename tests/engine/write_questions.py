"""Questions about writes: a table, a DataFrame, and how the one is written into the other.

Each pair of types, and each shape of two schemas (`SHAPES`), is asked of each way to write (`WAYS`) with its
options. A table is made of its log alone, so that a question costs one write.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from schemalint.base.values import replace
from schemalint.delta.datatype import Identity, Struct
from schemalint.delta.protocol import Protocol, features_of_new_table
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WIDENING: Final = {"delta.enableTypeWidening": "true"}
MAPPED: Final = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "9"}
MERGE: Final = {"mergeSchema": "true"}
NO_MERGE: Final = {"mergeSchema": "false"}
OVERWRITE: Final = {"overwriteSchema": "true"}
AUTO_MERGE: Final = {"spark.databricks.delta.schema.autoMerge.enabled": "true"}
_AUTOMATIC: Final = "spark.databricks.delta.typeWidening.allowAutomaticWidening"
_POLICY: Final = "spark.sql.storeAssignmentPolicy"
DYNAMIC: Final = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}


class Table(NamedTuple):
    """A table before the write.

    Attributes:
        columns: Its columns, as the fields of a struct; an empty text if there is no table.
        properties: Its properties.
        defaults: The default of a column, by its name.
        generated: The generation expression of a column, by its name.
        identity: The name of an identity column.
        partitioned: The names of its partition columns.
    """

    columns: str
    properties: Mapping[str, str] = {}
    defaults: Mapping[str, str] = {}
    generated: Mapping[str, str] = {}
    identity: str = ""
    partitioned: tuple[str, ...] = ()


class Data(NamedTuple):
    """A DataFrame of one row: its columns as the fields of a struct, and values in SQL by column."""

    columns: str
    values: Mapping[str, str] = {}


class Way(NamedTuple):
    """How it is written.

    Attributes:
        method: ``save``, ``saveAsTable``, ``insertInto``, ``writeTo``, a key of `STATEMENTS`, or ``stream``.
        mode: The mode of the writer.
        options: The options of the writer.
        conf: The settings of the session.
        partition_by: What the writer partitions by.
        says_delta: Whether the writer of an insertInto says ``format("delta")``.
    """

    method: str
    mode: str = "append"
    options: Mapping[str, str] = {}
    conf: Mapping[str, str] = {}
    partition_by: tuple[str, ...] = ()
    says_delta: bool = False


class Question(NamedTuple):
    """What does the log show after such a write?"""

    name: str
    table: Table
    data: Data
    way: Way


STATEMENTS: Final = {
    "INSERT": "INSERT INTO {t} SELECT * FROM {v}",
    "INSERT columns": "INSERT INTO {t} ({names}) SELECT * FROM {v}",
    "INSERT BY NAME": "INSERT INTO {t} BY NAME SELECT * FROM {v}",
    "INSERT EVOLUTION": "INSERT WITH SCHEMA EVOLUTION INTO {t} SELECT * FROM {v}",
    "INSERT EVOLUTION BY NAME": "INSERT WITH SCHEMA EVOLUTION INTO {t} BY NAME SELECT * FROM {v}",
    "INSERT OVERWRITE": "INSERT OVERWRITE {t} SELECT * FROM {v}",
    "INSERT REPLACE WHERE": "INSERT INTO {t} REPLACE WHERE id = 1 SELECT * FROM {v}",
    "MERGE": "MERGE INTO {t} AS t USING {v} AS s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "MERGE EVOLUTION": "MERGE WITH SCHEMA EVOLUTION INTO {t} AS t USING {v} AS s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "MERGE columns": "MERGE INTO {t} AS t USING {v} AS s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET c = s.c WHEN NOT MATCHED THEN INSERT (id, c) VALUES (s.id, s.c)",
    "MERGE one column": "MERGE INTO {t} AS t USING {v} AS s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET t.c = s.c",
    "INSERT PARTITION": "INSERT INTO {t} PARTITION (c = 1) SELECT * FROM {v}",
    "INSERT OVERWRITE PARTITION": "INSERT OVERWRITE {t} PARTITION (c = 1) SELECT * FROM {v}",
    "INSERT PARTITION by name": "INSERT INTO {t} PARTITION (c = 1) BY NAME SELECT * FROM {v}",
    "INSERT PARTITION of the query": "INSERT INTO {t} PARTITION (c) SELECT * FROM {v}",
}
"""The statements by their names: ``t`` is the table, ``v`` a view of the data."""

TYPES: Final = (
    "smallint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(20,0)", "string", "date",
    "timestamp",
)  # fmt: skip

VALUES: Final = {
    "string": "'1'", "boolean": "true", "date": "DATE'2026-01-01'", "timestamp": "TIMESTAMP'2026-01-01'",
    "timestamp_ntz": "TIMESTAMP_NTZ'2026-01-01'", "binary": "X'31'", "void": "NULL", "variant": "NULL",
}  # fmt: skip
"""A value of each type that fits others where one can; a number for all other types."""

_BASE: Final = "id: bigint, c: int, s: string"
_DEFAULTS: Final = {"delta.feature.allowColumnDefaults": "supported"}

SHAPES: Final[Mapping[str, tuple[Table, Data]]] = {
    "the same": (Table(_BASE), Data(_BASE)),
    "another column": (Table(_BASE), Data(f"{_BASE}, x: int")),
    "another column first": (Table(_BASE), Data(f"x: int, {_BASE}")),
    "another column between": (Table(_BASE), Data("id: bigint, c: int, x: int, s: string")),
    "two other columns": (Table(_BASE), Data(f"{_BASE}, x: int, y: date")),
    "the last column missing": (Table(_BASE), Data("id: bigint, c: int")),
    "a column between missing": (Table(_BASE), Data("id: bigint, s: string")),
    "a required column missing": (
        Table("id: bigint, c: int, s: string NOT NULL"),
        Data("id: bigint, c: int"),
    ),
    "a column with a default missing": (
        Table(_BASE, _DEFAULTS, defaults={"s": "'x'"}),
        Data("id: bigint, c: int"),
    ),
    "a required column with a default missing": (
        Table("id: bigint, c: int, s: string NOT NULL", _DEFAULTS, defaults={"s": "'x'"}),
        Data("id: bigint, c: int"),
    ),
    "a generated column missing": (
        Table("id: bigint, c: int, g: int", generated={"g": "c + 1"}),
        Data("id: bigint, c: int"),
    ),
    "a generated column given": (
        Table("id: bigint, c: int, g: int", generated={"g": "c + 1"}),
        Data("id: bigint, c: int, g: int", {"g": "2"}),
    ),
    "an identity column missing": (
        Table("id: bigint, c: int, i: bigint", identity="i"),
        Data("id: bigint, c: int"),
    ),
    "an identity column given": (
        Table("id: bigint, c: int, i: bigint", identity="i"),
        Data("id: bigint, c: int, i: bigint"),
    ),
    "another case": (Table(_BASE), Data("ID: bigint, C: int, S: string")),
    "a name in two cases": (Table(_BASE), Data("id: bigint, c: int, C: int")),
    "another order": (Table(_BASE), Data("s: string, c: int, id: bigint")),
    "another order of the same types": (
        Table("id: bigint, c: int, d: int"),
        Data("id: bigint, d: int, c: int"),
    ),
    "other names": (Table(_BASE), Data("id: bigint, k: int, t: string")),
    "another field": (
        Table("id: bigint, c: struct<a: int>"),
        Data("id: bigint, c: struct<a: int, b: int>"),
    ),
    "another field in an array": (
        Table("id: bigint, c: array<struct<a: int>>"),
        Data("id: bigint, c: array<struct<a: int, b: int>>"),
    ),
    "another field in a map": (
        Table("id: bigint, c: map<string, struct<a: int>>"),
        Data("id: bigint, c: map<string, struct<a: int, b: int>>"),
    ),
    "a field missing": (
        Table("id: bigint, c: struct<a: int, b: int>"),
        Data("id: bigint, c: struct<a: int>"),
    ),
    "a field in an array missing": (
        Table("id: bigint, c: array<struct<a: int, b: int>>"),
        Data("id: bigint, c: array<struct<a: int>>"),
    ),
    "a field in a map missing": (
        Table("id: bigint, c: map<string, struct<a: int, b: int>>"),
        Data("id: bigint, c: map<string, struct<a: int>>"),
    ),
    "a required field missing": (
        Table("id: bigint, c: struct<a: int, b: int NOT NULL>"),
        Data("id: bigint, c: struct<a: int>"),
    ),
    "fields in another order": (
        Table("id: bigint, c: struct<a: int, b: string>"),
        Data("id: bigint, c: struct<b: string, a: int>"),
    ),
    "fields in another case": (
        Table("id: bigint, c: struct<a: int>"),
        Data("id: bigint, c: struct<A: int>"),
    ),
    "a wider field": (
        Table("id: bigint, c: struct<a: int>", WIDENING),
        Data("id: bigint, c: struct<a: bigint>"),
    ),
    "a wider field without the feature": (
        Table("id: bigint, c: struct<a: smallint>"),
        Data("id: bigint, c: struct<a: int>"),
    ),
    "a wider element": (Table("id: bigint, c: array<int>", WIDENING), Data("id: bigint, c: array<bigint>")),
    "a wider key": (
        Table("id: bigint, c: map<int, int>", WIDENING),
        Data("id: bigint, c: map<bigint, int>"),
    ),
    "a narrower field": (Table("id: bigint, c: struct<a: bigint>"), Data("id: bigint, c: struct<a: int>")),
    "a struct for a number": (Table(_BASE), Data("id: bigint, c: struct<a: int>, s: string")),
    "a new void column": (Table(_BASE), Data(f"{_BASE}, x: void")),
    "a new void field": (
        Table("id: bigint, c: struct<a: int>"),
        Data("id: bigint, c: struct<a: int, b: void>"),
    ),
    "a void column gets a type": (Table("id: bigint, c: void"), Data("id: bigint, c: int")),
    "a void column gets a struct": (Table("id: bigint, c: void"), Data("id: bigint, c: struct<a: int>")),
    "a new timestamp_ntz": (Table(_BASE), Data(f"{_BASE}, x: timestamp_ntz")),
    "a new name with a space": (Table(_BASE), Data(f"{_BASE}, `x y`: int")),
    "a new name with a space, mapped": (Table(_BASE, MAPPED), Data(f"{_BASE}, `x y`: int")),
    "a new name with a dot": (Table(_BASE), Data(f"{_BASE}, `x.y`: int")),
    "a wider type that a constraint uses": (
        Table(_BASE, {**WIDENING, "delta.constraints.positive": "c > 0"}),
        Data("id: bigint, c: bigint, s: string"),
    ),
    "a narrower type that a constraint uses": (
        Table("id: bigint, c: bigint, s: string", {"delta.constraints.positive": "c > 0"}),
        Data(_BASE),
    ),
    "a wider type that a generated column uses": (
        Table("id: bigint, c: int, g: int", WIDENING, generated={"g": "c + 1"}),
        Data("id: bigint, c: bigint"),
    ),
    "a string for a varchar": (Table("id: bigint, c: varchar(5)"), Data("id: bigint, c: string")),
    "a string too long for a varchar": (
        Table("id: bigint, c: varchar(5)"),
        Data("id: bigint, c: string", {"c": "'123456'"}),
    ),
    "a null for a required column": (
        Table("id: bigint, c: int NOT NULL"),
        Data("id: bigint, c: int", {"c": "NULL"}),
    ),
    "a number that overflows": (
        Table("id: bigint, c: int"),
        Data("id: bigint, c: bigint", {"c": "3000000000"}),
    ),
    "a text that is no number": (Table("id: bigint, c: int"), Data("id: bigint, c: string", {"c": "'abc'"})),
    "a partitioned table": (Table(_BASE, partitioned=("c",)), Data(_BASE)),
    "another column of a partitioned table": (Table(_BASE, partitioned=("c",)), Data(f"{_BASE}, x: int")),
    "a wider partition column": (
        Table(_BASE, WIDENING, partitioned=("c",)),
        Data("id: bigint, c: bigint, s: string"),
    ),
    "the partition column missing": (Table(_BASE, partitioned=("s",)), Data("id: bigint, c: int")),
    "the partition column alone": (Table(_BASE, partitioned=("id",)), Data("id: bigint")),
    "NOT NULL columns": (Table("id: bigint NOT NULL, c: int, s: string"), Data(_BASE)),
    "no table": (Table(""), Data(_BASE)),
}

WAYS: Final[Mapping[str, Way]] = {
    "save": Way("save"),
    "save mergeSchema": Way("save", options=MERGE),
    "save autoMerge": Way("save", conf=AUTO_MERGE),
    "save mergeSchema=false autoMerge": Way("save", options=NO_MERGE, conf=AUTO_MERGE),
    "saveAsTable": Way("saveAsTable"),
    "saveAsTable mergeSchema": Way("saveAsTable", options=MERGE),
    "insertInto": Way("insertInto"),
    "insertInto mergeSchema": Way("insertInto", options=MERGE),
    "INSERT": Way("INSERT"),
    "INSERT autoMerge": Way("INSERT", conf=AUTO_MERGE),
    "INSERT columns": Way("INSERT columns"),
    "INSERT BY NAME": Way("INSERT BY NAME"),
    "INSERT BY NAME autoMerge": Way("INSERT BY NAME", conf=AUTO_MERGE),
    "INSERT EVOLUTION": Way("INSERT EVOLUTION"),
    "INSERT EVOLUTION BY NAME": Way("INSERT EVOLUTION BY NAME"),
    "MERGE": Way("MERGE"),
    "MERGE autoMerge": Way("MERGE", conf=AUTO_MERGE),
    "MERGE EVOLUTION": Way("MERGE EVOLUTION"),
    "MERGE columns": Way("MERGE columns"),
    "MERGE one column": Way("MERGE one column"),
    "stream": Way("stream"),
    "stream mergeSchema": Way("stream", options=MERGE),
    "writeTo": Way("writeTo"),
    "writeTo mergeSchema": Way("writeTo", options=MERGE),
    "writeTo autoMerge": Way("writeTo", conf=AUTO_MERGE),
    "writeTo overwrite": Way("writeTo", "overwrite"),
    "writeTo overwrite mergeSchema": Way("writeTo", "overwrite", MERGE),
    "writeTo overwrite overwriteSchema": Way("writeTo", "overwrite", OVERWRITE),
    "save overwrite": Way("save", "overwrite"),
    "save overwrite mergeSchema": Way("save", "overwrite", MERGE),
    "save overwrite overwriteSchema": Way("save", "overwrite", OVERWRITE),
    "saveAsTable overwrite": Way("saveAsTable", "overwrite"),
    "saveAsTable overwrite overwriteSchema": Way("saveAsTable", "overwrite", OVERWRITE),
    "insertInto overwrite": Way("insertInto", "overwrite"),
    "delta insertInto": Way("insertInto", says_delta=True),
    "delta insertInto mergeSchema": Way("insertInto", options=MERGE, says_delta=True),
    "delta insertInto overwrite mergeSchema": Way("insertInto", "overwrite", MERGE, says_delta=True),
    "delta insertInto overwriteSchema": Way("insertInto", "overwrite", OVERWRITE, says_delta=True),
    "INSERT OVERWRITE": Way("INSERT OVERWRITE"),
}

_PAIRS: Final[Mapping[str, tuple[Way, Mapping[str, str]]]] = {
    "save mergeSchema widening": (Way("save", options=MERGE), WIDENING),
    "insertInto": (Way("insertInto"), {}),
}
_FEW: Final = ("smallint", "int", "bigint", "decimal(20,0)", "string")
_FEW_PAIRS: Final[Mapping[str, tuple[Way, Mapping[str, str]]]] = {
    "save mergeSchema": (Way("save", options=MERGE), {}),
    "insertInto mergeSchema widening": (Way("insertInto", options=MERGE), WIDENING),
    "save mergeSchema widening same_family_type": (
        Way("save", options=MERGE, conf={_AUTOMATIC: "same_family_type"}),
        WIDENING,
    ),
    "delta insertInto mergeSchema widening": (Way("insertInto", options=MERGE, says_delta=True), WIDENING),
    "insertInto legacy": (Way("insertInto", conf={_POLICY: "LEGACY"}), {}),
    "insertInto strict": (Way("insertInto", conf={_POLICY: "STRICT"}), {}),
    "INSERT EVOLUTION widening": (Way("INSERT EVOLUTION"), WIDENING),
    "MERGE": (Way("MERGE"), {}),
    "MERGE columns": (Way("MERGE columns"), {}),
    "MERGE autoMerge widening": (Way("MERGE", conf=AUTO_MERGE), WIDENING),
    "stream mergeSchema widening": (Way("stream", options=MERGE), WIDENING),
}
_FEWEST: Final = ("int", "bigint", "string")
_FEWEST_PAIRS: Final[Mapping[str, tuple[Way, Mapping[str, str]]]] = {
    "save": (Way("save"), {}),
    "save widening": (Way("save"), WIDENING),
    "save overwrite": (Way("save", "overwrite"), {}),
    "save mergeSchema widening never": (
        Way("save", options=MERGE, conf={_AUTOMATIC: "never"}),
        WIDENING,
    ),
    "save mergeSchema widening always": (
        Way("save", options=MERGE, conf={_AUTOMATIC: "always"}),
        WIDENING,
    ),
    "insertInto widening": (Way("insertInto"), WIDENING),
    "insertInto mergeSchema": (Way("insertInto", options=MERGE), {}),
    "insertInto not ANSI": (Way("insertInto", conf={"spark.sql.ansi.enabled": "false"}), {}),
    "writeTo": (Way("writeTo"), {}),
    "writeTo mergeSchema widening": (Way("writeTo", options=MERGE), WIDENING),
    "saveAsTable": (Way("saveAsTable"), {}),
    "saveAsTable mergeSchema widening": (Way("saveAsTable", options=MERGE), WIDENING),
    "INSERT BY NAME": (Way("INSERT BY NAME"), {}),
    "MERGE widening": (Way("MERGE"), WIDENING),
    "MERGE EVOLUTION widening": (Way("MERGE EVOLUTION"), WIDENING),
    "MERGE autoMerge": (Way("MERGE", conf=AUTO_MERGE), {}),
    "stream": (Way("stream"), {}),
}

_PARTITIONED: Final = Table(_BASE, partitioned=("c",))
_REQUIRED: Final = Table("id: bigint NOT NULL, c: int, s: string")
_MORE: Final = Data(f"{_BASE}, x: int")
_OVERFLOW: Final = (Table("id: bigint, c: int"), Data("id: bigint, c: bigint", {"c": "3000000000"}))
_NO_NUMBER: Final = (Table("id: bigint, c: int"), Data("id: bigint, c: string", {"c": "'abc'"}))
_NOT_ANSI: Final = {"spark.sql.ansi.enabled": "false"}
_LEGACY: Final = {_POLICY: "LEGACY"}

SINGLE: Final[Mapping[str, tuple[Table, Data, Way]]] = {
    "replaceWhere overwriteSchema": (
        _PARTITIONED, _MORE, Way("save", "overwrite", {**OVERWRITE, "replaceWhere": "c = 1"}),
    ),
    "replaceWhere mergeSchema": (
        _PARTITIONED, _MORE, Way("save", "overwrite", {**MERGE, "replaceWhere": "c = 1"}),
    ),
    "replaceWhere": (_PARTITIONED, _MORE, Way("save", "overwrite", {"replaceWhere": "c = 1"})),
    "replaceWhere saveAsTable overwriteSchema": (
        _PARTITIONED, _MORE, Way("saveAsTable", "overwrite", {**OVERWRITE, "replaceWhere": "c = 1"}),
    ),
    "replaceWhere saveAsTable": (
        _PARTITIONED, Data(_BASE), Way("saveAsTable", "overwrite", {"replaceWhere": "c = 1"}),
    ),
    "INSERT REPLACE WHERE": (Table(_BASE), Data(_BASE), Way("INSERT REPLACE WHERE")),
    "INSERT REPLACE WHERE of another column": (Table(_BASE), _MORE, Way("INSERT REPLACE WHERE")),
    "dynamic option overwriteSchema": (
        _PARTITIONED, _MORE, Way("save", "overwrite", {**OVERWRITE, "partitionOverwriteMode": "dynamic"}),
    ),
    "dynamic option": (
        _PARTITIONED, Data(_BASE), Way("save", "overwrite", {"partitionOverwriteMode": "dynamic"}),
    ),
    "dynamic option mergeSchema": (
        _PARTITIONED, _MORE, Way("save", "overwrite", {**MERGE, "partitionOverwriteMode": "dynamic"}),
    ),
    "dynamic setting overwriteSchema": (_PARTITIONED, _MORE, Way("save", "overwrite", OVERWRITE, DYNAMIC)),
    "dynamic setting overwriteSchema, no partitions": (
        Table(_BASE), _MORE, Way("save", "overwrite", OVERWRITE, DYNAMIC),
    ),
    "dynamic setting mergeSchema": (_PARTITIONED, _MORE, Way("save", "overwrite", MERGE, DYNAMIC)),
    "dynamic setting": (_PARTITIONED, Data(_BASE), Way("save", "overwrite", {}, DYNAMIC)),
    "dynamic setting, another column": (_PARTITIONED, _MORE, Way("save", "overwrite", {}, DYNAMIC)),
    "dynamic setting insertInto": (
        _PARTITIONED, Data("id: bigint, s: string, c: int"), Way("insertInto", "overwrite", {}, DYNAMIC),
    ),
    "dynamic setting delta insertInto overwriteSchema": (
        _PARTITIONED, _MORE, Way("insertInto", "overwrite", OVERWRITE, DYNAMIC, says_delta=True),
    ),
    "dynamic option delta insertInto overwriteSchema": (
        _PARTITIONED, _MORE,
        Way("insertInto", "overwrite", {**OVERWRITE, "partitionOverwriteMode": "dynamic"}, says_delta=True),
    ),
    "dynamic setting delta insertInto mergeSchema": (
        _PARTITIONED, _MORE, Way("insertInto", "overwrite", MERGE, DYNAMIC, says_delta=True),
    ),
    "replaceWhere delta insertInto": (
        _PARTITIONED, Data(_BASE), Way("insertInto", "overwrite", {"replaceWhere": "c = 1"}, says_delta=True),
    ),
    "replaceWhere delta insertInto mergeSchema": (
        _PARTITIONED, _MORE,
        Way("insertInto", "overwrite", {**MERGE, "replaceWhere": "c = 1"}, says_delta=True),
    ),
    "delta insertInto overwriteSchema of NOT NULL": (
        _REQUIRED, Data(_BASE), Way("insertInto", "overwrite", OVERWRITE, says_delta=True),
    ),
    "delta insertInto overwriteSchema, narrower": (
        Table(_BASE), Data("id: bigint, c: string, s: string"),
        Way("insertInto", "overwrite", OVERWRITE, says_delta=True),
    ),
    "delta insertInto overwriteSchema, a varchar of another name": (
        Table("id: bigint, c: varchar(5)"), Data("id: bigint, k: string"),
        Way("insertInto", "overwrite", OVERWRITE, says_delta=True),
    ),
    "delta insertInto overwriteSchema, partitioned": (
        _PARTITIONED, Data(_BASE), Way("insertInto", "overwrite", OVERWRITE, says_delta=True),
    ),
    "overwriteSchema appended, delta insertInto": (
        Table(_BASE), _MORE, Way("insertInto", options=OVERWRITE, says_delta=True),
    ),
    "dynamic setting INSERT OVERWRITE": (_PARTITIONED, Data(_BASE), Way("INSERT OVERWRITE", conf=DYNAMIC)),
    "dynamic setting saveAsTable overwriteSchema": (
        _PARTITIONED, _MORE, Way("saveAsTable", "overwrite", OVERWRITE, DYNAMIC),
    ),
    "partitionBy, the same": (_PARTITIONED, Data(_BASE), Way("save", partition_by=("c",))),
    "partitionBy, another one": (_PARTITIONED, Data(_BASE), Way("save", partition_by=("s",))),
    "partitionBy, another one, mergeSchema": (
        _PARTITIONED, _MORE, Way("save", options=MERGE, partition_by=("s",)),
    ),
    "partitionBy of a table without": (Table(_BASE), Data(_BASE), Way("save", partition_by=("c",))),
    "partitionBy in another case": (_PARTITIONED, Data(_BASE), Way("save", partition_by=("C",))),
    "partitionBy overwrite": (_PARTITIONED, Data(_BASE), Way("save", "overwrite", partition_by=("s",))),
    "partitionBy overwriteSchema": (
        _PARTITIONED, Data(_BASE), Way("save", "overwrite", OVERWRITE, partition_by=("s",)),
    ),
    "no partitionBy overwriteSchema": (_PARTITIONED, Data(_BASE), Way("save", "overwrite", OVERWRITE)),
    "no partitionBy overwriteSchema of NOT NULL": (_REQUIRED, _MORE, Way("save", "overwrite", OVERWRITE)),
    "the same overwriteSchema of NOT NULL": (_REQUIRED, Data(_BASE), Way("save", "overwrite", OVERWRITE)),
    "partitionBy saveAsTable, another one": (
        _PARTITIONED, Data(_BASE), Way("saveAsTable", partition_by=("s",)),
    ),
    "no partitionBy saveAsTable overwriteSchema": (
        _PARTITIONED, Data(_BASE), Way("saveAsTable", "overwrite", OVERWRITE),
    ),
    "no partitionBy saveAsTable overwrite": (_PARTITIONED, Data(_BASE), Way("saveAsTable", "overwrite")),
    "overwriteSchema appended": (Table(_BASE), _MORE, Way("save", options=OVERWRITE)),
    "overwriteSchema appended, the same": (Table(_BASE), Data(_BASE), Way("save", options=OVERWRITE)),
    "overwriteSchema insertInto": (Table(_BASE), _MORE, Way("insertInto", "overwrite", OVERWRITE)),
    "overwriteSchema insertInto, narrower": (
        Table(_BASE), Data("id: bigint, c: string, s: string"), Way("insertInto", "overwrite", OVERWRITE),
    ),
    **{
        f"the partition column alone: saveAsTable {mode}": (
            *SHAPES["the partition column alone"], Way("saveAsTable", mode),
        )
        for mode in ("append", "overwrite")
    },
    "the partition column alone: partitionBy overwriteSchema": (
        *SHAPES["the partition column alone"], Way("save", "overwrite", OVERWRITE, partition_by=("id",)),
    ),
    "mode ignore": (Table(_BASE), _MORE, Way("save", "ignore")),
    "mode ignore mergeSchema": (Table(_BASE), _MORE, Way("save", "ignore", MERGE)),
    "mode error": (Table(_BASE), Data(_BASE), Way("save", "errorifexists")),
    "mode ignore saveAsTable": (Table(_BASE), _MORE, Way("saveAsTable", "ignore")),
    "mode error saveAsTable": (Table(_BASE), Data(_BASE), Way("saveAsTable", "errorifexists")),
    "mode ignore, no table": (Table(""), Data(_BASE), Way("save", "ignore")),
    "mode error, no table": (Table(""), Data(_BASE), Way("save", "errorifexists")),
    "options in other words": (Table(_BASE), _MORE, Way("save", options={"MERGESCHEMA": "TRUE"})),
    "an option that is no boolean": (Table(_BASE), Data(_BASE), Way("save", options={"mergeSchema": "yes"})),
    "case-sensitive session": (
        Table(_BASE), Data("ID: bigint, c: int, s: string"),
        Way("save", options=MERGE, conf={"spark.sql.caseSensitive": "true"}),
    ),
    "case-sensitive insertInto": (
        Table(_BASE), Data("ID: bigint, c: int, s: string"),
        Way("insertInto", conf={"spark.sql.caseSensitive": "true"}),
    ),
    "case-sensitive, a name in two cases": (
        Table(_BASE), Data("id: bigint, c: int, C: int"),
        Way("save", options=MERGE, conf={"spark.sql.caseSensitive": "true"}),
    ),
    "overflow, not ANSI": (*_OVERFLOW, Way("insertInto", conf=_NOT_ANSI)),
    "overflow, legacy": (*_OVERFLOW, Way("insertInto", conf=_LEGACY)),
    "overflow, legacy and not ANSI": (*_OVERFLOW, Way("insertInto", conf={**_LEGACY, **_NOT_ANSI})),
    "overflow in a MERGE, not ANSI": (*_OVERFLOW, Way("MERGE", conf=_NOT_ANSI)),
    "overflow in a MERGE, legacy and not ANSI": (*_OVERFLOW, Way("MERGE", conf={**_LEGACY, **_NOT_ANSI})),
    "overflow in a stream, not ANSI": (*_OVERFLOW, Way("stream", conf=_NOT_ANSI)),
    "no number, legacy": (*_NO_NUMBER, Way("insertInto", conf=_LEGACY)),
    "no number, legacy and not ANSI": (*_NO_NUMBER, Way("insertInto", conf={**_LEGACY, **_NOT_ANSI})),
    "no number in a MERGE, legacy": (*_NO_NUMBER, Way("MERGE", conf=_LEGACY)),
    "no number in a MERGE, legacy and not ANSI": (*_NO_NUMBER, Way("MERGE", conf={**_LEGACY, **_NOT_ANSI})),
    "no number in a stream, not ANSI": (*_NO_NUMBER, Way("stream", conf=_NOT_ANSI)),
    "void in a stream": (Table(_BASE), Data(f"{_BASE}, x: void"), Way("stream", options=MERGE)),
    **{
        f"a partition named by {way}, {what}": (_PARTITIONED, Data(columns), Way(way, conf=conf))
        for way in ("INSERT PARTITION", "INSERT OVERWRITE PARTITION", "INSERT PARTITION by name")
        for what, columns, conf in (
            ("the same", "id: bigint, s: string", {}),
            ("another column", "id: bigint, s: string, x: int", {}),
            ("another column, autoMerge", "id: bigint, s: string, x: int", AUTO_MERGE),
            ("a column missing", "id: bigint", {}),
            ("another order", "s: string, id: bigint", {}),
            ("narrower", "id: string, s: string", {}),
            ("a struct", "id: struct<a: int>, s: string", {}),
            ("the partition too", _BASE, {}),
        )
    },
    "a partition of the query": (_PARTITIONED, Data(_BASE), Way("INSERT PARTITION of the query")),
    "a partition of the query, last": (
        _PARTITIONED, Data("id: bigint, s: string, c: int"), Way("INSERT PARTITION of the query"),
    ),
    "a partition of the query, another column": (_PARTITIONED, _MORE, Way("INSERT PARTITION of the query")),
    "a partition of a table without": (
        Table(_BASE), Data("id: bigint, s: string"), Way("INSERT PARTITION"),
    ),
    "a required column not named in a MERGE": (
        Table("id: bigint, c: int, s: string NOT NULL"), Data("id: bigint, c: int"), Way("MERGE columns"),
    ),
    "a required column not named in the update of a MERGE": (
        Table("id: bigint, c: int, s: string NOT NULL"), Data("id: bigint, c: int"), Way("MERGE one column"),
    ),
    **{
        f"named in a MERGE with autoMerge, {shape}": (*SHAPES[shape], Way("MERGE columns", conf=AUTO_MERGE))
        for shape in ("the same", "another column", "another field", "a field missing", "a wider field",
                      "a wider field without the feature", "a wider partition column")
    },
    **{
        f"{given} too long for a length inside {type_}, by {way}": (
            Table(f"id: bigint, c: {type_.replace('?', 'varchar(3)')}"),
            Data(f"id: bigint, c: {type_.replace('?', given)}", {"c": value}), Way(way),
        )
        for type_, given, value in (
            ("array<?>", "string", "array('1234')"),
            ("struct<a: ?>", "string", "named_struct('a', '1234')"),
            ("array<?>", "decimal(10,2)", "array(1.25)"),
        )
        for way in ("save", "saveAsTable", "insertInto", "writeTo")
        if given == "string" or way != "save"
    },
    "a table that only appends, overwritten": (
        Table(_BASE, {"delta.appendOnly": "true"}), Data(_BASE), Way("save", "overwrite"),
    ),
    "a table that only appends": (Table(_BASE, {"delta.appendOnly": "true"}), Data(_BASE), Way("save")),
    "a table that only appends, MERGE": (
        Table(_BASE, {"delta.appendOnly": "true"}), Data(_BASE), Way("MERGE"),
    ),
}  # fmt: skip
"""Writes with options and settings of their own."""

OF_EACH_SHAPE: Final = (
    "save", "save mergeSchema", "insertInto", "delta insertInto mergeSchema", "INSERT BY NAME", "MERGE",
    "MERGE autoMerge", "stream mergeSchema", "save overwrite", "save overwrite overwriteSchema",
)  # fmt: skip
_OF_EACH_SHAPE_TOO: Final = (
    "writeTo", "writeTo mergeSchema", "insertInto mergeSchema", "delta insertInto overwriteSchema",
)  # fmt: skip
_OF_EACH_WAY: Final = (
    "the same", "another column", "another column between", "the last column missing", "another case",
    "another order of the same types", "another field", "a field missing", "a wider field", "no table",
    "the partition column missing",
)  # fmt: skip


def questions() -> Iterator[Question]:
    """Yield all questions; each has a name of its own."""
    for name, (table, data, way) in SINGLE.items():
        yield Question(name, table, data, way)
    for (shape, (table, data)), (way_name, way) in product(SHAPES.items(), WAYS.items()):
        is_statement = way.method in STATEMENTS or way.method in ("insertInto", "writeTo")
        if shape not in _OF_EACH_WAY and way_name not in (*OF_EACH_SHAPE, *_OF_EACH_SHAPE_TOO):
            continue
        if not (is_statement and shape == "no table"):
            yield Question(f"{shape}: {way_name}", table, data, way)
    for pairs, types in ((_FEWEST_PAIRS, _FEWEST), (_FEW_PAIRS, _FEW), (_PAIRS, TYPES)):
        for (name, (way, properties)), (old, new) in product(pairs.items(), product(types, types)):
            if old != new:
                table, data = Table(f"id: bigint, c: {old}", properties), Data(f"id: bigint, c: {new}")
                yield Question(f"{old} gets {new}: {name}", table, data, way)


def struct_of(columns: str) -> Struct:
    """Return the columns that a text names."""
    struct = parse_type(f"struct<{columns}>")
    if not isinstance(struct, Struct):
        raise TypeError(columns)
    return struct


def state_of(table: Table) -> TableState:
    """Return the state of a table before the write."""
    fields = []
    for number, field in enumerate(struct_of(table.columns).fields, 1):
        name = field.name
        fields.append(
            replace(
                field,
                default=table.defaults.get(name),
                generated=table.generated.get(name),
                identity=Identity() if name == table.identity else None,
                column_id=number if MAPPED.items() <= table.properties.items() else None,
                physical_name=f"col-{name}" if MAPPED.items() <= table.properties.items() else None,
            )
        )
    prefix = "delta.constraints."
    return TableState(
        Struct(tuple(fields)),
        description=None,
        partitioned_by=table.partitioned,
        clustered_by=(),
        constraints={
            key.removeprefix(prefix): value
            for key, value in table.properties.items()
            if key.startswith(prefix)
        },
        properties={
            key: value
            for key, value in table.properties.items()
            if not key.startswith((prefix, "delta.feature."))
        },
    )


def protocol_of(table: Table) -> Protocol:
    """Return the protocol of a table: the features that it uses."""
    state = state_of(table)
    asked = {
        key.removeprefix("delta.feature.") for key in table.properties if key.startswith("delta.feature.")
    }
    features = features_of_new_table(state.active_features, asked)
    if readers := _OF_READERS & features:
        return Protocol(3, 7, readers, features)
    return Protocol(1, 7, frozenset(), features)


_OF_READERS: Final = frozenset({"typeWidening", "timestampNtz", "columnMapping"})
