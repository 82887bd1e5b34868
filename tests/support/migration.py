"""A table whose old column is replaced by a new one, over several merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemalint.deploy.results import AppliedTable, Outcome

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

ALL: Final = ("data", "destructive")
"""The approvals of fills and drops."""


class Migration:
    """A table with an old column ``a`` and a new one ``b``, beside ``id``."""

    def __init__(self, lakehouse: Lakehouse, old: str, new: str, expression: str, more: str = "") -> None:
        self.lakehouse, self.old, self.new = lakehouse, old, new
        self.expression, self.more = expression, more

    def declare(self, *, old: bool = True, new: bool = True, fill: bool = True, ways: str = "") -> None:
        """Declare the columns; without the old one it is dropped."""
        way = f", {ways}" if ways else ""
        backfill = f', backfill: {{from: a, with: "{self.expression}"{way}}}' if fill else ""
        columns = ["{name: id, type: int}", *([self.more] if self.more and old else [])]
        columns += [f'{{name: a, type: "{self.old}"}}'] if old else []
        columns += [f'{{name: b, type: "{self.new}"{backfill}}}'] if new else []
        names = ["a", *([self.more.split("name: ")[1].split(",")[0]] if self.more else [])]
        dropped = "" if old else f"dropped: [{', '.join(names)}]\n"
        feature = "features: [timestampNtz]\n" if self.new == "timestamp_ntz" else ""
        self.lakehouse.declare(
            f"schemalint: 1\ntable: sales.orders\ncolumns: [{', '.join(columns)}]\n"
            f"properties: {{delta.columnMapping.mode: name}}\n"
            f"protocol: {{allow_upgrade: true}}\n{feature}{dropped}"
        )

    def begin(self, *values: str) -> None:
        """Create the table with values of the old column, and their ids from 1 on."""
        self.declare(new=False)
        self.lakehouse.apply()
        self.insert(1, *values)

    def insert(self, first: int, *values: str) -> None:
        """Add rows as a loader that knows only the old column."""
        rows = ", ".join(f"({number}, {value})" for number, value in enumerate(values, start=first))
        self.sql(f"INSERT INTO {{table}} (id, a) VALUES {rows}")

    def sql(self, text: str) -> None:
        """Run a statement of somebody else."""
        self.lakehouse.session.sql(text.format(table=f"delta.`{self.lakehouse.uri}`"))

    def fill(self, **options: object) -> AppliedTable:
        """Declare both columns, and fill the new one."""
        self.declare(**options)  # type: ignore[arg-type]
        return self.lakehouse.apply(allow=ALL)

    def drop(self, **options: object) -> AppliedTable:
        """Declare that the old column goes."""
        self.declare(old=False, **options)  # type: ignore[arg-type]
        return self.lakehouse.apply(allow=ALL)

    def values(self, column: str = "b") -> dict[int, str]:
        """Return the values of a column by id."""
        rows = self.lakehouse.session.sql(
            f"SELECT id, CAST({column} AS string) FROM delta.`{self.lakehouse.uri}`"
        ).collect()
        return {row[0]: str(row[1]) for row in rows}

    def kept(self, result: AppliedTable, *kinds: str) -> None:
        """Require that nothing was dropped, and that the kinds of rows are counted."""
        assert result.outcome in (Outcome.FAILED, Outcome.FILLING), result.outcome
        for kind in kinds:
            assert kind in str(result.error)
        assert "a" in self.lakehouse.table().state.columns.names
