"""Find contracts that declare the same table or the same location, without parsing most files."""

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
    """Yield the tables and locations that are declared twice, if a changed file declares one of them."""
    names = {path: _names(file) for path, file in files.items()}
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in sorted(files):
        for name in names[path]:
            by_name[name].append(path)
    for paths in by_name.values():
        if len(paths) > 1 and not changed.isdisjoint(paths):
            yield from _same(_parsed(files, paths), lambda contract: contract.key, "table")
    yield from _same(_sharing_location(files, changed), _location, "location")


def _names(file: File) -> list[str]:
    """Return the table keys of a file: from its bytes if the tables are written plainly, else by parsing."""
    _before, *lines = (b"\n" + file.data).split(b"\ntable:")
    tables = [found[1].decode() for line in lines if (found := _TABLE.match(line))]
    if len(tables) == _keys(file.data):
        return [table_key(name) for name in tables]
    return [contract.key for contract in contracts.read(file.path, file.data).contracts]


def _keys(data: bytes) -> int:
    # This test dominates the time of a large check; a plain file has the key once.
    return 1 if data.count(b"schemalint") == 1 else len(_KEY.findall(data))


def _sharing_location(files: Mapping[str, File], changed: set[str]) -> list[Contract]:
    """Return the contracts that may share a location with a changed one, preselected by their bytes."""
    present = changed & files.keys()
    ends = {_location(contract).rpartition("/")[2].encode() for contract in _parsed(files, sorted(present))}
    paths = [
        path
        for path in sorted(files)
        if path in present
        or (b"location" in files[path].data and any(end in files[path].data for end in ends))
    ]
    found = _parsed(files, paths)
    declared = {_location(contract) for contract in found if contract.location}
    return [contract for contract in found if _location(contract) in declared]


def _location(contract: Contract) -> str:
    """Return the declared location, or the default one relative to the root of any target."""
    location = contract.location or contract.table.replace("`", "").replace(".", "/")
    start = "/" if location.startswith("/") else ""
    return start + "/".join(part for part in location.split("/") if part not in ("", "."))


def _parsed(files: Mapping[str, File], paths: list[str]) -> list[Contract]:
    unique = list(dict.fromkeys(paths))
    results = (contracts.read(visible(path), files[path].data) for path in unique)
    return [contract for result in results for contract in result.contracts]


def _same(found: list[Contract], key: Callable[[Contract], str], what: str) -> Iterator[DuplicateTable]:
    first: dict[str, Contract] = {}
    for contract in found:
        value = key(contract)
        other = first.setdefault(value, contract)
        if other is not contract:
            yield DuplicateTable(contract, contracts.locate(other, ("table",)), what, value)
