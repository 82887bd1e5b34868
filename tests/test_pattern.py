"""Patterns mean what Python's `re` means by them, and take time in proportion to the length of a name."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemalint.base.pattern import MAX_LENGTH, MAX_PLACES, Pattern, PatternError, parse_pattern

ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "_",
        "ü",
        ".",
        r"\d",
        r"\w",
        r"\S",
        r"\.",
        r"\x41",
        "[ab]",
        "[^a]",
        "[a-c_]",
        r"[\d-]",
        "[]a]",
        "()",
    ]
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = inner.map(lambda text: f"({text})")
    quantified = st.tuples(group, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{,2}", "{1,}", "*?"])).map(
        "".join
    )
    either = st.tuples(inner, inner).map("|".join)
    return st.one_of(quantified, st.tuples(inner, inner).map("".join), either.map(lambda text: f"(?:{text})"))


PATTERNS = st.recursive(ATOMS, _larger, max_leaves=8)
NAMES = st.text(alphabet="abA_ü1.-\n", max_size=6)


@given(pattern=PATTERNS, names=st.lists(NAMES, max_size=8))
def test_a_pattern_matches_what_it_matches_in_python(pattern: str, names: list[str]) -> None:
    parsed = parse_pattern(pattern)
    for name in ["", "a", "ab", *names]:
        assert parsed.matches(name) == bool(re.fullmatch(pattern, name)), name


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("[a-z][a-z0-9_]*", ["a", "order_id", "a1"], ["", "OrderId", "_a", "a-b", "a\n", "é"]),
        ("^[a-z]+$", ["abc"], ["abc\n", "ab1"]),
        ("^a|b$", ["a", "b"], ["ab", "ac"]),
        (".*_at", ["created_at", "_at"], ["created_at_utc", "at"]),
        (r"[^ ./]{1,255}", ["a" * 255, "ü"], ["", "a.b", "a" * 256]),
        (r"[\w-]+", ["a-b", "ü1"], ["a b"]),
        ("a{2,}", ["aa", "aaaaa"], ["a"]),
    ],
)
def test_a_pattern_is_about_the_whole_name_as_it_is_spelled(
    pattern: str, good: list[str], bad: list[str]
) -> None:
    parsed = parse_pattern(pattern)
    assert [name for name in good if not parsed.matches(name)] == []
    assert [name for name in bad if parsed.matches(name)] == []


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("", "it is empty"),
        ("[a-z", "an end in the middle (character 4)"),
        ("(a", "a group without its closing parenthesis"),
        ("a)", "a closing parenthesis without an opening one"),
        ("*a", "the quantifier * without anything before it (character 1)"),
        ("a**", "two quantifiers"),
        ("a++", "two quantifiers"),
        ("a{", "a brace that is no quantifier"),
        ("a{3,1}", "a lower limit above the upper one"),
        ("[z-a]", "a range that leads nowhere"),
        (r"(a)\1", r"\1, which is no character and no class"),
        (r"\bid", r"\b, which is no character"),
        ("(?=a)b", "a group that begins with (?"),
        ("(?<!a)b", "a group that begins with (?"),
        ("(?i)a", "a group that begins with (?"),
        ("a^b", "^ inside: a pattern matches the whole name anyway"),
        ("a$b", "$ inside"),
        ("(" * 60, "groups inside each other"),
        ("a" * (MAX_LENGTH + 1), "more than 1,000 characters"),
        (
            "((a{1,99}){1,99}){1,99}",
            f"longer than {MAX_PLACES:,} characters with its repetitions written out",
        ),
        ("(){1000}" * 2, f"longer than {MAX_PLACES:,} characters"),
    ],
)
def test_a_text_that_is_no_pattern_is_refused_with_the_place(pattern: str, problem: str) -> None:
    with pytest.raises(PatternError, match=re.escape(problem)):
        parse_pattern(pattern)


# Python's `re` takes longer than any job for each of them.
HOSTILE = [
    ("(a+)+b", "a" * 5_000),
    ("(a|a)*b", "a" * 5_000),
    ("(.*)*x", "a" * 5_000),
    (".*" * 100 + "x", "a" * 5_000),
    ("(a?){400}a{400}", "a" * 400),
    ("(a|b)*a(a|b){14}", "ab" * 2_500),
]


@pytest.mark.parametrize(("pattern", "name"), HOSTILE, ids=lambda text: text[:20])
def test_the_work_for_a_name_is_bounded(pattern: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each character asks each place at most once: counted, because time depends on the machine."""
    parsed = parse_pattern(pattern)
    automaton = parsed._automaton  # noqa: SLF001 (what it does is counted)
    asked = 0
    tests = automaton._tests  # noqa: SLF001

    def counting(test: object) -> object:
        def ask(character: str) -> bool:
            nonlocal asked
            asked += 1
            return bool(test(character))  # type: ignore[operator]

        return ask

    monkeypatch.setattr(automaton, "_tests", [test and counting(test) for test in tests])
    parsed.matches(name)
    assert 0 < asked <= len(name) * MAX_PLACES
    assert len(automaton._moves) <= MAX_PLACES  # noqa: SLF001


def test_a_pattern_is_its_text() -> None:
    """Two rules are the same if their patterns are, and executors get what they judge by."""
    pattern = parse_pattern("a+")
    assert pattern.matches("aa")
    copied = pickle.loads(pickle.dumps(pattern))  # noqa: S301 (of this process)
    assert copied == pattern == Pattern("a+") != Pattern("a*")
    assert str(pattern) == "a+"
