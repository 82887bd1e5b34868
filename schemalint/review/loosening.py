"""A setting that finds less, and two comparisons that name a key inside of a target or a consumer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from schemalint.base.values import as_dict, frozen
from schemalint.delta.engine import Engines
from schemalint.model.consumer import Stream
from schemalint.project.config import Config, NestedSettings
from schemalint.project.config.toml_text import Positions

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
        of_head = getattr(head, section)
        for name, old in getattr(base, section).items():
            if (new := of_head.get(name)) is None:
                continue
            before, after = _keys_inside(getattr(old, key)), _keys_inside(getattr(new, key))
            for inner in dict.fromkeys((*before, *after)):
                if before.get(inner) != after.get(inner):
                    path = (section, name, key, inner)
                    yield Loosening(".".join(path), None, None, path)

    return compare


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
