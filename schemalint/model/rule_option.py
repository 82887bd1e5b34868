"""The options of rules: what their values may be, and which of two values finds less.

A rule declares each of its options as an `Option`. The value that users write is read once, when the rules of
a run are chosen; a rule gets what `Kind.read` returns. Where a change edits an option, CF001 names its
`losses`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from schemalint.base.pattern import Pattern
from schemalint.base.values import frozen
from schemalint.model.option_value import (
    Instead,
    OptionError,
    OptionValue,
    WantedType,
    listed_texts,
    name_pattern,
    require_bounded,
    require_few,
    text_of,
    wanted_type,
)

__all__ = [
    "Advice",
    "AnyOf",
    "Demanded",
    "Exactly",
    "Exempt",
    "Instead",
    "Kind",
    "Loss",
    "Most",
    "OneType",
    "Option",
    "OptionError",
    "OptionValue",
    "Patterns",
    "Plain",
    "Regex",
    "Switch",
    "Table",
    "WantedType",
    "Words",
    "defaulted",
    "name_pattern",
    "optional",
    "wanted_type",
]

T = TypeVar("T")

Patterns: TypeAlias = tuple[Pattern, ...]
"""The value of `Exempt`."""

Loss: TypeAlias = tuple[str | None, str | None]
"""What the old value demands, and what the new one has in its place; None where either has nothing."""


class Kind(Protocol[T]):
    """A kind of values."""

    def read(self, written: OptionValue) -> T:
        """Return the value that a rule gets.

        Raises:
            OptionError: The option cannot have it.
        """

    def losses(self, old: T, new: T) -> Iterator[Loss]:
        """Yield what the old value finds and the new one may not."""


@frozen
class Option(Generic[T]):
    """An option of a rule.

    Attributes:
        name: Its name in ``[options.CODE]``.
        about: What it says, as a clause for the list of rules.
        kind: What its values may be.
        default: The value where nobody writes one. None if there is none: a rule with such options is silent
            until one of them has a value.
    """

    name: str
    about: str
    kind: Kind[Any]
    default: OptionValue | None = None

    def value(self, written: OptionValue | None) -> T:
        """Return the value that a rule gets for a written one, or for none.

        Raises:
            OptionError: The option cannot have it.
        """
        written = self.default if written is None else written
        value: T = None if written is None else self.kind.read(written)  # type: ignore[assignment]
        return value

    def losses(self, old: OptionValue | None, new: OptionValue | None) -> Iterator[Loss]:
        """Yield what is found with the old written value and maybe not with the new one."""
        if old == new:
            return
        try:
            before: Any = self.value(old)
            after: Any = self.value(new)
        except OptionError:  # of the base, or of a head that ends the run anyway
            yield text_of(old), text_of(new)
            return
        if before is None:
            return
        if after is None:
            yield text_of(old), None
            return
        yield from self.kind.losses(before, after)


def optional(name: str, about: str, kind: Kind[T]) -> Option[T | None]:
    """Return an option without a default."""
    return Option(name, about, kind)


def defaulted(name: str, about: str, kind: Kind[T], default: OptionValue) -> Option[T]:
    """Return an option with a default."""
    return Option(name, about, kind, default)


@frozen
class Plain:
    """A value of one type of TOML, of which nobody knows which one is stricter: each difference counts."""

    type: type

    def read(self, written: OptionValue) -> OptionValue:
        """Return the value as it is."""
        if type(written) is not self.type:
            raise OptionError(f"of type {self.type.__name__}")
        return written

    def losses(self, old: OptionValue, new: OptionValue) -> Iterator[Loss]:
        """Yield the difference."""
        if old != new:
            yield text_of(old), text_of(new)


class Switch:
    """``true`` or ``false``; true finds more."""

    def read(self, written: OptionValue) -> bool:
        """Return the value as it is."""
        if not isinstance(written, bool):
            raise OptionError("true or false", "write true or false, without quotes")
        return written

    def losses(self, old: bool, new: bool) -> Iterator[Loss]:  # noqa: FBT001 (of a kind that all have)
        """Yield that it is switched off."""
        if old and not new:
            yield "true", "false"


@frozen
class Words:
    """One of some words, of which each finds more than the one before it."""

    words: tuple[str, ...]

    def read(self, written: OptionValue) -> str:
        """Return the word."""
        if written not in self.words:
            quoted = [f'"{word}"' for word in self.words]
            raise OptionError(" or ".join((", ".join(quoted[:-1]), quoted[-1])), entry=str(written))
        return str(written)

    def losses(self, old: str, new: str) -> Iterator[Loss]:
        """Yield a word that finds less."""
        if self.words.index(new) < self.words.index(old):
            yield old, new


class Most:
    """The highest number that is no finding."""

    def read(self, written: OptionValue) -> int:
        """Return the number."""
        if type(written) is not int or written < 1:
            raise OptionError("a whole number from 1", "write it without quotes")
        return written

    def losses(self, old: int, new: int) -> Iterator[Loss]:
        """Yield a higher number."""
        if new > old:
            yield str(old), str(new)


class Regex:
    """A pattern that names must match: which of two matches more is unknown."""

    def read(self, written: OptionValue) -> Pattern:
        """Return the pattern."""
        return name_pattern(written)

    def losses(self, old: Pattern, new: Pattern) -> Iterator[Loss]:
        """Yield another pattern."""
        if old != new:
            yield str(old), str(new)


class Exempt:
    """A list of patterns of names that are no finding."""

    def read(self, written: OptionValue) -> tuple[Pattern, ...]:
        """Return the patterns."""
        patterns = tuple(map(name_pattern, listed_texts(written, "a list of patterns")))
        require_bounded(patterns)
        for pattern in patterns:
            if pattern.text.endswith("_*"):
                raise OptionError(
                    "a list of regular expressions, not of globs",
                    f'write "{pattern.text[:-1]}.*" for all names that begin so',
                    pattern.text,
                )
        return patterns

    def losses(self, old: tuple[Pattern, ...], new: tuple[Pattern, ...]) -> Iterator[Loss]:
        """Yield each additional pattern."""
        for pattern in new:
            if pattern not in old:
                yield None, str(pattern)


@frozen
class Demanded:
    """A list of texts of which each finds something.

    Attributes:
        words: The texts that there are; empty for any.
    """

    words: tuple[str, ...] = ()

    def read(self, written: OptionValue) -> tuple[str, ...]:
        """Return the texts."""
        texts = listed_texts(written, "a list of texts")
        for text in texts:
            if self.words and text not in self.words:
                raise OptionError(f"a list of {' and '.join(self.words)}", entry=text)
        return texts

    def losses(self, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Loss]:
        """Yield each text that is missing."""
        for text in old:
            if text not in new:
                yield text, None


@frozen
class AnyOf:
    """A type, or a list of types, of which each is no finding.

    Attributes:
        none: The word for no type at all; empty if there must be one.
    """

    none: str = ""

    def read(self, written: OptionValue) -> tuple[WantedType, ...]:
        """Return the types."""
        if self.none and written == self.none:
            return ()
        expected = f'"{self.none}", or a list of types' if self.none else "a list of types"
        return tuple(map(wanted_type, listed_texts(written, expected)))

    def losses(self, old: tuple[WantedType, ...], new: tuple[WantedType, ...]) -> Iterator[Loss]:
        """Yield each additional type."""
        keys = {each.key for each in old}
        for each in new:
            if each.key not in keys:
                yield None, each.text


class OneType:
    """A type that a column must have; an empty text for any."""

    def read(self, written: OptionValue) -> WantedType | None:
        """Return the type; None for any."""
        if not isinstance(written, str):
            raise OptionError("a type in quotes", entry=str(written))
        return wanted_type(written) if written else None

    def losses(self, old: WantedType | None, new: WantedType | None) -> Iterator[Loss]:
        """Yield another type, or any."""
        if old is not None and (new is None or new.key != old.key):
            yield old.text, new.text if new else "any type"


class Advice:
    """What to use instead: a type, or a text for people."""

    def read(self, written: OptionValue) -> Instead:
        """Return the text, with the type that it names."""
        if not isinstance(written, str):
            raise OptionError("a text in quotes", entry=str(written))
        try:
            return Instead(written, wanted_type(written))
        except OptionError:
            return Instead(written, None)

    def losses(self, old: Instead, new: Instead) -> Iterator[Loss]:
        """Yield another type: it is no finding any more."""
        if new.type is not None and (old.type is None or old.type.key != new.type.key):
            yield old.text, new.text


class Exactly:
    """A text that a property must have."""

    def read(self, written: OptionValue) -> str:
        """Return the text."""
        if not isinstance(written, str):
            raise OptionError("a text in quotes", entry=str(written))
        return written

    def losses(self, old: str, new: str) -> Iterator[Loss]:
        """Yield another text."""
        if old != new:
            yield old, new


K = TypeVar("K")


@frozen
class Table(Generic[K, T]):
    """A table, each of whose keys finds something.

    Attributes:
        key: Reads a key.
        value: What the values may be.
        holds: What it holds, for messages: ``types``.
    """

    key: Callable[[str], K]
    value: Kind[T]
    holds: str

    def read(self, written: OptionValue) -> tuple[tuple[K, T], ...]:
        """Return the keys with their values, in their order."""
        if not isinstance(written, dict):
            raise OptionError(f"a table of {self.holds}", "write {… = …}")
        require_few(written)
        entries: list[tuple[K, T]] = []
        for name, value in written.items():
            try:
                entries.append((self.key(name), self.value.read(value)))
            except OptionError as error:
                error.entry = error.entry or name
                raise
        require_bounded(part for entry in entries for part in entry if isinstance(part, Pattern))
        seen: set[object] = set()
        for name, (key, _value) in zip(written, entries, strict=True):
            if _identity(key) in seen:
                raise OptionError(f"a table of different {self.holds}", f"{name} is there already", name)
            seen.add(_identity(key))
        return tuple(entries)

    def losses(self, old: tuple[tuple[K, T], ...], new: tuple[tuple[K, T], ...]) -> Iterator[Loss]:
        """Yield each key that is missing, and each whose value finds less."""
        kept = {_identity(key): value for key, value in new}
        for key, value in old:
            name = _text_of_key(key)
            if _identity(key) not in kept:
                yield name, None
                continue
            for before, after in self.value.losses(value, kept[_identity(key)]):
                yield (
                    None if before is None else f"{name} = {before}",
                    None if after is None else f"{name} = {after}",
                )


def _identity(key: object) -> object:
    return key.key if isinstance(key, WantedType) else key


def _text_of_key(key: object) -> str:
    return key.text if isinstance(key, WantedType | Pattern) else str(key)
