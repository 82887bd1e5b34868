"""Remove exceptions from the texts that they are written in."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from schemalint.config.removal import removed_spans
from schemalint.document import (
    Document,
    Path,
    Span,
    TextEdit,
    location,
    node_at,
    read_documents,
    remove_from_documents,
)
from schemalint.document import Sequence as YamlSequence
from schemalint.errors import ContractError
from schemalint.model.contract import table_key
from schemalint.model.finding import TextChange
from schemalint.model.waiver import IN_CONFIGURATION, WaiverSource, WrittenWaiver
from schemalint.values import grouped

_LISTS: Final = {WaiverSource.CONTRACT: "allow", WaiverSource.FILE: "exceptions"}


def removals(
    waivers: Iterable[WrittenWaiver], sources: Mapping[str, str]
) -> dict[WrittenWaiver, tuple[TextChange, ...]]:
    """Return the text changes that remove exceptions; none for those in a layout that cannot be edited.

    Those of one file are removed together: none of them alone knows whether it is the last one of its list,
    and the proof of an edit reads the whole text.

    Args:
        waivers: The exceptions to remove.
        sources: The text of each file.
    """
    found: dict[WrittenWaiver, tuple[TextChange, ...]] = {}
    for file, together in grouped((written.location.file, written) for written in waivers).items():
        if file not in sources:
            continue
        if together[0].index == IN_CONFIGURATION:
            found |= _without_entries(file, sources[file], together)
        else:
            documents = read_documents(sources[file], file)
            comments = [written for written in together if written.source is WaiverSource.INLINE]
            of_comment = Counter((written.document, written.cut) for written in comments)
            for written in comments:
                number = of_comment[written.document, written.cut]
                found[written] = _cut(documents[written.document], written, number)
            in_lists = [written for written in together if written.source is not WaiverSource.INLINE]
            with suppress(ContractError):  # the layout of one of them cannot be edited: a person can
                found |= _without_items(documents, in_lists)
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


def _without_items(
    documents: Sequence[Document], waivers: Iterable[WrittenWaiver]
) -> dict[WrittenWaiver, tuple[TextChange, ...]]:
    paths: dict[WrittenWaiver, Path] = {}
    for index, together in grouped((written.document, written) for written in waivers).items():
        key = _LISTS[together[0].source]
        node = node_at(documents[index], (key,))
        if isinstance(node, YamlSequence):
            keeps_none = key == "allow" and len({each.index for each in together}) == len(node.items)
            paths |= {written: (key,) if keeps_none else (key, written.index) for written in together}
    by_document = grouped((written.document, path) for written, path in paths.items())
    if not by_document:
        return {}
    removed = [(documents[index], frozenset(of_document)) for index, of_document in by_document.items()]
    edits = dict(zip(by_document, remove_from_documents(removed), strict=True))
    return {
        written: (_change(documents[written.document], edits[written.document][path]),)
        for written, path in paths.items()
    }


def _without_entries(
    file: str, text: str, waivers: Collection[WrittenWaiver]
) -> dict[WrittenWaiver, tuple[TextChange, ...]]:
    """Return the change that removes each entry of the configuration: the cut that its line is in."""
    spans = removed_spans(text, {table_key(written.table) for written in waivers})
    cuts = [TextChange(location(file, text, Span(start, end)), start, end, "") for start, end in spans]
    lines = [cut.location.line for cut in cuts]
    before = {written: bisect_right(lines, written.location.line) for written in waivers}
    return {written: tuple(cuts[max(number - 1, 0) : number]) for written, number in before.items()}


def _change(document: Document, edit: TextEdit) -> TextChange:
    span = Span(edit.start, edit.end)
    return TextChange(location(document.file, document.text, span), edit.start, edit.end, edit.text)
