"""Every rule about a change names its mirror, the rule about the opposite change, or why it has none.

Additions have removals, enabling has disabling, and the opposite change is often the more harmful one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

import pytest

from schemalint.delta.change import Change
from schemalint.model.fact import ProtocolUpgrade, TableRetired
from support.rule_cases import mirrors
from support.rule_judging import built_in

if TYPE_CHECKING:
    from schemalint.plugin import Rule

CHANGES = {*get_args(Change), ProtocolUpgrade, TableRetired}
"""Facts that are changes; a rule about any other fact judges a state, however it arose."""

MIRRORS = mirrors()

CODE = re.compile(r"[A-Z]{2}\d{3}")


def test_every_rule_about_changes_names_its_mirror_or_a_reason() -> None:
    """The rule's case file has the key ``mirror``, and no other case file has it."""
    about_changes = {rule.name for rule in _rules() if CHANGES.intersection(rule.subjects)}
    assert set(MIRRORS) == about_changes


@pytest.mark.parametrize("name", MIRRORS)
def test_a_mirror_is_the_code_of_another_rule_or_a_sentence(name: str) -> None:
    mirror = MIRRORS[name]
    if CODE.fullmatch(mirror):
        assert mirror in {rule.code for rule in _rules() if rule.name != name}
    else:
        assert " " in mirror


def _rules() -> tuple[Rule, ...]:
    return tuple(built_in().values())
