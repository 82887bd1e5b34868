"""The script that writes a table anew where an overwrite would lose something, for somebody to run.

It defines the table again from all that is declared and all that is live, and inserts the rows of the version
before: two commits, between which readers see an empty table, and another id of the table. A query before
them ends it, if a value must not be written. `apply` proves it afterwards.
"""

from __future__ import annotations

from typing import Final

from schemalint.base.values import replace
from schemalint.delta.datatype import Identity, Struct, walk_fields
from schemalint.delta.rewrites import rewrite_obstacles
from schemalint.delta.sql_text import quote_literal
from schemalint.delta.table import LiveTable
from schemalint.model.declaration import apply_declaration
from schemalint.model.effective import Effective
from schemalint.planner.create_steps import create_steps
from schemalint.planner.rewrite_statements import inserted_rows, proof_of_rows
from schemalint.planner.rewrites import table_rewrite
from schemalint.planner.statements import named_table

_CREATE: Final = "CREATE TABLE "


def rewrite_script(contract: Effective, live: LiveTable, name: str | None) -> tuple[str, ...]:
    """Return the statements; none if no rewrite is due, or if they would not lead to the declaration.

    Delta replaces no table by its location, and inserts no values into an identity column that generates all
    of them (measured on Delta 3.3.2, 4.0.1 and 4.4.0). Before Delta 4.4, SQL defines no generated columns.

    Args:
        contract: The effective contract for the target.
        live: The live table.
        name: The full name of the table; None if only its location is known.
    """
    due = contract.rewrites.due(live.state, contract.state)
    if name is None or not due:
        return ()
    obstacles = list(
        rewrite_obstacles(live.state, contract.state, due.columns, contract.engine, live.protocol.features)
    )
    wanted = replace(apply_declaration(contract.state, live.state), features=frozenset())
    if not all(obstacle.is_lost for obstacle in obstacles) or not _is_written(contract, wanted.columns):
        return ()
    if _names(wanted.columns) != _names(live.state.columns):
        return ()
    table = named_table(name)
    rewrite = table_rewrite(due, live.state, wanted)
    definition, *others = [step.sql for step in create_steps(replace(contract, state=wanted), table)]
    return (
        f"SET TIME ZONE {quote_literal(rewrite.time_zone or 'UTC')}",
        proof_of_rows(table, rewrite, live.version),
        f"CREATE OR REPLACE TABLE {definition.removeprefix(_CREATE)}",
        inserted_rows(table, rewrite, live.version),
        *others,
    )


def _is_written(contract: Effective, columns: Struct) -> bool:
    """Whether SQL defines all columns, and an INSERT writes their old values."""
    for _path, field in walk_fields(columns):
        if isinstance(field.identity, Identity):
            return False
        if isinstance(field.generated, str) and not (contract.engine is None or contract.engine.is_newest):
            return False
    return True


def _names(columns: Struct) -> list[str]:
    return [field.name.lower() for field in columns.fields]
