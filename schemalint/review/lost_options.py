"""What one configuration's options of rules find, and another one's may not.

An option has a value for all tables, and others for those that an entry of ``[[tables]]`` matches; the last
one that matches a table counts. So two values are compared where each can be what counts for the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from itertools import islice, product
from typing import Any, Final, TypeAlias

from schemalint.base.values import as_dict, frozen
from schemalint.delta.engine import Engines
from schemalint.model.consumer import Stream
from schemalint.model.contract import table_key
from schemalint.model.option_value import OptionValue, text_of
from schemalint.model.rule_option import Loss
from schemalint.plugin import Rule
from schemalint.project.config import Config, NestedSettings
from schemalint.project.config.toml_text import Positions

MOST: Final = 1_000
"""What is named of one option: a stranger's configuration can have a thousand values for some tables."""

_WILDCARDS: Final = "*?["


@frozen
class LostOption:
    """A value of an option that may find less than another one.

    Attributes:
        match: The glob of the entry of ``[[tables]]``; None for the value of all tables.
        code: The rule's code.
        name: The option's name.
        old: What only the old value demands; None if the new one lets something more pass.
        new: What the new value has in its place; None if it has nothing.
    """

    match: str | None
    code: str
    name: str
    old: str | None
    new: str | None


def lost_options(base: Config, head: Config, rules: Iterable[Rule]) -> Iterator[LostOption]:
    """Yield what the options of the head may no longer find, each once.

    Args:
        base: The configuration that is compared with.
        head: The one that may find less.
        rules: The rules that are known; of an option of another one, each difference counts.
    """
    declared = {rule.code: {each.name: each for each in rule.declared_options} for rule in rules}
    names = {
        (code, name)
        for config in (base, head)
        for options in (config.options, *(entry.options for entry in config.tables))
        for code, values in options.items()
        for name in values
    }
    for code, name in sorted(names):
        option = declared.get(code, {}).get(name)
        losses = _any_difference if option is None else option.losses
        found = _lost(losses, _values(base, code, name), _values(head, code, name))
        for match, (old, new) in dict.fromkeys(islice(found, MOST)):
            yield LostOption(match, code, name, old, new)


def _any_difference(old: OptionValue | None, new: OptionValue | None) -> Iterator[Loss]:
    if old != new:
        yield text_of(old), text_of(new)


_Losses: TypeAlias = Callable[[OptionValue | None, OptionValue | None], Iterator[Loss]]


@frozen
class _Value:
    """A value of an option, and the tables that it is for: all without a glob."""

    match: str | None
    written: OptionValue | None

    @property
    def glob(self) -> str:
        return "*" if self.match is None else table_key(self.match)

    @property
    def identity(self) -> tuple[str, str]:
        return self.glob, repr(self.written)


def _values(config: Config, code: str, name: str) -> Sequence[_Value]:
    """Return the values of an option in their order, without those that a later one replaces everywhere."""
    written: list[tuple[str | None, Mapping[str, Mapping[str, OptionValue]]]] = [(None, config.options)]
    written += [
        (entry.match, entry.options) for entry in config.tables if name in entry.options.get(code, {})
    ]
    values: dict[str, _Value] = {}
    for match, options in written:
        value = _Value(match, options.get(code, {}).get(name))
        if value.glob == "*":
            values.clear()
        values.pop(value.glob, None)
        values[value.glob] = value
    return tuple(values.values())


def _lost(
    losses: _Losses, before: Sequence[_Value], after: Sequence[_Value]
) -> Iterator[tuple[str | None, Loss]]:
    blocks = SequenceMatcher(
        None, [each.identity for each in before], [each.identity for each in after], autojunk=False
    ).get_matching_blocks()
    # The place of each value that stays, in the other sequence.
    new_place = {block.a + step: block.b + step for block in blocks for step in range(block.size)}
    old_place = {new: old for old, new in new_place.items()}
    old_rules = [_last_for_all(value.glob, after) for value in before]
    new_rules = [_last_for_all(value.glob, before) for value in after]
    known: dict[tuple[str, str], tuple[Loss, ...]] = {}
    for (old_at, old), (new_at, new) in product(enumerate(before), enumerate(after)):
        if old_at in new_place and (new_at in old_place or new_at < new_place[old_at]):
            continue
        if new_at in old_place and old_at < old_place[new_at]:
            continue
        # Another value counts for all tables of one of them.
        if new_rules[new_at] > old_at or old_rules[old_at] > new_at or not may_overlap(old.glob, new.glob):
            continue
        values = repr(old.written), repr(new.written)
        if values not in known:
            known[values] = tuple(losses(old.written, new.written))
        match = old.match if new.match is None or new_at in old_place else new.match
        for loss in known[values]:
            yield match, loss


def _last_for_all(glob: str, values: Sequence[_Value]) -> int:
    """Return the place of the last value that is for all tables of a glob; -1 if none is."""
    places = (
        place
        for place in range(len(values) - 1, -1, -1)
        if values[place].glob == glob or (_is_plain(glob) and fnmatchcase(glob, values[place].glob))
    )
    return next(places, -1)


def may_overlap(one: str, other: str) -> bool:
    """Whether a table may match both globs: False only if none can."""
    if _is_plain(one) or _is_plain(other):
        name, glob = (one, other) if _is_plain(one) else (other, one)
        return fnmatchcase(name, glob)
    starts = [_literal(glob) for glob in (one, other)]
    ends = [_literal(glob[::-1].replace("]", "[")) for glob in (one, other)]
    return all(
        left.startswith(right) or right.startswith(left) for left, right in (tuple(starts), tuple(ends))
    )


def _is_plain(glob: str) -> bool:
    return not any(wildcard in glob for wildcard in _WILDCARDS)


def _literal(glob: str) -> str:
    """Return what a glob begins with, up to its first wildcard."""
    end = min((glob.find(wildcard) for wildcard in _WILDCARDS if wildcard in glob), default=len(glob))
    return glob[:end]


Comparison: TypeAlias = Callable[[Config, Config], Iterator["Loosening"]]
"""Compares a setting of base and head."""


@frozen
class Loosening:
    """A setting of the head that may find less than that of the base.

    Attributes:
        key: The setting as users write it: ``severity.TW001``, ``targets.prod.create``.
        old: The value at the base, or the entry that the head lacks; None if the base sets nothing.
        new: The value in the head, or the entry that the base lacks; None if the head sets nothing.
        path: The keys that lead to the setting in the file.
        entry: A text in the setting's value that tells which line it is.
        nested: The nested file of the head that decides instead of the configuration, if one does.
    """

    key: str
    old: str | None
    new: str | None
    path: tuple[str, ...]
    entry: str = ""
    nested: NestedSettings | None = None


def inside_each(section: str, key: str) -> Comparison:
    """Compare a table of keys of each target, or of each consumer, key by key; values are not shown."""

    def compare(base: Config, head: Config) -> Iterator[Loosening]:
        for name, *values in values_of_each(section, key, base, head):
            before, after = map(_keys_inside, values)
            for inner in dict.fromkeys((*before, *after)):
                if before.get(inner) != after.get(inner):
                    path = (section, name, key, inner)
                    yield Loosening(".".join(path), None, None, path)

    return compare


def values_of_each(section: str, key: str, base: Config, head: Config) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each target, or of each consumer, that both have, and its values of a key."""
    of_head = getattr(head, section)
    for name, old in getattr(base, section).items():
        if name in of_head:
            yield name, getattr(old, key), getattr(of_head[name], key)


def _keys_inside(value: Mapping[str, object] | Stream | None) -> Mapping[str, object]:
    if isinstance(value, Stream):
        return as_dict(value)
    return value or {}


def loosened_engines(base: Config, head: Config) -> Iterator[Loosening]:
    """Compare who runs the statements, and which other writers are no longer judged, in each target."""
    for name, target in base.targets.items():
        if name not in head.targets:
            continue
        old, new = target.engines, head.targets[name].engines
        if old.apply_with != new.apply_with or not {*old.writers} <= {*new.writers}:
            path = ("targets", name, _engine_key(name, {*old.writers} != {*new.writers}, head, base))
            yield Loosening(".".join(path), _names(old), _names(new), path)


def _names(engines: Engines) -> str | None:
    return ", ".join(map(str, engines.all)) or None


def _engine_key(target: str, has_other_writers: bool, *configs: Config) -> str:  # noqa: FBT001 (the name says it)
    """Return which of the three keys for engines a target has, and has another value for."""
    keys = ("writers", "apply_with") if has_other_writers else ("apply_with", "writers")
    for config in configs:
        for file, text in config.sources:
            for key in ("engine", *keys):
                if Positions(file, text).has(("targets", target, key)):
                    return key
    return "engine"
