"""The values that a line of JSON holds, and typed access to a JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from schemalint.base.errors import LiveError
from schemalint.base.values import frozen

if TYPE_CHECKING:
    import datetime as dt

    from schemalint.delta.table import LiveTable

FORMAT: Final = 1
"""The version of the format; it changes when the meaning of a key changes."""

T = TypeVar("T")

_KIND_NAMES: Final[dict[type, str]] = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


class TableJsonError(LiveError):
    """The JSON was not written by ``show --output-format json``."""


@frozen
class TableDocument:
    """A live table with the time of reading.

    Attributes:
        read_at: The time of reading, with a time zone.
        table: The table's name, if it was requested by name.
        target: The target in which the name was looked up.
        is_latest: Whether this is the latest version at that time, and not an older version.
    """

    live: LiveTable
    read_at: dt.datetime
    table: str | None = None
    target: str | None = None
    is_latest: bool = True

    @property
    def uri(self) -> str:
        """The table's URI."""
        return self.live.uri


@frozen
class TableFailure:
    """A table that could not be read; ``missing`` if the reason is that it does not exist."""

    uri: str
    message: str
    read_at: dt.datetime
    help: str = ""
    table: str | None = None
    target: str | None = None
    missing: bool = False


@frozen
class JsonObject:
    """A JSON object and its path in the line; a value of the wrong type raises `TableJsonError`."""

    content: Mapping[str, object]
    way: str = ""

    @classmethod
    def of(cls, value: object, path: str = "") -> JsonObject:
        """Return a value as an object."""
        return cls(_of_kind(value, dict, path or "a line"), path)

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
        return None if self.content.get(key) is None else self._item(key, kind)

    def inner(self, key: str) -> JsonObject:
        """Return an inner object."""
        return JsonObject(self._item(key, dict), self._at(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(_of_kind(item, str, path) for item, path in self.items(key))

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return a list of numbers."""
        return tuple(_of_kind(item, int, path) for item, path in self.items(key))

    def pairs(self, key: str) -> dict[str, str]:
        """Return an inner object whose values are texts."""
        inner = self.inner(key)
        return {name: inner.text(name) for name in inner.content}

    def items(self, key: str) -> Iterator[tuple[object, str]]:
        """Yield the items of a list with their paths."""
        for index, item in enumerate(self._item(key, list)):
            yield item, f"{self._at(key)}[{index}]"

    def bodies(self, key: str) -> Iterator[JsonObject]:
        """Yield the objects of a list."""
        yield from (JsonObject.of(item, path) for item, path in self.items(key))

    def wrong(self, key: str, expected: str) -> TableJsonError:
        """Return the error for an unexpected value."""
        return _wrong(self._at(key), expected)

    def _item(self, key: str, kind: type[T]) -> T:
        return _of_kind(self.content.get(key), kind, self._at(key))

    def _at(self, key: str) -> str:
        return f"{self.way}.{key}" if self.way else key


def _of_kind(value: object, kind: type[T], path: str) -> T:
    # isinstance alone accepts a bool as an int.
    if isinstance(value, kind) and type(value) is kind:
        return value
    raise _wrong(path, _KIND_NAMES[kind])


def _wrong(path: str, expected: str) -> TableJsonError:
    return TableJsonError(
        f"{path} must be {expected}", help="Write the file with `schemalint show --output-format json`."
    )
