"""Review an edited text: its unified diff for people, and a second YAML reader."""

from __future__ import annotations

import difflib
import re
from operator import attrgetter
from typing import Any, Final, TypeAlias

from schemalint.base.document.nodes import content_of
from schemalint.base.document.yaml_reader import read_documents
from schemalint.base.errors import InternalError

Plain: TypeAlias = "str | list[Plain] | dict[str, Plain]"
"""A document without positions: scalars as their text."""

_NO_FILE: Final = "/dev/null"


def unified_diff(file: str, before: str | None, after: str) -> str:
    """Return the unified diff of a file; ``before`` is None for a new file."""
    lines = difflib.unified_diff(
        _lines(before or ""),
        _lines(after),
        _NO_FILE if before is None else f"a/{file}",
        f"b/{file}",
    )
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """Split as tools that read diffs do: `str.splitlines` knows more line ends, which comments may have."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def require_second_opinion(file: str, before: str, after: str) -> None:
    """Compare how schemalint and ruamel.yaml read an edited text.

    ruamel.yaml only composes nodes: it constructs no dates or numbers, so it has no opinion on their values.
    A text that it read differently before the edit gets no second opinion.

    Raises:
        InternalError: Only schemalint reads the edited text as intended.
    """
    if not _read_alike(file, after) and _read_alike(file, before):
        raise InternalError(f"{file}: an edit would leave a text that other YAML readers read differently")


def composed(text: str) -> Plain | None:
    """Return the one document of a text as ruamel.yaml reads it; None if it cannot read it.

    It only composes nodes: no tag constructs anything.
    """
    documents = _documents(text)
    if documents and len(documents) == 1:
        return documents[0]
    return None


def _read_alike(file: str, text: str) -> bool:
    own = [content_of(document.root, attrgetter("text")) for document in read_documents(text, file)]
    return _documents(text) == own


def _documents(text: str) -> list[Plain] | None:
    from ruamel.yaml import YAML  # noqa: PLC0415 (only runs that edit files need it)
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        return [_composed(root) for root in YAML(typ="safe", pure=True).compose_all(text)]
    except (YAMLError, RecursionError):
        return None


def _composed(node: Any) -> Plain:  # noqa: ANN401 (ruamel.yaml's nodes)
    match node.id:
        case "sequence":
            return [_composed(item) for item in node.value]
        case "mapping":
            return {str(key.value): _composed(value) for key, value in node.value}
        case _:
            return str(node.value)
