"""The entries of ``type_changes`` in a native contract, and the operations that change them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from schemalint.base.document import Document, Node, common_length, items_of, node_at, text_of, value_of
from schemalint.base.document import Path as YamlPath
from schemalint.base.errors import ContractError
from schemalint.base.values import frozen, grouped
from schemalint.contract.dialects.native.declared_types import declared_type
from schemalint.contract.dialects.native.plain_data import type_change
from schemalint.contract.dialects.native.printing import print_value
from schemalint.contract.dialects.native.short_texts import path_in
from schemalint.contract.dialects.native.spans import Level, written_columns
from schemalint.delta.datatype import RecordedChange, Struct, type_at
from schemalint.delta.path import Path, format_path, lowercased, prefixes
from schemalint.delta.type_history import carrier_of
from schemalint.model.contract_edit import Assign, Insert, Operation, Remove

_HISTORY: Final = "type_changes"


@frozen
class Record:
    """An entry of ``type_changes``.

    Attributes:
        level: The column or part with the key ``type_changes``.
        yaml_path: The path of the entry in the document.
        path: The path of the changed type in the schema.
        node: The entry.
    """

    level: Level
    yaml_path: YamlPath
    path: Path
    node: Node

    def change(self) -> RecordedChange:
        """Return the type change, as it is recorded on the field."""
        from_type, to_type = (declared_type(text_of(self.node, key)) for key in ("from", "to"))
        return RecordedChange(from_type, to_type, carrier_of(self.path)[1])


class Records:
    """The levels of a contract's columns, and the type changes that are recorded on them.

    A level is a column, or a part of a type, that has a YAML mapping of its own.
    """

    def __init__(self, document: Document, columns: Struct) -> None:
        """Take the document of a valid contract, and the columns that it declares."""
        self._document = document
        self._columns = columns

    @cached_property
    def all(self) -> tuple[Record, ...]:
        """All entries, in the order of the text."""
        return tuple(self._read())

    def recorded(
        self, path: Path, changes: Sequence[RecordedChange], *, new_path: Path | None = None
    ) -> Iterator[Operation]:
        """Yield the operations that record the whole history of a field; what stays keeps its spelling.

        Args:
            path: The path of the field.
            changes: Its history.
            new_path: The path that it has after other edits; None if it stays.

        Raises:
            ContractError: The contract does not have the column.
        """
        level = self._level(path)
        history_path = (*level.yaml_path, _HISTORY)
        inner_path = (new_path or path)[len(level.path) :]
        existing = self._by_field.get(lowercased(path), ())
        kept = common_length(tuple(record.change() for record in existing), tuple(changes))
        is_elsewhere = any(record.yaml_path[:-1] != history_path for record in existing[:kept])
        if kept < len(changes) and is_elsewhere:
            kept = 0  # entries added on this level would be read before those on another one
        for change in changes[kept:]:
            yield Insert(history_path, print_value(type_change(change, (*inner_path, *change.at))))
        for record in existing[kept:]:
            yield Remove(record.yaml_path)
        if not changes and node_at(self._document, history_path) is None:
            yield Assign(history_path, "[]")

    def _level(self, path: Path) -> Level:
        """Return the innermost level at or around a path."""
        around = [self._levels[each] for each in prefixes(lowercased(path)) if each in self._levels]
        if not around:
            message = f"column {format_path(path[:1])} is no longer in the contract"
            location = self._document.location(self._document.span)
            raise ContractError(message, help="run the check again", location=location)
        return around[-1]

    @cached_property
    def _levels(self) -> dict[Path, Level]:
        return {lowercased(level.path): level for level in reversed(tuple(written_columns(self._document)))}

    @cached_property
    def _by_field(self) -> dict[Path, tuple[Record, ...]]:
        """The entries of each field in the order of reading: those on levels inside others first."""
        innermost_first = sorted(self.all, key=lambda record: -len(carrier_of(record.level.path)[0]))
        return grouped((lowercased(carrier_of(record.path)[0]), record) for record in innermost_first)

    def _read(self) -> Iterator[Record]:
        for level in written_columns(self._document):
            for index, node in enumerate(items_of(value_of(level.node, _HISTORY))):
                at, type_ = text_of(node, "at"), type_at(self._columns, level.path)
                inner_path = (path_in(type_, at) if at and type_ else None) or ()
                yield Record(level, (*level.yaml_path, _HISTORY, index), (*level.path, *inner_path), node)
