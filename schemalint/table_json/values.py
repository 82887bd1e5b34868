"""What a line of the JSON stands for, and how its values are taken out one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from schemalint.errors import LiveError
from schemalint.values import frozen

if TYPE_CHECKING:
    import datetime as dt

    from schemalint.delta.table import LiveTable

FORMAT: Final = 1
"""The version of the format: another meaning of a key is another version."""

T = TypeVar("T")

_WORDS: Final[dict[type, str]] = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


class TableJsonError(LiveError):
    """This is not what ``show --output-format json`` writes."""


@frozen
class TableDocument:
    """A table as it was when it was read.

    Attributes:
        read_at: With a time zone.
        table: Its name, if it was asked for by name.
        target: The environment in which the name was looked up.
        is_latest: Whether it is what the table was then; an older version says nothing of that.
    """

    live: LiveTable
    read_at: dt.datetime
    table: str | None = None
    target: str | None = None
    is_latest: bool = True

    @property
    def uri(self) -> str:
        """Where it lies."""
        return self.live.uri


@frozen
class TableFailure:
    """A table that could not be read; ``missing`` if that is because there is none."""

    uri: str
    message: str
    read_at: dt.datetime
    help: str = ""
    table: str | None = None
    target: str | None = None
    missing: bool = False


@frozen
class JsonObject:
    """A JSON object, and the way to it; every method raises `TableJsonError` for a value of another kind."""

    content: Mapping[str, object]
    way: str = ""

    @classmethod
    def of(cls, value: object, way: str = "") -> JsonObject:
        """Any value as an object."""
        return cls(_of_kind(value, dict, way or "a line"), way)

    def text(self, key: str) -> str:
        """Text."""
        return self._item(key, str)

    def number(self, key: str) -> int:
        """A whole number."""
        return self._item(key, int)

    def flag(self, key: str) -> bool:
        """A boolean."""
        return self._item(key, bool)

    def optional(self, key: str, kind: type[T]) -> T | None:
        """A value of that kind, None for null and for a key that is not there."""
        return None if self.content.get(key) is None else self._item(key, kind)

    def inner(self, key: str) -> JsonObject:
        """An object."""
        return JsonObject(self._item(key, dict), self._at(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(_of_kind(item, str, way) for item, way in self.items(key))

    def pairs(self, key: str) -> dict[str, str]:
        """An object of texts."""
        inside = self.inner(key)
        return {name: inside.text(name) for name in inside.content}

    def items(self, key: str) -> Iterator[tuple[object, str]]:
        """The items of a list, each with the way to it."""
        for index, item in enumerate(self._item(key, list)):
            yield item, f"{self._at(key)}[{index}]"

    def bodies(self, key: str) -> Iterator[JsonObject]:
        """A list of objects."""
        yield from (JsonObject.of(item, way) for item, way in self.items(key))

    def wrong(self, key: str, expected: str) -> TableJsonError:
        """The error for a value that is not as expected."""
        return _wrong(self._at(key), expected)

    def _item(self, key: str, kind: type[T]) -> T:
        return _of_kind(self.content.get(key), kind, self._at(key))

    def _at(self, key: str) -> str:
        return f"{self.way}.{key}" if self.way else key


def _of_kind(value: object, kind: type[T], way: str) -> T:
    # A bool is an int to isinstance.
    if isinstance(value, kind) and type(value) is kind:
        return value
    raise _wrong(way, _WORDS[kind])


def _wrong(way: str, expected: str) -> TableJsonError:
    return TableJsonError(
        f"{way} must be {expected}", help="Write the file with `schemalint show --output-format json`."
    )
