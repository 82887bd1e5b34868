"""Two contracts for one table, or for one place: over all files, most of which need not be parsed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from schemalint import contract as contracts
from schemalint.git import File
from schemalint.model.contract import Contract, table_key
from schemalint.model.fact import DuplicateTable
from schemalint.printable import visible

_KEY = re.compile(rb"^(?:\xef\xbb\xbf)?(?:--- )?[\"']?schemalint[\"']?\s*:", re.MULTILINE)
_TABLE = re.compile(rb"[ \t]+([`\w.]+)[ \t]*(?:#[^\r\n]*)?\r?(?:\n|\Z)")


def duplicates(files: Mapping[str, File], changed: set[str]) -> Iterator[DuplicateTable]:
    """What is declared twice, where a changed file takes part in it."""
    names = {path: _names(file) for path, file in files.items()}
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in sorted(files):
        for name in names[path]:
            by_name[name].append(path)
    for paths in by_name.values():
        if len(paths) > 1 and not changed.isdisjoint(paths):
            yield from _same(_parsed(files, paths), lambda one: one.key, "table")
    yield from _same(_with_location(files, changed), _location, "location")


def _names(file: File) -> list[str]:
    """The tables of a file: by a look at its bytes where it is written plainly, else by reading it."""
    _before, *lines = (b"\n" + file.data).split(b"\ntable:")
    tables = [found[1].decode() for line in lines if (found := _TABLE.match(line))]
    if len(tables) == _keys(file.data):
        return [table_key(name) for name in tables]
    return [one.key for one in contracts.read(file.path, file.data).contracts]


def _keys(data: bytes) -> int:
    # Most of a large check is this look at every file, and every contract has the key once.
    return 1 if data.count(b"schemalint") == 1 else len(_KEY.findall(data))


def _with_location(files: Mapping[str, File], changed: set[str]) -> list[Contract]:
    """The contracts that may share a place with a changed one, as far as their bytes tell."""
    looked_at = changed & files.keys()
    ends = {_location(one).rpartition("/")[2].encode() for one in _parsed(files, sorted(looked_at))}
    paths = [
        path
        for path in sorted(files)
        if path in looked_at
        or (b"location" in files[path].data and any(end in files[path].data for end in ends))
    ]
    found = _parsed(files, paths)
    declared = {_location(one) for one in found if one.location}
    return [one for one in found if _location(one) in declared]


def _location(contract: Contract) -> str:
    """The declared place, or the one that a table has by itself; below which root, only a target knows."""
    place = contract.location or contract.table.replace("`", "").replace(".", "/")
    start = "/" if place.startswith("/") else ""
    return start + "/".join(part for part in place.split("/") if part not in ("", "."))


def _parsed(files: Mapping[str, File], paths: list[str]) -> list[Contract]:
    unique = list(dict.fromkeys(paths))
    return [one for path in unique for one in contracts.read(visible(path), files[path].data).contracts]


def _same(found: list[Contract], key: Callable[[Contract], str], what: str) -> Iterator[DuplicateTable]:
    first: dict[str, Contract] = {}
    for one in found:
        value = key(one)
        other = first.setdefault(value, one)
        if other is not one:
            yield DuplicateTable(one, contracts.locate(other, ("table",)), what, value)
