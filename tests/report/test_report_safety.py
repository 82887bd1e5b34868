"""Text from a contract cannot control a terminal, be invisible, or send commands to the CI service."""

from __future__ import annotations

import re
import unicodedata
from string import punctuation

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.base.errors import Location
from schemalint.base.printable import (
    is_printable_sql,
    markdown_code,
    markdown_fence,
    markdown_prose,
    markdown_text,
    printable,
    printable_lines,
    sql_comment,
    sql_script,
)
from schemalint.base.values import replace
from schemalint.delta.sql_text import quote_literal, unquote_literal
from schemalint.model.finding import CheckResult
from schemalint.report import findings as report
from support.attack_texts import ATTACKS, Command, lines_of, obeyed, runner_reads
from support.report_cases import finding, result_of, run

PIECES = st.sampled_from(
    ["::", "##[", "##", "#", "[", "]", "vso[", "error", "\n", "\r", "\x1b", "%0A", "%", ","]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)


def test_runner_reads_finds_commands() -> None:
    assert runner_reads("  ::error file=a%2Cb,line=1::x%250A%0Ay") == Command(
        "error", {"file": "a,b", "line": "1"}, "x%0A\ny"
    )
    assert runner_reads("12 | # ##[add-mask]x") == Command("add-mask", {}, "x")
    assert runner_reads("## vso[task]") is None


@pytest.mark.parametrize("name", sorted({*report.names()} - {"github"}))  # which gives the runner commands
@pytest.mark.parametrize("show_existing", [False, True])
def test_the_runner_finds_no_command_in_hostile_text(name: str, show_existing: bool) -> None:  # noqa: FBT001
    text = report.get(name).render(result_of("hostile_text"), show_existing=show_existing)
    assert [line for line in lines_of(text) if runner_reads(line)] == []


@pytest.mark.parametrize("name", report.names())
def test_nothing_invisible_is_printed(name: str) -> None:
    text = report.get(name).render(result_of("hostile_text"))
    hidden = {char for char in text if unicodedata.category(char)[0] == "C" or char in "\u2028\u2029"}
    assert hidden == {"\n"}


def test_hostile_text_gives_only_the_expected_annotations() -> None:
    commands = [
        runner_reads(line) for line in lines_of(report.get("github").render(result_of("hostile_text")))
    ]
    assert [command and command.name for command in commands] == ["warning", "error", "error", "error"]
    property_names = [set(command.properties) for command in commands if command]
    with_location = {"file", "line", "endLine", "col", "endColumn", "title"}
    assert property_names == [{"title"}, with_location, {"title"}, with_location]


@settings(deadline=None)
@given(TEXTS)
def test_any_text_becomes_one_visible_line_without_commands(text: str) -> None:
    printed = printable(text)
    assert obeyed(printed) == []
    assert printable(printed) == printed


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_is_obeyed(attack: str) -> None:
    text = ATTACKS[attack]
    assert obeyed(text) or attack.startswith(("markup", "SQL", "CI: annotation"))
    assert obeyed(printable(text)) == []
    assert obeyed(printable_lines(text).replace("\n", " ")) == []


def test_emoji_and_the_wide_blank_of_ordinary_text_stay() -> None:
    text = "\u26a0\ufe0f 注文\u3000番号 \u2764\ufe0f"
    assert printable(text) == text
    assert printable("a\ufe0f \xa0 \u200c #\ufe0f") == r"a\ufe0f \xa0 \u200c #\ufe0f"


@settings(deadline=None)
@given(TEXTS)
def test_printable_text_is_left_alone(text: str) -> None:
    if text.isprintable() and not re.search(r"##|^ *::|[\ufe00-\ufe0f]", text):
        assert printable(text) == text


@settings(deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_the_runner_reads_an_annotation_with_its_original_text(message: str, file: str, rule: str) -> None:
    result = CheckResult(run("t"), (finding(message, Location(f"c/{file}", 3, 2, 3, 5), rule=f"r{rule}"),))
    lines = lines_of(report.get("github").render(result))
    assert len(lines) == 2
    command = runner_reads(lines[1])
    assert command is not None
    assert command.data == f"{printable(message)}\ntable: sales.orders"
    assert command.properties == {
        "file": printable(f"c/{file}"),
        "line": "3",
        "endLine": "3",
        "col": "2",
        "endColumn": "5",
        "title": printable(f"TW001 r{rule}"),
    }


@settings(deadline=None)
@given(TEXTS)
def test_any_source_line_stays_one_line_without_commands(line: str) -> None:
    location = Location("c.yml", 1, 1, 1, 2)
    result = CheckResult(run("t"), (finding("m", location),), sources={"c.yml": line})
    first = lines_of(report.get("full").render(result))[3]
    assert first.startswith("1 |")
    assert runner_reads(first) is None


def test_hostile_text_in_the_base_name_stays_on_one_line() -> None:
    hostile = result_of("hostile_text")
    result = replace(hostile, findings=(), errors=(), run=replace(hostile.run, skipped=()))
    assert len(lines_of(report.get("concise").render(result))) == 1


_MARKS = set(punctuation)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_forms_markup(attack: str) -> None:
    text = ATTACKS[attack]
    for made in (markdown_text(text), markdown_prose(text), markdown_code(text)):
        inside = made.removeprefix("<code>").removesuffix("</code>")
        assert set(re.sub(r"&#\d+;", "", inside)) & _MARKS == set()
        assert "\n" not in inside
    if re.search(r"@|#\d|!\d|GH-|://|www\.|[0-9a-f]{40}", text):
        assert markdown_prose(text) == markdown_code(text)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_ends_a_fence(attack: str) -> None:
    first, *lines, last = markdown_fence(ATTACKS[attack], "sql")
    assert first == f"{last}sql"
    assert set(last) == {"`"}
    assert not [line for line in lines if line.lstrip().startswith(last)]
    assert obeyed("\n".join(line for line in lines if not line.startswith("0 findings"))) == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_leaves_a_comment_of_sql(attack: str) -> None:
    comment = sql_comment(ATTACKS[attack])
    assert comment.startswith("-- ")
    assert comment.replace("\u3000", " ").isprintable()
    assert ";" not in comment
    assert "${" not in comment
    assert not comment.endswith("\\")


@pytest.mark.parametrize("attack", ATTACKS)
def test_literals_are_shown_as_they_are_and_read_as_the_same_text(attack: str) -> None:
    text = ATTACKS[attack].encode("utf-8", "ignore").decode()
    literal = quote_literal(text)
    assert unquote_literal(literal) == text
    assert is_printable_sql(literal)
    assert sql_script([literal]) == f"{literal}\n"


def test_names_and_credentials_cannot_be_shown_in_statements() -> None:
    for text in ("`a\x1bb`", "`##[error]`", "'https://u:p@h/'", "(a,\n::error::x"):
        assert not is_printable_sql(text)
    assert is_printable_sql("CHECK (a > 0\n\tAND b)")


def test_a_statement_in_a_comment_keeps_the_text_of_its_literals() -> None:
    """Some clients split a script at every semicolon, in comments too."""
    literal = quote_literal("a; b")
    comment = sql_comment(f"undo: SET {literal}", semicolon=r"\u003b")
    assert ";" not in comment
    assert unquote_literal(comment.removeprefix("-- undo: SET ")) == "a; b"
