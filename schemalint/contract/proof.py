"""Prove an edited text: it has the content that was asked for, to schemalint and to ruamel.yaml."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeAlias

from schemalint.base.document import Document, Node, Path, node_at, read_documents
from schemalint.base.document.edit_review import require_second_opinion
from schemalint.base.document.layout import ends_line, line_break
from schemalint.base.document.nodes import content_of
from schemalint.base.errors import ContractError
from schemalint.base.values import grouped
from schemalint.model.contract_edit import Assign, Insert, Operation, Remove, TextChange

_Content: TypeAlias = Any
"""The content of a node: a dict, a list, or the type and the text of a scalar."""


def require_proof(file: str, before: str, after: str, changes: Collection[TextChange]) -> None:
    """Require that a text differs from the one before by the operations of changes, and by nothing else.

    Raises:
        ContractError: It cannot be read, or differs by something else.
        InternalError: Only schemalint reads it as intended.
    """
    documents = _documents(before, file)
    pairs = ((change.document, operation) for change in changes for operation in change.operations)
    try:
        contents = [_content(document.root) for document in documents]
        for index, operations in grouped(pairs).items():
            _apply(operations, contents, index, file)
        proven = [_content(document.root) for document in _documents(after, file)] == contents
    except (ContractError, LookupError, ValueError) as error:  # a ValueError for a value that is no document
        raise _refusal_of(changes, documents) from error
    if not proven:
        raise _refusal_of(changes, documents)
    require_second_opinion(file, before, after)


def refusal(document: Document, path: Path) -> ContractError:
    """Return the error for a layout at a path that no edit can handle."""
    nodes = (node_at(document, path[:length]) for length in range(len(path), -1, -1))
    nearest = next(node for node in nodes if node)
    message = f"the text at {'.'.join(map(str, path)) or 'the root'} cannot be edited in place"
    return ContractError(message, help="make the change by hand", location=document.location(nearest.span))


def _refusal_of(changes: Iterable[TextChange], documents: tuple[Document, ...]) -> ContractError:
    change = next(iter(changes))
    return refusal(documents[change.document], change.operations[0].path if change.operations else ())


def _documents(text: str, file: str) -> tuple[Document, ...]:
    # Inserted lines add a missing line break at the end of a text, which is content of a block scalar there.
    return read_documents(text if ends_line(text, len(text)) else text + line_break(text), file)


def _content(node: Node) -> _Content:
    return content_of(node, lambda scalar: (type(scalar.value).__name__, scalar.text))


def _apply(operations: Iterable[Operation], contents: list[_Content], index: int, file: str) -> None:
    """Make operations in the content of a document."""
    items: dict[Path, list[Insert | Remove]] = {}
    for operation in operations:
        path = (index, *operation.path)
        match operation:
            case Assign(value=value):
                _container(contents, path[:-1], {})[path[-1]] = _value(value, file)
            case Insert():
                _container(contents, path, [])
                items.setdefault(path, []).append(operation)
            case Remove():
                items.setdefault(path[:-1], []).append(operation)
    # The innermost first: until then, paths are those of the document before the edit.
    for path in sorted(items, key=len, reverse=True):
        container = _container(contents, path, None)
        removed = {operation.path[-1] for operation in items[path] if isinstance(operation, Remove)}
        if isinstance(container, dict):
            for key in removed:
                del container[key]
            continue
        inserted = grouped(
            (len(container) if operation.index is None else operation.index, _value(operation.value, file))
            for operation in items[path]
            if isinstance(operation, Insert)
        )
        kept = [[item] if index not in removed else [] for index, item in enumerate(container)]
        container[:] = [
            item for index, own in enumerate([*kept, []]) for item in (*inserted.get(index, ()), *own)
        ]


def _container(contents: list[_Content], path: Path, new: _Content) -> _Content:
    """Return the container at a path; a missing or null one is replaced by a new one."""
    *parents, last = path
    parent: _Content = contents
    for step in parents:
        parent = parent[step]
    has_parent = isinstance(parent, list) or last in parent
    if not has_parent or (isinstance(parent[last], tuple) and parent[last][0] == "NoneType"):
        parent[last] = new
    return parent[last]


def _value(text: str, file: str) -> _Content:
    (document,) = _documents(text, file)
    return _content(document.root)
