"""The contracts of a job: a file of ``schemalint export --format guard``, or what is in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock
from typing import Final, TypeAlias

from schemalint.base import limits
from schemalint.base.untrusted_files import read_given
from schemalint.guard.session import NotSeen
from schemalint.model.packed_contracts import PackedContract, PackedContracts, unpack

Contracts: TypeAlias = str | os.PathLike[str] | bytes | Mapping[str, object] | PackedContracts
"""The path of a file, its content as bytes or as JSON, or contracts that were read already."""

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


def contract_of(contracts: Contracts, table: str) -> PackedContract:
    """Return the contract of a table, by its name or its location.

    Raises:
        NotSeen: There is none.
    """
    found = contracts_of(contracts).find(table)
    if found is None:
        raise NotSeen(f"no contract declares {table}")
    return found
