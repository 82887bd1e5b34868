"""What must hold for every input: an error is told, never raised as a bug, and no printed text is obeyed."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from schemalint.base.errors import PluginError, SchemalintError
from schemalint.delta.datatype import walk_fields
from schemalint.delta.type_json import COLLATIONS, RAW_TYPE
from schemalint.report import findings as reports
from schemalint.tables.table_json import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemalint.delta.datatype import Struct
    from schemalint.model.finding import CheckResult
    from schemalint.tables.table_json import TableDocument

BUG: Final = 3

_STYLES: Final = {name: reports.get(name) for name in reports.names()}
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")


class Found(AssertionError):  # noqa: N818 (an answer of the fuzzer)
    """An input has shown a bug."""


def require(holds: bool, what: str) -> None:  # noqa: FBT001 (as an assertion)
    """Raise `Found` if something does not hold; unlike assert, also under ``python -O``."""
    if not holds:
        raise Found(what)


@contextmanager
def only_errors_of_the_input() -> Iterator[None]:
    """Suppress the errors that tell what is wrong with the input."""
    try:
        yield
    except SchemalintError as error:
        require_no_bug([error])


def require_no_bug(errors: Iterable[SchemalintError]) -> None:
    """Require that no error has the status of a bug, or comes from a built-in rule."""
    for error in errors:
        if error.exit_status == BUG or isinstance(error, PluginError):
            raise Found(str(error)) from error
        require(bool(error.message), "an error has no message")


def require_rendered(result: CheckResult) -> None:
    """Require that every format shows the result, and that no text controls a terminal or a CI service."""
    for name, style in _STYLES.items():
        text = style.render(result, color=name == "full", show_existing=True)
        require_harmless(_COLOR.sub("", text))
        if name == "json":
            json.loads(text)


def require_harmless(text: str) -> None:
    """Require that a text for terminals has no characters that a terminal obeys."""
    for line in text.split("\n"):
        require(line.replace("\u3000", " ").isprintable(), f"a line is not printable: {line!r}")


def is_kept(columns: Struct) -> bool:
    """Whether a schema reads the same after it was printed.

    Malformed metadata of a column stays as it is, and takes the place of that of the fields in it.
    """
    malformed = {
        key for _path, field in walk_fields(columns) for key, _text in field.extra if key == COLLATIONS
    }
    malformed |= {key for column in columns.fields for key, _text in column.extra if key == RAW_TYPE}
    return not malformed


def require_written(document: TableDocument) -> None:
    """Require that a table is read from its JSON as it was written."""
    live = document.live
    again = from_json(json.loads(json.dumps(to_json(document))))
    recorded = [live.metadata, *(entry.metadata for entry in live.history.entries if entry.metadata)]
    if all(is_kept(metadata.state.columns) for metadata in recorded):
        require(again == document, "a table is written as another one")


def line_breaks(text: str) -> set[str]:
    """Return the kinds of line breaks in a text."""
    return set(_LINE_BREAK.findall(text))
