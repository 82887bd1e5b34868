"""The script that writes a table anew where an overwrite would lose something, for somebody to run.

It defines the table again from all that is declared and all that is live, and inserts the rows of the version
before: two commits, between which readers see an empty table, and another id of the table. Two proofs before
them end it: one if a row must not be written, or Delta would refuse it, and one if rows came after the plan,
which no INSERT of the version would have. `apply` proves it afterwards.

A session evaluates the value of a variable at once, and so a proof; a query only when somebody asks for rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from schemalint.base.values import replace
from schemalint.delta.datatype import Identity, Struct, walk_fields
from schemalint.delta.engine import Engine
from schemalint.delta.engine_answers import has_session_variables
from schemalint.delta.fill_expressions import fill_fault
from schemalint.delta.properties import find_property
from schemalint.delta.rewrites import rewrite_obstacles
from schemalint.delta.sql_text import quote_literal
from schemalint.delta.table import LiveTable, TableState
from schemalint.model.declaration import apply_declaration
from schemalint.model.effective import Effective
from schemalint.model.table_plan import RewriteScript
from schemalint.planner.create_steps import create_steps
from schemalint.planner.rewrites.statements import (
    inserted_rows,
    proof_of_rows,
    proof_of_version,
    row_conditions,
)
from schemalint.planner.rewrites.steps import table_rewrite
from schemalint.planner.statements import named_table

_CREATE: Final = "CREATE TABLE "
_PROOF: Final = "schemalint_proof"


def rewrite_script(contract: Effective, live: LiveTable, name: str | None) -> RewriteScript | None:
    """Return the script; None if no rewrite is due, or if it would not lead to the declaration.

    Delta replaces no table by its location, and inserts no values into an identity column that generates all
    of them (measured on Delta 3.3.2, 4.0.1 and 4.4.0). Before Delta 4.4, SQL defines no generated columns.

    Args:
        contract: The effective contract for the target.
        live: The live table.
        name: The full name of the table; None if only its location is known.
    """
    due = contract.rewrites.due(live.state, contract.state)
    if name is None or not due:
        return None
    obstacles = list(
        rewrite_obstacles(live.state, contract.state, due.columns, contract.engine, live.protocol.features)
    )
    wanted = _settable(apply_declaration(contract.state, live.state))
    if not all(obstacle.is_lost for obstacle in obstacles) or not _is_written(contract, wanted.columns):
        return None
    if _names(wanted.columns) != _names(live.state.columns):
        return None
    table = named_table(name)
    rewrite = table_rewrite(due, live.state, wanted)
    definition, *others = [step.sql for step in create_steps(replace(contract, state=wanted), table)]
    # ADD CONSTRAINT judges also the texts that must not run in a query (BF001).
    constraints = {key: text for key, text in wanted.constraints.items() if text and fill_fault(text) is None}
    proofs = (
        proof_of_rows(table, rewrite, live.version, row_conditions(rewrite, constraints)),
        proof_of_version(table, rewrite, live.version),
    )
    statements = (
        f"SET TIME ZONE {quote_literal(rewrite.time_zone or 'UTC')}",
        *_evaluated(proofs, contract.engine),
        f"CREATE OR REPLACE TABLE {definition.removeprefix(_CREATE)}",
        inserted_rows(table, rewrite, live.version),
        *others,
    )
    if any("${" in statement for statement in statements):  # somebody's session replaces it in names too
        return None
    return RewriteScript(statements, rewrite)


def _evaluated(queries: Iterable[str], engine: Engine | None) -> Iterator[str]:
    """Yield statements that evaluate queries of one text."""
    if has_session_variables(engine):
        yield f"DECLARE OR REPLACE VARIABLE {_PROOF} STRING"
        yield from (f"SET VARIABLE {_PROOF} = ({query})" for query in queries)
        return
    for query in queries:
        yield f"CACHE TABLE {_PROOF} AS {query}"  # one that fails leaves no view (measured with Spark 3.5.7)
        yield f"DROP VIEW {_PROOF}"


def _is_written(contract: Effective, columns: Struct) -> bool:
    """Whether SQL defines all columns, and an INSERT writes their old values."""
    for _path, field in walk_fields(columns):
        if isinstance(field.identity, Identity):
            return False
        if isinstance(field.generated, str) and not (contract.engine is None or contract.engine.is_newest):
            return False
    return True


def _settable(state: TableState) -> TableState:
    """Return what a definition states: no features, and no properties that only Delta itself sets."""
    properties = {
        key: value
        for key, value in state.properties.items()
        if (row := find_property(key)) is None or not row.written_by_delta
    }
    return replace(state, properties=properties, features=frozenset())


def _names(columns: Struct) -> list[str]:
    return [field.name.lower() for field in columns.fields]
