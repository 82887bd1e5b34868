"""Divide declared changes: those of one column are made in an excerpt without the other columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from schemalint.base.document import Document, Node, entries_of, items_of, read_documents, text_of, value_of
from schemalint.base.document.excerpt import Excerpt
from schemalint.base.document.proof import Content, content
from schemalint.base.values import frozen, replace
from schemalint.delta.change import Change, ColumnChange, FieldAdded, FieldRemoved, FieldRenamed
from schemalint.model.finding import DeclareChange, DeclareRenames, Edit

_COLUMNS: Final = "columns"
_Cut: TypeAlias = Callable[[Collection[int]], Excerpt]


@frozen
class Part:
    """Edits that are made in one excerpt.

    Attributes:
        edits: The edits, in order.
        excerpt: The excerpt.
        company: The indexes of the columns in the excerpt that the edits leave as they are.
        place: What the other columns of the excerpt become part of: column ``n`` (``2 * n + 1``), or what is
            new before it (``2 * n``); None if the edits change no columns.
    """

    edits: tuple[Edit, ...]
    excerpt: Excerpt
    company: tuple[int, ...]
    place: int | None


class Division:
    """Divides the declared changes of one contract."""

    def __init__(self, document: Document, columns: _Cut, settings: _Cut) -> None:
        """Take what makes the excerpts with some columns: without settings, and with all settings."""
        self._document = document
        self._cut_columns = columns
        self._cut_settings = settings
        self._items = items_of(value_of(document.root, _COLUMNS))
        self._names = [text_of(item, "name") for item in self._items]

    def parts(self, edits: Iterable[Edit]) -> Iterator[Part]:
        """Yield the parts.

        Raises:
            LookupError: An edit is about another column than those of the document, or declares no change.
        """
        # The index of the column's next one, where what follows it is inserted, by its new name.
        next_indexes = {name.lower(): index for index, name in enumerate(self._names, start=1)}
        declared = dict(next_indexes)
        changes: defaultdict[int, list[Edit]] = defaultdict(list)
        settings: list[Edit] = []
        added: list[Part] = []
        for edit, changed in _singles(edits):
            if not isinstance(changed, ColumnChange):
                settings.append(edit)
                continue
            name = str(changed.path[0]).lower()
            match changed:
                case FieldAdded(path=(_,), after=after):
                    # What follows another new column follows the same column of the document.
                    gap = 0 if after is None else next_indexes[after.lower()]
                    next_indexes[name] = gap
                    moved = replace(changed, after=self._names[gap - 1] if gap else None)
                    added.append(self._part([DeclareChange(moved)], 2 * gap, (gap - 1, gap)))
                case FieldRemoved(path=(_,)):
                    index = declared[name] - 1
                    other = index + 1 if index + 1 < len(self._items) else index - 1
                    yield self._part([edit], 2 * index + 1, (other,))
                case FieldRenamed(path=(_,), old_name=old_name):
                    next_indexes[name] = declared[old_name.lower()]
                    changes[next_indexes[name] - 1].append(edit)
                case _:
                    changes[next_indexes[name] - 1].append(edit)
        for index, made in changes.items():
            yield self._part(made, 2 * index + 1, ())
        yield from added  # after what ends the column before
        if settings:
            last = len(self._items) - 1  # the one that new settings may follow
            yield Part(tuple(settings), self._cut_settings({last}), (last,), None)

    def proves(self, text: str, made: Iterable[tuple[Part, str]]) -> bool:
        """Return whether a text has the content of the document with the results of the parts, and no other.

        Args:
            text: The edited text of the file.
            made: The parts, each with the edited text of its excerpt.
        """
        root = self._document.root
        columns = [content(item) for item in self._items]
        settings = _settings(root)
        places: list[list[Content]] = [[], *(place for column in columns for place in ([column], []))]
        for part, edited in made:
            (document,) = read_documents(edited, self._document.file)
            found = [content(item) for item in items_of(value_of(document.root, _COLUMNS))]
            for index in part.company:
                found.remove(columns[index])
            if part.place is None:
                settings = _settings(document.root)
            elif part.place % 2:
                places[part.place] = found
            else:
                places[part.place] += found
        before, after = (read_documents(each, self._document.file) for each in (self._document.text, text))
        wanted = [each for place in places for each in place]
        edited_root = after[self._document.index].root
        return (
            bool(wanted)  # without an item, a block is no list
            and [content(item) for item in items_of(value_of(edited_root, _COLUMNS))] == wanted
            and _settings(edited_root) == settings
            and _others(before, self._document.index) == _others(after, self._document.index)
        )

    def _part(self, edits: Sequence[Edit], place: int, company: Iterable[int]) -> Part:
        others = tuple(index for index in company if 0 <= index < len(self._items))
        changed = {place // 2} if place % 2 else set()
        return Part(tuple(edits), self._cut_columns({*others, *changed}), others, place)


def _singles(edits: Iterable[Edit]) -> Iterator[tuple[Edit, Change]]:
    """Yield the edits with what they declare; renames of columns one by one: no excerpt has two."""
    for edit in edits:
        match edit:
            case DeclareChange(change=change):
                yield edit, change
            case DeclareRenames(renames=renames) if len(renames[0].path) == 1:
                yield from ((DeclareChange(rename), rename) for rename in renames)
            case DeclareRenames(renames=renames):
                yield edit, renames[0]
            case _:
                raise LookupError(edit)


def _settings(root: Node) -> list[tuple[str, Content]]:
    entries = ((entry.key.text, entry.value) for entry in entries_of(root))
    return [(key, content(value)) for key, value in entries if key != _COLUMNS]


def _others(documents: Iterable[Document], index: int) -> list[Content]:
    return [content(document.root) for document in documents if document.index != index]
