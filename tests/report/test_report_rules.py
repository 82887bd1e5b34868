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


EDITED = """Doc.

## Example

```yaml title="before"
schemalint: 1
table: t
columns: [a, b]
```

```yaml title="after"
schemalint: 1
table: t
columns: [a]
```

## Use instead

```yaml title="instead"
schemalint: 1
table: t
columns: [a]
dropped: [b]
```"""


def edited(_fact: object, _ctx: RuleContext) -> tuple[Problem, ...]:
    return ()


def test_a_page_shows_an_edit_in_full_and_what_to_change_of_it() -> None:
    edited.__doc__ = EDITED
    _, example, instead = rule_pages.page(replace(RULE, check=edited)).split("```diff\n")
    assert example.partition("```")[0].splitlines() == [
        " schemalint: 1",
        " table: t",
        "-columns: [a, b]",
        "+columns: [a]",
    ]
    assert instead.partition("```")[0].splitlines() == [" columns: [a]", "+dropped: [b]"]


def test_a_page_keeps_a_text_from_which_nothing_differs() -> None:
    edited.__doc__ = EDITED.replace("dropped: [b]\n", "")
    assert rule_pages.page(replace(RULE, check=edited)).endswith("columns: [a]\n```")
