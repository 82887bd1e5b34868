"""The texts of new and updated contracts."""

from __future__ import annotations

from collections.abc import Callable

from schemalint import contract as contracts
from schemalint.author.pull.declaration import Scope
from schemalint.author.pull.difference import declared_changes
from schemalint.base.errors import ContractError, UsageError
from schemalint.delta.table import LiveTable
from schemalint.model.contract import Contract, table_key
from schemalint.model.finding import DeclareChange


def updated_text(
    file: str,
    text: str,
    table: str,
    live_table: LiveTable,
    effective: Callable[[Contract], Contract],
    scope: Scope,
) -> str:
    """Return the text of a file with one contract updated to its table; the rest stays unchanged.

    Raises:
        UsageError: The file has no contract of the table.
        ContractError: The contract's layout cannot be edited in place.
    """
    contract = effective(_contract_in(file, text, table))
    edits = [DeclareChange(change) for change in declared_changes(contract, live_table, scope)]
    if not edits:
        return text
    after = contracts.edited_text(contract, text, edits)
    left = declared_changes(effective(_contract_in(file, after, table)), live_table, scope)
    if left:
        raise ContractError(
            f"{file}: {table} cannot be updated in place: {type(left[0]).__name__} remains",
            help="make the change by hand, or pull it into a new file",
        )
    return after


def _contract_in(name: str, text: str, table: str) -> Contract:
    result = contracts.read(name, text)
    found = next((contract for contract in result.contracts if contract.key == table_key(table)), None)
    if found is None:
        raise UsageError(f"{name} exists, and has no contract of {table}", help="name another file")
    return found


def new_text(contract: Contract) -> str:
    """Return the text of a new contract, verified by reading it back."""
    text = contracts.print_contract(contract)
    result = contracts.read(contract.file, text)
    if result.errors:
        raise result.errors[0]
    if result.contracts != (contract,):
        raise ContractError(
            f"a contract cannot express all of {contract.table}",
            help="please report it: this is a gap in the format",
        )
    return text
