"""Remove exceptions from the texts that they are written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from schemalint.base.document import Document, Path, node_at, read_documents
from schemalint.base.document import Sequence as YamlSequence
from schemalint.base.errors import ContractError
from schemalint.base.values import grouped
from schemalint.contract.edit import TextEditor
from schemalint.model.exception import ExceptionSource, WrittenException
from schemalint.model.finding import Remove, TextChange

_LISTS: Final = {ExceptionSource.CONTRACT: "allow", ExceptionSource.FILE: "exceptions"}


def removals(
    exceptions: Iterable[WrittenException], sources: Mapping[str, str]
) -> dict[WrittenException, tuple[TextChange, ...]]:
    """Return the text changes that remove exceptions; none for those in a layout that cannot be edited.

    Those of one file are removed together: none of them alone knows whether it is the last one of its list,
    and the proof of an edit reads the whole text.

    Args:
        exceptions: The exceptions to remove.
        sources: The text of each file.
    """
    found: dict[WrittenException, tuple[TextChange, ...]] = {}
    for file, together in grouped((written.location.file, written) for written in exceptions).items():
        if file in sources:
            with suppress(ContractError):  # the layout of one of them cannot be edited: a person can
                found |= _without_items(read_documents(sources[file], file), together)
    return found


def _without_items(
    documents: Sequence[Document], exceptions: Iterable[WrittenException]
) -> dict[WrittenException, tuple[TextChange, ...]]:
    paths: dict[WrittenException, Path] = {}
    for index, together in grouped((written.document, written) for written in exceptions).items():
        key = _LISTS[together[0].source]
        node = node_at(documents[index], (key,))
        if isinstance(node, YamlSequence):
            keeps_none = key == "allow" and len({each.index for each in together}) == len(node.items)
            paths |= {written: (key,) if keeps_none else (key, written.index) for written in together}
    found: dict[WrittenException, tuple[TextChange, ...]] = {}
    for index, of_document in grouped((written.document, written) for written in paths).items():
        wanted = {written: Remove(paths[written]) for written in of_document}
        changes = TextEditor(documents[index]).changes(wanted.values())
        made = {operation: change for change in changes for operation in change.operations}
        found |= {written: (made[removal],) for written, removal in wanted.items()}
    return found
