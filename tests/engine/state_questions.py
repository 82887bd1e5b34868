"""The questions of `record_states`: pairs of a table before a change (None for a new table) and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from schemalint.delta.engine import DELTA_SPARK
from schemalint.delta.feature import FEATURES
from schemalint.delta.properties import PROPERTIES
from schemalint.delta.property_values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_Pair = tuple[dict[str, Any] | None, dict[str, Any]]

_COLUMNS: Final = {"a": "int", "b": "string"}
_MAPPED: Final = {"delta.columnMapping.mode": "name"}
_WIDENING: Final = {"delta.enableTypeWidening": "true"}
_COMPATS: Final = tuple(f"delta.enableIcebergCompatV{version}" for version in (1, 2, 3))

_BOOLEANS: Final = ("true", "false", "TRUE", "yes", "", " true")
_VALUES: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.BOOLEAN: _BOOLEANS,
    Kind.OPTIONAL_BOOLEAN: _BOOLEANS,
    Kind.INTEGER: ("5", "1", "0", "-1", "-2", "+5", "1.5", " 5", "x", "", "99999999999"),
    Kind.LONG: ("5", "0", "-1", "1.5", "x", "", "9223372036854775807", "9223372036854775808"),
    Kind.INTERVAL: ("interval 20 days", "20 DAYS", "1 month", "-1 day", "20", "x", ""),
    Kind.VERSION: ("1.0.0", "2.12.0", "0.1.0", "1.0", "x", ""),
    Kind.FORMATS: ("hudi,hudi", "x", "HUDI", "", ","),
    Kind.COLUMNS: ("a", "A", "a,b", "a,,b", "a,", "", "-"),
    Kind.JSON: ("{}", "[]", "x", ""),
    Kind.TEXT: ("x", ""),
}

INVALID_VALUES: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.BOOLEAN: ("yes",),
    Kind.OPTIONAL_BOOLEAN: ("yes",),
    Kind.INTEGER: ("x", "0", "-2"),
    Kind.LONG: ("x", "-1"),
    Kind.INTERVAL: ("x", "", "1 month", "-1 day"),
    Kind.ENUM: ("x",),
    Kind.ENUM_ANY_CASE: ("x", "WriteSerializable", "SnapshotIsolation"),
    Kind.FORMATS: ("x", "hudi,hudi"),
    Kind.COLUMNS: ("a,,b", "-"),
    Kind.VERSION: ("x", "0.1.0"),
    Kind.JSON: ("x", "[]"),
    Kind.TEXT: (),
}
"""Values that Delta refuses to set, one for each reason; for some properties they are valid."""

_KEYS: Final = (
    ("DELTA.ENABLETYPEWIDENING", "TRUE"),
    ("delta.enabletypewidening", "true"),
    ("enableTypeWidening", "true"),
    ("ENABLETYPEWIDENING", "true"),
    ("logRetentionDuration", "x"),
    ("delta.enableTypeWidenning", "true"),
    ("delta.unknown", "1"),
    ("delta.", "1"),
    ("delta", "1"),
    ("deltaX", "1"),
    ("team", "sales"),
    ("team", ""),
    ("delta.parquet.compression.codec", "zstd"),
    ("delta.universalFormat.config.x", "y"),
    ("delta.universalformat.config.x", "y"),
    ("delta.constraints.c", "a > 0"),
    ("delta.CONSTRAINTS.c", "a > 0"),
    ("delta.columnMapping.id", "3"),
    ("delta.columnMapping.physicalName", "x"),
    ("delta.columnMapping.nested.ids", "x"),
    ("delta.identity.highWaterMark", "3"),
    ("delta.feature.", "supported"),
    ("delta.feature.bogus", "supported"),
    ("delta.feature.bogus", "on"),
)
_STATUSES: Final = ("SUPPORTED", "enabled", "ENABLED", "on", "true", "", " supported")

_VERSIONS: Final = (
    *((None, str(writer)) for writer in (1, 2, 3, 4, 5, 6, 7)),
    *((str(reader), None) for reader in (1, 2, 3)),
    ("2", "1"), ("2", "5"), ("2", "6"), ("2", "7"), ("3", "1"), ("3", "6"), ("3", "7"), ("1", "7"),
)  # fmt: skip

_CONFLICTS: Final[tuple[Mapping[str, str | None], ...]] = (
    {"delta.enableRowTracking": "true", "delta.rowTrackingSuspended": "true"},
    {"delta.enableRowTracking": "TRUE", "delta.rowTrackingSuspended": "True"},
    {"delta.enableRowTracking": "false", "delta.rowTrackingSuspended": "true"},
    {"delta.deletedFileRetentionDuration": "interval 60 days"},
    {"delta.deletedFileRetentionDuration": "interval 30 days"},
    {"delta.logRetentionDuration": "interval 3 days"},
    {"delta.logRetentionDuration": "interval 1 week"},
    {
        "delta.deletedFileRetentionDuration": "interval 60 days",
        "delta.logRetentionDuration": "interval 61 days",
    },
    {
        "delta.deletedFileRetentionDuration": "interval 62 days",
        "delta.logRetentionDuration": "interval 61 days",
    },
    {"delta.enableDeletionVectors": "true", "delta.compatibility.symlinkFormatManifest.enabled": "true"},
    {"delta.enableDeletionVectors": "false", "delta.compatibility.symlinkFormatManifest.enabled": "true"},
    {
        "delta.feature.deletionVectors": "supported",
        "delta.compatibility.symlinkFormatManifest.enabled": "true",
    },
    {**_MAPPED, "delta.compatibility.symlinkFormatManifest.enabled": "true"},
    {"delta.enableChangeDataFeed": "true", "delta.enableChangeDataCapture": "false"},
    {"delta.dataSkippingStatsColumns": "nowhere"},
    {"delta.dataSkippingStatsColumns": "a,nowhere"},
    {"delta.dataSkippingStatsColumns": "a,A"},
    {
        "delta.coordinatedCommits.commitCoordinator-preview": "x",
        "delta.coordinatedCommits.commitCoordinatorConf-preview": "{}",
    },
    {"delta.enableVariantShredding": "true", "delta.feature.variantShredding": "supported"},
)

_ICEBERG: Final[tuple[Mapping[str, str | None], ...]] = (
    *({compat: "true"} for compat in _COMPATS),
    *({compat: "true", **_MAPPED} for compat in _COMPATS),
    *({compat: "true", "delta.columnMapping.mode": mode} for compat in _COMPATS for mode in ("none", "id")),
    *({compat: "true", **_MAPPED, "delta.enableDeletionVectors": "true"} for compat in _COMPATS),
    *(
        {compat: "true", other: "true", **_MAPPED}
        for compat in _COMPATS
        for other in _COMPATS
        if compat < other
    ),
    *(
        {compat: "true", other: "false", **_MAPPED}
        for compat in _COMPATS
        for other in _COMPATS
        if compat != other
    ),
    {"delta.universalFormat.enabledFormats": "iceberg"},
    {"delta.universalFormat.enabledFormats": "hudi"},
    {"delta.universalFormat.enabledFormats": "hudi", "delta.enableDeletionVectors": "true"},
    *({compat: "true", **_MAPPED, "delta.universalFormat.enabledFormats": "iceberg"} for compat in _COMPATS),
    {"delta.feature.icebergCompatV2": "supported"},
    {"delta.feature.icebergCompatV2": "supported", "delta.enableDeletionVectors": "true"},
    {"delta.enableIcebergCompatV3": "true", "delta.enableRowTracking": "true", **_MAPPED},
    {"delta.enableIcebergCompatV3": "true", "delta.enableRowTracking": "false", **_MAPPED},
)  # fmt: skip

_ICEBERG_TYPES: Final = (
    "tinyint", "timestamp", "decimal(10,2)", "variant", "void", "array<int>", "map<string,int>",
    "struct<x: array<int>>", "struct<x: void, y: int>", "array<struct<x: variant>>",
)  # fmt: skip
_WIDENINGS: Final = (
    ("tinyint", "smallint"), ("tinyint", "int"), ("smallint", "int"), ("int", "bigint"), ("float", "double"),
    ("int", "double"), ("tinyint", "double"), ("int", "decimal(10,0)"), ("int", "decimal(12,2)"),
    ("bigint", "decimal(20,0)"), ("decimal(10,2)", "decimal(12,2)"), ("decimal(10,2)", "decimal(12,4)"),
    ("date", "timestamp_ntz"), ("varchar(5)", "varchar(9)"), ("varchar(5)", "string"),
)  # fmt: skip

_STATISTICS_TYPES: Final = (
    "boolean", "tinyint", "float", "decimal(5,2)", "string", "binary", "date", "timestamp", "variant", "void",
    "array<int>", "map<string,int>", "struct<x: int>", "struct<x: array<int>>", "varchar(5)", "char(5)",
)  # fmt: skip

_CHARACTERS: Final = " ,;{}()\n\t=.-\r'/:ä`"
_RESERVED: Final = ("_change_type", "_commit_version", "_commit_timestamp", "_CHANGE_TYPE", "_metadata")


def questions() -> Iterator[_Pair]:
    """Yield every question; some occur more than once."""
    for properties in _properties():
        yield None, _table(properties)
        yield _table(), _table(properties)
    yield from _versions_of_feature_tables()
    yield from _mapping_modes()
    yield from _removed_properties()
    yield from _iceberg()
    yield from _odd_names()
    yield from _case_collisions()
    yield from _reserved_names()
    yield from _defaults()
    yield from _statistics()


def _table(properties: Mapping[str, str | None] | None = None, **columns: str) -> dict[str, Any]:
    return {"columns": {**_COLUMNS, **columns}, "properties": dict(properties or {})}


def _properties() -> Iterator[Mapping[str, str | None]]:
    for key, row in PROPERTIES.items():
        if row.engine != DELTA_SPARK:
            continue
        choices = [*row.choices, *(choice.swapcase() for choice in row.choices), "x", ""]
        for value in _VALUES.get(row.kind, tuple(choices)):
            yield {key: value}
    for key, value in _KEYS:
        yield {key: value}
    for name in FEATURES:
        yield {f"delta.feature.{name}": "supported"}
    for status in _STATUSES:
        yield {"delta.feature.typeWidening": status}
    yield {"delta.feature.TYPEWIDENING": "supported"}
    for name in ("typeWidening", "variantType", "variantShredding"):
        yield {f"delta.feature.{name}": "supported", f"delta.feature.{name}-preview": "supported"}
    for reader, writer in _VERSIONS:
        pair = {"delta.minReaderVersion": reader, "delta.minWriterVersion": writer}
        yield {key: value for key, value in pair.items() if value is not None}
    for value in ("8", "x", "", " 2", "+2", "02"):
        yield {"delta.minReaderVersion": value}
        yield {"delta.minWriterVersion": value}
    yield from _CONFLICTS
    yield from _ICEBERG


def _versions_of_feature_tables() -> Iterator[_Pair]:
    """Set protocol versions on a table whose protocol already lists table features."""
    before = _table(_WIDENING)
    for reader, writer in _VERSIONS:
        pair = {"delta.minReaderVersion": reader, "delta.minWriterVersion": writer}
        yield before, _table({**_WIDENING, **{key: value for key, value in pair.items() if value}})


def _mapping_modes() -> Iterator[_Pair]:
    key = "delta.columnMapping.mode"
    for old in ("none", "name", "id"):
        for new in ("none", "name", "id", "NAME", "Id", "None", None):
            if old != new:
                yield _table({key: old}), _table({key: new})
    for new in ("none", None):
        yield _table({key: "name"}, **{"x y": "int"}), _table({key: new}, **{"x y": "int"})
        yield _table({key: "name"}, s="struct<`x y`: int>"), _table({key: new}, s="struct<`x y`: int>")
        yield _table({**_MAPPED, _COMPATS[1]: "true"}), _table({key: new, _COMPATS[1]: "true"})


def _removed_properties() -> Iterator[_Pair]:
    log, files = "delta.logRetentionDuration", "delta.deletedFileRetentionDuration"
    kept = {log: "interval 60 days", files: "interval 50 days"}
    for changed in ({log: None}, {files: None}, {log: "interval 40 days"}):
        yield _table(kept), _table({**kept, **changed})
    tracked = {"delta.enableRowTracking": "true"}
    yield _table(tracked), _table({**tracked, "delta.rowTrackingSuspended": "true"})
    yield (
        _table(tracked),
        _table({"delta.enableRowTracking": "false", "delta.rowTrackingSuspended": "true"}),
    )
    vectors, manifest = "delta.enableDeletionVectors", "delta.compatibility.symlinkFormatManifest.enabled"
    yield _table({vectors: "true"}), _table({vectors: "true", manifest: "true"})
    yield _table({vectors: "true"}), _table({vectors: "false", manifest: "true"})
    yield _table({manifest: "true"}), _table({manifest: "true", vectors: "true"})
    yield _table({vectors: "true", **_MAPPED}), _table({vectors: "false", _COMPATS[1]: "true", **_MAPPED})
    compat = {**_MAPPED, _COMPATS[1]: "true"}
    uniform = {**compat, "delta.universalFormat.enabledFormats": "iceberg"}
    yield _table(uniform), _table({**uniform, _COMPATS[1]: "false"})
    yield _table(uniform), _table({**uniform, _COMPATS[1]: None})
    yield _table(compat), _table({**compat, "delta.universalFormat.enabledFormats": "iceberg"})
    for key in _COMPATS:
        for other in _COMPATS:
            if key != other:
                before = {**_MAPPED, key: "true"}
                yield _table(before), _table({**before, other: "true"})
                yield _table(before), _table({**before, key: "false", other: "true"})


def _iceberg() -> Iterator[_Pair]:
    for key in _COMPATS:
        compat = {**_MAPPED, key: "true"}
        for type_ in _ICEBERG_TYPES:
            yield None, _table(compat, c=type_)
            yield _table(compat), _table(compat, c=type_)
            yield _table(_MAPPED, c=type_), _table(compat, c=type_)
        for partition in ("decimal(10,2)", "timestamp_ntz", "tinyint"):
            yield None, {**_table(compat, c=partition), "partitioned_by": ["c"]}
        widening_compat = {**compat, **_WIDENING, "delta.feature.timestampNtz": "supported"}
        for old, new in _WIDENINGS:
            yield _table(widening_compat, c=old), _table(widening_compat, c=new)
    uniform = {**_MAPPED, **_WIDENING, _COMPATS[1]: "true", "delta.universalFormat.enabledFormats": "iceberg"}
    yield _table(uniform, c="int"), _table(uniform, c="double")
    supported = {**_WIDENING, "delta.feature.icebergCompatV2": "supported"}
    yield _table(supported, c="int"), _table(supported, c="double")


def _odd_names() -> Iterator[_Pair]:
    for character in _CHARACTERS:
        name = f"x{character}y"
        quoted = "`" + name.replace("`", "``") + "`"
        for properties in ({}, _MAPPED):
            yield None, _table(properties, **{name: "int"})
            yield None, {**_table(properties, **{name: "int"}), "partitioned_by": [name]}
            yield _table(properties), _table(properties, **{name: "int"})
        for type_ in ("struct<{}: int>", "array<struct<{}: int>>", "map<string,struct<{}: int>>"):
            yield None, _table(c=type_.format(quoted))
            yield _table(), _table(c=type_.format(quoted))
    yield None, _table({_COMPATS[1]: "true"}, **{"x y": "int"})
    yield _table(), _table(_MAPPED, **{"x y": "int"})


def _case_collisions() -> Iterator[_Pair]:
    types = ("struct<x: int, X: int>", "array<struct<x: int, X: int>>", "map<struct<x: int, X: int>,int>")
    for properties in ({}, _MAPPED):
        yield None, _table(properties, A="int")
        yield _table(properties), _table(properties, A="int")
        for type_ in types:
            yield None, _table(properties, c=type_)
            yield _table(properties), _table(properties, c=type_)


def _reserved_names() -> Iterator[_Pair]:
    feed: dict[str, str | None] = {"delta.enableChangeDataFeed": "true"}
    for name in _RESERVED:
        for properties in ({}, feed):
            yield None, _table(properties, **{name: "int"})
            yield None, _table(properties, c=f"struct<{name}: int>")
            yield _table(properties), _table(properties, **{name: "int"})
            yield _table(properties), _table(properties, c=f"struct<{name}: int>")
        yield _table({}, **{name: "int"}), _table(feed, **{name: "int"})


def _defaults() -> Iterator[_Pair]:
    for status in (None, "supported", "enabled"):
        properties = {"delta.feature.allowColumnDefaults": status} if status else {}
        declared = {**_table(properties), "defaults": {"a": "1"}}
        yield None, declared
        yield _table(), declared


def _statistics() -> Iterator[_Pair]:
    key = "delta.dataSkippingStatsColumns"
    for type_ in _STATISTICS_TYPES:
        yield None, _table({key: "c"}, c=type_)
        yield _table(c=type_), _table({key: "c"}, c=type_)
    for value in ("a,a", "a, b", "a b", "s", "s.x", "S.X", "s.nowhere", "s,s.x", "`a`", "l.element.x", "l.x"):
        yield None, _table({key: value}, s="struct<x: int>", l="array<struct<x: int>>")
    yield None, {**_table({key: "b"}), "partitioned_by": ["b"]}
