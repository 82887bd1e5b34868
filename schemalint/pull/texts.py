"""The texts of contracts: new ones, and those that are brought up to date."""

from __future__ import annotations

from collections.abc import Callable

from schemalint import contract as contracts
from schemalint.delta.table import LiveTable
from schemalint.document import TextEdit, apply_edits
from schemalint.document.review import read_by_another
from schemalint.errors import ContractError, UsageError
from schemalint.model.contract import Contract, table_key
from schemalint.model.finding import DeclareChange
from schemalint.pull.declaration import Scope
from schemalint.pull.difference import declared_changes


def updated_text(
    file: str,
    text: str,
    table: str,
    live_table: LiveTable,
    effective: Callable[[Contract], Contract],
    scope: Scope,
) -> str:
    """The text of a file, in which the contract says what the table is; all else is as it was.

    Raises:
        ContractError: There is no such contract, or its layout cannot be edited in place.
    """
    contract = effective(_contract_in(file, text, table))
    edits = [DeclareChange(one) for one in declared_changes(contract, live_table, scope)]
    if not edits:
        return text
    spliced = contracts.text_changes(contract, text, edits)
    after = apply_edits(text, [TextEdit(one.start, one.end, one.text) for one in spliced], file)
    read_by_another(after)
    left = declared_changes(effective(_contract_in(file, after, table)), live_table, scope)
    if left:
        raise ContractError(
            f"{file}: {table} cannot be brought up to date in place: {type(left[0]).__name__} is left",
            help="make the change by hand, or pull it into a new file",
        )
    return after


def _contract_in(name: str, text: str, table: str) -> Contract:
    result = contracts.read(name, text)
    found = next((one for one in result.contracts if one.key == table_key(table)), None)
    if found is None:
        raise UsageError(
            f"{name} is there already, and holds no contract of {table}", help="name another file"
        )
    return found


def new_text(contract: Contract) -> str:
    """The text of a new contract, read back to prove it."""
    text = contracts.print_contract(contract)
    result = contracts.read(contract.file, text)
    if result.errors:
        raise result.errors[0]
    if result.contracts != (contract,):
        raise ContractError(
            f"no contract can say all of {contract.table}",
            help="please report it: this is a gap of the format",
        )
    return text
