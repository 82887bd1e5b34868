"""The features that a catalog adds to a new table: a plan tells them, and `apply` asks the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.base.errors import ApplyError
from schemalint.base.values import replace
from schemalint.delta.protocol import above_limits, format_limits, minimum_versions
from schemalint.model.contract import Contract
from schemalint.model.table_plan import Refusal, RefusalKind, TablePlan
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables.catalog import Catalog, open_catalog, staged_features
from schemalint.tables.catalog.table_location import is_found_by_name


def added_by_catalog(contract: Contract, target: TrustedTarget, via: Catalog | None) -> frozenset[str]:
    """Return the features that the target's catalog adds to the contract's own in a new table."""
    if not is_found_by_name(contract, target):
        return frozenset()
    return open_catalog(target, via).created_features - contract.created_features


def above_limits_in_catalog(contract: Contract, added: frozenset[str]) -> Iterator[Refusal]:
    """Refuse to create a table that gets versions above the contract's limits because of its catalog.

    PF019 reports versions that the contract's own features need.
    """
    limits = (contract.protocol.max_reader, contract.protocol.max_writer)
    exceeded = above_limits(minimum_versions(contract.created_features | added), *limits)
    own = above_limits(minimum_versions(contract.created_features), *limits)
    if above := {name: limit for name, limit in exceeded.items() if name not in own}:
        yield Refusal(
            RefusalKind.OPERATION,
            f"the catalog adds {_names(added)} to the new table, which is then above {format_limits(above)}",
            f"raise {' and '.join(above)}, or give the table a location: then the catalog adds nothing",
        )


def with_features_of_catalog(plan: TablePlan, contract: Contract, added: frozenset[str]) -> TablePlan:
    """Return the plan of a new table with a sentence about what its catalog adds.

    The step itself does not promise these features: a connector may leave out those that are only suggested.
    """
    if not (added and plan.steps):
        return plan
    first, *others = plan.steps
    reader, writer = minimum_versions(contract.created_features | added)
    told = (
        f"the catalog adds {_names(added)}: the table gets reader version {reader}, writer version {writer}"
    )
    because, *notes = first.reasons
    return replace(plan, steps=(replace(first, reasons=(because, told, *notes)), *others))


def require_told_features(
    plan: TablePlan, contract: Contract, target: TrustedTarget, via: Catalog | None = None
) -> None:
    """Stage a table that the plan creates in a catalog; require that it gets no features beyond the plan.

    The features in the plan are within the contract's protocol limits.

    Raises:
        ApplyError: The catalog gives the table more features.
        LiveError: The catalog does not answer, or does not allow to create the table.
    """
    if plan.name is None or plan.live is not None:
        return
    staged = staged_features(plan.name, target, via) or frozenset()
    told = contract.created_features | added_by_catalog(contract, target, via)
    if untold := staged - told:
        raise ApplyError(
            f"{plan.table}: the catalog gives the new table {_names(untold)}, which the plan does not show",
            help="declare them under `features`, or give the table a location: then the catalog adds nothing",
        )


def _names(features: frozenset[str]) -> str:
    return ", ".join(sorted(features))
