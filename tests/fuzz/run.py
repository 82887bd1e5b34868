"""Fuzz the readers with atheris, which follows the branches that an input takes: ``make fuzz``.

    python -m fuzz.run --seconds 3600               all targets, one after the other, an equal time each
    python -m fuzz.run --seconds 600 logs           one target
    python -m fuzz.run --again FILE contracts       one input, as a debugger sees it

An input that raises, takes over 10 seconds or over 1 GiB is kept in ``.fuzz/found/<target>/``, and the target
starts again. What the fuzzer learns is kept in ``.fuzz/<target>/``, for the next run.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from fuzz.targets import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE: Final = Path(__file__).parent
CORPORA: Final = HERE / "corpora"
LEARNED: Final = Path(".fuzz")
FOUND: Final = LEARNED / "found"

LONGEST_RUN: Final = 10
"""Seconds that one input may take."""

MOST_MEMORY: Final = 1024
"""MiB that the process may take."""

_NEW: Final = re.compile(r"\t(?:NEW|REDUCE|RELOAD)|^INFO: Instrumenting")
"""What libFuzzer prints of each input that it learns from, and atheris of each module."""


class Result(NamedTuple):
    """What fuzzing a target did."""

    target: str
    seconds: int
    inputs: int
    corpus: int
    slowest: int
    memory: int
    found: int


def main() -> int:
    """Run the targets, print a table of the results, and return 1 if an input was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.run")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--again", type=Path, metavar="FILE")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(NAMES)}; by default all")
    options = parser.parse_args()
    targets = options.targets or NAMES
    if unknown := set(targets) - set(NAMES):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    if options.again:
        for name in targets:
            import_module(f"fuzz.targets.{name}").run(options.again.read_bytes())
        return 0
    results = [_fuzz(name, options.seconds // len(targets)) for name in targets]
    print(_table(results))
    return 1 if any(result.found or not result.inputs for result in results) else 0


def _fuzz(name: str, seconds: int) -> Result:
    """Fuzz a target until the time is over, again after each input that was found."""
    learned, found = LEARNED / name, FOUND / name
    learned.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    before = known = _names(found)
    started = time.monotonic()
    inputs = slowest = memory = 0
    while (left := seconds - int(time.monotonic() - started)) > 0:
        print(f"fuzzing {name} for {left} seconds", flush=True)
        limits = [
            *(f"-max_total_time={left}", f"-timeout={LONGEST_RUN}", f"-rss_limit_mb={MOST_MEMORY}"),
            *(f"-artifact_prefix={found}/", "-print_final_stats=1"),
        ]
        kept = [CORPORA / name] if (CORPORA / name).is_dir() else []
        output = _printed_too([sys.executable, "-m", "fuzz.instrumented", name, *limits, learned, *kept])
        inputs += _number("number_of_executed_units", output)
        slowest = max(slowest, _number("slowest_unit_time_sec", output))
        memory = max(memory, _number("peak_rss_mb", output))
        if _names(found) == known:  # the time is over, or the same input would end the next run too
            break
        known = _names(found)
    return Result(
        name,
        round(time.monotonic() - started),
        inputs,
        len(_names(learned)),
        slowest,
        memory,
        len(known - before),
    )


def _printed_too(command: Sequence[str | Path]) -> str:
    lines: list[str] = []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path[1:]])}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if not _NEW.search(line):
                print(line, end="", flush=True)
            lines.append(line)
            del lines[:-1000]
    return "".join(lines)


def _number(name: str, output: str) -> int:
    match = re.search(rf"^stat::{name}:\s+(\d+)", output, re.MULTILINE)
    return int(match[1]) if match else 0


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _table(results: Sequence[Result]) -> str:
    lines = [
        "| target | seconds | inputs | kept | slowest | memory | found |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {name} | {seconds:,} | {inputs:,} | {corpus:,} | {slowest} s | {memory} MiB | {found} |"
        for name, seconds, inputs, corpus, slowest, memory, found in results
    ]
    seconds = sum(result.seconds for result in results)
    inputs = sum(result.inputs for result in results)
    found = sum(result.found for result in results)
    return "\n".join([*lines, f"| all | {seconds:,} | {inputs:,} | | | | {found} |"])


if __name__ == "__main__":
    sys.exit(main())
