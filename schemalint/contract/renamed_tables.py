"""Tell a contract with a new table name from a removed contract and an unrelated new one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from schemalint.base.values import grouped
from schemalint.model.contract import NATIVE, Contract


def renamed_tables(
    before: Mapping[str, Contract],
    after: Mapping[str, Contract],
    places: Callable[[Contract], Iterable[Hashable]],
) -> Mapping[str, Contract]:
    """Return the contracts of ``before`` whose table has another name in ``after``, by the new key.

    A new contract is an old one under a new name if the old name is gone, and if it is at the place of the
    old one, or in its file: there as the same document, or as the only new one in place of the only old one.
    Another tool's file declares many tables, and numbers them itself.

    Args:
        before: The contracts of the older revision, by table key.
        after: Those of the newer one.
        places: Where a contract has its table; see `schemalint.tables.catalog.table_location`.
    """
    gone = [before[key] for key in sorted(before.keys() - after.keys())]
    new = [after[key] for key in sorted(after.keys() - before.keys())]
    if not gone:
        return {}
    at_place = grouped((place, old) for old in gone for place in places(old))
    gone_in_file = grouped((old.file, old) for old in gone)
    new_in_file = grouped((contract.file, contract) for contract in new)
    renames: dict[str, Contract] = {}
    for contract in new:
        in_file = gone_in_file.get(contract.file, ())
        is_only = len(in_file) == len(new_in_file[contract.file]) == 1
        candidates = (
            sorted((old for place in places(contract) for old in at_place.get(place, ())), key=_key),
            [old for old in in_file if old.document == contract.document],
            in_file if is_only and contract.dialect == NATIVE else (),
        )
        for old in next(filter(None, candidates), ())[:1]:
            renames[contract.key] = old
    return renames


def _key(contract: Contract) -> str:
    return contract.key
