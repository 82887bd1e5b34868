"""Excerpts of a contract: what one edit reads, so that the cost of an edit does not grow with the table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Mapping as MappingType
from functools import cached_property
from typing import Final

from schemalint.base.document import Document, Entry, Mapping, Node, TextEdit, layout, print_scalar
from schemalint.base.document import Path as YamlPath
from schemalint.base.document import Sequence as YamlSequence
from schemalint.base.document.excerpt import Excerpt, Outline, other_items, with_items
from schemalint.base.values import grouped, replace
from schemalint.contract.dialects.native.edits import Record, records
from schemalint.contract.dialects.native.history import split_at_field
from schemalint.contract.dialects.native.parts import Division
from schemalint.contract.dialects.native.spans import Written, written_columns
from schemalint.delta.datatype import Array, DataType, Map, Struct, children, parts, type_at, with_parts
from schemalint.delta.path import Path, Step, lowercased, prefixes
from schemalint.delta.type_text import print_type
from schemalint.model.finding import Edit, RecordTypeChanges

_COLUMNS: Final = "columns"
_NESTED_KEYS: Final = (_COLUMNS, "element", "key", "value")


class Excerpts:
    """The excerpts of one contract."""

    def __init__(self, document: Document, columns: Struct) -> None:
        """Take the document of a valid contract, and the columns that it declares."""
        self._document = document
        self._columns = columns

    def of(self, edits: Sequence[Edit]) -> Excerpt | None:
        """Return the excerpt for edits that are made together; None if they need the whole document."""
        match edits:
            case [RecordTypeChanges(path=path)]:
                return self._of_history(path)
            case _:
                return None

    def division(self) -> Division:
        """Return what divides declared changes among excerpts."""
        return Division(self._document, self._with_columns, self._with_settings)

    def _with_columns(self, kept: Collection[int]) -> Excerpt:
        """Return the excerpt with only some columns, whole."""
        entry = _entry(self._document.root, _COLUMNS)
        return self._cut([*self._outside(), *self._items_cut(entry, kept)])

    def _with_settings(self, kept: Collection[int]) -> Excerpt:
        """Return the excerpt with all settings, and with only some columns."""
        entry = _entry(self._document.root, _COLUMNS)
        if entry is None or not isinstance(entry.value, YamlSequence):
            raise LookupError(_COLUMNS)
        outline = Outline.of(self._document, entry.value)
        return with_items(self._document.file, self._document.text, outline, kept)

    def _cut(self, cuts: Iterable[TextEdit]) -> Excerpt:
        return Excerpt(self._document.file, self._document.text, cuts)

    def _of_history(self, path: Path) -> Excerpt | None:
        """Return the levels around a field with its own entries of ``type_changes``.

        New entries follow the last one of a list: it stays too, with its field.
        """
        root = self._document.root
        if not isinstance(root, Mapping) or root.flow:
            return None
        levels: dict[YamlPath, Written] = {}
        kept = {record.yaml_path for record in self._records_of_field.get(lowercased(path), ())}
        paths = [path]
        for needed in paths:  # grows in the loop
            for level in self._around(needed):
                if level.yaml_path not in levels:
                    levels[level.yaml_path] = level
                    last = self._records_of_level.get(level.yaml_path, ())[-1:]
                    kept.update(record.yaml_path for record in last)
                    paths += [record.path for record in last]
        cuts = [*self._outside(), *self._columns_cut(root, (), levels)]
        steps = dict.fromkeys(lowercased(prefix) for needed in paths for prefix in prefixes(needed) if prefix)
        inside = grouped((step[:-1], step[-1]) for step in steps)
        for level in levels.values():
            cuts += self._columns_cut(level.node, level.yaml_path, levels)
            cuts += self._history_cut(level, kept)
            cuts += self._type_cut(level, inside)
        return self._cut(cuts)

    def _around(self, path: Path) -> Iterator[Written]:
        for prefix in prefixes(lowercased(path)):
            if prefix in self._levels:
                yield self._levels[prefix]

    @cached_property
    def _levels(self) -> dict[Path, Written]:
        return {lowercased(level.path): level for level in reversed(tuple(written_columns(self._document)))}

    @cached_property
    def _records(self) -> tuple[Record, ...]:
        return tuple(records(self._document, self._columns))

    @cached_property
    def _records_of_field(self) -> dict[Path, tuple[Record, ...]]:
        return grouped((lowercased(split_at_field(record.path)[0]), record) for record in self._records)

    @cached_property
    def _records_of_level(self) -> dict[YamlPath, tuple[Record, ...]]:
        return grouped((record.level.yaml_path, record) for record in self._records)

    def _outside(self) -> Iterator[TextEdit]:
        """Cut the file around the columns."""
        text, entry = self._document.text, _entry(self._document.root, _COLUMNS)
        if entry is not None:
            start, end = layout.line_start(text, entry.key.start), entry.value.end
            indent, line_break = text[start : entry.key.start], layout.line_break(text)
            header = "".join(indent + line + line_break for line in ("schemalint: 1", "table: t"))
            yield TextEdit(0, start, header)
            yield TextEdit(end if layout.ends_line(text, end) else layout.next_line(text, end), len(text), "")

    def _columns_cut(self, node: Node, yaml_path: YamlPath, levels: Iterable[YamlPath]) -> Iterator[TextEdit]:
        """Cut the columns of a level that the excerpt does not need; one stays in any case."""
        path = (*yaml_path, _COLUMNS)
        kept = {int(level[-1]) for level in levels if level[:-1] == path}
        yield from self._items_cut(_entry(node, _COLUMNS), kept or {0})

    def _history_cut(self, level: Written, kept: Iterable[YamlPath]) -> Iterator[TextEdit]:
        """Cut the entries of ``type_changes`` that the excerpt does not need."""
        path = (*level.yaml_path, "type_changes")
        yield from self._items_cut(
            _entry(level.node, "type_changes"), {int(entry[-1]) for entry in kept if entry[:-1] == path}
        )

    def _items_cut(self, entry: Entry | None, kept: Collection[int]) -> Iterator[TextEdit]:
        if entry is not None and isinstance(entry.value, YamlSequence):
            yield from other_items(self._document.text, entry.value, kept)

    def _type_cut(self, level: Written, inside: MappingType[Path, Iterable[Step]]) -> Iterator[TextEdit]:
        """Cut the fields that the excerpt does not need out of a nested type in one text."""
        entry, type_ = _entry(level.node, "type"), type_at(self._columns, level.path)
        is_text = all(_entry(level.node, key) is None for key in _NESTED_KEYS)
        if entry is not None and is_text and type_ is not None and any(children(type_)):
            text = print_scalar(print_type(_pruned(type_, lowercased(level.path), inside)))
            yield TextEdit(entry.value.start, entry.value.end, text)


def _entry(node: Node, key: str) -> Entry | None:
    return node.entry(key) if isinstance(node, Mapping) else None


def _pruned(type_: DataType, path: Path, inside: MappingType[Path, Iterable[Step]]) -> DataType:
    """Return a type with only the needed fields of each struct, by its path; one stays in any case."""
    if isinstance(type_, Struct):
        found = (type_.get(step) for step in inside.get(path, ()) if isinstance(step, str))
        needed = [field for field in found if field is not None]
        return Struct(
            tuple(
                replace(field, type=_pruned(field.type, (*path, field.name.lower()), inside))
                for field in needed or type_.fields[:1]
            )
        )
    if isinstance(type_, Array | Map):
        return with_parts(
            type_, {part: _pruned(inner, (*path, part), inside) for part, inner in parts(type_)}
        )
    return type_
