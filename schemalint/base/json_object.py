"""Typed access to JSON that others wrote: a value of another type is an error that names its path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from schemalint.base.values import field, frozen, replace

T = TypeVar("T")

MISSING: Final = object()
"""The value of a key that an object lacks."""

Refuse: TypeAlias = Callable[[str, str, object], Exception]
"""Returns the error for the path of a value, empty for the whole text, what it must be, and the value."""

_KIND_NAMES: Final[dict[type, str]] = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


@frozen
class JsonObject:
    """A JSON object; its methods raise what `refuse` returns.

    Attributes:
        content: The keys and values.
        refuse: Makes the error for a value of another type.
        path: The path of the object in the text; empty for the outermost one.
        is_sparse: Whether a list or an object that is missing or null counts as empty.
    """

    content: Mapping[str, Any]
    refuse: Refuse = field(compare=False, repr=False)
    path: str = ""
    is_sparse: bool = False

    @classmethod
    def of(cls, value: object, refuse: Refuse, path: str = "", *, is_sparse: bool = False) -> JsonObject:
        """Return a value that must be an object."""
        if not isinstance(value, dict):
            raise refuse(path, _KIND_NAMES[dict], value)
        return cls(value, refuse, path, is_sparse)

    def __contains__(self, key: str) -> bool:
        """Whether the object has a key."""
        return key in self.content

    def text(self, key: str) -> str:
        """Return a text."""
        return self._item(key, str)

    def number(self, key: str) -> int:
        """Return a whole number."""
        return self._item(key, int)

    def flag(self, key: str) -> bool:
        """Return a boolean."""
        return self._item(key, bool)

    def optional(self, key: str, kind: type[T]) -> T | None:
        """Return a value of that type, None for null and for a missing key."""
        if self.content.get(key) is None:
            return None
        return self._item(key, kind)

    def nullable(self, key: str, kind: type[T]) -> T | None:
        """Return a value of that type, None for null; the key must be there."""
        if self.content.get(key, MISSING) is None:
            return None
        return self._item(key, kind)

    def inner(self, key: str) -> JsonObject:
        """Return an inner object."""
        return replace(self, content=self._item(key, dict), path=self.at(key))

    def pairs(self, key: str) -> dict[str, str]:
        """Return an inner object whose values are texts."""
        inner = self.inner(key)
        names = [name for name, value in inner.content.items() if not (self.is_sparse and value is None)]
        return {name: inner.text(name) for name in names}

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(self.require(item, str, path) for item, path in self.items(key))

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return a list of whole numbers."""
        return tuple(self.require(item, int, path) for item, path in self.items(key))

    def objects(self, key: str) -> tuple[JsonObject, ...]:
        """Return a list of objects."""
        return tuple(
            replace(self, content=self.require(item, dict, path), path=path) for item, path in self.items(key)
        )

    def items(self, key: str) -> Iterator[tuple[object, str]]:
        """Yield the items of a list with their paths."""
        for index, item in enumerate(self._item(key, list)):
            yield item, f"{self.at(key)}[{index}]"

    def wrong(self, key: str, expected: str) -> Exception:
        """Return the error for the value of a key, which must be something else."""
        return self.refuse(self.at(key), expected, self.content.get(key, MISSING))

    def require(self, value: object, kind: type[T], path: str) -> T:
        """Return a value that must be of a type; `isinstance` alone accepts a bool as an int."""
        if isinstance(value, kind) and type(value) is kind:
            return value
        raise self.refuse(path, _KIND_NAMES[kind], value)

    def _item(self, key: str, kind: type[T]) -> T:
        value = self.content.get(key, MISSING)
        if self.is_sparse and kind in (list, dict) and value in (None, MISSING):
            return kind()
        return self.require(value, kind, self.at(key))

    def at(self, key: str) -> str:
        """Return the path of a key."""
        return f"{self.path}.{key}" if self.path else key
