"""Fill a column of a table from another one, commit by commit.

The condition of the rows is the only state: a run that was killed, or whose budget is used up, goes on where
the column is still null. No statement overwrites a value that is there, but with `differing: refill`, and no
value leaves the engine but the samples that the user asks for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from math import ceil
from typing import Any, Final

from schemalint.base.errors import ApplyError
from schemalint.base.values import field, frozen, replace
from schemalint.delta.datatype import VARIANT, VOID, Field, Map, Struct, type_at, walk
from schemalint.delta.path import format_path
from schemalint.delta.properties import DELETION_VECTORS
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_text import print_type
from schemalint.model.table_plan import FILL_COMMIT_BYTES, MOST_FILL_COMMITS, Fill
from schemalint.planner.fill_statements import count_rows, fill_rows, to_fill
from schemalint.planner.fill_values import fill_value
from schemalint.planner.statements import path_text
from schemalint.spark.attempts import ATTEMPTS, pause
from schemalint.spark.prechecks import shown_value
from schemalint.spark.session import SqlSession, StatementError, ask, first_line
from schemalint.spark.session_sees import require_all, seen
from schemalint.spark.session_settings import TIME_ZONE, UTC, assigned
from schemalint.tables.delta_log.told_values import ToldRows

_COMMIT_BYTES: Final = FILL_COMMIT_BYTES
_MOST_PARTITIONS: Final = 200
_MOST_BLOCKED: Final = 8  # then others seem to write all partitions
_SAMPLES: Final = 5
_METADATA: Final = "_metadata"  # Spark's column with the file of a row


@frozen
class FillLimits:
    """What a run may do.

    Attributes:
        max_bytes: How many bytes of data files the rows to fill may be in; None for any number.
        samples: Whether to look for values that do not convert.
    """

    max_bytes: int | None = None
    samples: bool = False


@frozen
class Rows:
    """The rows of a table at a version, as a fill divides them.

    Each row whose source has a value is of one of four kinds: to fill, not converted, equal or differing.

    Attributes:
        version: The version.
        visible: All rows that the session sees.
        to_fill: The column is null, and the value converts.
        not_converted: The column is null, and the value does not convert.
        equal: The column has the value.
        differing: The column has another value, or one of a row whose value does not convert.
        refillable: The differing rows whose value converts.
        inexact: The rows to fill and the equal ones whose value is another number, day or instant than that
            of the source, as far as `judges_exactness`.
        spelled: Those whose source is a text with leading zeros or blanks.
        largest_difference: The largest difference of an inexact number, as text.
        judges_exactness: Whether it is known of the expression what it changes.
    """

    version: int
    visible: int
    to_fill: int
    not_converted: int
    equal: int
    differing: int
    refillable: int
    inexact: int
    spelled: int
    largest_difference: str | None = None
    judges_exactness: bool = True

    def fillable(self, fill: Fill) -> int:
        """Return the number of rows that an UPDATE would write."""
        return self.to_fill + (self.refillable if fill.ways_out.differing == "refill" else 0)

    def in_the_way(self, fill: Fill) -> tuple[str, ...]:
        """Return what keeps the source from being dropped, a text for each kind of rows."""
        ways_out = fill.ways_out
        kinds = (
            (self.to_fill, "to fill", False),
            (self.not_converted, "not converted", ways_out.keeps_null),
            (self.inexact, "inexact", ways_out.keeps_converted),
            (self.differing, "differing", ways_out.differing == "keep_new"),
        )
        return tuple(f"{rows:,} {kind}" for rows, kind, may in kinds if rows and not may)

    def text(self) -> str:
        """Return the counts as the end of a sentence."""
        parts = [
            f"{self.equal:,} equal",
            f"{self.to_fill:,} to fill",
            f"{self.not_converted:,} not converted",
            f"{self.differing:,} differing",
            f"{self.inexact:,} inexact" if self.judges_exactness else "exactness not known",
        ]
        if self.inexact and self.largest_difference is not None:
            parts[-1] += f" (by up to {plain_number(self.largest_difference)})"
        if self.spelled:
            parts.append(f"{self.spelled:,} with leading zeros or blanks")
        return ", ".join(parts)


def plain_number(text: str) -> str:
    """Return a decimal without zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text else text


@frozen
class FillResult:
    """What a fill did.

    Attributes:
        fill: The fill.
        rows: How many rows it filled.
        commits: How many commits it made.
        after: The rows afterwards.
    """

    fill: Fill
    rows: int
    commits: int
    after: Rows

    @property
    def text(self) -> str:
        """The result as a sentence."""
        column, source = format_path(self.fill.column), format_path(self.fill.source)
        rows, commits = _counted(self.rows, "row"), _counted(self.commits, "commit")
        return f"{column}: {rows} filled from {source} in {commits}: {self.after.text()}"


@frozen
class _Slice:
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
    def halves(self) -> tuple[_Slice, ...]:
        """The slice in two; nothing if there is one condition."""
        middle = len(self.parts) // 2
        return (_Slice(self.parts[:middle]), _Slice(self.parts[middle:])) if middle else ()


@frozen
class TableFills:
    """Fills the columns of a table.

    Attributes:
        session: A session with the settings that the statements are made for.
        table: The table as SQL names it.
        read: Reads the live table.
        told: Returns what the log says of the rows of a version; None if it does not say it.
        limits: What the run may do.
        note: Called with each commit.
        sample: Called with values of the table, which nothing else tells.
    """

    session: SqlSession
    table: str
    read: Callable[[], LiveTable]
    told: Callable[[int], ToldRows | None]
    limits: FillLimits = FillLimits()
    note: Callable[[str], None] = field(default=lambda _text: None)
    sample: Callable[[str], None] = field(default=lambda _text: None)

    def fill(self, fill: Fill) -> FillResult:
        """Fill a column, as far as the limits allow.

        Raises:
            ApplyError: The session does not see all rows, the table cannot be filled within the limits, or
                the engine refuses a statement.
        """
        live = self.read()
        before = self.proved_count(fill, live.version, live.state.columns)
        rows = commits = used = done = 0
        blocked: list[StatementError] = []
        most_blocked = _MOST_BLOCKED if _partition_columns(live) else 1
        slices = deque(self._slices(fill, live) if before.fillable(fill) else ())
        while slices and len(blocked) < most_blocked:
            part = slices.popleft()
            if self.limits.max_bytes is not None and used + part.size > self.limits.max_bytes:
                if not used:
                    raise self._too_large(fill, part)
                break
            try:
                filled = self._update(fill, part, 1 if part.halves or blocked else ATTEMPTS)
            except StatementError as error:
                if not error.is_conflict:
                    raise
                # Others may write one of the partitions all the time: the rest can be filled.
                slices.extendleft(reversed(part.halves))
                blocked += [] if part.halves else [error]
                continue
            rows, used, commits, done = rows + filled, used + part.size, commits + (filled > 0), done + 1
            parts = f"{done:,} of {_counted(done + len(slices), 'part')}"
            self.note(f"{format_path(fill.column)}: {parts}, {_counted(rows, 'row')} filled")
        after = self.count(fill, self.read().version) if before.fillable(fill) else before
        if blocked and after.fillable(fill):
            raise _too_many_conflicts(fill, rows, after, blocked[0])
        if self.limits.samples and after.not_converted:
            values = ", ".join(self._samples(fill, after.version))
            self.sample(f"{format_path(fill.source)}: some values that do not convert: {values}")
        return FillResult(fill, rows, commits, after)

    def count(self, fill: Fill, version: int, *, has_column: bool = True) -> Rows:
        """Count the rows of a version; a column that the table does not have yet is null."""
        return self._counted(fill, version, (), has_column=has_column)[0]

    def proved_count(self, fill: Fill, version: int, columns: Struct) -> Rows:
        """Count the rows of a version of which the session sees all, and with their values.

        Raises:
            ApplyError: It sees others than the log has.
        """
        told = self.told(version)
        rows, values = self._counted(fill, version, seen(columns, told))
        require_all(columns, told, version, rows.visible, values)
        return rows

    def _counted(
        self, fill: Fill, version: int, more: Sequence[str], *, has_column: bool = True
    ) -> tuple[Rows, Sequence[Any]]:
        statement = count_rows(self.table, fill, version, more, has_column=has_column)
        (row,) = self._ask(fill, statement)
        own = len(row) - len(more)
        rows = replace(Rows(version, *row[:own]), judges_exactness=fill_value(fill).inexact is not None)
        return rows, row[own:]

    def _ask(self, fill: Fill, statement: str) -> list[Any]:
        """Run a statement in the time zone of a fill."""
        zone = fill.time_zone or UTC
        with ExitStack() as stack:
            try:
                stack.enter_context(assigned(self.session, {TIME_ZONE: zone}))
            except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
                raise ApplyError(
                    f"the session takes no time zone {zone}: {first_line(error)}",
                    help="correct `time_zone` in `backfill`",
                ) from None
            return ask(self.session, statement)

    def _update(self, fill: Fill, part: _Slice, attempts: int) -> int:
        """Fill rows, and return their number."""
        statement = fill_rows(self.table, fill, within=part.condition)
        for attempt in range(1, attempts):
            try:
                return _updated_rows(self._ask(fill, statement))
            except StatementError as error:
                if not error.is_conflict:
                    raise
                pause(attempt)
        return _updated_rows(self._ask(fill, statement))

    def _slices(self, fill: Fill, live: LiveTable) -> Iterator[_Slice]:
        """Yield disjoint parts of the rows to fill, none larger than a commit should be, if possible."""
        most = min(_COMMIT_BYTES, self.limits.max_bytes or _COMMIT_BYTES)
        if live.state.columns.get(_METADATA) is not None:  # it hides the sizes of files
            yield _Slice((("", 0),))
            return
        if names := _partition_columns(live):
            yield from self._of_partitions(fill, live, names, most)
            return
        ((size,),) = self._sizes(fill, live, ())
        number = min(ceil((size or 0) / most), MOST_FILL_COMMITS)
        columns = list(_hashed(live.state.columns, fill))
        # Without deletion vectors each commit rewrites all files, whichever rows it fills.
        if number <= 1 or not columns or not live.state.enabled(DELETION_VECTORS):
            yield _Slice((("", size or 0),))
            return
        hashed = f"pmod(xxhash64({', '.join(columns)}), {number})"
        # The fullest part first: a run with a small budget would else meet the same part each time.
        parts = self._ask(
            fill,
            f"SELECT {hashed} AS part, count(*) AS rows FROM {self.table} VERSION AS OF {live.version} "  # noqa: S608 (all names are quoted)
            f"WHERE {to_fill(fill, fill_value(fill))} GROUP BY 1 ORDER BY rows DESC, part",
        )
        yield from (_Slice(((f"{hashed} = {part}", ceil(size / number)),)) for part, _rows in parts)

    def _of_partitions(
        self, fill: Fill, live: LiveTable, names: tuple[str, ...], most: int
    ) -> Iterator[_Slice]:
        """Yield neighbouring partitions together: writers of others do not conflict with their commit."""
        parts: list[tuple[str, int]] = []
        size = 0
        for *values, bytes_ in self._sizes(fill, live, tuple(map(always_quoted, names))):
            if parts and (size + bytes_ > most or len(parts) == _MOST_PARTITIONS):
                yield _Slice(tuple(parts))
                parts, size = [], 0
            pairs = zip(names, values, strict=True)
            condition = " AND ".join(_equals(name, value, live.state) for name, value in pairs)
            parts.append((f"({condition})", bytes_))
            size += bytes_
        if parts:
            yield _Slice(tuple(parts))

    def _sizes(self, fill: Fill, live: LiveTable, names: tuple[str, ...]) -> list[Any]:
        """Return the bytes of the files with rows to fill, by the partition columns, which are quoted."""
        texts = [f"CAST({name} AS string)" for name in names]
        inner = ", ".join((*names, f"max({_METADATA}.file_size) AS size", "count(*) AS rows"))
        by_file = ", ".join((*names, f"{_METADATA}.file_path"))
        fullest = "sum(rows) DESC, " if self.limits.max_bytes is not None else ""
        by_partition = f"GROUP BY {', '.join(names)} ORDER BY {fullest}{', '.join(names)}" if names else ""
        return self._ask(
            fill,
            f"SELECT {', '.join((*texts, 'sum(size)'))} FROM (SELECT {inner} FROM {self.table} VERSION AS OF "  # noqa: S608 (all names are quoted)
            f"{live.version} WHERE {to_fill(fill, fill_value(fill))} GROUP BY {by_file}) {by_partition} "
            f"LIMIT {MOST_FILL_COMMITS}",
        )

    def _too_large(self, fill: Fill, part: _Slice) -> ApplyError:
        return ApplyError(
            f"{format_path(fill.column)} cannot be filled within --max-bytes {self.limits.max_bytes:,}: "
            f"the smallest commit takes {part.size:,} bytes",
            help=f"raise --max-bytes, or set {DELETION_VECTORS}: without it a commit rewrites whole files, "
            "and only partitions divide the table",
        )

    def _samples(self, fill: Fill, version: int) -> Iterator[str]:
        source, value = path_text(fill.source), fill_value(fill)
        left = f"{path_text(fill.column)} IS NULL AND ({value.counts}) AND NOT ({value.converts})"
        query = f"SELECT DISTINCT CAST({source} AS string) FROM {self.table} VERSION AS OF {version}"  # noqa: S608 (all names are quoted)
        rows = self._ask(fill, f"{query} WHERE {left} LIMIT {_SAMPLES}")
        yield from (shown_value(value) for (value,) in rows)


def _partition_columns(live: LiveTable) -> tuple[str, ...]:
    names = live.state.partitioned_by
    return names if isinstance(names, tuple) else ()


def _updated_rows(answer: list[Any]) -> int:
    return int(answer[0][0]) if answer else 0


def _too_many_conflicts(fill: Fill, rows: int, after: Rows, error: StatementError) -> ApplyError:
    return ApplyError(
        f"{format_path(fill.column)}: {_counted(rows, 'row')} filled, {after.fillable(fill):,} left: other "
        f"writers committed during each of {ATTEMPTS} attempts: {error.message}",
        help="apply again: what is filled stays so; in a table without partitions every append conflicts, so "
        f"pause the writers, or make parts that take less time: {DELETION_VECTORS} and --max-bytes",
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


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
