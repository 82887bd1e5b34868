"""`schemalint check` in a cold process, as a ratio to importing its libraries alone.

    python -m benchmarks.check [--runs 9] [--changed 1 50]

Makes a repository of 1,000 contracts with 50 columns each, changes some of them, and runs the command and its
peer in turn, each as a process of its own. Prints user+system CPU time and peak memory, as medians of the
ratios pair by pair.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.paired import describe, measured
from benchmarks.repository import commit_all, git

CONTRACTS = 1_000
COLUMNS = 50
PEER = [sys.executable, "-c", "import click, pydantic, ruamel.yaml"]
COMMAND = [
    sys.executable,
    "-c",
    "import sys; from schemalint.cli import main; sys.exit(main(['check', '--output-format', 'concise']))",
]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--changed", type=int, nargs="+", default=[1, 50])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder)
        make_repository(repository)
        for changed in options.changed:
            change(repository, changed)
            pairs = measured(COMMAND, PEER, options.runs, repository)
            print(describe(f"{changed} changed of {CONTRACTS:,}", pairs), flush=True)


def make_repository(folder: Path) -> None:
    """A packed git repository with all contracts committed."""
    for number in range(CONTRACTS):
        path = folder / f"contracts/domain_{number % 20}/table_{number}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contract(number))
    commit_all(folder)
    git(folder, "gc", "--quiet")


def contract(number: int) -> str:
    """A table of 50 columns."""
    types = ["bigint", "string", '"decimal(10,2)"', "timestamp", '"array<struct<sku: string, qty: int>>"']
    columns = "".join(
        f"  - {{name: column_{index}, type: {types[index % len(types)]}, comment: Number {index}.}}\n"
        for index in range(COLUMNS)
    )
    return f"schemalint: 1\ntable: domain_{number % 20}.table_{number}\ncolumns:\n{columns}"


def change(folder: Path, changed: int) -> None:
    """Widen a column of the first contracts; the others are as committed."""
    for number in range(CONTRACTS):
        path = folder / f"contracts/domain_{number % 20}/table_{number}.yml"
        text = contract(number)
        if number < changed:
            text = text.replace("decimal(10,2)", "decimal(12,2)", 1)
        if path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
