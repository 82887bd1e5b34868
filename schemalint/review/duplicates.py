"""Find contracts that declare the same table or the same location, without parsing most files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from posixpath import normpath
from typing import Final
from urllib.parse import unquote

from schemalint import contract as contracts
from schemalint.base.printable import visible
from schemalint.contract.name_search import FOLDED_TO_ASCII, hides_words, may_hold_name, words_of_names
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Environment, effective
from schemalint.model.fact import DuplicateTable
from schemalint.project.config import Target
from schemalint.project.git import Contents, File

_MOST_BYTES: Final = 10_000
"""The most bytes of names and locations that git looks for: they are arguments, whose size systems limit."""


def duplicates(
    contents: Contents,
    changed: set[str],
    targets: Mapping[str, Target],
    repository: Path,
    locations: Mapping[tuple[str | None, str], str],
) -> Iterator[tuple[DuplicateTable, bool]]:
    """Yield the tables and locations that are declared twice, if a changed file declares one of them.

    The contract that declared it at the base comes first: then the other one is reported.

    Args:
        contents: The files of both sides.
        changed: The paths of the changed files.
        targets: The configured targets.
        repository: The folder that relative roots start from.
        locations: Where live tables were found, by target and table key.

    Returns:
        Each fact, and whether the base has it too.
    """
    present = sorted(changed & contents.head.keys())
    if not present:
        return
    catalogs = {table_key(target.catalog) for target in targets.values() if target.catalog}

    def name(key: str) -> str:
        return _without_catalog(key, catalogs)

    by_name: dict[str, list[str]] = defaultdict(list)
    for path in present:
        for contract in _parsed(contents.head, [path]):
            by_name[name(contract.key)].append(path)
    words = words_of_names(by_name)
    of_changed = _parsed(contents.head, present)
    ends = {_last_part(location) for contract in of_changed for location in _locations(contract)}
    ends.update(map(_last_part, locations.values()))
    contents = contents.with_unchanged(_texts(words, ends))
    files = contents.head
    for path in files.keys() - changed:
        if may_hold_name(files[path].data, words):
            for key in contracts.table_keys(files[path]):
                if name(key) in by_name:
                    by_name[name(key)].append(path)
    for key in sorted(by_name):
        if len(by_name[key]) > 1:
            shared = _parsed(files, sorted(by_name[key]))
            yield from _same(
                shared, lambda contract: [(name(contract.key), contract.extends)], contents, _as_table
            )
    is_located = bool(locations) or any(any(_declared(contract)) for contract in of_changed)
    sharing = _sharing_location(files, present, ends, is_located=is_located)
    if sharing:
        from schemalint.tables.catalog.table_location import LocationKeys  # noqa: PLC0415 (only where locations may clash)

        yield from _same(sharing, LocationKeys(targets, repository, locations).of, contents, _as_location)


def _without_catalog(key: str, catalogs: Collection[str]) -> str:
    first, _, rest = key.partition(".")
    return rest if first in catalogs and "." in rest else key


def _texts(words: set[bytes] | None, ends: set[bytes]) -> set[str] | None:
    """Return texts, one of which is in each file that may declare a table or location of a changed contract.

    These are the words and ends, and whatever can stand for a part of them: letters that are folded,
    back-quotes in names, percent signs in URIs, escapes. None if any file may declare one, or if
    they are too long.
    """
    if words is None or not all(end.decode().isprintable() and end for end in ends):
        return None
    if sum(map(len, words | ends)) > _MOST_BYTES:
        return None
    texts = {text.decode() for text in words | ends}
    characters = set(b"".join(words).decode().lower())
    folded = {letter for letter in FOLDED_TO_ASCII if not characters.isdisjoint(letter.casefold())}
    return {*texts, *folded, "`", "%", "\\"}


def _sharing_location(
    files: Mapping[str, File], present: Collection[str], ends: set[bytes], *, is_located: bool
) -> list[Contract]:
    """Return the contracts that may share a location with a changed one, preselected by their bytes."""
    paths = [path for path in sorted(files) if path in present or _may_share(files[path], ends, is_located)]
    sharing = [contract for contract in _parsed(files, paths) if contract.extends is None]
    is_located = is_located or any(any(_declared(contract)) for contract in sharing)
    return sharing if is_located and len(sharing) > 1 else []


def _may_share(file: File, ends: set[bytes], is_located: bool) -> bool:  # noqa: FBT001
    """Return whether a file may declare one of these folders; a ``file:`` URI may spell them otherwise."""
    if hides_words(file.data):
        return True
    if not (is_located or b"location" in file.data):
        return False
    return any(end in file.data for end in ends) or b"%" in file.data


def _declared(contract: Contract) -> Iterator[str | None]:
    yield contract.location
    yield from (overlay.location for overlay in contract.targets.values())


def _locations(contract: Contract) -> Iterator[str]:
    """Yield the declared locations, and the default one."""
    yield contract.default_location
    yield from (location for location in _declared(contract) if location)


def _last_part(location: str) -> bytes:
    """Return the name of the folder as most files write it."""
    path = normpath(unquote(location) if location.lower().startswith("file:") else location)
    return path.rpartition("/")[2].encode()


def _parsed(files: Mapping[str, File], paths: list[str]) -> list[Contract]:
    unique = list(dict.fromkeys(paths))
    results = (contracts.read_file(files[path]) for path in unique)
    return [contract for result in results for contract in result.contracts]


def _same(
    namesakes: list[Contract],
    keys_of: Callable[[Contract], Iterable[Hashable]],
    contents: Contents,
    describe: Callable[[Contract, Hashable], tuple[str, str]],
) -> Iterator[tuple[DuplicateTable, bool]]:
    """Yield each contract that shares a key with an earlier one; those that the base has come first."""
    claims: list[tuple[bool, Contract, Hashable]] = []
    at_base = _at_base(namesakes, contents)
    for contract in namesakes:
        # A contract of the base stands for one of the head: a copy beside it is new.
        bases = at_base.get((contract.file, contract.key)) or at_base.get((None, contract.key))
        keys_at_base = set(keys_of(bases.pop(0))) if bases else set()
        claims += [(key in keys_at_base, contract, key) for key in keys_of(contract)]
    first: dict[Hashable, tuple[bool, Contract]] = {}
    reported: set[tuple[int, int]] = set()
    for is_known, contract, key in sorted(claims, key=lambda claim: not claim[0]):
        other_is_known, other = first.setdefault(key, (is_known, contract))
        if other is not contract and (id(other), id(contract)) not in reported:
            reported.add((id(other), id(contract)))
            location = other.locate(("table",))
            yield DuplicateTable(contract, location, *describe(contract, key)), is_known and other_is_known


def _at_base(
    namesakes: list[Contract], contents: Contents
) -> Mapping[tuple[str | None, str], list[Contract]]:
    """Return the contracts of the base, by file and table key; without a file if that is gone."""
    files = {contract.file for contract in namesakes}
    gone = {visible(path) for path in contents.base.keys() - contents.head.keys()}
    paths = [path for path in sorted(contents.base) if visible(path) in files | gone]
    by_key: dict[tuple[str | None, str], list[Contract]] = defaultdict(list)
    for contract in _parsed(contents.base, paths):
        by_key[(None if contract.file in gone else contract.file, contract.key)].append(contract)
    return by_key


def _as_table(contract: Contract, _key: Hashable) -> tuple[str, str]:
    return "table", contract.key


def _as_location(contract: Contract, location_key: Hashable) -> tuple[str, str]:
    from schemalint.tables.catalog.table_location import declared_location  # noqa: PLC0415

    target = location_key[0] if isinstance(location_key, tuple) else None
    return "location", declared_location(effective(contract, Environment(target)))
