"""Every kept input, and a sample of the seeds, through its fuzz target: without a fuzzer, in seconds."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from fuzz.targets import NAMES

CORPORA = Path(__file__).parent / "corpora"
KEPT = sorted(CORPORA.glob("*/*"))
SEEDS = 25
"""Seeds of a target, taken at equal distances from all of them."""


@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_kept_inputs_show_no_bug(file: Path) -> None:
    import_module(f"fuzz.targets.{file.parent.name}").run(file.read_bytes())


@pytest.mark.wide
@pytest.mark.parametrize("name", NAMES)
def test_seeds_show_no_bug(name: str) -> None:
    target = import_module(f"fuzz.targets.{name}")
    seeds = list(dict.fromkeys(target.seeds()))
    assert seeds
    for seed in seeds[:: max(1, len(seeds) // SEEDS)]:
        target.run(seed)
        target.run(seed[: len(seed) // 2])


def test_every_kept_input_belongs_to_a_target() -> None:
    assert {file.parent.name for file in KEPT} <= set(NAMES)
