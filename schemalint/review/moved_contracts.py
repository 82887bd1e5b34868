"""Contracts that a change moves into a folder whose settings find less than those where they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from schemalint import contract as contracts
from schemalint.base.phrases import first_of
from schemalint.base.values import grouped
from schemalint.model.contract import Contract
from schemalint.model.fact import ConfigurationChanged
from schemalint.project.config import Config
from schemalint.project.git import Contents, File
from schemalint.review.loosened_settings import loosenings_in_folder


def moves_to_looser_settings(config: Config, contents: Contents) -> Iterator[ConfigurationChanged]:
    """Yield what each move loosens: one fact for all contracts that move from one folder to another.

    This change is judged by the settings of both folders, the next one by those of the new one.

    Args:
        config: The configuration of the head, with its nested files: those that change are compared already.
        contents: The files of both sides.
    """
    changed = {
        path
        for path in {*contents.base, *contents.head}
        if path not in contents.base
        or path not in contents.head
        or contents.base[path].data != contents.head[path].data
    }
    before, after = (_by_table(side, changed) for side in (contents.base, contents.head))
    moved = grouped(
        ((id(old), id(new)), (before[key].file, contract, old, new))
        for key, contract in after.items()
        if key in before
        for old, new in [(config.at(before[key].file), config.at(contract.file))]
        if old is not new
    )
    for together in moved.values():
        was, contract, old, new = together[0]
        tables = first_of([each.table for _was, each, _old, _new in together], 1)
        for loosening in loosenings_in_folder(old, new):
            key = f"{loosening.key} for {tables}, moved here from {PurePosixPath(was).parent},"
            location = contract.locate(("table",))
            yield ConfigurationChanged(location, False, key, loosening.old, loosening.new)  # noqa: FBT003


def _by_table(files: Mapping[str, File], paths: set[str]) -> dict[str, Contract]:
    """Return the contracts of files; a table that has several stays in none."""
    of_file = [
        contract
        for path in sorted(paths & files.keys())
        for contract in contracts.read_file(files[path]).contracts
    ]
    by_table = grouped((contract.key, contract) for contract in of_file)
    return {key: together[0] for key, together in by_table.items() if len(together) == 1}
