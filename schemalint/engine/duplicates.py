"""Two contracts for one table, or for one place: over all files, most of which need not be parsed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from schemalint import contract as contracts
from schemalint.git import File, printable_path
from schemalint.model.fact import DuplicateTable
from schemalint.model.table import Contract, table_key

_KEY = re.compile(rb"^(?:\xef\xbb\xbf)?(?:--- )?[\"']?schemalint[\"']?\s*:", re.MULTILINE)
_TABLE = re.compile(rb"^table:[ \t]+([`\w.]+)[ \t]*(?:#[^\r\n]*)?\r?$", re.MULTILINE)


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
    tables = _TABLE.findall(file.data)
    if len(tables) == len(_KEY.findall(file.data)):
        return [table_key(name.decode()) for name in tables]
    return [one.key for one in contracts.read(file.path, file.data).contracts]


def _with_location(files: Mapping[str, File], changed: set[str]) -> list[Contract]:
    """The contracts that share a changed contract's declared location, as far as their bytes tell."""
    locations = {
        one.location.encode() for one in _parsed(files, sorted(changed & files.keys())) if one.location
    }
    paths = [
        path
        for path in sorted(files)
        if b"location" in files[path].data and any(text in files[path].data for text in locations)
    ]
    return [one for one in _parsed(files, paths) if one.location]


def _location(contract: Contract) -> str:
    return (contract.location or "").rstrip("/")


def _parsed(files: Mapping[str, File], paths: list[str]) -> list[Contract]:
    unique = list(dict.fromkeys(paths))
    return [
        one for path in unique for one in contracts.read(printable_path(path), files[path].data).contracts
    ]


def _same(found: list[Contract], key: Callable[[Contract], str], what: str) -> Iterator[DuplicateTable]:
    first: dict[str, Contract] = {}
    for one in found:
        value = key(one)
        other = first.setdefault(value, one)
        if other is not one:
            yield DuplicateTable(one, contracts.locate(other, ("table",)), what, value)
