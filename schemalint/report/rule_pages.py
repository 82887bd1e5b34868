"""Rules and errors as text: their pages, and the list of rules. A rule may come from a stranger's package."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from textwrap import fill
from typing import Final

from schemalint.base.phrases import affixed
from schemalint.base.printable import SafeText, document_text, json_text, printable_lines, terminal_text
from schemalint.model.option_value import toml_text
from schemalint.plugin import Rule
from schemalint.report.explain import Explanation, NamedError
from schemalint.report.text_helpers import error_name
from schemalint.review.rules_in_use import RuleInUse

_WIDTH: Final = 100
_BLOCK: Final = re.compile(r'^```\w+ title="(\w+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_EDIT: Final = re.compile(rf"{_BLOCK.pattern}\n\n{_BLOCK.pattern}", re.MULTILINE | re.DOTALL)
_REPLACED: Final = ("catalog", "files", "log", "after", "contract")
"""What the text under "Use instead" takes the place of, the first that an example has."""


def explanation(explained: Explanation) -> SafeText:
    """Return what errors mean, and the pages of the rules about them."""
    return document_text("\n\n".join([*map(_error, explained.errors), *map(page, explained.rules)]))


def _error(error: NamedError) -> str:
    if error.advice is None:
        texts = ["schemalint does not know this error."] if not error.rules else []
    else:
        texts = [error.advice.cause]
        if error.advice.remedy:
            texts.append(f"What to do: {error.advice.remedy}")
    names = ", ".join(f"{rule.code} ({rule.name})" for rule in error.rules)
    if names:
        texts.append(f"Rules: {names}")
    wrapped = (fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False) for text in texts)
    return printable_lines("\n\n".join([f"# {error.name}", *wrapped]))


def page(rule: Rule) -> str:
    """Return a rule's page as Markdown, without a line break at the end."""
    facts = [f"severity: {rule.severity.label}", f"verdict: {rule.verdict}"]
    if not rule.default:
        facts.append("off by default")
    if rule.fixable:
        facts.append("fixable: `schemalint check --fix`")
    if rule.delta_errors:
        facts.append(f"Delta's errors: {', '.join(map(error_name, rule.delta_errors))}")
    doc = _with_diffs(rule.doc.rstrip())
    return printable_lines(f"# {rule.name} ({rule.code})\n\n{' · '.join(facts)}\n\n{doc}")


def _with_diffs(doc: str) -> str:
    """Return a page whose examples show what changes, instead of both texts."""
    example, heading, instead = doc.partition("## Use instead")
    texts = dict(_BLOCK.findall(example))
    example = _EDIT.sub(_edit, example)
    failing = next((texts[title] for title in _REPLACED if title in texts), None)
    if failing is None:
        return f"{example}{heading}{instead}"
    return example + heading + _BLOCK.sub(lambda block: _correction(failing, block), instead)


def _edit(blocks: re.Match[str]) -> str:
    if (blocks[1], blocks[3]) != ("before", "after"):
        return blocks[0]
    return _diff(blocks[2], blocks[4], around=blocks[2].count("\n"))


def _correction(failing: str, block: re.Match[str]) -> str:
    if failing == block[2]:  # what differs is no text
        return block[0]
    return _diff(failing, block[2], around=1)


def _diff(old: str, new: str, *, around: int) -> str:
    """Return the lines that differ, with some lines around each."""
    lines = list(unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=around))[2:]
    shown = ["…" if line.startswith("@@") else line for line in lines]
    return "\n".join(["```diff", *shown[1:], "```"])


def as_text(rules: Iterable[Rule]) -> SafeText:
    """Return the list of rules, one line for each."""
    return terminal_text(map(_line, rules))


def _line(rule: Rule) -> str:
    marks: list[str] = [rule.verdict]
    if rule.fixable:
        marks.append("fixable")
    if not rule.default:
        marks.append("off by default")
    return f"{rule.code}  {rule.severity.label:<7}  {rule.name}: {rule.summary} [{', '.join(marks)}]"


def as_json(rules: Iterable[Rule]) -> SafeText:
    """Return the list of rules as JSON."""
    return json_text([_as_json(rule) for rule in rules], indent=2)


def _as_json(rule: Rule) -> dict[str, object]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.label,
        "verdict": rule.verdict,
        "default": rule.default,
        "fixable": rule.fixable,
        "summary": rule.summary,
        "delta_errors": list(rule.delta_errors),
        "distribution": rule.distribution,
    }


def for_table(rules: Iterable[RuleInUse]) -> SafeText:
    """Return the rules of a table, each with the values of its options and where they are written."""
    return terminal_text(line for each in rules for line in _lines_in_use(each))


def _lines_in_use(each: RuleInUse) -> Iterator[str]:
    ignored = affixed(" [ignored for ", each.ignored_by, "]")
    silent = " [no option: finds nothing]" if each.is_silent else ""
    yield f"{each.rule.code}  {each.rule.severity.label:<7}  {each.rule.name}{ignored}{silent}"
    for option in () if each.is_silent else each.options:
        if option.value is not None:
            yield f"    {option.name} = {toml_text(option.value)}  ({option.origin})"


def for_table_as_json(rules: Iterable[RuleInUse]) -> SafeText:
    """Return the rules of a table as JSON."""
    return json_text([_in_use_as_json(each) for each in rules], indent=2)


def _in_use_as_json(each: RuleInUse) -> dict[str, object]:
    return {
        "code": each.rule.code,
        "name": each.rule.name,
        "severity": each.rule.severity.label,
        "ignored_by": each.ignored_by,
        "options": {option.name: {"value": option.value, "origin": option.origin} for option in each.options},
    }
