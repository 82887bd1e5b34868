"""Pages and lists of rules: a plug-in's texts are as safe to print as a contract's."""

from __future__ import annotations

import json

from schemalint.base.values import replace
from schemalint.plugin import Problem, RuleContext
from schemalint.report import rule_pages
from support.rule_judging import built_in

HOSTILE = "::error::x ##[add-mask]y\n::add-mask::z\x1b[2J"


def hostile(_fact: object, _ctx: RuleContext) -> tuple[Problem, ...]:
    return ()


hostile.__doc__ = HOSTILE
RULE = replace(built_in()["illegal-narrowing"], check=hostile)


def test_hostile_texts_of_a_rule_give_no_commands() -> None:
    for text in (rule_pages.page(RULE), rule_pages.as_text([RULE]), rule_pages.as_json([RULE])):
        assert "##[" not in text
        assert "\x1b" not in text
        assert not [line for line in text.splitlines() if line.startswith("::")]


def test_the_list_as_json_keeps_the_summary() -> None:
    (listed,) = json.loads(rule_pages.as_json([RULE]))
    assert listed["summary"] == "::error::x ##[add-mask]y"
