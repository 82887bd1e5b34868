"""What was found: a rule's judgement of a fact, with its place and its fix."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

from schemalint.delta import change
from schemalint.delta.change import Change, FieldRenamed
from schemalint.delta.datatype import RecordedChange
from schemalint.delta.path import Path, format_path, path_to_json
from schemalint.errors import Location, SchemalintError
from schemalint.values import frozen

if TYPE_CHECKING:
    from schemalint.model.inventory import Inventory


class Severity(IntEnum):
    """How bad, in rising order."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The word that users read and write."""
        return self.name.lower()


@frozen
class ObjectRef:
    """What a finding is about.

    The kind is one of ``column``, ``property``, ``constraint``, ``feature``, ``consumer``, ``partitioning``,
    ``clustering``, ``table``.
    """

    kind: str
    name: str


def object_of_change(one: Change) -> ObjectRef:
    """What a change of a table is about."""
    match one:
        case change.PropertyChanged(key=key):
            return ObjectRef("property", key)
        case change.ConstraintChanged(name=name):
            return ObjectRef("constraint", name)
        case change.FeatureChanged(name=name):
            return ObjectRef("feature", name)
        case change.PartitioningChanged():
            return ObjectRef("partitioning", "partitioned_by")
        case change.ClusteringChanged():
            return ObjectRef("clustering", "clustered_by")
        case _:
            path: Path | None = getattr(one, "path", None)
            return ObjectRef("column", format_path(path)) if path else ObjectRef("table", "")


@frozen
class SetProperty:
    """Edit of a contract: a table property gets a value; None declares it absent."""

    key: str
    value: str | None


@frozen
class RecordTypeChanges:
    """Edit of a contract: the whole ``type_changes`` of the field at a path."""

    path: Path
    changes: tuple[RecordedChange, ...]


@frozen
class DeclareChange:
    """Edit of a contract: it says what a change makes of the table.

    What is not managed afterwards is taken out: a property whose new value is unmanaged, a deletion that is
    not listed any more.
    """

    change: Change


@frozen
class DeclareRenames:
    """Edit of a contract: fields of one struct get other names, all at once, and remember the old ones."""

    renames: tuple[FieldRenamed, ...]


Edit: TypeAlias = SetProperty | RecordTypeChanges | DeclareChange | DeclareRenames
"""A change of a contract, named by what it changes; where that stands, the contract's format knows."""


@frozen
class Fix:
    """A way to mend a finding.

    Attributes:
        title: What it does, in the imperative.
        safe: Whether it may be made without a person looking: it changes nothing but what is missing.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


@frozen
class TextChange:
    """A fix in the text of a file: the stretch is replaced."""

    location: Location
    start: int
    end: int
    text: str


@frozen
class Finding:
    """A problem that a rule found.

    Attributes:
        against: What the declaration was compared with: ``git``, ``live``, ``contract``, ``history``.
        old: The value before, as text; `new` the value declared.
        previous_location: Where the thing stood in the base.
        delta_error: The error class that Delta gives.
        text_changes: The fix, in the text of the contract.
        existing: The base has it too: it does not fail the run.
    """

    code: str
    rule: str
    severity: Severity
    message: str
    table: str
    object: ObjectRef
    location: Location
    help: str = ""
    target: str | None = None
    path: Path = ()
    against: tuple[str, ...] = ("git",)
    old: str | None = None
    new: str | None = None
    previous_location: Location | None = None
    delta_error: str | None = None
    fix: Fix | None = None
    text_changes: tuple[TextChange, ...] = ()
    existing: bool = False

    @property
    def column(self) -> str | None:
        """The path as text, None for what is no column."""
        return format_path(self.path) if self.path else None

    @property
    def identity(self) -> tuple[Hashable, ...]:
        """What makes it the same finding wherever it is met: no line, no message."""
        return (
            self.code,
            self.table.casefold(),
            self.target,
            (self.object.kind, self.object.name),
            json.dumps(path_to_json(self.path)),
            self.old,
            self.new,
        )

    @property
    def fingerprint(self) -> str:
        """The identity as a hash: baselines and reports know the finding by it."""
        import hashlib  # noqa: PLC0415 (a check that prints no fingerprints starts without it)

        return hashlib.sha256(json.dumps(self.identity).encode()).hexdigest()


@frozen
class Skipped:
    """A table that was not compared, and why."""

    table: str
    reason: str


@frozen
class SideRef:
    """One side of the comparison: what was asked for, what it came to, why."""

    spec: str
    commit: str | None = None
    why: str = ""


@frozen
class Run:
    """What was compared with what.

    Attributes:
        base: None if nothing stands on the other side: ``--against none``, or it was not found.
        compared: The names of the tables that were judged.
    """

    base: SideRef | None
    head: SideRef
    target: str | None = None
    compared: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@frozen
class CheckResult:
    """The result of a run.

    Attributes:
        findings: In the order in which reports show them.
        errors: What could not be judged.
        sources: The head's text of the files that locations name, as far as it is known.
        inventory: The tables of an audit together.
    """

    run: Run
    findings: tuple[Finding, ...]
    errors: tuple[SchemalintError, ...] = ()
    exit_status: int = 0
    sources: Mapping[str, str] | None = None
    inventory: Inventory | None = None
