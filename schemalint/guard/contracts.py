"""The contracts of a job: a file of ``schemalint export --format guard``, or what is in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock
from typing import Final, TypeAlias

from schemalint.base import limits
from schemalint.base.untrusted_files import read_given
from schemalint.guard.session import NotSeen, Session
from schemalint.model.packed_contracts import PackedContract, PackedContracts, unpack

Contracts: TypeAlias = str | os.PathLike[str] | bytes | Mapping[str, object] | PackedContracts
"""The path of a file, its content as bytes or as JSON, or contracts that were read already."""

_IN_FULL: Final = 2
"""Dots in a name with its catalog."""

_kept: dict[str, tuple[tuple[int, int], PackedContracts]] = {}
_lock: Final = Lock()


def contracts_of(contracts: Contracts) -> PackedContracts:
    """Return the contracts that a job was given; a file is read again once it changed.

    Raises:
        NotSeen: They cannot be read.
    """
    try:
        if isinstance(contracts, PackedContracts):
            return contracts
        if isinstance(contracts, (bytes, Mapping)):
            return unpack(contracts)
        return _of_file(os.fspath(contracts))
    except OSError as error:
        raise NotSeen(f"the contracts cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise NotSeen(f"the contracts cannot be read: {str(error)[:200]}") from None


def _of_file(path: str) -> PackedContracts:
    status = os.stat(path)  # noqa: PTH116 (a path as the caller spells it)
    stamp = (status.st_mtime_ns, status.st_size)
    with _lock:
        known = _kept.get(path)
    if known is not None and known[0] == stamp:
        return known[1]
    read = unpack(read_given(path, limits.MAX_PLAN_FILE))
    with _lock:
        _kept[path] = (stamp, read)
    return read


def contract_of(contracts: Contracts, table: str, session: Session = None) -> PackedContract:
    """Return the contract of a table, by its name or its location.

    Args:
        contracts: The contracts.
        table: A name as the session resolves it, or a location.
        session: The session that writes to this name; None if the name is that of a contract.

    Raises:
        NotSeen: There is none, or the name is that of a table in another catalog.
    """
    known = contracts_of(contracts)
    catalog = known.catalog or "no catalog"
    found = known.find(table)
    if found is None:
        raise NotSeen(f"no contract declares {table} (the contracts are those of {catalog})")
    if session is not None and known.catalog is not None and "/" not in table and table.count(".") < _IN_FULL:
        current = str(session.catalog.currentCatalog())
        if current.casefold() != known.catalog.casefold():
            raise NotSeen(f"{table} is a table of {current}, and the contracts are those of {catalog}")
    return found
