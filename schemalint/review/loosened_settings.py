"""The settings that decide a check, and what the head's configuration may no longer find.

A change under review must not weaken its own gate. So the settings of the base and of the head both decide,
and each setting of the head that may find less than the base's is a `Loosening`. Where that depends on what a
rule does by default, the setting counts as a `Loosening`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from operator import ne
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from schemalint.base.values import replace
from schemalint.delta.engine import Engines
from schemalint.judge.rule_set import matches
from schemalint.model.contract import table_key
from schemalint.model.finding import Severity
from schemalint.project.config import Config, TableSettings, nested_settings
from schemalint.project.config.nested_settings import NAME, is_beginning, is_covered
from schemalint.project.git import DEFAULT_GLOBS
from schemalint.project.git.listing import including
from schemalint.review.lost_options import (
    Comparison,
    Loosening,
    LostOption,
    inside_each,
    loosened_engines,
    lost_options,
    values_of_each,
)
from schemalint.review.rulebook import load_rules

MOST_LOOSENINGS: Final = 50
"""The limit per setting: the head's configuration may be a stranger's."""


def deciding_between(base: Config, head: Config) -> tuple[Config, ...]:
    """Return the configurations that decide a change in CI: of the base, and of the head if it differs."""
    names = {name.partition(".")[0] for name, row in SETTINGS.items() if not isinstance(row, str)}
    same = all(getattr(base, name) == getattr(head, name) for name in names)
    return (base,) if same else (base, head)


def loosenings_of(base: Config, head: Config) -> tuple[Loosening, ...]:
    """Return what the head's configuration may no longer find, setting by setting."""
    loosenings: list[Loosening] = []
    for row in SETTINGS.values():
        of_setting = () if isinstance(row, str) else tuple(row(base, head))
        loosenings += of_setting[:MOST_LOOSENINGS]
        if more := of_setting[MOST_LOOSENINGS:]:
            loosenings.append(Loosening(more[0].key, None, f"{len(more)} more entries", more[0].path))
    return tuple(loosenings)


_Entries: TypeAlias = Callable[[Config], Iterable[str]]
_Covers: TypeAlias = Callable[[str, Collection[str]], bool]


def _is_listed(entry: str, entries: Collection[str]) -> bool:
    return entry in entries


def _added(
    key: str, entries: _Entries, covers: _Covers = _is_listed, *, path: tuple[str, ...] = ()
) -> Comparison:
    """Compare a list of which each entry allows something."""

    def compare(base: Config, head: Config) -> Iterator[Loosening]:
        at_base = tuple(entries(base))
        for entry in entries(head):
            if not covers(entry, at_base):
                yield Loosening(key, None, entry, path or (key,), entry)

    return compare


def _lost(key: str, entries: _Entries, covers: _Covers = _is_listed) -> Comparison:
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


def _format_entries(base: Config, head: Config) -> Iterator[Loosening]:
    """Yield each file that the head no longer reads as the base does, or reads in another format."""
    native = {PurePosixPath(glob).suffix for glob in (*including(base.contracts), *DEFAULT_GLOBS)}
    known = {entry.path for entry in base.format_entries}
    for entry in head.format_entries:
        if entry.path not in known and PurePosixPath(entry.path).suffix in native:
            yield Loosening("contracts", None, entry.path, ("contracts",), entry.path)
    kept = {entry.path: entry for entry in head.format_entries}
    for entry in base.format_entries:
        new = kept.get(entry.path)
        if new is None or new.format != entry.format:
            yield Loosening("contracts", entry.path, None, ("contracts",))
        elif lost := [glob for glob in entry.models if glob not in new.models]:
            yield Loosening("contracts.models", ", ".join(lost), None, ("contracts", "models"), entry.path)
        else:
            for key in ("variables", "using", "managed_by", "how"):
                before, after = _shown(getattr(entry, key)), _shown(getattr(new, key))
                if before != after:
                    yield Loosening(f"contracts.{key}", before, after, ("contracts",), entry.path)


def _shown(value: Mapping[str, str] | str | None) -> str | None:
    """Return the value of a key of an entry as text; None for none."""
    if not value:
        return None
    if isinstance(value, str):
        return value
    return ", ".join(f"{name} = {each}" for name, each in value.items())


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
    decisive = next((prefix for prefix in (*matching, "ALL") if prefix in severities), None)
    return None if decisive is None else severities[decisive]


def _fail_on(base: Config, head: Config) -> Iterator[Loosening]:
    never = max(Severity) + 1
    if (head.fail_on or never) > (base.fail_on or never):
        old, new = (_text(config.fail_on) or "never" for config in (base, head))
        yield Loosening("fail-on", old, new, ("fail-on",))


def _ignored_tables(base: Config, head: Config) -> Iterator[Loosening]:
    for entry in head.tables:
        at_base = [pattern for other in _covering(base, entry) for pattern in other.ignore]
        for pattern in entry.ignore:
            if not is_covered(pattern, at_base):
                yield _of_tables(entry, "ignore", None, pattern)


def _lost_of_tables(key: str) -> Comparison:
    """Compare a list of ``[[tables]]`` of which each entry demands something."""

    def compare(base: Config, head: Config) -> Iterator[Loosening]:
        for entry in base.tables:
            kept = {value for other in _covering(head, entry) for value in getattr(other, key)}
            for value in getattr(entry, key):
                if value not in kept:
                    yield _of_tables(entry, key, str(value), None)

    return compare


def _covering(config: Config, entry: TableSettings) -> list[TableSettings]:
    """Return the entries that hold for all tables of an entry."""
    return [other for other in config.tables if table_key(other.match) in ("*", table_key(entry.match))]


def _of_tables(entry: TableSettings, key: str, old: str | None, new: str | None) -> Loosening:
    return Loosening(f"tables.{entry.match}.{key}", old, new, ("tables", "match"), entry.match)


def _options(base: Config, head: Config) -> Iterator[Loosening]:
    for lost in _lost_options(base, head):
        if lost.match is None:
            path = ("options", lost.code, lost.name)
            yield Loosening(".".join(path), lost.old, lost.new, path)


def _options_of_tables(base: Config, head: Config) -> Iterator[Loosening]:
    for lost in _lost_options(base, head):
        if lost.match is not None:
            key = f"tables.{lost.match}.options.{lost.code}.{lost.name}"
            yield Loosening(key, lost.old, lost.new, ("tables", "match"), lost.match)


def _lost_options(base: Config, head: Config) -> Iterator[LostOption]:
    if not any(config.options or any(entry.options for entry in config.tables) for config in (base, head)):
        return iter(())
    return lost_options(base, head, load_rules())


def _of_each(
    section: str,
    key: str,
    is_looser: Callable[..., bool] = ne,
    *,
    shows_values: bool = True,
) -> Comparison:
    """Compare a key of each target, or of each consumer, that both sides have.

    Args:
        section: The field of `Config` that holds them by name.
        key: The field of each.
        is_looser: Compares the old with the new value; by default each difference counts.
        shows_values: Whether the values may be shown: some hold secrets, others are too long.
    """

    def compare(base: Config, head: Config) -> Iterator[Loosening]:
        for name, before, after in values_of_each(section, key, base, head):
            if is_looser(before, after):
                path = (section, name, key)
                texts = (_text(before), _text(after)) if shows_values else (None, None)
                yield Loosening(".".join(path), *texts, path)

    return compare


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
    of_folder = {"": frozenset(loosenings_in_folder(base, head))}
    for folder in sorted({*base.nested, *head.nested}, key=lambda folder: (folder.count("/"), folder)):
        place = f"{folder}/{NAME}"
        loosenings = tuple(loosenings_in_folder(base.at(place), head.at(place)))
        outer = next(
            of_folder[name] for name in (*map(str, PurePosixPath(folder).parents), "") if name in of_folder
        )
        of_folder[folder] = frozenset(loosenings)
        for loosening in loosenings:
            if loosening not in outer:
                yield replace(
                    loosening, key=f"{loosening.key} for {folder}/**", nested=head.nested.get(folder)
                )


def loosenings_in_folder(base: Config, head: Config) -> Iterator[Loosening]:
    """Yield what the settings of one folder may no longer find, of those that a nested file may have."""
    for name, row in SETTINGS.items():
        key = name.partition(".")[0].replace("_", "-")
        if key in nested_settings.KEYS and not isinstance(row, str):
            yield from islice(row(base, head), MOST_LOOSENINGS)


def _baseline(base: Config, head: Config) -> Iterator[Loosening]:
    if head.baseline not in (None, base.baseline):
        yield Loosening("baseline", base.baseline, head.baseline, ("baseline",))


SETTINGS: Final[Mapping[str, Comparison | str]] = {
    "accepted": _added("exceptions.accept", lambda config: config.accepted, path=("exceptions", "accept")),
    "against": "CI does not read it: the event determines the base",
    "approved_plans": _added("approved-plans", lambda config: sorted(config.approved_plans)),
    "baseline": _baseline,
    "clients": "the rows of the base count, and no others",
    "consumer_lines": "they are where the settings of consumers stand",
    "consumers": _lost("consumers", lambda config: config.consumers),
    "consumers.access": _of_each("consumers", "access"),
    "consumers.cdf": _of_each("consumers", "cdf"),
    "consumers.client": _of_each("consumers", "client"),
    "consumers.columns": _of_each("consumers", "columns", shows_values=False),
    "consumers.owner": "it decides nothing: findings name it",
    "consumers.read_path": _of_each("consumers", "read_path"),
    "consumers.stream": inside_each("consumers", "stream"),
    "consumers.version": _of_each("consumers", "version"),
    "contracts": _contracts,
    "cosmetic": "it delays statements and decides no verdict; plans obey the trusted configuration",
    "format_entries": _format_entries,
    "extend_select": _lost("extend-select", lambda config: config.extend_select, is_covered),
    "fail_on": _fail_on,
    "file": "the name of the file decides nothing",
    "folder": "it says where paths begin: `contracts` and `targets` are compared",
    "ignore": _added("ignore", lambda config: config.ignore, is_covered),
    "is_root": "another configuration is compared by its settings",
    "locked": _lost("locked", lambda config: config.locked, is_covered),
    "nested": _nested,
    "options": _options,
    "plugins": _lost("plugins", lambda config: config.plugins),
    "select": _select,
    "severity": _severity,
    "sources": "they are the texts that hold the settings",
    "spark": "it decides no verdict; sessions start with the trusted configuration",
    "tables.consumers": _lost_of_tables("consumers"),
    "tables.ignore": _ignored_tables,
    "tables.options": _options_of_tables,
    "tables.writers": _lost_of_tables("writers"),
    "targets": _lost("targets", lambda config: config.targets),
    "targets.allowed_locations": _of_each(
        "targets", "allowed_locations", lambda old, new: not {*new} <= {*old}, shows_values=False
    ),
    "targets.catalog": _of_each("targets", "catalog"),
    "targets.catalog_token": _of_each("targets", "catalog_token", shows_values=False),
    "targets.catalog_uri": _of_each("targets", "catalog_uri", shows_values=False),
    "targets.create": _of_each("targets", "create", lambda old, new: new and not old),
    "targets.engines": loosened_engines,
    "targets.root": _of_each("targets", "root", shows_values=False),
    "targets.single_writer": _of_each("targets", "single_writer", lambda old, new: new and not old),
    "targets.storage": inside_each("targets", "storage"),
    "targets.unmasked": _of_each("targets", "unmasked", lambda old, new: new and not old),
    "targets.variables": inside_each("targets", "variables"),
}
"""What each setting of the head loosens, by its name in `Config`; a text says why it loosens nothing.

Where only a rule, a table or a store knows which value is stricter, each difference counts.
"""
