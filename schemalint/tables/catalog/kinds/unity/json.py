"""Typed access to JSON from a server; each access checks the value's type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from schemalint.base.errors import LiveError
from schemalint.base.values import frozen


@frozen
class Json:
    """A JSON object; null counts as missing. Methods raise `LiveError` for a value of the wrong type.

    Attributes:
        value: The parsed object.
        where: The endpoint that returned it, for messages.
    """

    value: Mapping[str, object]
    where: str

    def text(self, key: str) -> str | None:
        """Return a string, or None."""
        value = self.value.get(key)
        return value if value is None or isinstance(value, str) else self._reject(key, "a string")

    def number(self, key: str) -> int | None:
        """Return an integer, or None."""
        value = self.value.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        return self._reject(key, "an integer")

    def object(self, key: str) -> Json:
        """Return an object; an empty one if it is missing."""
        value = self.value.get(key)
        if value is None:
            return Json({}, self.where)
        return Json(value, self.where) if isinstance(value, dict) else self._reject(key, "an object")

    def objects(self, key: str) -> tuple[Json, ...]:
        """Return a list of objects; an empty one if it is missing."""
        value = self.value.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self._reject(key, "a list of objects")
        return tuple(Json(item, self.where) for item in value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings; an empty one if it is missing."""
        value = self.value.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._reject(key, "a list of strings")
        return tuple(value)

    def text_by_key(self, key: str) -> dict[str, str]:
        """Return an object of strings, without null values."""
        value = self.object(key).value
        if not all(item is None or isinstance(item, str) for item in value.values()):
            self._reject(key, "an object of strings")
        return {name: item for name, item in value.items() if isinstance(item, str)}

    def _reject(self, key: str, expected: str) -> NoReturn:
        raise LiveError(f"{self.where}: {key} is not {expected}", help="Check catalog_uri.")
