"""A declared table: its state, and everything else in its contract."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from schemalint.base.errors import Location
from schemalint.base.values import field, frozen, replace
from schemalint.base.wording import Wording
from schemalint.delta import protocol
from schemalint.delta.datatype import RecordedChange
from schemalint.delta.engine import Engine, Engines
from schemalint.delta.engine_answers import activated_by
from schemalint.delta.path import Path
from schemalint.delta.properties import is_refused_by
from schemalint.delta.table import TableState
from schemalint.model.consumer import Consumer, ConsumerFault
from schemalint.model.exception import RuleException
from schemalint.model.rewrite import Rewrites


@frozen
class ProtocolLimits:
    """The protocol versions that ``apply`` must not exceed, and whether it may upgrade."""

    max_reader: int | None = None
    max_writer: int | None = None
    allow_upgrade: bool = False


@frozen
class WriterPermissions:
    """The schema changes that writers may make without the contract."""

    columns: bool = False
    widening: bool = False


@frozen
class Deprecation:
    """The deprecation of a column (ISO dates)."""

    since: str | None = None
    remove_after: str | None = None
    reason: str | None = None


@frozen
class WaysOut:
    """What the drop of an old column may lose; by default nothing.

    Attributes:
        keeps_null: Whether rows whose values do not convert may stay null (``unfilled: keep_null``).
        keeps_converted: Whether a value may differ from that of the source (``inexact: keep_converted``).
        differing: What is the truth where the new column has another value than the fill would write: the
            new column (``keep_new``), or the old one, so that it is filled again (``refill``). None if
            nobody knows.
    """

    keeps_null: bool = False
    keeps_converted: bool = False
    differing: Literal["keep_new", "refill"] | None = None


@frozen
class Backfill:
    """How `apply` fills a column from others of its row.

    Attributes:
        source: The column that has the values so far.
        expression: The value of the row in SQL. Nothing but `delta.fill_expressions` says what may run.
        ways_out: What the drop of the source may lose.
        time_zone: The time zone of the session that evaluates the expression; None for UTC.
        outlived: Whether only an older revision declares it: then it fills nothing, and the drop of its
            source still needs the proof that no value is lost.
    """

    source: Path
    expression: str
    ways_out: WaysOut = WaysOut()
    time_zone: str | None = None
    outlived: bool = False


@frozen
class TargetOverlay:
    """The differences of one target, before they are merged into the contract."""

    location: str | None = None
    absent: bool = False
    properties: Mapping[str, str | None] = field(default_factory=dict)
    features: frozenset[str] | None = None
    protocol: ProtocolLimits | None = None
    consumers: tuple[Consumer, ...] = ()
    named_consumers: tuple[str, ...] = ()
    consumer_faults: tuple[ConsumerFault, ...] = ()


Anchor = tuple[str, *tuple[object, ...]]
"""A declared thing in a contract: ``("column", path)``, ``("type", path)``, ``("property", key)``."""


class Anchors(Mapping[Anchor, Location]):
    """The locations of a contract's declared things."""

    __slots__ = ()

    @abstractmethod
    def of_target(self, target: str) -> Anchors:
        """Return the locations of the contract that is effective for a target."""


NATIVE: Final = "native"
"""schemalint's own format."""

ManagedHow: TypeAlias = Literal["alter", "replace", "rename", "create"]
OnColumnChange: TypeAlias = Literal["append", "sync", "fail", "ignore"]


Variables: TypeAlias = tuple[tuple[str, str], ...]


@frozen
class FileFormat:
    """How a file is read.

    Attributes:
        name: The name of the format.
        variables: Names and values of variables in the file, as one target has them, sorted.
        shared: Those of the entry, if `variables` are a target's and differ; what a contract beside the file
            calls its tables.
        targets: Those of each target that has other ones, if `variables` are the entry's.
        using: The format of a table whose statement says none; None to leave such tables out.
        managed_by: What brings the tables to their declaration; None where the file itself says it.
        how: How another tool does that; None where the file itself says it.
    """

    name: str = NATIVE
    variables: Variables = ()
    shared: Variables = ()
    targets: tuple[tuple[str, Variables], ...] = ()
    using: str | None = None
    managed_by: str | None = None
    how: ManagedHow | None = None


NATIVE_FORMAT: Final = FileFormat()
"""schemalint's own format, which needs no settings."""


@frozen
class Contract:
    """A declared table: as one file says it, or as an `Effective` contract for one target.

    Attributes:
        table: The name as written; comparisons use `key`.
        managed_by: ``schemalint``, or the other tool that alters the table.
        managed_how: How that tool brings the table to its declaration: it alters it, replaces it (CREATE OR
            REPLACE), builds another one and renames it, or only creates it where it does not exist (CREATE IF
            NOT EXISTS), so that no later change reaches it.
        on_column_change: What that tool does to a table that it alters when columns differ; None if it
            follows every declaration.
        alters_settings: Whether that tool also brings changed constraints and properties to a table that it
            alters.
        dialect: The format that declares it.
        wording: The words of that format.
        is_edited: Whether schemalint edits the file that declares it, which holds exceptions then.
        is_made: Whether another tool makes that file, of many tables; it says nothing else then.
        is_contracted: Whether anybody promised columns. Of another table the settings alone are declared, and
            it is judged beside its live table, which has the columns.
        in_catalog: What the file also says of the table and only a catalog stores, such as ``column mask``.
        unsaid: The parts of a contract that the dialect cannot say: see `schemalint.contract.dialects`.
        extends: The format of the declaration that this one adds to, if it declares no columns of its own.
        renamed_from: The old names of columns of that declaration, by their new paths.
        type_changes: The type changes of columns of that declaration, by the paths of the types.
        known_as: The key by which contracts that extend this one know the table, where it is another one: the
            name that its file has without the variables of a target.
        drop_features: The features that the contract drops explicitly.
        truncated_features: Those of `drop_features` whose drop truncates the history.
        anchors: The location of each declared thing in the text.
        consumers: The readers and writers: as written, or all that count for the effective contract.
        named_consumers: The names of consumers that the configuration declares.
        consumer_faults: The faults of these declarations, as far as the configuration knows.
        client_rows: The rows of the configuration that precede those of the client table.
        delays_cosmetic: Whether comments and the order of columns wait for the table's next change where they
            would stop a tracked stream: ``cosmetic = "ride-along"`` in the configuration.
        document_index: The index of the YAML document within its file.
        engines: The engines that write the table: those of ``[[tables]]``, or all that count in the target.
        engine_targets: The targets with these engines which the contract is effective for.
    """

    table: str
    state: TableState
    location: str | None = None
    owner: str | None = None
    managed_by: str = "schemalint"
    managed_how: ManagedHow = "alter"
    on_column_change: OnColumnChange | None = None
    alters_settings: bool = False
    dialect: str = NATIVE
    wording: Wording = field(default=Wording(), repr=False)
    is_edited: bool = True
    is_made: bool = False
    is_contracted: bool = True
    in_catalog: tuple[str, ...] = field(default=(), compare=False)
    unsaid: frozenset[str] = frozenset()
    extends: str | None = None
    renamed_from: Mapping[Path, str] = field(default_factory=dict)
    type_changes: Mapping[Path, tuple[RecordedChange, ...]] = field(default_factory=dict)
    known_as: str = ""
    drop_features: frozenset[str] = frozenset()
    truncated_features: frozenset[str] = frozenset()
    protocol: ProtocolLimits = ProtocolLimits()
    open: WriterPermissions = WriterPermissions()
    targets: Mapping[str, TargetOverlay] = field(default_factory=dict)
    consumers: tuple[Consumer, ...] = ()
    named_consumers: tuple[str, ...] = ()
    consumer_faults: tuple[ConsumerFault, ...] = ()
    client_rows: tuple[Mapping[str, object], ...] = ()
    delays_cosmetic: bool = False
    exceptions: tuple[RuleException, ...] = ()
    deprecated: Mapping[Path, Deprecation] = field(default_factory=dict)
    backfills: Mapping[Path, Backfill] = field(default_factory=dict)
    rewrites: Rewrites = Rewrites()
    absent: bool = False
    file: str = ""
    document_index: int = 0
    anchors: Mapping[Anchor, Location] = field(default_factory=dict, compare=False, repr=False)
    engines: Engines = Engines()
    engine_targets: tuple[str, ...] = ()

    @property
    def engine(self) -> Engine | None:
        """The engine that runs the statements, if the configuration names it."""
        return self.engines.apply_with

    def says(self, part: str) -> bool:
        """Whether the format of the declaration can say a part of a contract, such as ``owner``."""
        return part not in self.unsaid

    @property
    def is_rebuilt(self) -> bool:
        """Whether another tool builds the table anew instead of altering it."""
        return self.managed_how in {"replace", "rename"}

    def for_engines(self, engines: Engines, *targets: str) -> Contract:
        """Return the contract with the engines of these targets beside its own; itself if they name none."""
        if not engines.all:
            return self
        writers = tuple(dict.fromkeys((*engines.writers, *self.engines.writers)))
        return replace(self, engines=Engines(engines.apply_with, writers), engine_targets=targets)

    @property
    def settable_state(self) -> TableState:
        """The declared state without the properties that the engine refuses to set; rules report those."""
        properties = self.state.properties
        refused = [
            key for key, value in properties.items() if value is not None and is_refused_by(self.engine, key)
        ]
        if not refused:
            return self.state
        kept = {key: value for key, value in properties.items() if key not in refused}
        return replace(self.state, properties=kept)

    def locate(self, anchor: Anchor, *fallbacks: Anchor) -> Location:
        """Return the location of the anchor, of the first fallback found, or of the nearest parent."""
        for candidate in (anchor, *fallbacks, *_parents(anchor), ("columns",), ("table",)):
            position = self.anchors.get(candidate)
            if position is not None:
                return position
        return Location(self.file)

    @property
    def key(self) -> str:
        """The table's identity."""
        return table_key(self.table)

    @property
    def default_location(self) -> str:
        """The location of a table whose contract gives none, relative to the root of its target."""
        return self.table.replace("`", "").replace(".", "/")

    @property
    def created_features(self) -> frozenset[str]:
        """The features of a table that Delta creates from this contract."""
        state = self.state
        return protocol.features_of_new_table(
            activated_by(self.engine, state.active_features), state.requested_features, state.set_properties
        )


def _parents(anchor: Anchor) -> Iterator[Anchor]:
    """Yield the columns that contain a path, innermost first."""
    path = anchor[1] if len(anchor) > 1 else None
    if isinstance(path, tuple):
        for length in range(len(path), 0, -1):
            yield ("column", path[:length])


def table_key(name: str) -> str:
    """Return the key for comparing table names: case-folded, without back-quotes."""
    return name.replace("`", "").casefold()
