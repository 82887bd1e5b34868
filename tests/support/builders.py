"""A builder of Spark sessions that starts none."""

from __future__ import annotations

from collections.abc import Callable


class Builder(dict[str, str]):
    """Collects its settings, and returns itself in place of a session."""

    def __getattr__(self, name: str) -> Callable[[str], Builder]:
        return lambda value: Builder({**self, name: value})

    def config(self, key: str, value: str) -> Builder:
        """Note a setting."""
        return Builder({**self, key: value})

    def getOrCreate(self) -> Builder:  # noqa: N802 (pyspark's)
        """Return the settings."""
        return self
