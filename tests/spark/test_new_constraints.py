"""With which new constraints `apply` counts rows before it adds them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.change import ConstraintChanged
from schemalint.model.table_plan import Step
from schemalint.spark.prechecks.rows import require_clean
from support.seam import created_table, planned

TABLE: Final = """\
schemalint: 1
table: sales.orders
columns: [{name: id, type: int}, {name: note, type: string}]
protocol: {allow_upgrade: true}
"""
MAY_RUN: Final = "length(note) > 1"
CONSTRAINT: Final = f'constraints: {{noted: "{MAY_RUN}"}}\n'


class NotingSession:
    """A session whose tables have no rows, and that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def sql(self, query: str) -> Any:  # noqa: ANN401 (stands for a DataFrame)
        self.asked.append(query)
        return self

    def collect(self) -> list[tuple[int]]:
        return [(0,)]


@pytest.mark.parametrize(
    "expression",
    [
        "reflect('java.lang.System', 'exit', id) <> '?'",
        "function_of_somebody(id) > 1",
        "catalog.schema.function(id) > 1",
        "id < unix_date(current_date())",
        "id > (SELECT max(id) FROM read_files('/etc'))",
    ],
)
def test_no_row_is_counted_with_a_constraint_that_must_not_run(expression: str) -> None:
    """Rules refuse some of them in a plan; the count does not rely on that."""
    base, head = (contracts.read("orders.yaml", TABLE + more).contracts[0] for more in ("", CONSTRAINT))
    plan = planned(base, head, created_table(base))
    (step,) = plan.steps
    session: Any = NotingSession()
    require_clean(session, plan, "orders")
    assert [MAY_RUN in query for query in session.asked] == [True]

    session.asked.clear()
    require_clean(session, replace(plan, steps=(with_constraint(step, expression),)), "orders")
    assert session.asked == []


def with_constraint(step: Step, expression: str) -> Step:
    """Return the step that adds another constraint."""
    return replace(step, changes=(ConstraintChanged("noted", None, expression),))
