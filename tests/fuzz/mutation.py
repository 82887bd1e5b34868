"""Mutations of lines and words, taken from the seeds: most mutated bytes are no YAML or JSON any more."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_WORD: Final = re.compile(rb"[A-Za-z_][\w.]*|\d+|[^\w\s]+")
_MOST: Final = 4
"""Mutations of one input at a time."""


class Mutator:
    """Mutates inputs of a target.

    Args:
        seeds: The seeds, whose lines and words are exchanged.
        of_bytes: The fuzzer's own mutation, which does the other half.
    """

    def __init__(self, seeds: Iterable[bytes], of_bytes: Callable[[bytes, int], bytes]) -> None:
        self._of_bytes = of_bytes
        self._lines: list[bytes] = []
        self._words: list[bytes] = []
        for seed in seeds:
            self._lines += seed.split(b"\n")
            self._words += _WORD.findall(seed)
        self._lines = sorted(set(self._lines))
        self._words = sorted(set(self._words))

    def __call__(self, data: bytes, most: int, seed: int) -> bytes:
        """Return another input of at most ``most`` bytes."""
        random = Random(seed)  # noqa: S311 (the fuzzer's seed decides)
        if random.random() < 1 / 2:
            return self._of_bytes(data, most)
        for _ in range(random.randint(1, _MOST)):
            data = random.choice((self._with_line, self._with_word))(data, random)
        return data[:most]

    def _with_line(self, data: bytes, random: Random) -> bytes:
        lines = data.split(b"\n")
        place = random.randrange(len(lines))
        own = random.choice(lines)
        other = random.choice(self._lines)
        indented = b" " * (len(lines[place]) - len(lines[place].lstrip(b" "))) + other.lstrip(b" ")
        lines[place : place + random.randint(0, 1)] = random.choice(([], [own], [other], [indented]))
        return b"\n".join(lines)

    def _with_word(self, data: bytes, random: Random) -> bytes:
        words = list(_WORD.finditer(data))
        if not words:
            return data
        place, own = random.choice(words), random.choice(words)
        word = random.choice((own[0], random.choice(self._words), place[0] + b" " + own[0]))
        return data[: place.start()] + word + data[place.end() :]
