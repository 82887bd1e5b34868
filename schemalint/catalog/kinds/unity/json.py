"""JSON of strangers: each value is looked at before it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from schemalint.errors import LiveError
from schemalint.values import frozen


@frozen
class Json:
    """An object; null is what is not there. Each method raises `LiveError` for a value of another kind."""

    value: Mapping[str, object]
    where: str

    def text(self, key: str) -> str | None:
        """A string."""
        found = self.value.get(key)
        return found if found is None or isinstance(found, str) else self._wrong(key, "a text")

    def number(self, key: str) -> int | None:
        """An integer."""
        found = self.value.get(key)
        if found is None or (isinstance(found, int) and not isinstance(found, bool)):
            return found
        return self._wrong(key, "an integer")

    def object(self, key: str) -> Json:
        """An object, empty if it is not there."""
        found = self.value.get(key)
        if found is None:
            return Json({}, self.where)
        return Json(found, self.where) if isinstance(found, dict) else self._wrong(key, "an object")

    def objects(self, key: str) -> tuple[Json, ...]:
        """A list of objects."""
        found = self.value.get(key)
        if found is None:
            return ()
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            self._wrong(key, "a list of objects")
        return tuple(Json(one, self.where) for one in found)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        found = self.value.get(key)
        if found is None:
            return ()
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            self._wrong(key, "a list of texts")
        return tuple(found)

    def text_by_key(self, key: str) -> dict[str, str]:
        """An object of strings, without those that are null."""
        found = self.object(key).value
        if not all(one is None or isinstance(one, str) for one in found.values()):
            self._wrong(key, "an object of texts")
        return {name: one for name, one in found.items() if isinstance(one, str)}

    def _wrong(self, key: str, expected: str) -> NoReturn:
        raise LiveError(f"{self.where}: {key} is not {expected}", help="Is this the catalog's address?")
