"""A change in SQL has the findings of the same change in a native contract, and tables go both ways."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.contract.dialects import sql
from schemalint.contract.dialects.sql.printing import left_out, print_table
from schemalint.delta.datatype import UNMANAGED, Array, Map, walk, walk_fields
from schemalint.delta.diff import diff
from schemalint.model.contract import Contract, FileFormat
from schemalint.model.declaration import created_state
from support.judging import judge_pair
from support.rule_cases import load_cases
from support.rule_judging import built_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.contract.dialects import Reading

FILE: Final = "contract.sql"
PLANNER_CASES: Final = Path(__file__).parents[2] / "planner/cases"

LEAST: Final = 300
"""So many cases of rules have contracts that SQL can say."""

REFUSED: Final = {
    "constraint-dependence/cannot-be-read": "no expression",
    "constraint-dependence/cannot-be-read-and-is-not-declared": "no expression",
    "default-not-constant/not-readable": "no expression",
    "generated-dependence/cannot-be-read": "no expression",
    "invalid-column-name/fine-without-mapping": "an empty name",
}
"""The changes that are no finding but an error at their place: nobody can read the statement."""

_ABSENT: Final = "a clause that is gone is gone; in a native contract, it is no longer managed"
_IS_CONSTRAINT: Final = "CREATE TABLE takes a constraint as a property, and makes one of it"
DIFFERENT: Final = {
    "constraint-as-property/existing-table": _IS_CONSTRAINT,
    "generated-dependence/declared-for-the-first-time": "a column without the clause is no such column",
    "generated-dependence/line-taken-away": _ABSENT,
    "identity-column-change/declared-for-the-first-time": "a column without the clause is no such column",
    "identity-column-change/line-taken-away": _ABSENT,
    "identity-column-change/narrowed": _ABSENT,
    "partition-or-cluster-column-dropped/line-taken-away": _ABSENT,
    "property-unknown/others-speak-for-these": _IS_CONSTRAINT,
}
"""The changes that mean something else in SQL."""


def reading_of(contract: Contract) -> Reading:
    """Read the statements that declare a contract."""
    return sql.read(FILE, print_table(contract).encode(), None, FileFormat("sql"))


def is_in_sql(contract: Contract) -> bool:
    """Whether a contract has nothing but what SQL can say."""
    state = contract.state
    plain = Contract(
        contract.table, state, contract.location, file=contract.file, document_index=contract.document_index
    )
    absent = [value for value in (*state.properties.values(), *state.constraints.values()) if value is None]
    renamed = any(field.renamed_from for _path, field in walk_fields(state.columns))
    unsaid = renamed or state.dropped or _part_that_has_nulls(contract) or any(left_out(contract))
    return contract == plain and not absent and not unsaid


def _part_that_has_nulls(contract: Contract) -> bool:
    """Whether the contract says of the elements or values of a collection if they may be null."""
    return any(
        (isinstance(type_, Array) and type_.contains_null is not UNMANAGED)
        or (isinstance(type_, Map) and type_.value_contains_null is not UNMANAGED)
        for _path, type_ in walk(contract.state.columns)
    )


def pairs() -> Iterator[tuple[str, Contract, Contract]]:
    """Yield the contracts of the rules' cases that SQL can say, with the case's name."""
    for case in load_cases():
        if set(case.texts) != {"before", "after"}:
            continue
        read = [contracts.read("contract.yml", case.texts[side]).contracts for side in ("before", "after")]
        if all(len(found) == 1 and is_in_sql(found[0]) for found in read):
            yield case.id, read[0][0], read[1][0]


@pytest.mark.wide
def test_a_change_in_sql_has_the_findings_of_the_same_change_in_yaml() -> None:
    rules = tuple(built_in().values())
    refused: set[str] = set()
    different: set[str] = set()
    count = 0
    for name, before, after in pairs():
        count += 1
        old, new = reading_of(before), reading_of(after)
        if old.errors or new.errors:
            refused.add(name)
            continue
        native = {(finding.code, finding.path) for finding in judge_pair(before, after, rules)}
        in_files = judge_pair(old.contracts[0], new.contracts[0], rules)
        if {(finding.code, finding.path) for finding in in_files} != native:
            different.add(name)
    assert count > LEAST
    assert refused == set(REFUSED)
    assert different == set(DIFFERENT)


def test_a_table_is_the_same_after_it_was_printed_and_read() -> None:
    count = 0
    for path in sorted(PLANNER_CASES.glob("*/*.yaml")):
        for contract in contracts.read(path.name, path.read_bytes()).contracts:
            if not is_in_sql(contract):
                continue
            count += 1
            reading = reading_of(contract)
            assert reading.errors == (), path
            assert reading.contracts[0].table == contract.table
            before, after = (created_state(each.state) for each in (contract, reading.contracts[0]))
            # A requested feature is a property in SQL.
            assert diff(before, replace(after, features=before.features)) == () or before.features, path
    assert count > 0


def test_what_sql_cannot_say_is_named() -> None:
    text = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint, type_changes: [{from: int, to: bigint}]}
consumers:
  - {name: dashboard, client: trino}
"""
    (contract,) = contracts.read("orders.yml", text).contracts
    assert print_table(contract) == (
        "-- not in this file: type_changes of id\n"
        "-- not in this file: consumers\n"
        "CREATE TABLE sales.orders (\n  id bigint\n)\nUSING delta;\n"
    )
