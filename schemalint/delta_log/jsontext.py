"""JSON of strangers, in bounded memory."""

from __future__ import annotations

from schemalint.delta.schema_json import load_json
from schemalint.delta_log import limits


class JsonError(ValueError):
    """A text is no JSON, or more of it than is read; the message goes on behind "the action".

    Attributes:
        is_limit: Whether it is more than is read.
    """

    def __init__(self, message: str, *, is_limit: bool = False) -> None:
        super().__init__(message)
        self.is_limit = is_limit


def read_json(text: str | bytes, most: int) -> object:
    """The value that a text stands for.

    Args:
        text: JSON.
        most: Its largest size, in bytes or characters.

    Raises:
        JsonError: It cannot be read.
    """
    require_bounded(text, most)
    try:
        return load_json(text)
    except RecursionError:
        raise JsonError("is nested too deeply") from None
    except ValueError as error:
        raise JsonError(f"is not JSON: {error}") from None


def require_bounded(text: str | bytes, most: int) -> None:
    """Refuse a text that would take too much memory.

    Raises:
        JsonError: It is too large, or holds too many values.
    """
    if len(text) > most:
        raise JsonError(f"is larger than {most >> 20} MiB", is_limit=True)
    if len(text) > limits.MAX_VALUES and _values(text) > limits.MAX_VALUES:
        raise JsonError(f"has more than {limits.MAX_VALUES} values", is_limit=True)


def _values(text: str | bytes) -> int:
    """How many values the text has at most: each begins a list or an object, or has a comma before it."""
    if isinstance(text, bytes):
        return text.count(b",") + text.count(b"[") + text.count(b"{")
    return text.count(",") + text.count("[") + text.count("{")
