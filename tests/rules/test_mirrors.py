"""A rule about a change in one direction has a mirror, about the other direction, or a reason for none.

What comes can go, what is switched on can be switched off, and the way back is often the worse one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

import pytest

from schemalint.delta.change import Change
from schemalint.model.fact import ProtocolUpgrade, TableRetired
from support.rule_judging import built_in

if TYPE_CHECKING:
    from schemalint.plugin import Rule

CHANGES = {*get_args(Change), ProtocolUpgrade, TableRetired}
"""Facts with a direction; a rule about any other fact judges a state, whatever way led there."""

MIRRORS = {
    "CM001": "the way back is a rename too",
    "CM002": "NC002",
    "CM003": "a column that comes is declared by coming",
    "CM004": "it judges every pair of modes",
    "CT001": "a contract that comes is CT002's and DR003's, whether or not it changes",
    "CT003": "nobody was told anything of a column that comes",
    "CT007": "an entry that is taken away changes nothing: what is dropped stays so",
    "NC001": "dropping NOT NULL is always possible, and no file has to be looked at",
    "NC002": "CM002",
    "NC003": "NC001",
    "NC004": "a default that goes or changes touches no row that is there",
    "NC005": "it judges every change below a constraint",
    "NC006": "it judges expressions that come, go and change",
    "NC007": "it judges partitioning and clustering that come, go and change",
    "NC008": "it judges identities that come, go and change",
    "NC010": "the way back is a move too",
    "NC011": "a field can always be added, to an empty struct as well",
    "NC013": "NC007",
    "NC015": "the way back is such a change too",
    "NC016": "a default that goes is never refused, whatever it was",
    "PF003": "PF004",
    "PF004": "PF003",
    "RD007": "TW001",
    "TH009": "it judges entries that lack and entries that are too many",
    "TP005": "TP001",
    "TW001": "TW006",
    "TW002": "it judges both directions: neither can be done",
    "TW003": "TW004",
    "TW004": "TW003",
    "TW005": "TW002",
    "TW006": "TW001",
    "TW008": "PF003",
    "TW009": "it judges containers that come and go",
    "TW012": "TW002",
}
"""For each rule about changes the code of its mirror, or why it needs none."""

CODE = re.compile(r"[A-Z]{2}\d{3}")


def test_every_rule_about_changes_answers_for_the_other_direction() -> None:
    """A new one has to be entered here; one that is gone leaves no line behind."""
    assert {rule.code for rule in _rules() if CHANGES.intersection(rule.subjects)} == set(MIRRORS)


@pytest.mark.parametrize("code", MIRRORS)
def test_a_mirror_is_another_rule(code: str) -> None:
    answer = MIRRORS[code]
    if CODE.fullmatch(answer):
        assert answer in {rule.code for rule in _rules()} - {code}
    else:
        assert " " in answer


def _rules() -> tuple[Rule, ...]:
    return tuple(built_in().values())
