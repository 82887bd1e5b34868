"""A declared table, and what its contract says beside its state."""

from __future__ import annotations

from collections.abc import Mapping

from schemalint.delta import protocol
from schemalint.delta.path import Path
from schemalint.delta.table import TableState
from schemalint.errors import Location
from schemalint.values import field, frozen


@frozen
class ProtocolLimits:
    """What ``apply`` must not pass."""

    max_reader: int | None = None
    max_writer: int | None = None
    allow_upgrade: bool = False


@frozen
class WriterPermissions:
    """What writers may do by themselves."""

    columns: bool = False
    widening: bool = False


@frozen
class Consumer:
    """Someone who must still be able to read, or write, after the change."""

    name: str
    client: str | None = None
    version: str | None = None
    read_path: str | None = None
    access: str = "read"
    columns: tuple[str, ...] = ()
    stream: Mapping[str, object] | None = None


@frozen
class Waiver:
    """An approved break: a rule, an object, a reason and an end (ISO date)."""

    rule: str
    reason: str
    column: Path | None = None
    property: str | None = None
    approved_by: str | None = None
    expires: str | None = None


@frozen
class Deprecation:
    """A column on its way out (ISO dates)."""

    since: str | None = None
    remove_after: str | None = None
    reason: str | None = None


@frozen
class TargetOverlay:
    """What differs in one environment, before it is merged into the contract."""

    location: str | None = None
    absent: bool = False
    properties: Mapping[str, str | None] = field(default_factory=dict)
    features: frozenset[str] | None = None
    protocol: ProtocolLimits | None = None
    consumers: tuple[Consumer, ...] | None = None


Anchor = tuple[str, *tuple[object, ...]]
"""What stands at a place in a contract: ``("column", path)``, ``("type", path)``, ``("property", key)``."""


@frozen
class Contract:
    """A declared table, effective for one target.

    Attributes:
        table: The name as written; `key` is what it is compared by.
        managed_by: ``schemalint``, or whoever alters the table instead.
        drop_features: Features to be dropped, explicitly.
        anchors: Where in the text each thing stands.
        document: Index of the YAML document within its file.
    """

    table: str
    state: TableState
    location: str | None = None
    owner: str | None = None
    managed_by: str = "schemalint"
    drop_features: frozenset[str] = frozenset()
    protocol: ProtocolLimits = ProtocolLimits()
    open: WriterPermissions = WriterPermissions()
    targets: Mapping[str, TargetOverlay] = field(default_factory=dict)
    consumers: tuple[Consumer, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    deprecated: Mapping[Path, Deprecation] = field(default_factory=dict)
    absent: bool = False
    file: str = ""
    document: int = 0
    anchors: Mapping[Anchor, Location] = field(default_factory=dict, compare=False, repr=False)

    @property
    def key(self) -> str:
        """The table's identity."""
        return table_key(self.table)

    @property
    def created_features(self) -> frozenset[str]:
        """The features of a table that Delta creates from this contract."""
        state = self.state
        return protocol.of_new_table(state.active_features, state.asked_features, state.set_properties)


def table_key(name: str) -> str:
    """What a table's name is compared by: no case, no back-quotes."""
    return name.replace("`", "").casefold()
