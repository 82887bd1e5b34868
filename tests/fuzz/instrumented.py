"""Run one target in atheris; `fuzz.run` starts this with the arguments of libFuzzer."""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Final

import atheris

from fuzz.mutation import Mutator

_FIRST: Final = 50  # seeds


def main() -> None:
    """Follow the branches of schemalint and of its rules, and fuzz the target until libFuzzer ends."""
    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=["schemalint", "schemalint_rules"]):
        target = import_module(f"fuzz.targets.{name}")
        # many modules are imported only where they are used
        for seed in islice(target.seeds(), _FIRST):
            target.run(seed)
    folder = Path(".fuzz/.seeds", name)
    folder.mkdir(parents=True, exist_ok=True)
    seeds = list(dict.fromkeys(target.seeds()))
    for number, seed in enumerate(seeds):
        (folder / f"{number}").write_bytes(seed)
    words = folder.with_suffix(".words")
    words.write_text("".join(f"{_word(word)}\n" for word in target.WORDS))
    options = [f"-max_len={target.LONGEST}", f"-dict={words}"]
    # atheris replaces its function when fuzzing begins
    mutator = Mutator(seeds, lambda data, most: atheris.Mutate(data, most))  # noqa: PLW0108
    atheris.Setup([*sys.argv, *options, str(folder)], target.run, custom_mutator=mutator)
    atheris.Fuzz()


def _word(word: str) -> str:
    """Return a word as libFuzzer's dictionaries write it."""
    escaped = "".join(
        char if char.isascii() and char.isprintable() and char not in '"\\' else f"\\x{ord(char):02x}"
        for char in word
    )
    return f'"{escaped}"'


if __name__ == "__main__":
    main()
