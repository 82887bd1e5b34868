"""Many live tables: commands that read them all, from local folders or from a store that answers late.

    python -m benchmarks.tables [--tables 100 1000] [--command check plan audit pull init] [--jobs 1 16 32]
    python -m benchmarks.tables --latency 0.05
    python -m benchmarks.tables --command apply --tables 600 --jobs 4 --runs 1

Makes tables of 50 columns with 13 commits and a checkpoint, and their contracts, but for `pull` and `init`,
which write them. `apply` writes the markers of the tables, in the first run only. With ``--latency`` the
tables are in a store (`benchmarks.slow_store`): then the wall time of a run is told in rounds too, each a
wait of the store. Prints the exponent of the growth between two numbers of tables.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from benchmarks.paired import Cost, run
from benchmarks.repository import commit_all, git

_COMMITS: Final = 13
_CHECKPOINT: Final = 10
_TABLE: Final = "db.table"

_PROGRAM: Final = str(Path(sys.executable).with_name("schemalint"))
_TYPES: Final = {"long": "bigint", "decimal(10,2)": '"decimal(10,2)"'}
_COMMANDS: Final = {
    "check": ("check", "--live", "--all", "--output-format", "concise"),
    "plan": ("plan", "--base", "HEAD"),
    "audit": ("audit", "--target", "dev", "--all", "--output-format", "concise"),
    "pull": ("pull", "--target", "dev", "--all", "--into", "contracts/{table}.yml"),
    "init": ("init", "--target", "dev", "--ci", "none"),
    "apply": ("apply", "--yes", "--max-tables", "0"),
}
_WRITING: Final = frozenset({"pull", "init"})


@dataclass(frozen=True, slots=True)
class Timed:
    """What a run took; the requests of a store are its connections, requests, and most at a time."""

    cost: Cost
    seconds: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, nargs="+", default=[100, 1_000])
    parser.add_argument(
        "--command", choices=_COMMANDS, nargs="+", default=[name for name in _COMMANDS if name != "apply"]
    )
    parser.add_argument("--jobs", type=int, nargs="+", default=[16])
    parser.add_argument("--latency", type=float)
    parser.add_argument("--master")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for command in options.command:
        for jobs in options.jobs:
            sizes: dict[int, Timed] = {}
            for tables in options.tables:
                sizes[tables] = timed = measure(command, tables, jobs, options)
                print(
                    f"{command}, {tables:,} tables, --jobs {jobs}: {describe(timed, options.latency)}",
                    flush=True,
                )
            if len(sizes) > 1:
                print(f"  exponents: {exponents(sizes)}", flush=True)


def measure(command: str, tables: int, jobs: int, options: argparse.Namespace) -> Timed:
    """Return the medians of some runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        template = folder / "template"
        # Not in this process: the peak of a child begins with its parent's memory.
        maker = get_context("spawn").Process(target=make_table, args=(template,))
        maker.start()
        maker.join()
        project = folder / "project"
        with serving(template, tables, options.latency) if options.latency else nullcontext() as server:
            make_project(project, template, tables, server, contracts=command not in _WRITING)
            call = [_PROGRAM, *_COMMANDS[command], "--jobs", str(jobs), "--no-progress"]
            call += ["--via", "spark", "--master", options.master] if options.master else []
            found = []
            for _ in range(options.runs):
                git(project, "clean", "-d", "--force", "--quiet")
                found.append(timed(call, project))
    return medians(found)


def medians(found: Sequence[Timed]) -> Timed:
    """Return the median of each figure of some runs."""
    return Timed(
        Cost(
            statistics.median(run.cost.cpu for run in found),
            statistics.median(run.cost.peak for run in found),
            found[0].cost.output,
        ),
        statistics.median(run.seconds for run in found),
    )


def timed(call: Sequence[str], folder: Path) -> Timed:
    """Run a command."""
    started = time.monotonic()
    cost = run(call, folder)
    return Timed(cost, time.monotonic() - started)


def describe(timed: Timed, latency: float | None = None) -> str:
    """Return the figures of a run."""
    rounds = f" = {timed.seconds / latency:,.0f} rounds" if latency else ""
    return f"{timed.seconds:.2f} s{rounds}, CPU {timed.cost.cpu:.2f} s, {timed.cost.peak:.0f} MiB"


def exponents(sizes: dict[int, Timed]) -> str:
    """Return how the figures grow with the number of tables: 1 is in proportion."""
    (few, first), *_, (many, last) = sizes.items()
    pairs = {
        "wall": (first.seconds, last.seconds),
        "CPU": (first.cost.cpu, last.cost.cpu),
        "memory": (first.cost.peak, last.cost.peak),
    }
    grown = {name: math.log(after / before, many / few) for name, (before, after) in pairs.items()}
    return ", ".join(f"{name} {exponent:.2f}" for name, exponent in grown.items())


def make_table(folder: Path) -> None:
    """Make the log of a small table, and beside it a contract."""
    from benchmarks import logs  # noqa: PLC0415 (needs pyarrow)

    logs.write_commits(folder, 0, _COMMITS - 1)
    logs.write_checkpoint(folder, _CHECKPOINT, (_CHECKPOINT + 1) * logs.FILES_PER_COMMIT)
    columns = "".join(
        f"  - {{name: column_{index}, type: {_TYPES.get(type_, type_)}}}\n"
        for index, type_ in ((index, logs.TYPES[index % len(logs.TYPES)]) for index in range(logs.COLUMNS))
    )
    contract = (
        f"schemalint: 1\ntable: {_TABLE}\ncolumns:\n{columns}  - {{name: day, type: date}}\n"
        "partitioned_by: [day]\n"
    )
    (folder.parent / "contract.yml").write_text(contract)


def make_project(project: Path, template: Path, tables: int, server: str | None, *, contracts: bool) -> None:
    """Make a repository, its contracts if it has them, and without a server the tables below it."""
    project.mkdir()
    contract = (template.parent / "contract.yml").read_text()
    for number in range(tables):
        if contracts:
            path = project / f"contracts/table_{number}.yml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(contract.replace(_TABLE, f"db.table_{number}"))
        if server is None:
            shutil.copytree(template, project / f"lake/db/table_{number}", copy_function=os.link)
    storage = (
        'root = "s3://lake"\n[targets.dev.storage]\n'
        f'endpoint = "{server}"\nallow_http = "true"\nregion = "us-east-1"\nanonymous = "true"\n'
    )
    (project / "schemalint.toml").write_text("[targets.dev]\n" + (storage if server else 'root = "lake"\n'))
    (project / ".gitignore").write_text("lake\n")
    commit_all(project)


@contextmanager
def serving(template: Path, tables: int, latency: float) -> Iterator[str]:
    """Start the store, yield its address, and print what was asked of it."""
    call = [sys.executable, "-m", "benchmarks.slow_store", str(template)]
    call += ["--latency", str(latency), "--tables", str(tables)]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the store has no output")
        yield process.stdout.readline().strip()
        process.stdin.close()
        connections, requests, most = process.stdout.read().split()
        print(f"  {connections} connections, {requests} requests, {most} at a time at most")


if __name__ == "__main__":
    main()
