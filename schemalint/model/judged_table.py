"""The tables of a run, for reports that show more of them than findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.base.values import frozen

if TYPE_CHECKING:
    from schemalint.delta.table import LiveTable, TableState
    from schemalint.model.consumer import Consumer


@frozen
class JudgedTable:
    """A table of a run, with both of its states.

    Attributes:
        name: The table's name in findings.
        file: The file of the contract; empty without one.
        owner: The owner that the contract names.
        consumers: The declared consumers.
        before: The state that the base declares, or that the table has; None for a new table.
        after: The declared state, or that of the table in an audit; None for a removed table.
        live: The live table, if the report shows tables and the run read it.
        holds_exceptions: Whether the file takes exceptions: those of other tools do not.
    """

    name: str
    file: str = ""
    owner: str | None = None
    consumers: tuple[Consumer, ...] = ()
    before: TableState | None = None
    after: TableState | None = None
    live: LiveTable | None = None
    holds_exceptions: bool = True
