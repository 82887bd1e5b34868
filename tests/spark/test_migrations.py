"""Generated migrations from one column to another, beside writers, streams and kills.

Each is proven by counts and by a checksum that knows no order: no row is lost or doubled, no value that was
there is overwritten, every value that converts is in the new column, and the table ends as declared.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from schemalint.delta.datatype import field_at
from schemalint.deploy.results import Outcome
from support.faulty_sessions import Interrupted, Killed, killed_after
from support.sampling import left_to

if TYPE_CHECKING:
    from schemalint.spark.statements import SqlSession
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

APPROVED: Final = ["data", "destructive", "upgrade"]
VECTORS: Final = "delta.enableDeletionVectors: true"


class Migration(NamedTuple):
    """A column that replaces another one.

    Attributes:
        old: The type of the old column.
        new: The type of the new column.
        expression: The value of the new column; ``old`` is the old one.
        values: Values of the old column in SQL: of the last one nothing converts.
        own: A value of the new column that no old value gives, in SQL.
        properties: More properties of the table.
        more: More keys of the contract.
        columns: More columns.
        inside: A struct that contains both columns; empty for the table itself.
        check: The condition of a constraint that comes with the new column.
    """

    old: str
    new: str
    expression: str
    values: tuple[str, ...]
    own: str
    properties: str = ""
    more: str = ""
    columns: str = ""
    inside: str = ""
    check: str = ""


TEXTS: Final = ("'1.25'", "' 2 '", "'0'", "'n/a'")
MIGRATIONS: Final = {
    "decimal of text": Migration("string", "decimal(12,2)", "cast(old as decimal(12,2))", TEXTS, "77.77"),
    "int of text, with deletion vectors": Migration(
        "string",
        "int",
        "cast(old as int)",
        ("'1'", "'-5'", "'2147483648'"),
        "7",
        VECTORS,
        check="new IS NULL OR new < 1000",
    ),
    "date of text, partitioned": Migration(
        "string",
        "date",
        "cast(try_to_timestamp(old, 'dd.MM.yyyy') as date)",
        ("'01.02.2026'", "'31.12.1999'", "'2026-02-01'"),
        "date'2000-01-01'",
        more="partitioned_by: [part]",
        columns="{name: part, type: string}",
        check="new IS NOT NULL OR id < 1000",  # rows that come meanwhile wait for their values
    ),
    "timestamp of text, with a change feed": Migration(
        "string",
        "timestamp",
        "cast(old as timestamp)",
        ("'2026-03-29 02:30:00'", "'1999-12-31'", "'soon'"),
        "timestamp'2000-01-01'",
        "delta.enableChangeDataFeed: true",
    ),
    "decimal of cents, with row tracking": Migration(
        "bigint",
        "decimal(10,2)",
        "cast(old as decimal(20,2)) / 100",
        ("125", "0", "-3", "999999999999999"),
        "77.77",
        "delta.enableRowTracking: true",
    ),
    "smaller integer": Migration("bigint", "int", "cast(old as int)", ("1", "-2", "4294967296"), "7"),
    "text of a number": Migration(
        "int", "string", "right(concat('00000', cast(old as string)), 5)", ("7", "12345", "NULL"), "'x'"
    ),
    "text of a date, with a constraint": Migration(
        "date",
        "string",
        "date_format(old, 'yyyyMMdd')",
        ("date'2026-01-31'", "NULL"),
        "'x'",
        more="constraints: {has_id: id >= 0}",
    ),
    "number inside a struct": Migration(
        "string", "int", "cast(s.old as int)", ("'1'", "'2'", "'x'"), "7", VECTORS, inside="s"
    ),
    "part of a struct": Migration(
        "struct<a: string, b: int>",
        "decimal(12,2)",
        "cast(old.a as decimal(12,2)) * 1",
        ("named_struct('a', '1.5', 'b', 1)", "named_struct('a', 'x', 'b', 1)"),
        "77.77",
    ),
}
ENDED: Final = (Outcome.APPLIED, Outcome.RECORDED, Outcome.NOTHING)
SCENARIOS: Final = ("appender", "killer", "stream")
SAMPLE: Final = (
    "decimal of text: stream",
    "int of text, with deletion vectors: killer",
    "date of text, partitioned: appender",
)


class Table:
    """A table that migrates, and what its rows must be."""

    def __init__(self, lakehouse: Lakehouse, migration: Migration) -> None:
        self.lakehouse, self.migration = lakehouse, migration
        self.numbers = count(1000)
        self.names = [name.partition(",")[0] for name in migration.columns.split("{name: ")[1:]]
        prefix = f"{migration.inside}." if migration.inside else ""
        self.old, self.new = f"{prefix}old", f"{prefix}new"

    def declare(self, *, old: bool, new: bool) -> None:
        """Declare the old column, the new one, or both; without the old one it is dropped."""
        one = self.migration
        fill = f'{{from: {self.old}, with: "{one.expression}", unfilled: keep_null, differing: keep_new}}'
        columns = [f'{{name: old, type: "{one.old}"}}'] if old else []
        columns += [f'{{name: new, type: "{one.new}", backfill: {fill}}}'] if new else []
        inner = ", ".join(columns)
        listed = (
            f"{{name: s, type: struct, columns: [{{name: kept, type: int}}, {inner}]}}"
            if one.inside
            else inner
        )
        more = one.more if old else f"{one.more}\ndropped: [{self.old}]"
        more += f"\nconstraints: {{checked: {one.check}}}" if new and one.check else ""
        properties = ", ".join(filter(None, ("delta.columnMapping.mode: name", one.properties)))
        self.lakehouse.declare(
            "schemalint: 1\ntable: sales.orders\nprotocol: {allow_upgrade: true}\n"
            f"columns: [{', '.join(filter(None, ('{name: id, type: int}', one.columns, listed)))}]\n"
            f"properties: {{{properties}}}\n{more}\n"
        )

    def insert(self, number: int, value: str, own: str | None = None) -> None:
        """Add a row as a writer that knows only the old column, or both as long as both are there."""
        one = self.migration
        new = [] if own is None else [("new", f"CAST({own} AS {one.new})")]
        pairs = [*([("old", value)] if self.has_old() else []), *new]
        if one.inside:
            fields = ", ".join(f"'{name}', {text}" for name, text in [("kept", "1"), *pairs])
            pairs = [("s", f"named_struct({fields})")]
        pairs = [
            ("id", f"CAST({number} AS int)"),
            *pairs,
            *((name, f"'{number % 3}'") for name in self.names),
        ]
        self.lakehouse.session.sql(
            f"INSERT INTO delta.`{self.lakehouse.uri}` ({', '.join(name for name, _text in pairs)}) "
            f"SELECT {', '.join(text for _name, text in pairs)}"
        )

    def has_old(self) -> bool:
        """Whether the table has the old column."""
        path = ("s", "old") if self.migration.inside else ("old",)
        return field_at(self.lakehouse.table().state.columns, path) is not None

    def fill(self) -> None:
        """Add each value as a row, and rows of a writer that writes both."""
        for number, value in enumerate(self.migration.values):
            self.insert(number, value)

    def rows(self, value: str) -> dict[int, str]:
        """Return the rows by id; each id is there once."""
        rows = self.lakehouse.session.sql(
            f"SELECT id, CAST({value} AS string) FROM delta.`{self.lakehouse.uri}`"
        ).collect()
        assert len({row[0] for row in rows}) == len(rows)
        return {row[0]: str(row[1]) for row in rows}

    def checksum(self) -> tuple[int, int]:
        """Return the number of rows, and the sum of the hashes of what no fill changes."""
        names = ", ".join(["id", *(["s.kept"] if self.migration.inside else []), *self.names])
        ((rows, total),) = self.lakehouse.session.sql(
            f"SELECT count(*), sum(CAST(xxhash64({names}) AS decimal(38,0))) "
            f"FROM delta.`{self.lakehouse.uri}`"
        ).collect()
        return rows, total

    def expected(self) -> dict[int, str]:
        """Return what the new column must have in the end, as long as both columns are there."""
        value = self.migration.expression.replace("cast(", "try_cast(")
        with_settings = self.lakehouse.session.conf
        zone = with_settings.get("spark.sql.session.timeZone")
        with_settings.set("spark.sql.session.timeZone", "UTC")
        try:
            new = f"CAST({self.new} AS {self.migration.new})"
            return self.rows(f"coalesce({new}, try_cast({value} AS {self.migration.new}))")
        finally:
            with_settings.set("spark.sql.session.timeZone", zone)


def run(table: Table, scenario: str, *, drops: bool) -> None:
    """Apply what is declared, in a scenario."""
    session: SqlSession = table.lakehouse.session
    if scenario == "killer":
        for number in count():
            try:
                applied = table.lakehouse.apply(killed_after(session, number), allow=APPROVED)
            except Killed:
                continue
            assert applied.outcome in ENDED, applied.error
            return
    if scenario == "appender":
        value = table.migration.values[0]
        own = table.migration.own if drops else None

        def append(_number: int) -> None:
            table.insert(next(table.numbers), value, own)

        table.lakehouse.apply(Interrupted(session, before=append), allow=APPROVED)
    applied = table.lakehouse.apply(allow=APPROVED)
    assert applied.outcome in ENDED, applied.error


@pytest.mark.parametrize(
    ("migration", "scenario"),
    left_to(
        pytest.mark.engine,
        {
            f"{name}: {scenario}": (migration, scenario)
            for name, migration in MIGRATIONS.items()
            for scenario in SCENARIOS
        },
        except_for=SAMPLE,
    ),
)
def test_migration_moves_every_value_once(
    lakehouse: Lakehouse, migration: Migration, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schemalint.spark.fills.shares._COMMIT_BYTES", 3_000)  # several parts
    table = Table(lakehouse, migration)
    table.declare(old=True, new=False)
    assert lakehouse.apply(allow=APPROVED).outcome is Outcome.APPLIED
    table.fill()
    streams = Streams(table) if scenario == "stream" else None
    table.declare(old=True, new=True)
    if streams is not None:
        lakehouse.apply()  # the column, without its values
        streams.read()
    run(table, scenario, drops=False)
    table.insert(500, migration.values[0], migration.own)
    expected = table.expected()
    assert all(expected[number] != "None" for number in range(len(migration.values) - 1))
    assert table.rows(table.new) == expected
    if streams is not None:
        streams.require_effects()
    before = table.checksum()
    table.declare(old=False, new=True)
    run(table, scenario, drops=True)
    after = table.rows(table.new)
    assert {number: after[number] for number in expected} == expected
    if scenario != "appender":
        assert table.checksum() == before
    assert not table.has_old()
    constraints = lakehouse.table().state.constraints
    assert constraints.get("checked", "") == migration.check
    version = lakehouse.table().version
    assert lakehouse.apply(allow=APPROVED).version == version


class Streams:
    """Two streams that read a table: one skips commits that change rows, the other does not."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.seen: dict[bool, list[tuple[object, object]]] = {True: [], False: []}
        self.read()

    def read(self, *skipping: bool) -> None:
        """Let the streams read to the end; they begin again where a change of the schema stops them."""
        for skips in skipping or (True, False):
            self._read(skips=skips)

    def require_effects(self) -> None:
        """Require that one stream stops, and that the other sees no filled value."""
        with pytest.raises(Exception, match="DELTA_SOURCE_TABLE_IGNORE_CHANGES"):
            self._read(skips=False)
        self._read(skips=True)
        seen = dict(self.seen[True])
        assert seen[500] is not None
        assert all(seen.get(number) is None for number in range(len(self.table.migration.values)))

    def _read(self, *, skips: bool) -> None:
        session, folder = self.table.lakehouse.session, self.table.lakehouse.repo.path.parent

        def keep(rows: object, _number: int) -> None:
            inside = self.table.migration.inside
            schema = rows.schema[inside].dataType if inside else rows.schema  # type: ignore[attr-defined]
            new = f"{self.table.new} AS new" if "new" in schema.names else "NULL AS new"
            for row in rows.selectExpr("id", new).collect():  # type: ignore[attr-defined]
                self.seen[skips].append((row["id"], row["new"]))

        reader = session.readStream.format("delta").option("skipChangeCommits", str(skips).lower())  # type: ignore[attr-defined]
        query = (
            reader.load(self.table.lakehouse.uri)
            .writeStream.foreachBatch(keep)
            .option("checkpointLocation", str(folder / f"checkpoint-{skips}"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
