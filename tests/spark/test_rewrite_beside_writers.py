"""A rewrite beside a writer that appends, merges, compacts and alters: no row is lost, and none is doubled.

``SCHEMALINT_RUNS`` is the number of runs, each with its own seed.
"""

from __future__ import annotations

import os
import random
from decimal import Decimal
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

import pytest

from schemalint.deploy.results import Outcome
from schemalint.spark.rewrites import rewrite
from support.faulty_sessions import Killed
from support.lakehouse import FOR_FEW_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.spark.statements import SqlSession
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

RUNS: Final = int(os.environ.get("SCHEMALINT_RUNS", "3"))
SEED: Final = int(os.environ.get("SCHEMALINT_SEED", "0"))
OLD: Final = (
    "schemalint: 1\ntable: sales.orders\ncolumns: [{name: id, type: int}, {name: amount, type: string}]\n"
)
NEW: Final = OLD.replace(
    "type: string}", 'type: "decimal(12,2)", rewrite: {from: string, with: "cast(amount as decimal(12,2))"}}'
)
ALLOW: Final = ("rewrite", "destructive")
FIRST: Final = 20


class Writer(Thread):
    """Writes until it is told to stop, and notes what it has written."""

    def __init__(self, session: SqlSession, uri: str, seed: int) -> None:
        super().__init__(daemon=True)
        self.rows = {id_: str(id_) for id_ in range(FIRST)}
        self.stopped = Event()
        self.refused: list[str] = []
        self._session = session
        self._table = f"delta.`{uri}`"
        self._random = random.Random(seed)  # noqa: S311 (no secret)
        self._next = FIRST

    def run(self) -> None:
        """Write."""
        while not self.stopped.is_set():
            self.step()
            self.stopped.wait(self._random.random() / 2)

    def step(self) -> None:
        """Make one commit, or none if it is refused: a refused one has no effect."""
        actions: list[Callable[[], Callable[[], None]]] = [
            self._append,
            self._append,
            self._merge,
            self._delete,
        ]
        actions += [self._optimize, self._alter]
        try:
            self._random.choice(actions)()()
        except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
            self.refused.append(str(error).partition("\n")[0])

    def _sql(self, text: str) -> None:
        self._session.sql(text.replace("{t}", self._table)).collect()

    def _append(self) -> Callable[[], None]:
        id_, self._next = self._next, self._next + 1

        def append() -> None:
            self._sql(f"INSERT INTO {{t}} VALUES ({id_}, '{id_}')")
            self.rows[id_] = str(id_)

        return append

    def _merge(self) -> Callable[[], None]:
        id_ = self._random.choice([*self.rows])
        value = str(self._random.randint(0, 999))

        def merge() -> None:
            self._sql(
                f"MERGE INTO {{t}} t USING (SELECT {id_} AS id, '{value}' AS amount) s ON t.id = s.id "
                "WHEN MATCHED THEN UPDATE SET t.amount = s.amount"
            )
            self.rows[id_] = value

        return merge

    def _delete(self) -> Callable[[], None]:
        id_ = self._random.choice([*self.rows])

        def delete() -> None:
            self._sql(f"DELETE FROM {{t}} WHERE id = {id_}")
            self.rows.pop(id_)

        return delete

    def _optimize(self) -> Callable[[], None]:
        return lambda: self._sql("OPTIMIZE {t}")

    def _alter(self) -> Callable[[], None]:
        return lambda: self._sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('team' = '{self._next}')")


@pytest.mark.each_time(str(SEED))
@pytest.mark.parametrize(
    "seed",
    [SEED, *(pytest.param(seed, marks=pytest.mark.kill) for seed in range(SEED + 1, SEED + RUNS))],
)
def test_no_row_is_lost_and_none_is_doubled_beside_a_writer(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 (no secret)
    lakehouse = lakehouse.for_few_rows()
    lakehouse.declare(OLD)
    lakehouse.apply()
    lakehouse.insert(", ".join(f"({id_}, '{id_}')" for id_ in range(FIRST)))
    lakehouse.declare(NEW)
    _killed_at_some_point(monkeypatch, chance)
    writer = Writer(lakehouse.another_session(FOR_FEW_ROWS), lakehouse.uri, seed)
    writer.start()
    try:
        applied = _applied(lakehouse, chance)
    finally:
        writer.stopped.set()
        writer.join()
    assert applied is None or applied.outcome in {Outcome.APPLIED, Outcome.RECORDED, Outcome.FAILED}
    is_rewritten = "amount: decimal" in str(lakehouse.table().state.columns) or any(
        isinstance(row["amount"], Decimal) for row in lakehouse.rows()
    )
    found = [(row["id"], str(row["amount"])) for row in lakehouse.rows()]
    ending = ".00" if is_rewritten else ""
    assert sorted(found) == sorted((id_, f"{value}{ending}") for id_, value in writer.rows.items())
    monkeypatch.undo()
    again = lakehouse.apply(allow=ALLOW)
    assert again.outcome in {Outcome.APPLIED, Outcome.RECORDED, Outcome.NOTHING}, again.error
    found = [(row["id"], str(row["amount"])) for row in lakehouse.rows()]
    assert sorted(found) == sorted((id_, f"{value}.00") for id_, value in writer.rows.items())


def _killed_at_some_point(monkeypatch: pytest.MonkeyPatch, chance: random.Random) -> None:
    """Kill the run before or after the write, or nowhere."""
    name = chance.choice(["overwrite", "prove_rewrite", None, None])
    if name is None:
        return
    function, is_before = getattr(rewrite, name), chance.random() < 0.5

    def killed(*given: Any) -> None:  # noqa: ANN401
        if not is_before:
            function(*given)
        raise Killed

    monkeypatch.setattr(rewrite, name, killed)


def _applied(lakehouse: Lakehouse, chance: random.Random) -> Any:  # noqa: ANN401
    try:
        return lakehouse.apply(allow=ALLOW, attempts=chance.randint(1, 3))
    except Killed:
        return None
