"""Where contracts have their tables: equal places are one table.

A place is compared as its store holds it. `check` (CT002) and `plan` (`schemalint.deploy.claims`) use the
same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from schemalint import contract as contracts
from schemalint.base.errors import ConfigError
from schemalint.base.values import field, frozen
from schemalint.model.contract import Contract, table_key
from schemalint.project.config import Target
from schemalint.tables.catalog.table_location import declared_location, is_found_by_name, table_location
from schemalint.tables.storage import location_key

Place: TypeAlias = tuple[str | None, str]
"""A target's name, None for any target, and a text that only the contracts of one table share."""


@frozen
class Places:
    """The places of contracts in all targets, found without a request.

    Attributes:
        targets: The configured targets.
        repository: The folder that relative roots start from.
        found: Where live tables were found, by target and table key.
    """

    targets: Mapping[str, Target]
    repository: Path
    found: Mapping[tuple[str | None, str], str] = field(default_factory=dict)

    def of(self, contract: Contract) -> Iterator[Place]:
        """Yield the places of a contract's table: one for each target that has it."""
        names: tuple[str | None, ...] = (*(self.targets or (None,)), *contract.targets)
        for name in dict.fromkeys(names):
            effective = contracts.effective(contract, name)
            if not effective.absent:
                target = self.targets.get(name) if name is not None else None
                found_at = self.found.get((name, contract.key))
                yield name, table_place(effective, target, self.repository, found_at)


def table_place(
    contract: Contract, target: Target | None, repository: Path, found_at: str | None = None
) -> str:
    """Return the place of an effective contract's table in a target.

    Args:
        contract: The contract.
        target: The target; if it is unknown or has no root, a relative location stays relative.
        repository: The folder that relative roots start from.
        found_at: The table's location if it is known, for instance from the catalog. Until then a table that
            `is_found_by_name` shares its place with no location.
    """
    if found_at is not None:
        return location_key(found_at, target.storage if target else {})
    try:
        location = (
            declared_location(contract) if target is None else table_location(contract, target, repository)
        )
    except ConfigError:  # whoever opens the table reports it
        location = declared_location(contract)
    if target is not None and is_found_by_name(contract, target):
        return table_key(location)
    is_relative = ":" not in location and not location.startswith("/")
    return location if is_relative else location_key(location, target.storage if target else {})
