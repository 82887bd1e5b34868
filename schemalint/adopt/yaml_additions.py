"""Add entries to YAML files of other tools: the text before and after them stays byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemalint.document.review import composed

if TYPE_CHECKING:
    from schemalint.document.review import Plain


def with_item(text: str, key: str, item: str) -> str | None:
    """Return a text with one more item at the end of a list at its top level; None if that cannot be done.

    Args:
        text: The text.
        key: The key of the list, which must be written as a block with items.
        item: The text of the item, with the dash in its first column.
    """
    place = _end_of_list(text, key)
    if place is None:
        return None
    position, indent = place
    lines = [f"{' ' * indent}{line}" for line in item.splitlines()]
    after = _inserted(text, position, lines)
    before, added = composed(text), composed(item)
    if not isinstance(before, dict) or not isinstance(added, list):
        return None
    known = before[key]
    is_as_meant = isinstance(known, list) and composed(after) == {**before, key: [*known, *added]}
    return after if is_as_meant else None


def with_entries(text: str, entries: str) -> str | None:
    """Return a text with more entries at the end of its top level; None if that cannot be done."""
    after = _inserted(text, len(text), ["", *entries.splitlines()])
    before, added = composed(text), composed(entries)
    if not isinstance(before, dict) or not isinstance(added, dict) or not {*before}.isdisjoint(added):
        return None
    return after if composed(after) == {**before, **added} else None


def top_level(text: str) -> dict[str, Plain]:
    """Return the entries of a text's top level; empty if they cannot be read."""
    found = composed(text)
    return found if isinstance(found, dict) else {}


def _end_of_list(text: str, key: str) -> tuple[int, int] | None:
    """Return the offset behind a list's last line, and the column of its dashes."""
    from ruamel.yaml import YAML  # noqa: PLC0415 (only `init` adds to files of other tools)
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        root: Any = YAML(typ="safe", pure=True).compose(text)
    except YAMLError:
        return None
    if root is None or root.id != "mapping":
        return None
    found = next((value for name, value in root.value if name.value == key), None)
    if found is None or found.id != "sequence" or found.flow_style or not found.value:
        return None
    column = found.start_mark.column
    # The mark of a block's end is that of what follows: comments and empty lines are between.
    lines = text[: found.end_mark.index].splitlines(keepends=True)
    while lines and _is_outside(lines[-1], column):
        lines.pop()
    return sum(map(len, lines)), column


def _is_outside(line: str, column: int) -> bool:
    """Whether a line after a list is no part of it: it is empty, or a comment further out than its items."""
    content = line.lstrip()
    return not content or (content.startswith("#") and len(line) - len(content) <= column)


def _inserted(text: str, position: int, lines: list[str]) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    before, after = text[:position], text[position:]
    start = end if before and not before.endswith("\n") else ""
    return before + start + "".join(f"{line}{end}" for line in lines) + after
