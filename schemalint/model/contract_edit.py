"""Edits of a contract: what they change of the table, and of the text; a fix is some of them."""

from __future__ import annotations

from typing import TypeAlias

from schemalint.base.errors import Location
from schemalint.base.values import frozen
from schemalint.delta.change import Change, FieldRenamed
from schemalint.delta.datatype import RecordedChange
from schemalint.delta.path import Path
from schemalint.model.contract import Backfill
from schemalint.model.rewrite import ColumnRewrite


@frozen
class SetProperty:
    """A contract edit: set a table property; None declares it absent."""

    key: str
    value: str | None


@frozen
class RecordTypeChanges:
    """A contract edit: set the whole ``type_changes`` of the field at a path."""

    path: Path
    changes: tuple[RecordedChange, ...]


@frozen
class DeclareChange:
    """A contract edit: declare the result of a change.

    Entries that the change leaves unmanaged are removed: a property whose new value is unmanaged, a deletion
    that is no longer listed.
    """

    change: Change


@frozen
class DeclareRenames:
    """A contract edit: rename fields of one struct, all at once, with ``renamed_from``."""

    renames: tuple[FieldRenamed, ...]


@frozen
class DeclareBackfill:
    """A contract edit: declare how the column at a path is filled; None removes it.

    The path has the names before all edits, the backfill those after them.
    """

    path: Path
    backfill: Backfill | None


@frozen
class DeclareRewrite:
    """A contract edit: declare how the column at a path is written anew; None removes it.

    The path has the names before all edits, the rewrite those after them.
    """

    path: Path
    rewrite: ColumnRewrite | None


@frozen
class DeclareLayoutRewrite:
    """A contract edit: declare from which partition columns the table is written anew; None removes it."""

    partitioned_by: tuple[str, ...] | None


Edit: TypeAlias = (
    SetProperty
    | RecordTypeChanges
    | DeclareChange
    | DeclareRenames
    | DeclareBackfill
    | DeclareRewrite
    | DeclareLayoutRewrite
)
"""A contract edit in terms of the table; the contract's dialect knows the position in the text."""


@frozen
class Fix:
    """A contract edit that resolves a finding.

    Attributes:
        title: The edit, in the imperative.
        edits: The edits, in order.
        safe: Whether `check --fix` may apply it without review: it only adds missing entries.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


@frozen
class Assign:
    """An operation on a YAML document: set the key at the end of a path, in place or as a new entry.

    A missing or null mapping around it is made, if its parent exists. The value is YAML on one line: a
    printed scalar, or a collection in brackets.
    """

    path: tuple[str | int, ...]
    value: str


@frozen
class Insert:
    """An operation on a YAML document: insert an item into the list at a path, before the one with an index.

    None is the end. A missing or null list is made, if its parent exists. The value of an item in a block may
    have several lines.
    """

    path: tuple[str | int, ...]
    value: str
    index: int | None = None


@frozen
class Remove:
    """An operation on a YAML document: remove the entry or item at a path."""

    path: tuple[str | int, ...]


Operation: TypeAlias = Assign | Insert | Remove


@frozen
class TextChange:
    """A replacement of a range in the text of a file.

    Attributes:
        location: The range.
        start: Its first code point.
        end: The code point after its last one.
        text: What replaces it.
        document: The number of the document in the file, from 0.
        operations: What the replacement does in this document.
    """

    location: Location
    start: int
    end: int
    text: str
    document: int = 0
    operations: tuple[Operation, ...] = ()
