"""Convert a table's actions to the model: logical names, properties, constraints and features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.delta.datatype import Struct
from schemalint.delta.properties import CONSTRAINT_PREFIX
from schemalint.delta.table import Metadata, TableState

if TYPE_CHECKING:
    from schemalint.delta.datatype import DataType
    from schemalint.delta.path import Path
    from schemalint.tables.delta_log.actions import MetadataAction, PhysicalPath, TableActions


def metadata_of(actions: TableActions) -> Metadata | None:
    """Return the metadata of the model, None without a ``metaData`` action."""
    action = actions.metadata
    if action is None:
        return None
    return Metadata(action.table_id, _state(action, actions), action.name, action.created_time)


def _state(action: MetadataAction, actions: TableActions) -> TableState:
    columns = action.schema or Struct()
    properties = dict[str, str | None](action.configuration)
    constraints = {
        key[len(CONSTRAINT_PREFIX) :].lower(): properties.pop(key)
        for key in action.configuration
        if key.lower().startswith(CONSTRAINT_PREFIX)
    }
    return TableState(
        columns=columns,
        description=action.description,
        partitioned_by=action.partition_columns,
        clustered_by=tuple(_logical(path, columns) for path in actions.clustering or ()),
        constraints=constraints,
        properties=properties,
        features=actions.protocol.features if actions.protocol else frozenset(),
    )


def _logical(physical: PhysicalPath, columns: Struct) -> Path:
    """Convert a physical path to logical names; names that are not in the schema stay unchanged."""
    struct: DataType = columns
    path: list[str] = []
    for name in physical:
        fields = struct.fields if isinstance(struct, Struct) else ()
        field = next((field for field in fields if (field.physical_name or field.name) == name), None)
        path.append(field.name if field else name)
        struct = field.type if field else Struct()
    return tuple(path)
