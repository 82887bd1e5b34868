"""Remove exceptions from the texts that they are written in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from schemalint.document import (
    Document,
    Path,
    Span,
    TextEdit,
    location,
    node_at,
    read_documents,
    remove_entries,
)
from schemalint.document import Sequence as YamlSequence
from schemalint.model.finding import TextChange
from schemalint.model.waiver import IN_CONFIGURATION, WaiverSource, WrittenWaiver
from schemalint.values import grouped

_LISTS: Final = {WaiverSource.CONTRACT: "allow", WaiverSource.FILE: "exceptions"}


def removals(
    waivers: Iterable[WrittenWaiver], sources: Mapping[str, str]
) -> dict[WrittenWaiver, tuple[TextChange, ...]]:
    """Return the text changes that remove exceptions.

    Those of one list are removed together, so that each of them gets the changes of all: none of them alone
    knows whether it is the last one of the list.

    Args:
        waivers: The exceptions to remove.
        sources: The text of each file.
    """
    found: dict[WrittenWaiver, tuple[TextChange, ...]] = {}
    by_list = grouped(
        ((written.location.file, written.document, written.source), written) for written in waivers
    )
    for (file, index, source), together in by_list.items():
        if file in sources and together[0].index != IN_CONFIGURATION:
            document = read_documents(sources[file], file)[index]
            if source is WaiverSource.INLINE:
                of_comment = Counter(written.cut for written in together)
                found |= {written: _cut(document, written, of_comment[written.cut]) for written in together}
            else:
                changes = _without_items(document, _LISTS[source], {written.index for written in together})
                found |= dict.fromkeys(together, changes)
    return found


def _cut(document: Document, written: WrittenWaiver, removed: int) -> tuple[TextChange, ...]:
    """Return the change that removes a comment, and its line if nothing else is in it.

    None if more rules are ignored by the comment than are removed.
    """
    text = document.text
    start, end = written.cut or (0, 0)
    if text[start:end].partition("]")[0].count(",") + 1 > removed:
        return ()
    if start == 0 or text[start - 1] in "\r\n":
        end += 2 if text[end : end + 2] == "\r\n" else len(text[end : end + 1])
    return (_change(document, TextEdit(start, end, "")),)


def _without_items(document: Document, key: str, indexes: set[int]) -> tuple[TextChange, ...]:
    node = node_at(document, (key,))
    if not isinstance(node, YamlSequence):
        return ()
    keeps_none = key == "allow" and len(indexes) == len(node.items)
    paths: list[Path] = [(key,)] if keeps_none else [(key, index) for index in sorted(indexes)]
    return tuple(_change(document, edit) for edit in remove_entries(document, paths))


def _change(document: Document, edit: TextEdit) -> TextChange:
    span = Span(edit.start, edit.end)
    return TextChange(location(document.file, document.text, span), edit.start, edit.end, edit.text)
