"""Errors about invalid YAML text, with help for the fix."""

from __future__ import annotations

import re

import yaml

from schemalint.base.document.mistakes import UNEXPECTED_COLON, Marks, mistake
from schemalint.base.document.nodes import Span, location
from schemalint.base.document.scalars import quote
from schemalint.base.errors import ContractError

# A part of libyaml's problem or context message, and its help; the first match wins.
_HELP = (
    ("tab character", "indent with spaces"),
    ("cannot start any token", "quote a value that begins with this character"),
    ("alias", "quote a value that begins with an asterisk"),
    ("anchor", "quote a value that begins with an ampersand"),
    ("while scanning a tag", "quote a value that begins with an exclamation mark"),
    ("quoted scalar", "close the quote; inside double quotes, write a backslash twice"),
    (UNEXPECTED_COLON, "quote a value that contains a colon and a space, and check the indentation"),
    ("", "check the indentation, the quotes and the brackets around this position"),
)
_TYPE_WITH_BRACKETS = r"(?i)(?:array|map|struct)\s*<"
_KEY_AND_VALUE = (
    r"""[ ]*(?:-[ ]+)*("[^"]*"|'[^']*'|[^\s:#{}\[\]"'][^:]*):[ \t]+(?P<value>.*?)[ \t]*(?:[ \t]\#.*)?$"""
)
_REST_OF_FLOW_VALUE = r"[^,\[\]{}#\r\n]*"


def refusal(file: str, text: str, span: Span, message: str, help: str) -> ContractError:  # noqa: A002 - as in errors
    """Return an error located at a span of the text."""
    return ContractError(message, help=help, location=location(file, text, span))


def syntax_error(error: yaml.YAMLError, file: str, text: str) -> ContractError:
    """Convert a PyYAML error, with its location and help for mistakes that are typical in contracts."""
    context, problem = getattr(error, "context", None), getattr(error, "problem", None)
    message = ", ".join(filter(None, (context, problem))) or str(error)
    span = _error_span(error, text)
    if known_mistake := mistake(text, _marks(error, text), message):
        return refusal(file, text, *known_mistake)
    unquoted = _unquoted_value(text, span.start, message)
    if unquoted:
        return unquoted_value(file, text, unquoted)
    if text[span.start : span.end] == "\t":
        return refusal(file, text, span, "a tab where YAML allows only spaces", "indent with spaces")
    help_text = next(help_text for part, help_text in _HELP if part in message)
    return refusal(file, text, span, f"not valid YAML: {message}", help_text)


def unquoted_value(file: str, text: str, span: Span) -> ContractError:
    """Return the error for an unquoted value that YAML splits; the help shows it quoted."""
    value = text[span.start : span.end]
    kind = "type" if re.match(_TYPE_WITH_BRACKETS, value) or value.startswith("decimal") else "value"
    message = f"YAML splits this {kind} because it is not quoted: {value}"
    return refusal(file, text, span, message, f"quote it: {_key_before(text, span.start)}{quote(value)}")


def value_cut_short(text: str, span: Span) -> Span | None:
    """Return the intended whole value if a comma inside brackets cut the plain value at ``span``.

    In a flow collection, YAML reads ``type: decimal(12,2)`` as the value ``decimal(12`` and a key ``2)``.
    """
    opening, closing = _brackets(text, span.start)
    value = text[span.start : span.end]
    if sum(map(value.count, opening)) <= sum(map(value.count, closing)):
        return None
    return _through_closing(text, span.start, span.end)


def _through_closing(text: str, start: int, at_least: int) -> Span | None:
    """Return the value from ``start`` to where its brackets close, at ``at_least`` or later."""
    opening, closing = _brackets(text, start)
    depth = 0
    for offset in range(start, _line(text, start).end):
        depth += (text[offset] in opening) - (text[offset] in closing)
        if depth == 0 and offset >= at_least and text[offset] in closing:
            return _through(text, start, offset + 1)
    return None


def _brackets(text: str, start: int) -> tuple[str, str]:
    if re.compile(_TYPE_WITH_BRACKETS).match(text, start):
        return ("(<", ")>")
    return ("(", ")")


def _through(text: str, start: int, end: int) -> Span:
    rest = re.compile(_REST_OF_FLOW_VALUE).match(text, end)
    return Span(start, end + len(rest.group().rstrip()) if rest else end)


def _marks(error: yaml.YAMLError, text: str) -> Marks:
    problem, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    return Marks(problem.index if problem else len(text), context.index if context else None)


def _error_span(error: yaml.YAMLError, text: str) -> Span:
    marks = (getattr(error, "problem_mark", None), getattr(error, "context_mark", None))
    offsets = [mark.index for mark in marks if mark is not None]
    # libyaml reports an unclosed quote or bracket at the end of the file; the fix belongs at its opening.
    before_end = [offset for offset in offsets if offset < len(text)]
    start = next(iter(before_end or offsets), 0)
    return Span(start, min(start + 1, len(text)))


def _unquoted_value(text: str, offset: int, message: str) -> Span | None:
    line = _line(text, offset)
    match = re.match(_KEY_AND_VALUE, text[line.start : line.end])
    if match is None or UNEXPECTED_COLON not in message:
        return None
    value = Span(line.start + match.start("value"), line.start + match.end("value"))
    if value.start <= offset < value.end:
        return value
    return None


def _key_before(text: str, offset: int) -> str:
    line = _line(text, offset)
    match = re.search(r"[\w.]+[ \t]*:[ \t]+$", text[line.start : offset])
    return match.group() if match else ""


def _line(text: str, offset: int) -> Span:
    start = max(text.rfind(end, 0, offset) for end in "\r\n") + 1
    ends = [end for end in (text.find(character, offset) for character in "\r\n") if end >= 0]
    return Span(start, min(ends, default=len(text)))
