"""Typed access to JSON that others may have written: a value of another type is a `ValueError`."""

from __future__ import annotations

from typing import NoReturn


class Content(dict[str, object]):
    """A JSON object; a key that it lacks is a `ValueError`."""

    def __missing__(self, key: str) -> NoReturn:
        """Refuse a key that is missing."""
        raise ValueError(f"{key} is missing")


def object_of(value: object) -> Content:
    """Return a value that must be an object."""
    return Content(value) if isinstance(value, dict) else _refuse(value, "an object")


def list_of(value: object) -> list[object]:
    """Return a value that must be a list."""
    return value if isinstance(value, list) else _refuse(value, "a list")


def text_of(value: object) -> str:
    """Return a value that must be text."""
    return value if isinstance(value, str) else _refuse(value, "text")


def number_of(value: object) -> int:
    """Return a value that must be a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else _refuse(value, "a number")


def flag_of(value: object) -> bool:
    """Return a value that must be true or false."""
    return value if isinstance(value, bool) else _refuse(value, "true or false")


def optional_text_of(value: object) -> str | None:
    """Return a value that must be text or null."""
    return None if value is None else text_of(value)


def _refuse(value: object, expected: str) -> NoReturn:
    raise ValueError(f"expected {expected}, not a {type(value).__name__}")
