"""`pull --format sql`: the statements of live tables, read back, are the tables again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.base.errors import SchemalintError
from schemalint.base.values import replace
from schemalint.contract.dialects import sql
from schemalint.delta.change import TypeHistoryChanged
from schemalint.delta.diff import diff
from schemalint.delta.path import format_path
from schemalint.delta.properties import find_property
from schemalint.model.contract import FileFormat
from schemalint.model.declaration import created_state
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from schemalint.delta.table import TableState
    from support.project import Project

LOGS: Final = Path(__file__).parents[1] / "delta_log/logs"
WRITTEN_BY_SPARK: Final = sorted(str(log.parent.relative_to(LOGS)) for log in LOGS.rglob("_delta_log"))
WITH_TYPE_CHANGES: Final = frozenset({"chars", "checkpointed", "cloned", "widened"})
"""The tables that are not the same afterwards: a statement cannot say which types a column had."""


def declared(state: TableState) -> TableState:
    """Return a state without what Delta writes itself, and features: properties ask for them."""
    kept = {
        key: value
        for key, value in state.set_properties.items()
        if (row := find_property(key)) is None or not row.written_by_delta
    }
    return replace(state, features=frozenset(), properties=kept)


@pytest.mark.parametrize("name", WRITTEN_BY_SPARK)
def test_a_pulled_table_is_read_back(project: Project, name: str) -> None:
    folder = LOGS / name
    try:
        live = read_table(str(folder), history=False)
    except SchemalintError:
        pytest.skip("a table that cannot be read cannot be pulled")
    run = project.run("pull", str(folder), "--format", "sql")
    assert run.status == 0
    reading = sql.read("orders.sql", run.out.encode(), None, FileFormat("sql"))
    assert reading.errors == ()
    (contract,) = reading.contracts
    changes = diff(declared(created_state(contract.state)), declared(live.state))
    assert all(isinstance(change, TypeHistoryChanged) for change in changes)
    assert bool(changes) == (name in WITH_TYPE_CHANGES)
    named = {line for line in run.out.splitlines() if line.startswith("-- not in this file: ")}
    lost = (change.path for change in changes if isinstance(change, TypeHistoryChanged))
    assert named == {f"-- not in this file: type_changes of {format_path(path)}" for path in lost}
