"""Find what extends changed tables, and what changed contracts extend, in files that are not selected.

Most files are not read: git searches their texts.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from schemalint.contract.name_search import may_hold_name, words_of_names
from schemalint.contract.overlay import is_overlay
from schemalint.contract.read_contracts import read_file
from schemalint.model.contract import NATIVE, Contract, table_key
from schemalint.project.git import Contents, File


def overlays_beside(
    contents: Contents,
    selected: Container[str],
    tables: Sequence[Mapping[str, Contract]],
    overlays: Sequence[Sequence[Contract]],
) -> tuple[list[Contract], list[Contract]]:
    """Return what belongs to the contracts of base and head, from the files that are not selected.

    Args:
        contents: The files of both sides.
        selected: The paths of the files that were read.
        tables: The tables in them by their keys, of base and head.
        overlays: The contracts in them that extend others, of base and head.
    """
    foreign = [contract for side in tables for contract in side.values() if contract.dialect != NATIVE]
    names = {overlay.table for side in overlays for overlay in side}
    if not foreign and not names:
        return [], []
    words = words_of_names(names)
    contents = contents.with_unchanged(None if words is None else {"extends", *map(bytes.decode, words)})
    extended = set(map(table_key, names))
    extending = {key for contract in foreign for key in (contract.key, contract.known_as)} | extended
    base, head = (
        [
            contract
            for path in sorted(files)
            if path not in selected
            for contract in _belonging(files[path], words, extended, extending)
        ]
        for files in (contents.base, contents.head)
    )
    return base, head


def _belonging(
    file: File, words: set[bytes] | None, extended: Container[str], extending: Container[str]
) -> Iterator[Contract]:
    if file.format.name == NATIVE:
        if b"extends" in file.data:
            found = read_file(file).contracts
            yield from (each for each in found if is_overlay(each) and each.key in extending)
    elif may_hold_name(file.data, words):
        for contract in read_file(file).contracts:
            if contract.key in extended or contract.known_as in extended:
                yield contract
