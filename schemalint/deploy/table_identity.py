"""Decide which of several contracts a table belongs to, and which table a new contract was before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from schemalint.base.errors import ConfigError, LiveError
from schemalint.base.values import field, frozen
from schemalint.contract.contract_revisions import Revisions
from schemalint.contract.renamed_tables import renamed_tables
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Effective, Environment, effective
from schemalint.model.marker import Marker, declaration_hash
from schemalint.model.rule_codes import DUPLICATE_TABLE
from schemalint.model.table_plan import Refusal, RefusalKind, TablePlan
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables import catalog
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.table_location import is_found_by_name, table_location_key


@frozen
class TableIdentities:
    """The contracts of one revision, and where they have their tables in a target.

    Attributes:
        declared: All contracts by table key, before the target's overlay.
        revisions: Their history.
        via: The catalogs of a running Spark session.
    """

    declared: Mapping[str, Contract]
    revisions: Revisions
    target: TrustedTarget
    repository: Path
    via: Catalog | None = None
    _renamed: dict[int, Mapping[str, Contract]] = field(default_factory=dict, repr=False, compare=False)

    def without_shared_tables(self, plans: Sequence[TablePlan]) -> Iterator[TablePlan]:
        """Refuse every plan for a table that belongs to another contract, even to one that is not planned.

        A table belongs to the contract whose history holds the declaration that the marker names; without a
        marker, to the one that had its location in the oldest commit. If that is several, or none, all
        their plans are refused.
        """
        planned = {table_key(plan.table): plan for plan in plans}
        by_place: dict[str, list[Effective]] = defaultdict(list)
        for shared in self.declared.values():
            contract = effective(shared, Environment(self.target.name))
            if not contract.absent:
                by_place[self._found_place(contract, planned)].append(contract)
        for claimants in by_place.values():
            owner = self._owner(claimants, planned) if len(claimants) > 1 else claimants[0]
            for contract in claimants:
                if contract is not owner and (plan := planned.get(contract.key)):
                    planned[contract.key] = _refused(plan, claimants, owner)
        yield from planned.values()

    def name_before(self, contract: Contract) -> Effective | None:
        """Return the contract that a contract was before its table got another name; None if it is new.

        The old name is declared no longer.
        """
        history = self.revisions.history
        if history.tip is None:
            return None
        number = history.appearance(contract.key)
        if number is None:
            return None
        if number not in self._renamed:
            tip = history.all_at(history.tip)
            before, after = (tip, self.declared) if number < 0 else history.difference(number)
            self._renamed[number] = renamed_tables(before, after, self._places)
        old = self._renamed[number].get(contract.key)
        if old and old.key not in self.declared:
            return effective(old, Environment(self.target.name))
        return None

    def _places(self, contract: Contract) -> Iterator[str]:
        yield self._location_key(effective(contract, Environment(self.target.name)))

    def _location_key(self, contract: Contract, found_at: str | None = None) -> str:
        return table_location_key(contract, self.target, self.repository, found_at)

    def _found_place(self, contract: Contract, planned: Mapping[str, TablePlan]) -> str:
        """Return the key of a contract's location; for a table found by name, the location if it has one."""
        plan = planned.get(contract.key)
        if not is_found_by_name(contract, self.target):
            return self._location_key(contract)
        if plan is not None:
            return self._location_key(contract, plan.uri if plan.table_id is not None else None)
        if any(other.name is None for other in planned.values()):
            with suppress(LiveError, ConfigError):
                return self._location_key(
                    contract, catalog.find(contract.table, self.target, self.via).location
                )
        return self._location_key(contract)

    def _owner(self, claimants: Sequence[Effective], planned: Mapping[str, TablePlan]) -> Effective | None:
        plans = [planned[contract.key] for contract in claimants if contract.key in planned]
        marker = next((plan.marker for plan in plans if plan.marker is not None), None)
        if marker is not None:
            claimants = [contract for contract in claimants if self._was_applied(contract, marker)]
        since = [(self._age(contract), contract) for contract in claimants]
        oldest = max((age for age, _contract in since), default=None)
        owners = [contract for age, contract in since if age == oldest]
        return owners[0] if len(owners) == 1 and (marker or oldest) else None

    def _was_applied(self, contract: Contract, marker: Marker) -> bool:
        revisions = (revision for _commit, revision in self.revisions.newest_first(contract.key))
        return any(declaration_hash(revision) == marker.hash for revision in (contract, *revisions))

    def _age(self, contract: Contract) -> int:
        """Return since how many commits of the branch the contract has its location; 0 for uncommitted."""
        location_key = self._location_key(contract)
        ages = (
            number
            for number, commit in enumerate(self.revisions.commits(), 1)
            if (revision := self.revisions.at(commit, contract.key))
            if not revision.absent and self._location_key(revision) == location_key
        )
        return max(ages, default=0)


def _refused(plan: TablePlan, claimants: Sequence[Effective], owner: Contract | None) -> TablePlan:
    if owner is None:
        others = ", ".join(contract.table for contract in claimants if contract.table != plan.table)
        refusal = Refusal(
            RefusalKind.DECLARATION,
            f"{others} is declared at the same location",
            "give each a location of its own",
            DUPLICATE_TABLE,
        )
    else:
        refusal = Refusal(
            RefusalKind.DECLARATION,
            f"the table at this location belongs to {owner.table}",
            f"give {plan.table} a location of its own, or keep one of the two contracts",
            DUPLICATE_TABLE,
        )
    return plan.refused(refusal)
