"""The settings that decide a check, and what the head's configuration may no longer find.

A change under review must not weaken its own gate. So the settings of the base and of the head both decide,
and each setting of the head that may find less than the base's is a `Loosening`. Where that depends on what a
rule does by default, the setting counts as one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from schemalint.base.values import frozen, replace
from schemalint.delta.engine import Engines
from schemalint.model.contract import table_key
from schemalint.model.finding import Severity
from schemalint.project.config import Config, Nested
from schemalint.project.config.nested import NAME, is_beginning, is_covered
from schemalint.project.git import DEFAULT_GLOBS
from schemalint.project.git.listing import including

MOST_LOOSENINGS: Final = 50
"""The limit per setting: the head's configuration may be a stranger's."""


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
    nested: Nested | None = None


def deciding_between(base: Config, head: Config) -> tuple[Config, ...]:
    """Return the configurations that decide a change in CI: of the base, and of the head if it differs."""
    same = all(getattr(base, name) == getattr(head, name) for name in COMPARED)
    return (base,) if same else (base, head)


def loosenings_of(base: Config, head: Config) -> tuple[Loosening, ...]:
    """Return what the head's configuration may no longer find, setting by setting."""
    found: list[Loosening] = []
    for compare in COMPARED.values():
        of_setting = tuple(compare(base, head))
        found += of_setting[:MOST_LOOSENINGS]
        if more := of_setting[MOST_LOOSENINGS:]:
            found.append(Loosening(more[0].key, None, f"{len(more)} more entries", more[0].path))
    return tuple(found)


_Comparison: TypeAlias = Callable[[Config, Config], Iterator[Loosening]]
_Entries: TypeAlias = Callable[[Config], Iterable[str]]
_Covers: TypeAlias = Callable[[str, Collection[str]], bool]


def _is_listed(entry: str, entries: Collection[str]) -> bool:
    return entry in entries


def _added(
    key: str, entries: _Entries, covers: _Covers = _is_listed, *, path: tuple[str, ...] = ()
) -> _Comparison:
    """Compare a list of which each entry allows something."""

    def compare(base: Config, head: Config) -> Iterator[Loosening]:
        known = tuple(entries(base))
        for entry in entries(head):
            if not covers(entry, known):
                yield Loosening(key, None, entry, path or (key,), entry)

    return compare


def _lost(key: str, entries: _Entries, covers: _Covers = _is_listed) -> _Comparison:
    """Compare a list of which each entry demands something."""

    def compare(base: Config, head: Config) -> Iterator[Loosening]:
        kept = tuple(entries(head))
        for entry in entries(base):
            if not covers(entry, kept):
                yield Loosening(key, entry, None, (key,))

    return compare


def _contracts(base: Config, head: Config) -> Iterator[Loosening]:
    if head.folder and not PurePosixPath(base.folder or "").is_relative_to(head.folder):
        yield Loosening("contracts", None, f"{head.folder}/**", ("contracts",))
    included = including(head.contracts)
    if included and not including(base.contracts):
        yield Loosening("contracts", None, ", ".join(included), ("contracts",))
    for glob in including(base.contracts):
        is_default = not included and PurePosixPath(glob).suffix in _DEFAULT_SUFFIXES
        if glob not in included and not is_default:
            yield Loosening("contracts", glob, None, ("contracts",))
    yield from _added("contracts", lambda config: [glob for glob in config.contracts if glob[:1] == "!"])(
        base, head
    )


def _declarations(base: Config, head: Config) -> Iterator[Loosening]:
    """Yield each file of another tool that the head no longer reads as the base does."""
    kept = {entry.path: entry for entry in head.declarations}
    for entry in base.declarations:
        new = kept.get(entry.path)
        if new is None or new.format != entry.format:
            yield Loosening("contracts", entry.path, None, ("contracts",))
        elif lost := [glob for glob in entry.models if glob not in new.models]:
            yield Loosening("contracts.models", ", ".join(lost), None, ("contracts", "models"), entry.path)


_DEFAULT_SUFFIXES: Final = {PurePosixPath(glob).suffix for glob in DEFAULT_GLOBS}


def _select(base: Config, head: Config) -> Iterator[Loosening]:
    if head.select is None:
        if base.select is not None and _selects_more(base, head):
            yield Loosening("select", ", ".join(base.select), None, ("select",))
        return
    if base.select is None and "ALL" not in head.select:
        yield Loosening("select", None, ", ".join(head.select), ("select",))
    yield from _lost("select", lambda config: config.select or (), is_covered)(base, head)


def _selects_more(base: Config, head: Config) -> bool:
    """Whether `select` may have rules that are off by default; those of rule files are unknown here."""
    from schemalint.lint.rulebook import load_rules, matches  # noqa: PLC0415 (only where `select` goes)

    if not {*base.plugins}.isdisjoint(head.plugins):
        return True
    return any(not rule.default and matches(rule, base.select or ()) for rule in load_rules())


def _severity(base: Config, head: Config) -> Iterator[Loosening]:
    """Compare the severity of every pattern; without a setting it is the rule's own, and unknown here."""
    for pattern in sorted({*base.severity, *head.severity}):
        old, new = (_severity_of(pattern, config.severity) for config in (base, head))
        if old == new or new is Severity.ERROR or old is Severity.INFO:
            continue
        if old is None or new is None or new < old:
            yield Loosening(f"severity.{pattern}", _text(old), _text(new), ("severity", pattern))


def _severity_of(pattern: str, severities: Mapping[str, Severity]) -> Severity | None:
    prefixes = (pattern[:length] for length in range(len(pattern), 0, -1))
    matching = (prefix for prefix in prefixes if prefix == pattern or is_beginning(prefix, pattern))
    found = next((prefix for prefix in (*matching, "ALL") if prefix in severities), None)
    return None if found is None else severities[found]


def _fail_on(base: Config, head: Config) -> Iterator[Loosening]:
    never = max(Severity) + 1
    if (head.fail_on or never) > (base.fail_on or never):
        old, new = (_text(config.fail_on) or "never" for config in (base, head))
        yield Loosening("fail-on", old, new, ("fail-on",))


def _tables(base: Config, head: Config) -> Iterator[Loosening]:
    for entry in head.tables:
        matching = (other for other in base.tables if table_key(other.match) in ("*", table_key(entry.match)))
        known = [pattern for other in matching for pattern in other.ignore]
        for pattern in entry.ignore:
            if not is_covered(pattern, known):
                yield Loosening(
                    f"tables.{entry.match}.ignore", None, pattern, ("tables", "match"), entry.match
                )

    for entry in base.tables:
        keeping = [other for other in head.tables if table_key(other.match) in ("*", table_key(entry.match))]
        kept = {name for other in keeping for name in other.consumers}
        for name in entry.consumers:
            if name not in kept:
                yield Loosening(
                    f"tables.{entry.match}.consumers", name, None, ("tables", "match"), entry.match
                )
        writing = {engine for other in keeping for engine in other.writers}
        for engine in entry.writers:
            if engine not in writing:
                yield Loosening(
                    f"tables.{entry.match}.writers", str(engine), None, ("tables", "match"), entry.match
                )


def _consumers(base: Config, head: Config) -> Iterator[Loosening]:
    """Yield every difference but that of owners: which value is stricter depends on the table."""
    for name, old in base.consumers.items():
        new = head.consumers.get(name)
        if new is None:
            yield Loosening("consumers", name, None, ("consumers",))
            continue
        for key in CONSUMER_COMPARED:
            before, after = getattr(old, key), getattr(new, key)
            if before != after:
                path = ("consumers", name, key)
                texts = (None, None) if key in ("columns", "stream") else (_text(before), _text(after))
                yield Loosening(".".join(path), *texts, path)


CONSUMER_COMPARED: Final = ("client", "version", "read_path", "access", "columns", "cdf", "stream")
"""The settings of a consumer that decide what is found, by their names in `Consumer`."""


def _options(base: Config, head: Config) -> Iterator[Loosening]:
    """Yield every difference: only the rule knows which value is stricter."""
    for code in sorted({*base.options, *head.options}):
        old, new = base.options.get(code, {}), head.options.get(code, {})
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name):
                path = ("options", code, name)
                yield Loosening(".".join(path), _text(old.get(name)), _text(new.get(name)), path)


def _targets(base: Config, head: Config) -> Iterator[Loosening]:
    for name, old in base.targets.items():
        new = head.targets.get(name)
        if new is None:
            yield Loosening("targets", name, None, ("targets",))
            continue
        for key, is_looser in TARGET_COMPARED.items():
            before, after = getattr(old, key), getattr(new, key)
            if is_looser(before, after):
                path = ("targets", name, "engine" if key == "engines" else key)
                texts = (None, None) if key in _ADDRESSES else (_text(before), _text(after))
                yield Loosening(".".join(path), *texts, path)


def _differs(old: object, new: object) -> bool:
    return old != new


TARGET_COMPARED: Final[Mapping[str, Callable[..., bool]]] = {
    "root": _differs,
    "catalog": _differs,
    "catalog_uri": _differs,
    "catalog_token": _differs,
    "allowed_locations": lambda old, new: not set(new) <= set(old),
    "create": lambda old, new: new and not old,
    "engines": lambda old, new: old.apply_with != new.apply_with or not set(old.writers) <= set(new.writers),
    "single_writer": lambda old, new: new and not old,
    "storage": _differs,
}
"""Whether a target's setting is looser, by its name in `Target`. Where tables are has no order, so that each
difference counts."""

# Not shown: they may hold secrets.
_ADDRESSES: Final = frozenset({"root", "catalog_uri", "catalog_token", "allowed_locations", "storage"})


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case Severity():
            return value.label
        case Engines(all=engines):
            return ", ".join(map(str, engines)) or None
        case bool():
            return str(value).lower()
        case _:
            return str(value)


def _nested(base: Config, head: Config) -> Iterator[Loosening]:
    """Compare the settings of each folder with a nested file; what is looser around it is not repeated."""
    known = {"": frozenset(loosenings_in_folder(base, head))}
    for folder in sorted({*base.nested, *head.nested}, key=lambda folder: (folder.count("/"), folder)):
        place = f"{folder}/{NAME}"
        found = tuple(loosenings_in_folder(base.at(place), head.at(place)))
        outer = next(known[name] for name in (*map(str, PurePosixPath(folder).parents), "") if name in known)
        known[folder] = frozenset(found)
        for loosening in found:
            if loosening not in outer:
                yield replace(
                    loosening, key=f"{loosening.key} for {folder}/**", nested=head.nested.get(folder)
                )


def loosenings_in_folder(base: Config, head: Config) -> Iterator[Loosening]:
    """Yield what the settings of one folder may no longer find, of those that a nested file may have."""
    for name in NESTED_COMPARED:
        yield from islice(COMPARED[name](base, head), MOST_LOOSENINGS)


NESTED_COMPARED: Final = ("select", "extend_select", "ignore", "severity", "tables", "consumers")
"""The settings that a nested file may have, by their names in `Config`."""


def _baseline(base: Config, head: Config) -> Iterator[Loosening]:
    if head.baseline not in (None, base.baseline):
        yield Loosening("baseline", base.baseline, head.baseline, ("baseline",))


COMPARED: Final[Mapping[str, _Comparison]] = {
    "baseline": _baseline,
    "locked": _lost("locked", lambda config: config.locked, is_covered),
    "nested": _nested,
    "contracts": _contracts,
    "declarations": _declarations,
    "select": _select,
    "extend_select": _lost("extend-select", lambda config: config.extend_select, is_covered),
    "ignore": _added("ignore", lambda config: config.ignore, is_covered),
    "severity": _severity,
    "fail_on": _fail_on,
    "approved_plans": _added("approved-plans", lambda config: sorted(config.approved_plans)),
    "tables": _tables,
    "consumers": _consumers,
    "options": _options,
    "accepted": _added("exceptions.accept", lambda config: config.accepted, path=("exceptions", "accept")),
    "plugins": _lost("plugins", lambda config: config.plugins),
    "targets": _targets,
}
"""The comparison of each setting, by its name in `Config`."""

NOT_COMPARED: Final[Mapping[str, str]] = {
    "file": "the name of the file decides nothing",
    "folder": "it says where paths begin: `contracts` and `targets` are compared",
    "is_root": "another configuration is compared by its settings",
    "against": "CI does not read it: the event determines the base",
    "clients": "the rows of the base count, and no others",
    "sources": "they are the texts that hold the settings",
    "consumer_lines": "they are where the settings of consumers stand",
    "spark": "it decides no verdict; sessions start with the trusted configuration",
    "cosmetic": "it delays statements and decides no verdict; plans obey the trusted configuration",
}
"""The settings that loosen nothing, with the reason."""
