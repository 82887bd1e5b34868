"""Tell a contract with a new table name from a removed contract and an unrelated new one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from schemalint.base.values import grouped
from schemalint.model.contract import Contract


def renamed_tables(
    before: Mapping[str, Contract],
    after: Mapping[str, Contract],
    location_keys: Callable[[Contract], Iterable[Hashable]],
) -> Mapping[str, Contract]:
    """Return the contracts of ``before`` whose table has another name in ``after``, by the new key.

    A new contract is an old one under a new name if the old name is gone, and if it is at the location of the
    old one, or in its file: there as the same document, or as the only new one in place of the only old one.
    A made file declares many tables, and numbers them itself.

    Args:
        before: The contracts of the older revision, by table key.
        after: Those of the newer one.
        location_keys: Where a contract has its table; see `schemalint.tables.catalog.table_location`.
    """
    gone = [before[key] for key in sorted(before.keys() - after.keys())]
    new = [after[key] for key in sorted(after.keys() - before.keys())]
    if not gone:
        return {}
    at_location = grouped((key, old) for old in gone for key in location_keys(old))
    gone_in_file = grouped((old.file, old) for old in gone)
    new_in_file = grouped((contract.file, contract) for contract in new)
    renames: dict[str, Contract] = {}
    for contract in new:
        here = [old for key in location_keys(contract) for old in at_location.get(key, ())]
        in_file = gone_in_file.get(contract.file, ())
        is_only = len(in_file) == len(new_in_file[contract.file]) == 1
        candidates = (
            sorted(here, key=lambda old: old.key),
            [old for old in in_file if old.document_index == contract.document_index],
            () if contract.is_made or not is_only else in_file,
        )
        for old in next(filter(None, candidates), ())[:1]:
            renames[contract.key] = old
    return renames
