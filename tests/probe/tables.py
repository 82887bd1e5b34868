"""The tables of a probe: each one has the plain form but for one thing that a reader must know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from schemalint.base.values import field, frozen, replace
from schemalint.delta.feature import FEATURES, closure

PLAIN: Final = "plain"
"""The name of the table that every reader reads: it needs nothing."""

VALUES: Final[Mapping[str, object]] = {
    "tinyint": 7,
    "smallint": -300,
    "int": 70_000,
    "bigint": -5_000_000_000,
    "float": 1.5,
    "double": 0.1,
    "decimal(5,2)": Decimal("123.45"),
    "decimal(10,2)": Decimal("-12345678.25"),
    "decimal(10,4)": Decimal("654321.0625"),
    "decimal(12,2)": Decimal("1234567890.25"),
    "decimal(22,2)": Decimal("12345678901234567890.25"),
    "date": date(2024, 5, 6),
    "timestamp_ntz": datetime(2024, 5, 6, 7, 8, 9),  # noqa: DTZ001 (a timestamp without a time zone)
}
"""A value of each type that the tables have."""


@frozen
class ProbeTable:
    """A table that a reader is asked to read.

    Attributes:
        name: The name of its folder.
        row: The keys of the row in the client table that it answers; none if no row says such a thing.
        reader: ``minReaderVersion``.
        writer: ``minWriterVersion``.
        features: The features that the protocol lists; only from writer version 7 on.
        reader_features: Those of them that readers must know; only from reader version 3 on.
        types: The type that the column ``value`` has in each data file, the oldest first. The last one is
            declared.
        mapping: The column mapping mode.
        renamed: Whether column mapping was switched on for an existing table, and the column renamed then.
        properties: The table properties, without those of column mapping.
        tracked: Whether the field records its type changes, as type widening does.
        deletes: Whether a deletion vector deletes a row.
        checkpoint: Whether a V2 checkpoint with a sidecar stands in place of the first commit.
    """

    name: str
    row: Mapping[str, str | int] = field(default_factory=dict)
    reader: int = 1
    writer: int = 2
    features: tuple[str, ...] = ()
    reader_features: tuple[str, ...] = ()
    types: tuple[str, ...] = ("bigint",)
    mapping: str = "none"
    renamed: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)
    tracked: bool = True
    deletes: bool = False
    checkpoint: bool = False

    @property
    def files(self) -> list[list[tuple[int, object]]]:
        """The rows of each data file: an id, and the value or NULL."""
        return [
            [(10 * number + 1, VALUES[type_]), (10 * number + 2, None)]
            for number, type_ in enumerate(self.types)
        ]

    @property
    def rows(self) -> list[dict[str, object]]:
        """The rows that a reader must return."""
        rows = [{"id": key, "value": value} for file in self.files for key, value in file]
        return rows[1:] if self.deletes else rows


def all_tables() -> tuple[ProbeTable, ...]:
    """Return all tables, the plain one first."""
    return (ProbeTable(PLAIN), *_protocols(), *_mapped(), *_features(), *_widened())


def _of_feature(name: str, feature: str, **options: Any) -> ProbeTable:  # noqa: ANN401 (the attributes)
    """Return a table that lists one feature for readers and writers."""
    row: dict[str, str | int] = {"feature": feature} if feature in FEATURES else {}
    table = ProbeTable(name, row, 3, 7, features=(feature,), reader_features=(feature,))
    return replace(table, **options)


_WRITER_ONLY: Final = (
    *("appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns"),
    *("identityColumns", "allowColumnDefaults", "domainMetadata", "rowTracking", "clustering"),
    *("inCommitTimestamp", "checkpointProtection"),
)
_LEGACY_WRITERS: Final = (3, 4, 5, 6)


def _protocols() -> Iterator[ProbeTable]:
    for writer in _LEGACY_WRITERS:
        yield ProbeTable(f"protocol-1-{writer}", {"reader": 1, "writer": writer}, writer=writer)
    row = {"reader": 1, "writer": 7}
    yield ProbeTable("protocol-1-7", row, writer=7, features=_WRITER_ONLY)
    yield ProbeTable("protocol-1-7-unknown-feature", row, writer=7, features=("fooBar",))
    yield ProbeTable("protocol-3-7", {"reader": 3, "writer": 7}, reader=3, writer=7)


def _mapped() -> Iterator[ProbeTable]:
    feature = ("columnMapping",)
    for mapping in ("name", "id"):
        for reader, writer in ((2, 5), (2, 7), (3, 7)):
            for renamed in (False, True) if (mapping, writer) == ("name", 7) else (False,):
                yield ProbeTable(
                    f"mapping-{mapping}-{reader}-{writer}" + "-renamed" * renamed,
                    {"feature": "columnMapping", "mapping": mapping, "reader": reader},
                    reader=reader,
                    writer=writer,
                    features=feature if writer == 7 else (),
                    reader_features=feature if reader == 3 else (),
                    mapping=mapping,
                    renamed=renamed,
                )


def _features() -> Iterator[ProbeTable]:
    vectors = {"delta.enableDeletionVectors": "true"}
    yield _of_feature("deletion-vectors-none", "deletionVectors", properties=vectors)
    yield _of_feature("deletion-vectors", "deletionVectors", properties=vectors, deletes=True)
    yield _of_feature("timestamp-ntz", "timestampNtz", types=("timestamp_ntz",))
    v2 = {"delta.checkpointPolicy": "v2"}
    yield _of_feature("v2-checkpoint-none", "v2Checkpoint", properties=v2)
    yield _of_feature("v2-checkpoint", "v2Checkpoint", properties=v2, types=("int", "int"), checkpoint=True)
    shown = {"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint"}
    names = [name for name, feature in FEATURES.items() if feature.reader and name not in shown]
    for name in (*names, "catalogOwned-preview", "collations-preview", "fooBar"):
        listed = tuple(sorted(closure({name}))) if name == "variantShredding" else (name,)
        table = _of_feature(f"feature-{name}", name, features=listed, reader_features=listed)
        # Only a catalog can tell what such a table contains, and a probe has none.
        yield replace(table, row={}) if name == "catalogManaged" else table


_INTEGERS: Final = ("tinyint", "smallint", "int")
_WIDENED: Final = (
    *((old, new) for old in _INTEGERS for new in ("smallint", "int", "bigint") if old != new),
    *((old, new) for old in _INTEGERS for new in ("double", "decimal(12,2)")),
    *(("bigint", "decimal(22,2)"), ("float", "double"), ("date", "timestamp_ntz")),
    *(("decimal(5,2)", "decimal(10,2)"), ("decimal(5,2)", "decimal(10,4)")),
)
# Not a widening: a log with it is damaged, and its reader must not return wrong values.
_ILLEGAL: Final = (("bigint", "int"),)


def _widened() -> Iterator[ProbeTable]:
    yield ProbeTable("untracked-int-bigint", types=("int", "bigint"), tracked=False)
    for old, new in (*(pair for pair in _WIDENED if pair != ("int", "smallint")), *_ILLEGAL):
        listed = ("typeWidening", *(["timestampNtz"] if new == "timestamp_ntz" else []))
        name = "-".join(type_.translate({40: "-", 41: None, 44: "-"}) for type_ in (old, new))
        yield _of_feature(
            f"widened-{name}",
            "typeWidening",
            row={"type_change": f"{old.partition('(')[0]} -> {new.partition('(')[0]}"},
            features=listed,
            reader_features=listed,
            types=(old, new),
            properties={"delta.enableTypeWidening": "true"},
        )
