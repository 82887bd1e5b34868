"""Print a contract as a new document; `read` returns the same contract."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.base.document import Entry, Mapping, Node, Scalar, print_scalar
from schemalint.base.document.scalars import quote
from schemalint.base.phrases import affixed
from schemalint.base.printable import printable
from schemalint.contract.dialects.native.plain_data import Data, as_data
from schemalint.model.contract import Contract

_WIDTH = 100
_INDENT = "  "
# Always one entry per line, so that a change of one entry changes one line.
_BLOCKS = frozenset({"properties", "constraints", "targets"})
_BRACKETS_AND_COMMAS = dict.fromkeys(map(ord, ",[]{}"))


def print_contract(contract: Contract) -> str:
    """Print a contract as a person would write it, without defaults.

    Raises:
        ContractError: A text has a lone surrogate, which YAML cannot represent.
    """
    paragraphs: list[str] = []
    settings: list[str] = []
    for key, value in as_data(contract).items():
        lines = list(_entry(key, value))
        if len(lines) == 1:
            settings += lines
            continue
        paragraphs += ["\n".join(settings)] if settings else []
        paragraphs.append("\n".join(lines))
        settings = []
    paragraphs += ["\n".join(settings)] if settings else []
    return "\n\n".join(paragraphs) + "\n"


def print_value(value: Data) -> str:
    """Print a value on one line; mappings and lists in brackets."""
    match value:
        case dict():
            return (
                "{"
                + ", ".join(f"{print_scalar(key)}: {print_value(part)}" for key, part in value.items())
                + "}"
            )
        case list():
            return "[" + ", ".join(map(print_value, value)) + "]"
        case str():
            return print_scalar(value)
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return str(value)


def print_block(value: dict[str, Data]) -> str:
    """Print a mapping on several lines, like a column in a new document."""
    return "\n".join(_block(value, columns=False))


def print_alone(value: Data) -> str:
    """Print a value on one line outside of brackets, where ``decimal(12,2)`` needs no quotes."""
    if isinstance(value, str) and value[:1].isalpha():
        stripped = value.translate(_BRACKETS_AND_COMMAS)
        if stripped == print_scalar(stripped):
            return value
    return print_value(value)


def spelled(node: Node | None, key: str, value: Data) -> str:
    """Print the value of a key in a mapping, with the quotes of the old value where possible."""
    return spelled_like(node.entry(key) if isinstance(node, Mapping) else None, node, value)


def spelled_like(entry: Entry | None, node: Node | None, value: Data) -> str:
    """Print a value of a mapping with the quotes of an entry's value, where possible."""
    style = entry.value.style if entry and isinstance(entry.value, Scalar) else "plain"
    if isinstance(value, str) and style == "double":
        return quote(value)
    if isinstance(value, str) and style == "single" and printable(value) == value:
        return "'" + value.replace("'", "''") + "'"
    in_brackets = isinstance(node, Mapping) and node.flow
    if in_brackets:
        return print_value(value)
    return print_alone(value)


def _entry(key: str, value: Data) -> Iterator[str]:
    name = print_scalar(key)
    if isinstance(value, str) and _is_literal(value):
        yield f"{name}: |" if value.endswith("\n") else f"{name}: |-"
        yield from map(_indented, value.removesuffix("\n").split("\n"))
    elif _on_one_line(value) and not (isinstance(value, dict) and value and key in _BLOCKS):
        yield f"{name}: {print_alone(value)}"
    else:
        yield f"{name}:"
        yield from map(_indented, _block(value, columns=key == "columns"))


def _indented(line: str) -> str:
    return affixed(_INDENT, line)


def _block(value: Data, *, columns: bool) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _entry(key, part)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict) and (columns or not _on_one_line(item)):
                first, *rest = _block(item, columns=False)
                yield f"- {first}"
                yield from map(_indented, rest)
            else:
                yield f"- {print_alone(item)}"


def _on_one_line(value: Data) -> bool:
    if not isinstance(value, dict | list):
        return True
    members = value.values() if isinstance(value, dict) else value
    return (
        not any(isinstance(member, dict | list) for member in members) and len(print_value(value)) <= _WIDTH
    )


def _is_literal(text: str) -> bool:
    """Whether a multi-line text reads back unchanged from a literal block."""
    lines = text.removesuffix("\n").split("\n")
    return (
        "\n" in text
        and bool(lines[0] and lines[-1])
        and all(printable(line) == line.strip() == line for line in lines)
    )
