"""Column paths as text and back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemalint.delta.path import (
    Part,
    Path,
    PathIndex,
    format_path,
    is_within,
    lowercased,
    path_key,
    path_to_json,
    split_path,
)
from support.strategies import names

NAMES = st.lists(names(), min_size=1, max_size=4).map(tuple)
PATHS = st.lists(names() | st.sampled_from(Part), min_size=1, max_size=4).map(tuple)

FORMATTED = [
    ((), ""),
    (("a",), "a"),
    (("lines", Part.ELEMENT, "qty"), "lines.element.qty"),
    (("m", Part.VALUE, Part.KEY), "m.value.key"),
    (("a.b", "c"), "`a.b`.c"),
    (("two words",), "`two words`"),
    (("back`quote",), "`back``quote`"),
    (("größe",), "größe"),
    (("line\nbreak",), "`line\nbreak`"),
]
BAD_TEXTS = [
    ("", "expected a name at character 1"),
    (".a", "expected a name at character 1"),
    ("a.", "expected a name at character 3"),
    ("a..b", "expected a name at character 3"),
    ("a`b", "expected a name at character 1"),
    ("`a", "the back-quote at character 1 is not closed"),
    ("a.`b``", "the back-quote at character 3 is not closed"),
    ("`a`b", "expected a dot at character 4"),
]


@pytest.mark.parametrize(("path", "text"), FORMATTED)
def test_a_path_is_formatted_with_dots_and_back_quotes(path: Path, text: str) -> None:
    assert format_path(path) == text


@pytest.mark.parametrize(("text", "message"), BAD_TEXTS)
def test_the_error_for_an_invalid_path_names_the_character(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        split_path(text)


@given(NAMES)
def test_splitting_a_formatted_path_gives_the_path(path: tuple[str, ...]) -> None:
    assert split_path(format_path(path)) == path


@given(PATHS)
def test_the_key_of_a_path_has_its_names_in_lower_case(path: Path) -> None:
    assert path_key(path) == tuple(name.lower() for name in split_path(format_path(path)))


def test_a_field_named_element_is_not_an_array_element() -> None:
    as_part: Path = ("a", Part.ELEMENT)
    as_name: Path = ("a", "element")
    assert lowercased(as_part) != lowercased(as_name)
    assert path_to_json(as_part) == ["a", {"in": "element"}]
    assert path_to_json(as_name) == ["a", "element"]
    assert path_key(as_part) == path_key(as_name)


def test_lowercased_paths_are_equal_if_only_the_case_differs() -> None:
    assert lowercased(("Größe", Part.KEY, "X")) == lowercased(("gRÖße", Part.KEY, "x"))
    assert lowercased(("straße",)) != lowercased(("strasse",))


SHORT_PATHS = st.lists(st.sampled_from(["a", "b", Part.KEY]), max_size=3).map(tuple)


@given(st.lists(SHORT_PATHS, max_size=8), SHORT_PATHS)
def test_an_index_finds_the_paths_that_a_comparison_with_each_finds(paths: list[Path], path: Path) -> None:
    index = PathIndex((other, number) for number, other in enumerate(paths))
    inside = [number for number, other in enumerate(paths) if is_within(other, path)]
    around = [number for number, other in enumerate(paths) if is_within(path, other)]
    assert list(index.within(path)) == inside
    assert sorted(index.around(path)) == around
    assert list(index.overlapping(path)) == sorted({*inside, *around})
