"""Random migrations, writers and kills: an old column goes only if no value goes with it.

The test keeps its own copy of all rows, and its own reading of texts. ``SCHEMALINT_RUNS=200`` asks more.
"""

from __future__ import annotations

import os
import random
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.deploy.results import Outcome
from support.faulty_sessions import Interrupted, Killed
from support.migration import ALL, Migration

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

TEXTS: Final = ("1", " 2", "03", "-4", "2147483648", "5.25", "6.999", "7e1", "x", "", "1,5", None)
WAYS: Final = ("unfilled: keep_null", "inexact: keep_converted", "differing: keep_new", "differing: refill")
RUNS: Final = int(os.environ.get("SCHEMALINT_RUNS", "3"))


def integer(text: str) -> Decimal | None:
    try:
        number = int(text.strip())
    except ValueError:
        return None
    return Decimal(number) if -(2**31) <= number < 2**31 else None


def amount(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number.quantize(Decimal("0.01"), "ROUND_HALF_UP") if abs(number) < 10**10 else None


def or_default(text: str) -> Decimal | None:
    number = integer(text)
    return Decimal(-1) if number is None else number


READINGS: Final[dict[str, tuple[str, str, Callable[[str], Decimal | None]]]] = {
    "integer": ("int", "cast(a as int)", integer),
    "amount": ("decimal(12,2)", "cast(a as decimal(12,2))", amount),
    "trimmed": ("decimal(12,2)", "cast(trim(a) as decimal(12,2))", amount),
    "default": ("int", "coalesce(cast(a as int), -1)", or_default),
}


class Model:
    """The rows as their writers know them: the text of the old column, and the number of the new one."""

    def __init__(self, migration: Migration, chosen: random.Random) -> None:
        self.migration, self.chosen = migration, chosen
        self.rows: dict[int, tuple[str | None, Decimal | None]] = {}

    def write(self) -> None:
        """Let a writer do something; as long as both columns are there it may know both."""
        columns = self.migration.lakehouse.table().state.columns.names
        number, text, new = len(self.rows) + 1, self.chosen.choice(TEXTS), Decimal(self.chosen.randrange(9))
        value = "NULL" if text is None else f"'{text}'"
        if "a" not in columns:
            return
        kind = self.chosen.choice(("old", "old", "both", "update old", "update new", "null"))
        if kind == "old" or "b" not in columns or not self.rows:
            self.migration.insert(number, value)
            self.rows[number] = (text, None)
            return
        if kind == "both":
            self.migration.sql(f"INSERT INTO {{table}} (id, a, b) VALUES ({number}, {value}, {new})")
            self.rows[number] = (text, new)
            return
        number = self.chosen.choice(sorted(self.rows))
        changes = {"update old": f"a = {value}", "update new": f"b = {new}", "null": "b = NULL"}
        self.migration.sql(f"UPDATE {{table}} SET {changes[kind]} WHERE id = {number}")
        old, before = self.rows[number]
        if kind == "update old":
            self.rows[number] = (text, before)
        else:
            self.rows[number] = (old, new if kind == "update new" else None)

    def follow(self) -> None:
        """Take over what fills wrote: it must be what the text means, and nothing else may have changed."""
        values = self.migration.values()
        assert values.keys() == self.rows.keys()
        for number, (text, before) in self.rows.items():
            value = None if values[number] == "None" else Decimal(values[number])
            if value != before:
                assert text is not None
                assert value == self.read(text)
                assert before is None or self.refills
            self.rows[number] = (text, value)

    refills = False
    read: Callable[[str], Decimal | None]

    def require_kept(self, ways: str) -> None:
        """Require that each text is in the new column, but for what the contract gives up."""
        for number, (text, value) in self.rows.items():
            if text is None:
                continue
            expected = self.read(text)
            if expected is None:
                assert value is None or "keep_new" in ways, (number, text, value)
                assert "keep_null" in ways or value is not None, (number, text, value)
            elif value != expected:
                assert "keep_new" in ways, (number, text, value)
                assert value is not None
            elif "coalesce" not in self.migration.expression and expected != Decimal(text.strip()):
                assert "keep_converted" in ways, (number, text, value)


@pytest.mark.each_time
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_random_migration_loses_no_value(lakehouse: Lakehouse, seed: int) -> None:
    chosen = random.Random(seed)  # noqa: S311 (no secret is made of it)
    lakehouse = lakehouse.for_few_rows()
    new, expression, read = chosen.choice(list(READINGS.values()))
    migration = Migration(lakehouse, "string", new, expression)
    model = Model(migration, chosen)
    model.read = read
    migration.begin("NULL")
    model.rows[1] = (None, None)
    for _write in range(4):
        model.write()
    ways = ", ".join(way for way in WAYS[:2] if chosen.random() < 0.5)
    truth = chosen.choice(("", *WAYS[2:]))
    ways = ", ".join(filter(None, (ways, truth)))
    model.refills = "refill" in ways
    migration.declare(ways=ways)
    lakehouse.apply(allow=ALL)
    model.follow()
    for _write in range(chosen.randrange(5)):
        model.write()
    migration.declare(old=False, ways=ways)
    killed = chosen.randrange(1, 4)
    writes = chosen.random() < 0.5

    def before(number: int) -> None:
        # What a fill has written is read before a writer changes it.
        if writes and number == 1:
            model.follow()
            model.write()

    def after(number: int) -> None:
        if "b" in lakehouse.table().state.columns.names:
            model.follow()
        if number == killed:
            raise Killed

    outcomes = []
    for attempt in range(3):
        session = Interrupted(lakehouse.session, before=before, after=after)
        try:
            result = lakehouse.apply(session if attempt == 0 else lakehouse.session, allow=ALL)
        except Killed:
            continue
        outcomes.append(result.outcome)
        model.follow()
    is_gone = "a" not in lakehouse.table().state.columns.names
    if outcomes[-1] in (Outcome.APPLIED, Outcome.RECORDED, Outcome.NOTHING):
        assert is_gone
        model.require_kept(ways)
    else:
        assert outcomes[-1] in (Outcome.FAILED, Outcome.FILLING), outcomes
