"""Words of other formats and databases, for help: dbt, ODCS, Avro, Arrow, pandas, Spark, SQL."""

from __future__ import annotations

from typing import Final

from schemalint.contract.dialects.native import format as native


def _by_word(rows: dict[str, str]) -> dict[str, str]:
    """Return the value of each word of the rows' keys."""
    return {word: value for words, value in rows.items() for word in words.split()}


_NO_KEYS: Final = "leave it out: Delta enforces no keys"
_NOT_DECLARED: Final = "leave it out, or write it as a YAML comment"

KEYS: Final[dict[object, dict[str, str]]] = {
    native.Column: _by_word(
        {
            "data_type datatype dtype physical_type physicaltype logical_type logicaltype": "type",
            "description desc doc": "comment",
            "default_value defaultvalue": "default",
            "null is_nullable isnullable nulls optional": "nullable",
            "fields": "columns",
            "items": "element",
            "values": "value",
            "keys": "key",
            "old_name previous_name rename_from rename_of was aliases": "renamed_from",
            "expression expr generated_always_as computed": "generated",
        }
    ),
    native.Part: _by_word(
        {"data_type datatype dtype": "type", "fields": "columns", "items": "element", "values": "value"}
    ),
    native.Contract: _by_word(
        {
            "name table_name tablename model": "table",
            "comment desc doc": "description",
            "fields": "columns",
            "partitions partition_by partition_columns": "partitioned_by",
            "zorder z_order zorder_by cluster_by liquid_clustering": "clustered_by",
            "path uri": "location",
            "options config table_properties tblproperties": "properties",
            "checks check": "constraints",
        }
    ),
}
"""The key that a word of another format stands for, by mapping."""

ADVICE: Final[dict[object, dict[str, str]]] = {
    native.Column: _by_word(
        {
            "tests data_tests constraints": 'write "nullable: false" for not_null, and conditions under the '
            '"constraints" of the contract',
            "mode": 'write "nullable: false" for REQUIRED, and an array for REPEATED',
            "primary_key primarykey pk unique foreign_key": _NO_KEYS,
            "precision scale": "write it in the type: decimal(12,2)",
            "length max_length maxlength": "write it in the type: varchar(20)",
            "partitioned partition partition_key": 'list it under "partitioned_by" of the contract',
            "meta tags policy_tags classification examples": _NOT_DECLARED,
        }
    ),
    native.Contract: _by_word(
        {
            "schema catalog database db": "write it before the name of the table: catalog.schema.table",
            "primary_key primarykey unique": _NO_KEYS,
            "tests data_tests quality": 'write conditions under "constraints"',
            "format provider using": "leave it out: every table is a Delta table",
            "version": "leave it out: git keeps the versions of a contract",
            "meta tags models servers sla": _NOT_DECLARED,
        }
    ),
}
"""What to do with a word that no key stands for, by mapping."""

NOT_NULL: Final = frozenset({"required", "not_null", "notnull", "mandatory", "non_null"})
"""Keys whose value is the opposite of that of ``nullable``."""

TYPES: Final = _by_word(
    {
        "str text utf8 large_string clob ntext tinytext mediumtext longtext citext nvarchar nchar varchar2 "
        "nvarchar2 uuid guid enum": '"string"',
        "json jsonb": '"string" or "variant"',
        "int64 uint32 bigserial": '"bigint"',
        "int32 uint16 mediumint serial int4": '"int"',
        "int16 uint8 int2": '"smallint"',
        "int8": '"tinyint" for 8 bits, or "bigint" for 8 bytes, as in Postgres',
        "uint64": '"decimal(20,0)"',
        "float64": '"double"',
        "float32": '"float"',
        "bool bit": '"boolean"',
        "datetime datetime2 smalldatetime datetimeoffset timestamptz timestamp_tz": '"timestamp", or '
        '"timestamp_ntz" without a time zone',
        "date32 date64": '"date"',
        "bytes bytea blob varbinary large_binary image": '"binary"',
        "number bignumeric money currency": '"decimal(18,2)", "bigint" or "double"',
        "list": '"array<…>"',
        "dict object": '"map<…, …>" or "struct<…>"',
        "record row": '"struct<…>"',
    }
)
"""The types of Delta that a word of another system stands for, quoted."""
