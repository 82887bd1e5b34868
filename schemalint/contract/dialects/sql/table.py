"""A table as the statements of a file declare it, while they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from schemalint.base.document import Span
from schemalint.base.errors import Location
from schemalint.contract.anchors import normal
from schemalint.contract.dialects.sql.lexer import SqlText
from schemalint.contract.dialects.sql.names import TableName
from schemalint.delta.datatype import UNMANAGED, Field, Managed, Struct
from schemalint.delta.path import Path
from schemalint.delta.table import TableState
from schemalint.model.contract import Anchor

Words: TypeAlias = Literal["create", "if not exists", "or replace"]
"""How a CREATE TABLE begins."""

COMMENT: Final = "comment"
"""The property that is the description of a table."""


class Table:
    """One table: its CREATE TABLE, and what later statements of the file add to it."""

    def __init__(self, name: TableName, words: Words, begin: Span) -> None:
        self.name, self.words, self.begin = name, words, begin
        self.columns: list[Field] = []
        self.description: Managed[str | None] = UNMANAGED
        self.partitioned_by: tuple[str, ...] = ()
        self.clustered_by: Managed[tuple[Path, ...]] = ()
        self.location: str | None = None
        self.properties: dict[str, str | None] = {}
        self.constraints: dict[str, str | None] = {}
        self.unmanaged: list[str] = []
        self.spans: dict[Anchor, Span] = {("table",): name.span, ("managed_by",): begin}

    def place(self, *anchor: object, span: Span) -> None:
        """Remember where something is declared; the last declaration counts."""
        key: Anchor = (str(anchor[0]), *anchor[1:])
        self.spans[normal(key)] = span

    def set_property(self, key: str, value: str | None, span: Span) -> None:
        """Set a property, or say that it is not set.

        Delta stores ``comment``, in this spelling, as the table's description (measured on Delta 4.4.0).
        """
        if key == COMMENT:
            self.description = value
            self.place("description", span=span)
        else:
            self.properties[key] = value
            self.place("property", key, span=span)

    @property
    def struct(self) -> Struct:
        """The columns."""
        return Struct(tuple(self.columns))

    @property
    def state(self) -> TableState:
        """What the statements declare; Delta makes a table without a clause without what it would say."""
        return TableState(
            columns=self.struct,
            description=self.description,
            partitioned_by=self.partitioned_by,
            clustered_by=self.clustered_by,
            constraints=self.constraints,
            properties=self.properties,
        )


class Anchors(Mapping[Anchor, Location]):
    """The places of one table in its file; lines are counted when one is asked for."""

    __slots__ = ("_source", "_spans")

    def __init__(self, source: SqlText, spans: Mapping[Anchor, Span]) -> None:
        self._source, self._spans = source, spans

    def __getitem__(self, anchor: Anchor) -> Location:
        return self._source.location(self._spans[normal(anchor)])

    def __iter__(self) -> Iterator[Anchor]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)
