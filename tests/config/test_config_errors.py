"""Errors in a configuration name the line and what to do."""

from __future__ import annotations

import pytest

from schemalint.base.errors import ConfigError, UsageError
from schemalint.project.config import parse
from schemalint.review.rulebook import rules_of

SYNTAX = {
    '[targets.a\nroot = "x"\n': "1:1: not valid TOML: the heading is not closed (write it as [targets.prod])",
    '[spark]\nmaster: "x"\n': '2:1: not valid TOML: a colon instead of an equals sign (write master = "x")',
    "baseline = x.json\n": '1:1: not valid TOML: the value x.json is not quoted (write "x.json")',
    "ignore = [TW001]\n": '1:1: not valid TOML: the value TW001 is not quoted (write "TW001")',
    'root = true\nbaseline = "x\n': "2:1: not valid TOML: a quote is not closed in this line (close it)",
    'ignore = [\n  "x"\n  "y"]\n': (
        "3:3: not valid TOML: the list is not closed, or a comma is missing (add ], or the comma)"
    ),
    'ignore = ["x"\n\n# end\n': (
        "1:1: not valid TOML: the list is not closed, or a comma is missing (add ], or the comma)"
    ),
    "root = true\nroot = false\n": (
        "2:1: not valid TOML: the key is set twice (remove one of the two lines)"
    ),
    "[spark]\n[targets]\n[spark]\n": (
        "3:1: not valid TOML: the table is declared twice (write its keys below one heading)"
    ),
    "root = true root = true\n": (
        "1:1: not valid TOML: something follows the value (write one setting in each line)"
    ),
    "root = true\n<<<<<<< a\n=======\n>>>>>>> b\n": (
        "2:1: unresolved merge conflict (keep one of the two sides, and remove the lines with <<<<<<<, "
        "======= and >>>>>>>)"
    ),
}

KEYS = {
    'fail_on = "error"\n': "1:1: unknown key fail_on (did you mean 'fail-on'?)",
    '[targets.a]\n\nrot = "x"\n': "3:1: unknown key targets.a.rot (did you mean 'root'?)",
    '[target.a]\nroot = "x"\n': "1:1: unknown key target (did you mean 'targets'?)",
    "[targets.a]\nroot = 3\n": '2:1: targets.a.root must be text (write it in quotes: "…")',
    'ignore = "TW001"\n': '1:1: ignore must be a list (write ignore = ["…"])',
    '[tables]\nmatch = "x"\n': "1:2: tables must be a list (write [[tables]] above each of its entries)",
    "targets = 3\n": "1:1: targets must be a table (write [targets], and its keys below)",
    'root = "yes"\n': "1:1: root must be true or false (write true or false, without quotes)",
    '[severity]\nTW = "warn"\n': "2:1: severity.TW must be 'error', 'warning' or 'info'",
}

RULES = {
    'root = true\n\n[severity]\ntw001 = "info"\n': "4:1: there is no rule 'tw001' (did you mean TW001?)",
    'ignore = [\n  "CM",\n  "TW0O1",\n]\n': "3:4: there is no rule 'TW0O1' (did you mean TW001?)",
    'select = ["tw"]\n': "1:12: there is no rule 'tw' (did you mean TW?)",
    'extend-select = ["TW-1"]\n': "1:19: there is no rule 'TW-1' (did you mean TW001?)",
    'ignore = ["illegal_narrowing"]\n': (
        "1:12: there is no rule 'illegal_narrowing' (did you mean illegal-narrowing (TW001)?)"
    ),
    'ignore = ["ilegal-narowing"]\n': (
        "1:12: there is no rule 'ilegal-narowing' (did you mean illegal-narrowing (TW001)?)"
    ),
    'ignore = ["xyz"]\n': "1:12: there is no rule 'xyz' (`schemalint rules` lists all rules)",
    "[options.TW001]\nmost = 1\n": "2:1: rule TW001 has no option 'most' (its options: none)",
}


@pytest.mark.parametrize("text", SYNTAX)
def test_invalid_toml_is_an_error_at_the_line_of_the_mistake(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse("a.toml", text.encode())
    assert str(caught.value) == f"a.toml:{SYNTAX[text]}"


@pytest.mark.parametrize("text", KEYS)
def test_an_invalid_setting_is_an_error_at_its_line(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse("a.toml", text.encode())
    assert str(caught.value) == f"a.toml:{KEYS[text]}"


@pytest.mark.parametrize("text", RULES)
def test_an_unknown_rule_is_an_error_where_it_is_named(text: str) -> None:
    with pytest.raises((ConfigError, UsageError)) as caught:
        rules_of(parse("a.toml", text.encode()))
    assert str(caught.value) == f"a.toml:{RULES[text]}"
