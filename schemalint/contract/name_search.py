"""Find the files that may declare a table by the bytes of its name, without parsing them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WORD: Final = re.compile("[0-9A-Za-z_]+")
# Escapes in double quotes that can stand for a letter, or join the lines of a word.
_HIDING_ESCAPE: Final = re.compile(rb"\\[xuU\r\n]")
FOLDED_TO_ASCII: Final = "ßİŉ\u017fǰẖẗẘẙẚẞ\u212aﬀﬁﬂﬃﬄﬅﬆ"
"""The other letters whose case-folded form has a character of a word."""
_FOLDED_TO_ASCII: Final = re.compile("|".join(FOLDED_TO_ASCII).encode())
_MOST_WORDS: Final = 8
"""Up to so many words it is cheaper to look for them in a file than for the names of its tables."""


def words_of_names(names: Iterable[str]) -> set[bytes] | None:
    """Return words, one of which is in every file that declares one of the tables; None if there are many."""
    words: set[bytes] = set()
    for name in names:
        longest = max(_WORD.findall(name.rpartition(".")[2]), key=len, default=None)
        if longest is None or len(words) == _MOST_WORDS:
            return None
        words.add(longest.encode())
    return words


def may_hold_name(data: bytes, words: set[bytes] | None) -> bool:
    """Return whether a file may declare a table whose name has one of the words."""
    if words is None or hides_words(data) or (not data.isascii() and _FOLDED_TO_ASCII.search(data)):
        return True
    text = data.lower().replace(b"`", b"")
    return any(word in text for word in words)


def hides_words(data: bytes) -> bool:
    """Return whether a file may have a word that is spelled with escapes."""
    return b"\\" in data and _HIDING_ESCAPE.search(data) is not None
