"""Contracts beside the files of other tools: those that extend a declaration, and those that repeat it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schemalint import contract as contracts
from schemalint.base.printable import visible
from schemalint.base.values import replace
from schemalint.contract.tool_files import with_overlays as joined
from schemalint.lint.declared_tables import DeclaredTables
from schemalint.model.contract import Contract
from schemalint.model.fact import DuplicateTable
from schemalint.project.git import Contents, File


def with_overlays(declared: DeclaredTables, contents: Contents) -> DeclaredTables:
    """Return the tables with what contracts add to them; what the base cannot add is no error of the change.

    Args:
        declared: The tables.
        contents: All contract files of both sides.
    """
    before, _ = joined(declared.before, _native(contents.base.values(), declared.before))
    native = [*_native(contents.head.values(), declared.after, everything=True)]
    after, errors = joined(declared.after, native)
    duplicates = tuple(
        DuplicateTable(contract, contracts.locate(after[contract.key], ("table",)), "table", contract.key)
        for contract in native
        if contract.extends is None and contract.key in after
    )
    return replace(
        declared, before=before, after=after, errors=(*declared.errors, *errors), duplicates=duplicates
    )


def _native(
    files: Iterable[File], tables: Mapping[str, Contract], *, everything: bool = False
) -> Iterator[Contract]:
    """Yield the contracts that declare one of the tables, and with ``everything`` all that extend another."""
    for file in files:
        may_extend = everything and b"extends" in file.data
        if may_extend or not tables.keys().isdisjoint(contracts.table_keys(file.data)):
            for contract in contracts.read(visible(file.path), file.data).contracts:
                if contract.key in tables or contract.extends is not None:
                    yield contract
