"""No text of a contract steers a terminal, hides, or commands the CI service that reads the log."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.errors import Location
from schemalint.model.finding import CheckResult
from schemalint.printable import printable
from schemalint.report import findings as report
from schemalint.values import replace
from support.report_cases import finding, result_of, run

COMMANDS = [
    "error",
    "warning",
    "notice",
    "debug",
    "group",
    "endgroup",
    "add-mask",
    "set-output",
    "stop-commands",
    "add-matcher",
]
PIECES = st.sampled_from(
    ["::", "##[", "##", "#", "[", "]", "vso[", "error", "\n", "\r", "\x1b", "%0A", "%", ","]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)


class Command(NamedTuple):
    """What GitHub's runner understands of a line."""

    name: str
    properties: dict[str, str]
    data: str


def runner_reads(line: str) -> Command | None:
    """The command in a line, as actions/runner's ActionCommand.cs finds it: TryParseV2, then TryParse."""
    stripped = line.lstrip()
    if match := re.match(r"::(\S+?)(?: (.*?))?::(.*)", stripped, re.DOTALL):
        name, properties, data = match.groups()
        if name in COMMANDS:
            pairs = (pair.split("=", 1) for pair in (properties or "").split(",") if "=" in pair)
            values = {key: unescaped(value, "\r \n : , %") for key, value in pairs}
            return Command(name, values, unescaped(data, "\r \n %"))
    if match := re.search(r"##(?:vso)?\[([^\] ]*)[^\]]*\](.*)", line, re.DOTALL):
        return Command(match[1], {}, match[2])
    return None


def unescaped(text: str, characters: str) -> str:
    for character in characters.split(" "):
        text = text.replace(f"%{ord(character):02X}", character)
    return text


def lines_of(text: str) -> list[str]:
    """The lines as the runner splits its input."""
    return re.split(r"\r\n|\r|\n", text.removesuffix("\n"))


def test_the_runner_in_this_test_reads_commands() -> None:
    assert runner_reads("  ::error file=a%2Cb,line=1::x%250A%0Ay") == Command(
        "error", {"file": "a,b", "line": "1"}, "x%0A\ny"
    )
    assert runner_reads("12 | # ##[add-mask]x") == Command("add-mask", {}, "x")
    assert runner_reads("## vso[task]") is None


@pytest.mark.parametrize("name", ["concise", "full", "json"])
@pytest.mark.parametrize("show_existing", [False, True])
def test_the_runner_finds_no_command_in_hostile_text(name: str, show_existing: bool) -> None:  # noqa: FBT001
    text = report.get(name).render(result_of("hostile_text"), show_existing=show_existing)
    assert [line for line in lines_of(text) if runner_reads(line)] == []


@pytest.mark.parametrize("name", report.names())
def test_nothing_invisible_is_printed(name: str) -> None:
    text = report.get(name).render(result_of("hostile_text"))
    hidden = {char for char in text if unicodedata.category(char)[0] == "C" or char in "\u2028\u2029"}
    assert hidden == {"\n"}


def test_the_annotations_of_hostile_text_are_the_expected_ones_and_no_more() -> None:
    commands = [
        runner_reads(line) for line in lines_of(report.get("github").render(result_of("hostile_text")))
    ]
    assert [command and command.name for command in commands] == ["warning", "error", "error", "error"]
    placed = [set(command.properties) for command in commands if command]
    place = {"file", "line", "endLine", "col", "endColumn", "title"}
    assert placed == [{"title"}, place, {"title"}, place]


@settings(deadline=None)
@given(TEXTS)
def test_any_text_becomes_one_visible_line_without_commands(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert runner_reads(shown) is None


@settings(deadline=None)
@given(TEXTS)
def test_printable_text_is_left_alone(text: str) -> None:
    if text.isprintable() and not re.search(r"##|^ *::", text):
        assert printable(text) == text


@settings(deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_an_annotation_arrives_as_it_was_meant(message: str, file: str, rule: str) -> None:
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
def test_any_source_keeps_its_lines_apart(line: str) -> None:
    place = Location("c.yml", 1, 1, 1, 2)
    result = CheckResult(run("t"), (finding("m", place),), sources={"c.yml": line})
    first = lines_of(report.get("full").render(result))[3]
    assert first.startswith("1 |")
    assert runner_reads(first) is None


def test_the_base_in_the_summary_is_text_from_strangers_too() -> None:
    hostile = result_of("hostile_text")
    result = replace(hostile, findings=(), errors=(), run=replace(hostile.run, skipped=()))
    assert len(lines_of(report.get("concise").render(result))) == 1
