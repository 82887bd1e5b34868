"""Fill a column of a table from another one, commit by commit.

The condition of the rows is the only state: a run that was killed, or whose budget is used up, goes on where
the column is still null. No statement overwrites a value that is there, but with `differing: refill`, and no
value leaves the engine but the samples that the user asks for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Final

from schemalint.base.errors import ApplyError
from schemalint.base.phrases import plural
from schemalint.base.values import field, frozen, replace
from schemalint.delta.datatype import Struct
from schemalint.delta.path import format_path
from schemalint.delta.properties import DELETION_VECTORS
from schemalint.delta.table import LiveTable
from schemalint.model.table_plan import Fill
from schemalint.planner.fills.statements import RowKind, count_rows, fill_rows, sample_rows
from schemalint.planner.fills.values import fill_value
from schemalint.spark.fills.shares import Share, Shares
from schemalint.spark.session_sees import require_all, require_statistics, seen
from schemalint.spark.session_settings import TIME_ZONE, UTC, assigned
from schemalint.spark.shown_value import shown_value
from schemalint.spark.statements import ATTEMPTS, SqlSession, StatementError, ask, first_line, pause
from schemalint.tables.delta_log.told_values import ToldRows

_MOST_BLOCKED: Final = 8  # then others seem to write all partitions
_SAMPLES: Final = 5


@frozen
class FillLimits:
    """What a run may do.

    Attributes:
        max_bytes: How many bytes of data files the rows to fill may be in; None for any number.
        samples: Whether to look for values that keep the source from being dropped.
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

    def rewritten_text(self) -> str:
        """Return the counts of a column that gets other values itself, as the end of a sentence."""
        inexact = f"{self.inexact:,} inexact" if self.judges_exactness else "exactness not known"
        return f"{self.to_fill:,} values convert, {self.not_converted:,} do not, {inexact}"

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
    """What a fill did."""

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
        may_mask: The target, if its platform can mask columns, and it does not say that none is masked.
    """

    session: SqlSession
    table: str
    read: Callable[[], LiveTable]
    told: Callable[[int], ToldRows | None]
    limits: FillLimits = FillLimits()
    note: Callable[[str], None] = field(default=lambda _text: None)
    sample: Callable[[str], None] = field(default=lambda _text: None)
    may_mask: str | None = None

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
        too_large: list[int] = []
        most_blocked = _MOST_BLOCKED if live.state.partition_columns else 1
        shares = Shares(partial(self._ask, fill), self.table, self.limits.max_bytes)
        left = deque(shares.of(fill, live) if before.fillable(fill) else ())
        budget = self.limits.max_bytes
        while left and len(blocked) < most_blocked:
            part = left.popleft()
            if budget is not None and part.size > budget:
                too_large.append(part.size)
                continue
            if budget is not None and used + part.size > budget:
                break
            try:
                filled = self._update(fill, part, 1 if part.halves or blocked else ATTEMPTS)
            except StatementError as error:
                if not error.is_conflict:
                    raise
                # Others may write one of the partitions all the time: the rest can be filled.
                left.extendleft(reversed(part.halves))
                blocked += [] if part.halves else [error]
                continue
            rows, used, commits, done = rows + filled, used + part.size, commits + (filled > 0), done + 1
            parts = f"{done:,} of {_counted(done + len(left), 'part')}"
            self.note(f"{format_path(fill.column)}: {parts}, {_counted(rows, 'row')} filled")
        if too_large and not (done or blocked):
            raise self._too_large(fill, min(too_large))
        after = self.count(fill, self.read().version) if before.fillable(fill) else before
        if blocked and after.fillable(fill):
            raise _too_many_conflicts(fill, rows, after, blocked[0])
        if self.limits.samples:
            self._show_samples(fill, after)
        return FillResult(fill, rows, commits, after)

    def count(self, fill: Fill, version: int, *, has_column: bool = True) -> Rows:
        """Count the rows of a version; a column that the table does not have yet is null."""
        return self._counted(fill, version, (), has_column=has_column)[0]

    def proved_count(self, fill: Fill, version: int, columns: Struct, *, has_column: bool = True) -> Rows:
        """Count the rows of a version of which the session sees all, and with their values.

        Raises:
            ApplyError: It sees others than the log has, or maybe does.
        """
        told = self._told(version, columns)
        rows, values = self._counted(fill, version, seen(columns, told), has_column=has_column)
        require_all(columns, told, version, rows.visible, values)
        return rows

    def require_all_rows(self, version: int, columns: Struct) -> None:
        """Require that the session sees all rows of a version, and with their values.

        Raises:
            ApplyError: It sees others than the log has.
        """
        told = self._told(version, columns)
        aggregates = ", ".join(("count(*)", *seen(columns, told)))
        query = f"SELECT {aggregates} FROM {self.table} VERSION AS OF {version}"  # noqa: S608 (all names are quoted)
        ((rows, *values),) = ask(self.session, query)
        require_all(columns, told, version, rows, values)

    def _told(self, version: int, columns: Struct) -> ToldRows | None:
        """Return what the log says of a version; where columns may be masked, it must tell of each."""
        told = self.told(version)
        if self.may_mask is not None:
            require_statistics(columns, told, version, self.may_mask)
        return told

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
        with self.in_zone(fill.time_zone):
            return ask(self.session, statement)

    @contextmanager
    def in_zone(self, zone: str | None) -> Iterator[None]:
        """Run statements in a time zone; None is UTC.

        Raises:
            ApplyError: The session takes no such time zone.
        """
        zone = zone or UTC
        with ExitStack() as stack:
            try:
                stack.enter_context(assigned(self.session, {TIME_ZONE: zone}))
            except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
                raise ApplyError(
                    f"the session takes no time zone {zone}: {first_line(error)}",
                    help="correct `time_zone` in the contract",
                ) from None
            yield

    def _update(self, fill: Fill, part: Share, attempts: int) -> int:
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

    def _too_large(self, fill: Fill, size: int) -> ApplyError:
        return ApplyError(
            f"{format_path(fill.column)} cannot be filled within --max-bytes {self.limits.max_bytes:,}: "
            f"the smallest commit takes {size:,} bytes",
            help=f"raise --max-bytes, or set {DELETION_VECTORS}: without it a commit rewrites whole files, "
            "and only partitions divide the table",
        )

    def _show_samples(self, fill: Fill, rows: Rows) -> None:
        """Show some values of the rows that keep the source from being dropped."""
        column, source = format_path(fill.column), format_path(fill.source)
        kinds: tuple[tuple[RowKind, int, str], ...] = (
            ("not converted", rows.not_converted, "do not convert"),
            ("inexact", rows.inexact, f"are other ones in {column}"),
            ("differing", rows.differing, f"{column} differs from"),
        )
        for kind, number, words in kinds:
            if not number:
                continue
            pairs = self._ask(fill, sample_rows(self.table, fill, rows.version, kind, _SAMPLES))
            shown = [shown_value(old) for old, _new in pairs]
            if kind != "not converted":
                shown = [f"{shown_value(old)} ({shown_value(new)})" for old, new in pairs]
            self.sample(f"{source}: some values that {words}: {', '.join(shown)}")


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
    return f"{number:,} {plural(number, noun)}"
