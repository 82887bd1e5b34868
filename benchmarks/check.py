"""`schemalint check` in a cold process, as a ratio to importing its libraries alone.

    python benchmarks/check.py [--runs 9] [--changed 1 50]

Makes a repository of 1,000 contracts with 50 columns each, changes some of them, and runs the command and its
peer in turn, each as a process of its own. Prints user+system CPU time and peak memory, as medians of the
ratios pair by pair.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CONTRACTS = 1_000
COLUMNS = 50
PEER = [sys.executable, "-c", "import click, pydantic, ruamel.yaml"]
COMMAND = [
    sys.executable,
    "-c",
    "from schemalint.cli import main; main(['check', '--output-format', 'concise'])",
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
            report(changed, [pair(repository) for _ in range(options.runs + 1)][1:])


def pair(repository: Path) -> tuple[tuple[float, float], tuple[float, float]]:
    """CPU seconds and peak MiB of the command and of the peer, one after the other."""
    return run(COMMAND, repository), run(PEER, repository)


def run(command: list[str], folder: Path) -> tuple[float, float]:
    """CPU seconds of a process with its children, and its own peak memory in MiB."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _pid, _status, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def report(changed: int, pairs: list[tuple[tuple[float, float], tuple[float, float]]]) -> None:
    """One line per figure."""
    cpu = statistics.median(ours[0] / peer[0] for ours, peer in pairs)
    memory = statistics.median(ours[1] / peer[1] for ours, peer in pairs)
    seconds = statistics.median(ours[0] for ours, _peer in pairs)
    peak = statistics.median(ours[1] for ours, _peer in pairs)
    print(
        f"{changed} changed of {CONTRACTS:,}: CPU {cpu:.2f} x peer ({seconds * 1000:.0f} ms), "
        f"memory {memory:.2f} x peer ({peak:.0f} MiB), {len(pairs)} runs"
    )


def make_repository(folder: Path) -> None:
    """A packed git repository with all contracts committed."""
    for number in range(CONTRACTS):
        path = folder / f"contracts/domain_{number % 20}/table_{number}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contract(number))
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(
        folder,
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@example.com",
        "commit",
        "--quiet",
        "-m",
        "all",
    )
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


def git(folder: Path, *arguments: str) -> None:
    """Run git without the user's settings."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=folder, env=env, check=True)


if __name__ == "__main__":
    main()
