"""Tables and their contracts for the guard: real logs, and contracts as `schemalint export` packs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.record_writes import make
from engine.write_questions import Data, Question, Table, Way, state_of
from schemalint.model.contract import Contract, WriterPermissions
from schemalint.model.effective import Effective
from schemalint.model.packed_contracts import pack, pack_contract

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = Table("id: bigint NOT NULL, c: int, s: string")


def packed(path: Path, table: Table = ORDERS, **permissions: bool) -> dict[str, object]:
    """Return the contracts of a target with one table, ``sales.orders``, which they declare as it is."""
    contract = Contract(
        "sales.orders", state_of(table), location=str(path), open=WriterPermissions(**permissions)
    )
    return pack("prod", [pack_contract(Effective(contract), str(path))])


def table_at(path: Path, table: Table = ORDERS) -> Path:
    """Write the log of a table."""
    make(path, Question("a table", table, Data(""), Way("save")))
    return path
