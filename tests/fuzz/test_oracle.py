"""The oracle sees what is a bug, and the mutator makes inputs that the targets can take."""

from __future__ import annotations

import pytest

from fuzz.mutation import Mutator
from fuzz.oracle import Found, line_breaks, only_errors_of_the_input, require_harmless, require_no_bug
from fuzz.parts import joined, split
from schemalint.base.errors import ConfigError, InternalError, PluginError


@pytest.mark.parametrize("error", [InternalError("a bug"), PluginError("a rule raises"), ConfigError("")])
def test_bugs_and_errors_without_a_message_are_found(error: Exception) -> None:
    with pytest.raises(Found), only_errors_of_the_input():
        raise error
    with pytest.raises(Found):
        require_no_bug([ConfigError("fine"), error])  # type: ignore[list-item]


def test_other_exceptions_are_found_and_errors_of_the_input_are_not() -> None:
    with pytest.raises(LookupError), only_errors_of_the_input():
        raise LookupError
    with only_errors_of_the_input():
        raise ConfigError("a key is unknown")


@pytest.mark.parametrize("text", ["\x1b[2J", "a\rb", "\u202e", "\x07"])
def test_texts_that_a_terminal_obeys_are_found(text: str) -> None:
    require_harmless("fine\nand so on\n")
    with pytest.raises(Found):
        require_harmless(f"fine\n{text}")


def test_line_breaks_are_told_apart() -> None:
    assert line_breaks("a\r\nb\nc\rd") == {"\r\n", "\n", "\r"}


def test_parts_are_split_as_they_were_joined() -> None:
    parts = {"head": b"a\n\n", "_delta_log/0.json": b"=\n==", "empty": b""}
    assert split(joined(parts)) == parts
    assert split(b"no parts") == {}


def test_mutations_are_repeatable_and_no_longer_than_allowed() -> None:
    mutate = Mutator([b"columns:\n  - {name: id}\n", b"type: int"], lambda data, most: data[:most])
    mutated = {mutate(b"schemalint: 1\ntable: a.b\n", 40, seed) for seed in range(200)}
    assert mutated == {mutate(b"schemalint: 1\ntable: a.b\n", 40, seed) for seed in range(200)}
    assert len(mutated) > 50
    assert max(map(len, mutated)) <= 40
    assert any(b"type" in text for text in mutated)
