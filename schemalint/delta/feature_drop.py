"""Judge requests to drop table features: why Delta cannot drop one, or would add it again.

Each obstacle has one kind, and one rule reports each kind; the planner refuses all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Final

from schemalint.base.values import frozen, replace
from schemalint.delta.change import Change, TypeChanged
from schemalint.delta.column_names import invalid_characters
from schemalint.delta.datatype import walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.feature import (
    CHECKPOINT_PROTECTION,
    FEATURES,
    TableFeature,
    closure,
    find_feature,
    suggest_feature,
)
from schemalint.delta.path import format_path
from schemalint.delta.properties import VERSION_KEYS
from schemalint.delta.protocol import feature_causes, features_of_versions
from schemalint.delta.table import TableState

_SET_WITHIN_DROP: Final[Mapping[str, Mapping[str, str | None]]] = {
    "columnMapping": {"delta.columnMapping.mode": None},
    "deletionVectors": {"delta.enableDeletionVectors": None},
    "inCommitTimestamp": {"delta.enableInCommitTimestamps": "false"},
    "rowTracking": {"delta.enableRowTracking": "false", "delta.rowTrackingSuspended": "true"},
    "typeWidening": {"delta.enableTypeWidening": None},
    "typeWidening-preview": {"delta.enableTypeWidening": None},
    "v2Checkpoint": {"delta.checkpointPolicy": "classic"},
}
"""Properties of a table that uses the feature, as the first commit of DROP FEATURE leaves them; None if it
removes them (PreDowngradeTableFeatureCommand.scala)."""


class DropVerdict(Enum):
    """The kind of an obstacle."""

    UNKNOWN = "unknown"
    """Delta Spark 4.4.0 does not know the feature."""
    REQUIRED = "required"
    """A feature that stays requires the feature."""
    REFUSED = "refused"
    """Delta refuses the drop, or something declared needs what the drop removes."""


@frozen
class DropRequests:
    """The features to drop, and the table.

    Attributes:
        names: The features to drop.
        truncated: Those of them whose history is truncated.
        supported: The features that the table supports; for a new table those that it would have.
        declared: What the contract states; all else may change with a drop.
        before: The table before its declaration is applied; an empty state for a new table.
        after: The table with its declaration applied.
    """

    names: frozenset[str]
    truncated: frozenset[str]
    supported: frozenset[str]
    declared: TableState
    before: TableState
    after: TableState


@frozen
class DropObstacle:
    """Why a feature cannot be dropped.

    Attributes:
        feature: The name of the feature.
        verdict: The kind of the obstacle.
        reason: The obstacle in one sentence.
        help: What to do instead.
        delta_error: The error class of Delta; None if Delta drops the feature, or if the table does not
            support it.
    """

    feature: str
    verdict: DropVerdict
    reason: str
    help: str
    delta_error: str | None = None


def set_by_drops(names: Iterable[str], table: TableState) -> Mapping[str, str | None]:
    """Return the properties of a table that are as DROP FEATURE of these features sets them."""
    rows = (_SET_WITHIN_DROP.get(name, {}) for name in names)
    return {
        key: text
        for row in rows
        if all(table.properties.get(other) == value for other, value in row.items())
        for key, text in row.items()
    }


def rewrites_files(name: str, table: TableState, changes: Iterable[Change]) -> bool:
    """Return whether DROP FEATURE rewrites data files: those that hold what only the feature can read.

    Deletion vectors are in no state of a table, so the drop of their feature may find none. For all other
    features it changes metadata, and for row tracking the entries of the files in the log (measured on Delta
    4.4.0).
    """
    match name:
        case "deletionVectors":
            return True
        case "columnMapping":
            return table.column_mapping != "none"
        case "typeWidening" | "typeWidening-preview":
            return _is_widened(table, changes)
        case _:
            return False


def drop_obstacles(requests: DropRequests) -> Iterator[DropObstacle]:
    """Yield the first obstacle of each feature that cannot be dropped, in the order of their names."""
    for name in sorted(requests.names):
        obstacle = (
            _of_the_feature(name, requests)
            or _of_other_features(name, requests)
            or _of_the_declaration(name, requests)
            or _of_the_columns(name, requests)
        )
        if obstacle is not None:
            yield obstacle


def _of_the_feature(name: str, requests: DropRequests) -> DropObstacle | None:
    """Return what forbids the drop on every table.

    Only of a feature that it does not know, Delta asks before it asks whether the table supports the feature
    (measured on Delta 4.4.0).
    """
    row = find_feature(name)
    if row is None or not row.in_spark:
        suggestion = None if row else suggest_feature(name)
        return DropObstacle(
            name,
            DropVerdict.UNKNOWN,
            f"{name} is not a feature of {'Delta Spark, only of Delta Kernel' if row else 'Delta'}",
            f"did you mean {suggestion}?" if suggestion else "remove it from drop_features",
            "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE",
        )
    obstacle = _of_a_known_feature(row, truncates=name in requests.truncated)
    if obstacle is None or name in requests.supported:
        return obstacle
    return replace(obstacle, delta_error=None)


def _of_a_known_feature(row: TableFeature, *, truncates: bool) -> DropObstacle | None:
    name = row.name
    if not row.removable:
        reason, help_text = "Delta has no way to drop it", "remove it from drop_features"
        return _refused(name, reason, help_text, "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE")
    if name == CHECKPOINT_PROTECTION:
        help_text = f"write `{{feature: {name}, truncate_history: true}}`"
        error = "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION"
        if truncates:
            return None
        return _refused(name, "only truncating the history drops it", help_text, error)
    if truncates and not row.drop_needs_history:
        reason = "its drop cannot truncate the history, because no history needs the feature"
        help_text = f"write only `{name}`"
        return _refused(name, reason, help_text, "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED")
    return None


def _of_other_features(name: str, requests: DropRequests) -> DropObstacle | None:
    """Return which features stay, or are declared, and require the dropped one."""
    declared = requests.declared.requested_features | requests.after.active_features
    kept = (requests.supported | declared) - requests.names
    dependents = sorted(other for other in kept if name in closure({other}))
    if not dependents:
        return None
    listed = ", ".join(dependents)
    is_possible = all(FEATURES[other].removable for other in dependents)
    return DropObstacle(
        name,
        DropVerdict.REQUIRED,
        f"feature {name} cannot be dropped: it is required by {listed}",
        f"drop {listed} too, or keep {name}" if is_possible else f"keep {name}",
        "DELTA_FEATURE_DROP_DEPENDENT_FEATURE",
    )


def _of_the_declaration(name: str, requests: DropRequests) -> DropObstacle | None:
    """Return what is declared, or stays in the table, and would add the feature again.

    A property that the contract does not manage is no obstacle: Delta removes it. A constraint is one
    (measured on Delta 4.4.0).
    """
    declared = requests.declared
    constraints = [key for key, text in requests.after.constraints.items() if text is not None]
    properties = declared.set_properties
    causes = feature_causes(requests.after.columns, properties, declared.requested_features, constraints)
    by_version = features_of_versions(properties, requests.supported)
    versions = [("property", key, by_version) for key in VERSION_KEYS if key in properties]
    for kind, cause, names in (*versions, *causes):
        if name not in names | {FEATURES[other].unless for other in names if other in FEATURES}:
            continue  # a supported preview takes the place of the feature
        match kind:
            case "feature":
                return _refused(name, "the contract requests it too", "remove one of the two lines")
            case "property":
                return _refused(name, f"{cause} needs it", _without(cause))
            case _:
                error = _CONSTRAINT_ERROR if kind == "constraint" else None
                return _refused(name, f"the {kind} {cause} needs it", f"declare {cause}: null", error)
    return None


def _of_the_columns(name: str, requests: DropRequests) -> DropObstacle | None:
    """Return what the drop would do to a table that supports the feature, apart from dropping it."""
    if name not in requests.supported:
        return None
    row = _stable(FEATURES[name])
    key = row.enabled_by_property[0] if row.enabled_by_property else ""
    is_declared = isinstance(requests.declared.properties.get(key), str)
    if (
        row.drop_removes_property
        and is_declared
        and (row.name != _WIDENING or _is_widened(requests.before, diff(requests.before, requests.after)))
    ):
        return _refused(name, f"the drop also removes the property {key}", f"declare {key}: null")
    if name == _MAPPING and requests.after.column_mapping != "none":
        for path, field in walk_fields(requests.after.columns):
            if invalid_characters(field.name):
                reason = f"{format_path(path)} has a name that needs it"
                error = "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING"
                return _refused(name, reason, "rename the column first", error)
    return None


def _stable(row: TableFeature) -> TableFeature:
    """Return the feature that a preview takes the place of, or the feature itself."""
    return next((other for other in FEATURES.values() if other.unless == row.name), row)


def _is_widened(table: TableState, changes: Iterable[Change]) -> bool:
    """Whether a table has recorded type changes after these changes."""
    is_recorded = any(field.type_changes for _path, field in walk_fields(table.columns))
    return is_recorded or any(isinstance(change, TypeChanged) for change in changes)


def _without(key: str) -> str:
    if key in VERSION_KEYS:
        return f"remove {key}, or keep the feature"
    return f"declare {key}: null"


def _refused(feature: str, reason: str, help_text: str, delta_error: str | None = None) -> DropObstacle:
    text = f"feature {feature} cannot be dropped: {reason}"
    return DropObstacle(feature, DropVerdict.REFUSED, text, help_text, delta_error)


_WIDENING: Final = "typeWidening"
_MAPPING: Final = "columnMapping"
_CONSTRAINT_ERROR: Final = "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE"
