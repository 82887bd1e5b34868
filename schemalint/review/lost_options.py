"""What one configuration's options of rules find, and another one's may not.

An option has a value for all tables, and others for those that an entry of ``[[tables]]`` matches; the last
one that matches a table counts. So two values are compared where each can be what counts for the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from itertools import islice, product
from typing import Final, TypeAlias

from schemalint.base.values import frozen
from schemalint.model.contract import table_key
from schemalint.model.rule_option import Loss, OptionValue, text_of
from schemalint.plugin import Rule
from schemalint.project.config import Config

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
