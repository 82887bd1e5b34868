"""Patterns of rules: a code, the beginning of one, a name, or ``ALL``."""

from __future__ import annotations

from collections.abc import Collection


def is_covered(pattern: str, patterns: Collection[str]) -> bool:
    """Return whether one of the patterns matches every rule that this one matches."""
    return any(other in ("ALL", pattern) or is_beginning(other, pattern) for other in patterns)


def is_beginning(shorter: str, pattern: str) -> bool:
    """Return whether a pattern is the beginning of a code; the name of a rule has no prefixes."""
    return bool(shorter) and shorter.isupper() and pattern.startswith(shorter)
