"""Inputs of several parts in one run of bytes, so that a fuzzer can also exchange the parts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADER: Final = re.compile(rb"^=== ([^\n]*)\n", re.MULTILINE)


def joined(parts: Mapping[str, bytes]) -> bytes:
    """Return named parts as one input: before each, a line with its name."""
    return b"\n".join(b"=== %b\n%b" % (name.encode(), content) for name, content in parts.items())


def split(data: bytes) -> dict[str, bytes]:
    """Return the parts of an input by name; bytes before the first name belong to no part."""
    _, *words = _HEADER.split(data)
    return {
        name.decode(errors="replace"): content.removesuffix(b"\n")
        for name, content in zip(words[::2], words[1::2], strict=True)
    }
