"""The changes that a live table still needs to become as its contract declares it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.base.values import frozen, replace
from schemalint.delta.change import Change, FieldAdded, FieldMoved
from schemalint.delta.datatype import Struct, map_fields
from schemalint.delta.diff import diff
from schemalint.delta.protocol import features_of_versions
from schemalint.delta.table import TableState
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.declaration import apply_declaration
from schemalint.model.effective import Effective


@frozen
class PlanOptions:
    """Options of a plan.

    Attributes:
        tracking: Which column is which; None pairs columns by name, and then nothing is renamed or dropped.
        reorder: Whether to move existing columns.
    """

    tracking: ColumnTracking | None = None
    reorder: bool = False


DEFAULTS: Final = PlanOptions()


def pending_changes(
    contract: Effective, live: TableState, options: PlanOptions = DEFAULTS
) -> tuple[Change, ...]:
    """Return the changes that a live table needs; without `reorder`, existing columns keep their order."""
    declared, before = with_version_features(contract.settable_state, live.features), live
    if options.tracking is None:
        declared = replace(declared, dropped=())
    else:
        before = replace(live, columns=options.tracking.live)
    after = apply_declaration(
        declared,
        live,
        open_widening=contract.open.widening,
        tracking=options.tracking,
        reorder=options.reorder,
    )
    changes = (_without_column_ids(change) for change in diff(before, after))
    return tuple(change for change in changes if options.reorder or not isinstance(change, FieldMoved))


def pending_moves(contract: Effective, live: TableState) -> Iterator[FieldMoved]:
    """Yield the moves of columns in a state in which every column exists under its declared name."""
    for change in pending_changes(contract, live, PlanOptions(reorder=True)):
        if isinstance(change, FieldMoved):
            yield change


def with_version_features(declared: TableState, supported: frozenset[str]) -> TableState:
    """Return the declared state with the features that its protocol versions add to the table.

    ``delta.minWriterVersion = 4`` gives an existing table the same protocol as a request for each feature
    that it implies (measured on Delta 4.4.0). A plan names these features.
    """
    by_version = features_of_versions(declared.set_properties, supported)
    return replace(declared, features=declared.features | by_version)


def _without_column_ids(change: Change) -> Change:
    """Remove the ids of a new column: Delta assigns them later."""
    if not isinstance(change, FieldAdded):
        return change
    (bare,) = map_fields(Struct((change.field,)), lambda _path, field: replace(field, column_id=None)).fields
    return replace(change, field=bare)
