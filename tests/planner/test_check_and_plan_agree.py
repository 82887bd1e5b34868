"""For generated edits, `plan` refuses a table exactly if `check` has an error for it.

``SCHEMALINT_PLAN_EXAMPLES=5000`` tries 5000 edits.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, given, settings

from schemalint.base.values import replace
from schemalint.delta.datatype import UNMANAGED, Struct
from support.contract_edits import EDITS
from support.contract_pairs import Pair, pairs
from support.seam import created_table, errors, errors_before_creation, refusals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemalint.model.contract import Contract
    from schemalint.model.table_plan import Refusal

SETTINGS: Final = settings(
    max_examples=int(os.environ.get("SCHEMALINT_PLAN_EXAMPLES", "150")),
    deadline=None,
    derandomize="SCHEMALINT_PLAN_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)
NEWLY_MANAGED: Final = frozenset({"NC006", "NC007", "NC008"})
"""The rules that warn of a value that the base did not manage: only the live table shows what it was."""


@pytest.mark.wide
@SETTINGS
@given(pairs(EDITS))
def test_plan_refuses_an_edit_exactly_if_check_has_an_error(pair: Pair) -> None:
    live = created_table(pair.made) if pair.made else None
    refused, found = refusals(pair.made, pair.declared, live), errors(pair.made, pair.declared)
    if live and bool(refused) != bool(found):
        assert codes(refused) <= NEWLY_MANAGED, refused
        found = errors(pair.made, pair.declared, live)
    assert bool(refused) == bool(found), (refused, found)


@pytest.mark.wide
@SETTINGS
@given(pairs(EDITS))
def test_plan_refuses_a_table_with_unmanaged_objects_exactly_if_check_live_has_an_error(pair: Pair) -> None:
    """The live table has a column, a layout and constraints that the contract does not declare."""
    if pair.made is None:
        return
    live = created_table(pair.made)
    before, after = less_managed(pair.made), less_managed(pair.declared)
    refused, found = refusals(before, after, live), errors(before, after, live)
    assert bool(refused) == bool(found), (refused, found)


@pytest.mark.wide
@SETTINGS
@given(pairs(EDITS))
def test_plan_refuses_a_table_that_is_not_there_exactly_if_check_live_has_an_error(pair: Pair) -> None:
    """Nobody edits the contract; it was merged before its table was made."""
    refused = refusals(None, pair.declared, None)
    found = errors_before_creation(pair.declared, pair.declared)
    assert bool(refused) == bool(found), (refused, found)
    if pair.made is not None and refused:
        assert errors_before_creation(pair.made, pair.declared)


def less_managed(contract: Contract) -> Contract:
    """Return the contract without its first column, its layout and its constraints."""
    state = contract.state
    columns = Struct(tuple(field for field in state.columns.fields if field.name != "id"))
    state = replace(state, columns=columns, partitioned_by=UNMANAGED, clustered_by=UNMANAGED, constraints={})
    return replace(contract, state=state)


def codes(found: Iterable[Refusal]) -> set[str]:
    return {refusal.code or refusal.reason for refusal in found}
