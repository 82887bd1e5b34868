"""Forty fills of thirty-five values in four histories: a value that is gone after the drop was counted.

What becomes of a value is asked of Spark cell by cell, with the expression as it is written and ANSI on: an
error is a value that does not convert. Whether it is another number or day then, Python says. What rows have
is kept in Python, by id. One of four tables is asked; ``SCHEMALINT_ENGINE_ALL=1`` asks all.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import pytest
from pyspark.errors import PySparkException

from schemalint.base.values import frozen, replace
from schemalint.delta.datatype import Char, Field, Struct, Varchar
from schemalint.delta.type_text import parse_type
from schemalint.deploy.results import Outcome
from schemalint.model.table_plan import Fill, StepKind
from schemalint.planner.fills.values import fill_value
from schemalint.spark.session_settings import required_settings
from spark.fill_table_cases import CASES, OTHER_VALUES, SOURCES, TEXTS, FillCase, is_changed
from support.lakehouse import UNCOMPILED, Lakehouse
from support.sampling import some_of_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemalint.spark.statements import SqlSession

pytestmark = pytest.mark.spark

VALUES: Final = len(TEXTS)
QUIET, SOURCE_CHANGED, NEW_WRITTEN, BOTH = range(4)
"""What happens between the fill and the drop; each row has one of these histories."""

SESSIONS: Final[dict[str, dict[str, str]]] = {
    "plain": {},
    "legacy": {"spark.sql.ansi.enabled": "false", "spark.sql.storeAssignmentPolicy": "LEGACY"},
    "parser": {
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
        "spark.sql.session.timeZone": "Asia/Kathmandu",
    },
    "lengths": {
        "spark.sql.legacy.charVarcharAsString": "true",
        "spark.sql.session.timeZone": "America/Los_Angeles",
    },
}
"""The settings of a session that runs `apply`."""

TABLES: Final = {name: CASES[first :: len(SESSIONS)] for first, name in enumerate(SESSIONS)}
"""The fills of one table each, and the session that applies it."""

WAYS: Final = ", unfilled: keep_null, inexact: keep_converted, differing: keep_new"
FIXED: Final = {**UNCOMPILED, "spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}


@frozen
class Cell:
    """A row of one fill, with its values as texts; None is null.

    Attributes:
        source: The value of the old column.
        meaning: What the expression makes of it; None if it does not convert.
        new: The value of the new column.
    """

    source: str | None
    meaning: str | None
    new: str | None = None

    def filled(self) -> Cell:
        """Return the row as it is after a fill."""
        if self.new is not None or self.source is None:
            return self
        return replace(self, new=self.meaning)

    def kinds(self, case: FillCase) -> list[str]:
        """Return what keeps the column of a row that is filled."""
        if self.source is None:
            return []
        if self.new is None:
            return ["not converted"]
        if self.new != self.meaning:
            return ["differing"]
        return ["inexact"] if case.is_chain and is_changed(self.source, self.new, case.new) else []


class Table:
    """A table with the two columns of some fills, and what their rows should have."""

    def __init__(self, lakehouse: Lakehouse, cases: Sequence[FillCase]) -> None:
        self.lakehouse, self.cases = lakehouse, cases
        self.name = f"delta.`{lakehouse.uri}`"
        self.session = lakehouse.another_session(FIXED)
        self.told = [meanings(self.session, case) for case in cases]
        self.cells = [
            {number: Cell(*told[number % VALUES]) for number in range(4 * VALUES)} for told in self.told
        ]

    def declare(self, *, has_old: bool = True, has_new: bool = True, ways: str = "") -> None:
        """Declare the columns of all fills; without the old ones they are dropped."""
        lines = ["schemalint: 1", "table: sales.orders", "columns:", "  - {name: id, type: int}"]
        for number, case in enumerate(self.cases):
            if has_old:
                lines.append(f'  - {{name: {old(number)}, type: "{case.old}"}}')
            if has_new:
                text = of_column(case.expression, number)
                backfill = f'{{from: {old(number)}, with: "{text}"{ways}}}'
                lines.append(f'  - {{name: {new(number)}, type: "{case.new}", backfill: {backfill}}}')
        if not has_old:
            lines.append(f"dropped: [{', '.join(self.old_names)}]")
        lines += ["properties: {delta.columnMapping.mode: name}", "features: [timestampNtz]"]
        lines += ["protocol: {allow_upgrade: true}", ""]
        self.lakehouse.declare("\n".join(lines))

    @property
    def old_names(self) -> list[str]:
        return [old(number) for number in range(len(self.cases))]

    def insert(self) -> None:
        """Write all values of the sources as often as there are histories."""
        values = [value_at(case, f"id % {VALUES}") for case in self.cases]
        self.session.sql(
            f"INSERT INTO {self.name} (id, {', '.join(self.old_names)}) "
            f"SELECT CAST(id AS int), {', '.join(values)} FROM range(0, {4 * VALUES}, 1, 1)"
        )

    def change(self) -> None:
        """Let writers change the columns as the histories say."""
        cases = list(enumerate(self.cases))
        changed = [f"{old(number)} = {value_at(case, f'(id + 1) % {VALUES}')}" for number, case in cases]
        written = [f"{new(number)} = {OTHER_VALUES[case.new]}" for number, case in cases]
        for texts, histories in (
            (changed, (SOURCE_CHANGED, BOTH)),
            (written, (NEW_WRITTEN, BOTH)),
        ):
            self.session.sql(
                f"UPDATE {self.name} SET {', '.join(texts)} WHERE id DIV {VALUES} IN {histories}"
            )
        others = self.values()[NEW_WRITTEN * VALUES]
        for cells, told, other in zip(self.cells, self.told, others, strict=True):
            for number, cell in cells.items():
                history = number // VALUES
                source, meaning, value = cell.source, cell.meaning, cell.new
                if history in (SOURCE_CHANGED, BOTH):
                    source, meaning = told[(number + 1) % VALUES]
                if history in (NEW_WRITTEN, BOTH):
                    value = other
                cells[number] = Cell(source, meaning, value)

    def fill(self) -> None:
        """Note that all rows were filled."""
        self.cells = [{number: cell.filled() for number, cell in cells.items()} for cells in self.cells]

    def values(self) -> list[tuple[Any, ...]]:
        """Return the values of all new columns by id."""
        columns = ", ".join(f"CAST({new(number)} AS string)" for number in range(len(self.cases)))
        rows = self.session.sql(f"SELECT id, {columns} FROM {self.name} ORDER BY id").collect()
        assert [row[0] for row in rows] == list(range(4 * VALUES))
        return [tuple(row)[1:] for row in rows]

    def require_values(self) -> None:
        """Require that each row has the values that it should have."""
        values = self.values()
        for number, (case, cells) in enumerate(zip(self.cases, self.cells, strict=True)):
            found = {row: values[row][number] for row in cells}
            assert found == {row: cell.new for row, cell in cells.items()}, case

    def require_counted(self, error: str) -> None:
        """Require that an error counts all rows of each kind, and no other ones."""
        found = counted(error)
        for number, (case, cells) in enumerate(zip(self.cases, self.cells, strict=True)):
            kinds = Counter(kind for cell in cells.values() for kind in cell.kinds(case))
            assert found.get(old(number), {}) == kinds, case


@pytest.mark.parametrize("name", some_of_each(TABLES, lambda _name: 0, 1))
def test_a_value_that_is_not_there_after_the_drop_was_counted(lakehouse: Lakehouse, name: str) -> None:
    table = Table(lakehouse, TABLES[name])
    session = lakehouse.another_session({**UNCOMPILED, **SESSIONS[name]})

    def applied() -> tuple[Outcome, str]:
        result = lakehouse.apply(session, allow=("data", "destructive"))
        return result.outcome, "" if result.error is None else result.error.message

    table.declare(has_new=False)
    applied()
    table.insert()
    table.declare()
    assert applied() == (Outcome.APPLIED, "")
    table.fill()
    table.require_values()
    table.change()
    table.require_values()

    table.declare(has_old=False)
    outcome, error = applied()
    assert outcome is Outcome.FAILED
    table.fill()
    table.require_values()
    table.require_counted(error)

    table.declare(has_old=False, ways=WAYS)
    assert applied() == (Outcome.APPLIED, "")
    assert not set(table.old_names) & set(lakehouse.table().state.columns.names)
    table.require_values()


@pytest.mark.parametrize("name", some_of_each(TABLES, lambda _name: 0, 1))
def test_each_session_makes_the_same_values(lakehouse: Lakehouse, name: str) -> None:
    cases = TABLES[name]
    plain = lakehouse.another_session(FIXED)
    expected = [[text for _source, text in meanings(plain, case)] for case in cases]
    columns = [f"{value_at(case, 'id')} AS {old(number)}" for number, case in enumerate(cases)]
    values = [made(case, number) for number, case in enumerate(cases)]
    query = (
        f"SELECT {', '.join(values)} FROM (SELECT id, {', '.join(columns)} FROM range(0, {VALUES}, 1, 1)) "
        "ORDER BY id"
    )
    for settings in SESSIONS.values():
        session = lakehouse.another_session({**UNCOMPILED, **settings})
        with required_settings(session, kinds={StepKind.FILL}):
            rows = session.sql(query).collect()
        for number, case in enumerate(cases):
            assert [row[number] for row in rows] == expected[number], (settings, case)


def meanings(session: SqlSession, case: FillCase) -> list[tuple[str | None, str | None]]:
    """Return each value of a source, and what Spark makes of it, each asked by itself."""
    found: dict[str, tuple[str | None, str | None]] = {}
    for value in SOURCES[case.old]:
        if value not in found:
            row = f"(SELECT CAST(col1 AS {case.old}) AS a FROM VALUES ({value}))"
            ((source,),) = session.sql(f"SELECT CAST(a AS string) FROM {row}").collect()
            found[value] = (source, meaning(session, case, row))
    return [found[value] for value in SOURCES[case.old]]


def meaning(session: SqlSession, case: FillCase, row: str) -> str | None:
    """Return what Spark makes of a row; None if that is null, or it fails."""
    type_ = parse_type(case.new)
    unsized = "string" if isinstance(type_, Char | Varchar) else case.new
    text: str | None
    try:
        ((text,),) = session.sql(
            f"SELECT CAST(CAST(({case.told}) AS {unsized}) AS string) FROM {row}"
        ).collect()
    except PySparkException:
        return None
    if text is not None and isinstance(type_, Char | Varchar):
        if len(text) > type_.length:
            return None
        if isinstance(type_, Char):
            return text.ljust(type_.length)
    return text


def made(case: FillCase, number: int) -> str:
    """Return the value of a fill as its statements have it, as a text that is stored."""
    columns = Struct((Field(old(number), parse_type(case.old)),))
    type_ = parse_type(case.new)
    fill = Fill((new(number),), type_, (old(number),), of_column(case.expression, number), columns)
    text = f"CAST({fill_value(fill).value} AS string)"
    return f"rpad({text}, {type_.length}, ' ')" if isinstance(type_, Char) else text


def old(number: int) -> str:
    return f"a{number:02}"


def new(number: int) -> str:
    return f"b{number:02}"


def of_column(expression: str, number: int) -> str:
    """Return an expression of the column ``a`` for a column of the table."""
    return re.sub(r"\ba\b(?!\.m)", old(number), expression)


def value_at(case: FillCase, index: str) -> str:
    return f"element_at(array({', '.join(SOURCES[case.old])}), CAST({index} AS int) + 1)"


def counted(error: str) -> dict[str, Counter[str]]:
    """Return what an error says of each old column."""
    found = {}
    for part in error.partition("would be lost: ")[2].split("; "):
        kinds, _of, column = part.rpartition(" of ")
        numbers = re.findall(r"(\d+) ([a-z ]+)", kinds)
        found[column] = Counter({kind: int(number) for number, kind in numbers})
    return found
