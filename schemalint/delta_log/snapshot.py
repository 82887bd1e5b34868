"""What a table is, from its actions: logical names, constraints beside properties, features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemalint.delta.datatype import Struct
from schemalint.delta.table import Metadata, TableState

if TYPE_CHECKING:
    from schemalint.delta.datatype import DataType
    from schemalint.delta.path import Path
    from schemalint.delta_log.actions import MetadataAction, PhysicalPath, TableActions

# Delta keeps a CHECK in the table's configuration (Constraints.scala), and compares the prefix ignoring case.
_CONSTRAINT: Final = "delta.constraints."


def metadata_of(actions: TableActions) -> Metadata | None:
    """The metadata as the model has it; None as long as there is no ``metaData``."""
    action = actions.metadata
    if action is None:
        return None
    return Metadata(action.table_id, _state(action, actions), action.name, action.created_time)


def _state(action: MetadataAction, actions: TableActions) -> TableState:
    columns = action.schema or Struct()
    properties = dict[str, str | None](action.configuration)
    constraints = {
        key[len(_CONSTRAINT) :].lower(): properties.pop(key)
        for key in action.configuration
        if key.lower().startswith(_CONSTRAINT)
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
    """The path by the names that people use; what the schema does not know stays as it is."""
    struct: DataType = columns
    path: list[str] = []
    for name in physical:
        fields = struct.fields if isinstance(struct, Struct) else ()
        field = next((field for field in fields if (field.physical_name or field.name) == name), None)
        path.append(field.name if field else name)
        struct = field.type if field else Struct()
    return tuple(path)
