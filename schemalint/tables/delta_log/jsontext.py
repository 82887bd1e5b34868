"""Parse untrusted JSON in bounded memory."""

from __future__ import annotations

from schemalint.delta.schema_json import load_json
from schemalint.tables.delta_log import log_limits


class JsonError(ValueError):
    """A text is not JSON, or exceeds a limit; the message is a predicate to follow "the action" or "it".

    Attributes:
        is_limit: Whether the text exceeds a limit.
    """

    def __init__(self, message: str, *, is_limit: bool = False) -> None:
        super().__init__(message)
        self.is_limit = is_limit


def read_json(text: str | bytes, max_size: int) -> object:
    """Parse a JSON text.

    Args:
        text: JSON.
        max_size: The largest accepted size, in bytes or characters.

    Raises:
        JsonError: The text cannot be parsed.
    """
    require_bounded(text, max_size)
    try:
        return load_json(text)
    except RecursionError:
        raise JsonError("is nested too deeply") from None
    except ValueError as error:
        raise JsonError(f"is not JSON: {error}") from None


def read_json_object(text: str | bytes, max_size: int) -> dict[str, object]:
    """Parse a JSON text that must be an object; see `read_json`."""
    value = read_json(text, max_size)
    if not isinstance(value, dict):
        raise JsonError("is not a JSON object")
    return value


def require_bounded(text: str | bytes, max_size: int) -> None:
    """Refuse a text that would take too much memory.

    Raises:
        JsonError: The text is too large, or holds too many values.
    """
    if len(text) > max_size:
        raise JsonError(f"is larger than {max_size >> 20} MiB", is_limit=True)
    if len(text) > log_limits.MAX_VALUES and _count_values(text) > log_limits.MAX_VALUES:
        raise JsonError(f"has more than {log_limits.MAX_VALUES} values", is_limit=True)


def _count_values(text: str | bytes) -> int:
    """Return an upper bound of the number of values: each follows a comma, ``[`` or ``{``."""
    if isinstance(text, bytes):
        return text.count(b",") + text.count(b"[") + text.count(b"{")
    return text.count(",") + text.count("[") + text.count("{")
