"""Which new contract is a removed one under another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.contract import read
from schemalint.contract.renamed_tables import renamed_tables
from support.operations import assert_linear

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemalint.model.contract import Contract


def contracts(file: str, *tables: str, location: str = "") -> dict[str, Contract]:
    """Return the contracts of one file, one document for each table."""
    place = f"location: {location}\n" if location else ""
    text = "---\n".join(
        f"schemalint: 1\ntable: {table}\n{place}columns: [{{name: a, type: int}}]\n" for table in tables
    )
    return {contract.key: contract for contract in read(file, text).contracts}


def places(contract: Contract) -> Iterator[str]:
    yield contract.location or contract.key


def names(before: Mapping[str, Contract], after: Mapping[str, Contract]) -> dict[str, str]:
    return {new: old.table for new, old in renamed_tables(before, after, places).items()}


def test_place_counts_before_the_document_and_this_before_the_file() -> None:
    before = contracts("a.yml", "s.a", "s.b") | contracts("b.yml", "s.c", location="lake/c")
    assert names(before, contracts("a.yml", "s.x", "s.y", location="lake/c")) == {"s.x": "s.c", "s.y": "s.c"}
    assert names(before, contracts("a.yml", "s.x", "s.y")) == {"s.x": "s.a", "s.y": "s.b"}
    assert names(before, contracts("b.yml", "s.x")) == {"s.x": "s.c"}
    assert names(before, contracts("c.yml", "s.x")) == {}


def test_of_several_removed_tables_at_a_place_the_first_by_name_counts() -> None:
    before = contracts("a.yml", "s.b", location="lake") | contracts("b.yml", "s.a", location="lake")
    assert names(before, contracts("c.yml", "s.x", location="lake")) == {"s.x": "s.a"}


def test_twice_the_renamed_tables_take_about_twice_the_calls() -> None:
    def schema(name: str, number: int) -> dict[str, Contract]:
        of_each = (
            contracts(f"{index}.yml", f"{name}.t{index}", location=f"t{index}") for index in range(number)
        )
        return {key: contract for of_one in of_each for key, contract in of_one.items()}

    sides = {number: (schema("old", number), schema("new", number)) for number in (2, 40, 80)}
    assert len(renamed_tables(*sides[80], places)) == 80
    assert_linear(lambda number: renamed_tables(*sides[number], places), 40)
