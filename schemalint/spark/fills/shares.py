"""The rows of a fill in shares, each for a commit of its own.

With a budget the rows that have waited longest come first: those in the oldest data files. So each run
reaches other shares than the one before, also beside a writer that adds rows to some of them all the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any, Final, TypeAlias

from schemalint.base.values import frozen
from schemalint.delta.datatype import VARIANT, VOID, Field, Map, Struct, type_at, walk
from schemalint.delta.properties import DELETION_VECTORS
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_text import print_type
from schemalint.model.fill_commits import FILL_COMMIT_BYTES, MOST_FILL_COMMITS, hashed_shares
from schemalint.model.table_plan import Fill
from schemalint.planner.fills.statements import to_fill
from schemalint.planner.fills.values import fill_value

_COMMIT_BYTES: Final = FILL_COMMIT_BYTES
_MOST_PARTITIONS: Final = 200
_METADATA: Final = "_metadata"  # Spark's column with the file of a row
# No names of the table's own columns.
_SIZE: Final = "`schemalint.size`"
_SINCE: Final = "`schemalint.since`"

Ask: TypeAlias = Callable[[str], list[Any]]
"""Runs a statement, and returns its rows."""


@frozen
class Share:
    """Some of the rows to fill: those of any of the conditions, each with the bytes of its files."""

    parts: tuple[tuple[str, int], ...]

    @property
    def condition(self) -> str:
        """The condition of all these rows."""
        return " OR ".join(condition for condition, _size in self.parts)

    @property
    def size(self) -> int:
        """The bytes of all their files."""
        return sum(size for _condition, size in self.parts)

    @property
    def halves(self) -> tuple[Share, ...]:
        """The share in two; nothing if there is one condition."""
        middle = len(self.parts) // 2
        if middle:
            return (Share(self.parts[:middle]), Share(self.parts[middle:]))
        return ()


@frozen
class Shares:
    """Divides the rows of a fill.

    Attributes:
        ask: Runs a query.
        table: The table as SQL names it.
        max_bytes: The bytes that a run may spend; None for any number.
    """

    ask: Ask
    table: str
    max_bytes: int | None

    def of(self, fill: Fill, live: LiveTable) -> Iterator[Share]:
        """Yield disjoint shares of the rows to fill, none larger than a commit should be, if possible."""
        most = min(_COMMIT_BYTES, self.max_bytes or _COMMIT_BYTES)
        if live.state.columns.get(_METADATA) is not None:  # it hides the sizes of files
            yield Share((("", 0),))
            return
        if names := live.state.partition_columns:
            yield from self._of_partitions(fill, live, names, most)
            return
        ((size,),) = self._sizes(fill, live, ())
        number, together = hashed_shares(size or 0, most)
        columns = list(_hashed(live.state.columns, fill))
        # Without deletion vectors each commit rewrites all files, whichever rows it fills.
        if number == 1 or not columns or not live.state.enabled(DELETION_VECTORS):
            yield Share((("", size or 0),))
            return
        hashed = f"pmod(xxhash64({', '.join(columns)}), {number})"
        answer = self.ask(
            f"SELECT {hashed} AS part, min({_METADATA}.file_modification_time) AS since, count(*) AS rows "  # noqa: S608 (all names are quoted)
            f"FROM {self.table} VERSION AS OF {live.version} "
            f"WHERE {to_fill(fill, fill_value(fill))} GROUP BY 1 ORDER BY since, rows DESC, part"
        )
        parts = [str(part) for part, _since, _rows in answer]
        for first in range(0, len(parts), together):
            some = parts[first : first + together]
            yield Share(((f"{hashed} IN ({', '.join(some)})", ceil(size / number * len(some))),))

    def _of_partitions(
        self, fill: Fill, live: LiveTable, names: tuple[str, ...], most: int
    ) -> Iterator[Share]:
        """Yield neighbouring partitions together: writers of others do not conflict with their commit."""
        parts: list[tuple[str, int]] = []
        size = 0
        for *values, bytes_ in self._sizes(fill, live, tuple(map(always_quoted, names))):
            if parts and (size + bytes_ > most or len(parts) == _MOST_PARTITIONS):
                yield Share(tuple(parts))
                parts, size = [], 0
            pairs = zip(names, values, strict=True)
            condition = " AND ".join(_equals(name, value, live.state) for name, value in pairs)
            parts.append((f"({condition})", bytes_))
            size += bytes_
        if parts:
            yield Share(tuple(parts))

    def _sizes(self, fill: Fill, live: LiveTable, names: tuple[str, ...]) -> list[Any]:
        """Return the bytes of the files with rows to fill, by the partition columns, which are quoted."""
        columns = ", ".join((*(f"CAST({name} AS string)" for name in names), f"sum({_SIZE})"))
        of_file = (
            f"max({_METADATA}.file_size) AS {_SIZE}",
            f"max({_METADATA}.file_modification_time) AS {_SINCE}",
        )
        inner = ", ".join((*names, *of_file))
        by_file = ", ".join((*names, f"{_METADATA}.file_path"))
        oldest = f"min({_SINCE}), " if self.max_bytes is not None else ""
        by_partition = f"GROUP BY {', '.join(names)} ORDER BY {oldest}{', '.join(names)}" if names else ""
        return self.ask(
            f"SELECT {columns} FROM (SELECT {inner} FROM {self.table} VERSION AS OF "  # noqa: S608 (all names are quoted)
            f"{live.version} WHERE {to_fill(fill, fill_value(fill))} GROUP BY {by_file}) {by_partition} "
            f"LIMIT {MOST_FILL_COMMITS}"
        )


def _equals(name: str, value: str | None, state: TableState) -> str:
    type_ = type_at(state.columns, (name,))
    quoted = always_quoted(name)
    if value is None or type_ is None:
        return f"{quoted} IS NULL"
    return f"{quoted} = CAST({quote_literal(value)} AS {print_type(type_)})"


def _hashed(columns: Struct, fill: Fill) -> Iterator[str]:
    """Yield the columns that tell rows apart, and that Spark can hash."""
    for column in columns.fields:
        if column.name.lower() != str(fill.column[0]).lower() and _is_hashable(column):
            yield always_quoted(column.name)


def _is_hashable(column: Field) -> bool:
    return not any(
        isinstance(type_, Map) or type_ in (VARIANT, VOID) for _path, type_ in walk(Struct((column,)))
    )
