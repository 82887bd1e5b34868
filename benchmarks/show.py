"""Reading a table's latest protocol and schema from its log, against delta-rs.

    python -m benchmarks.show [--runs 9] [--files 1000000] [--python .venv/bin/python]

Makes logs in a temporary folder (see `benchmarks.logs`). Cold: `schemalint show` and a script with
`DeltaTable(path)`, each a process of its own. Warm: one process of each reads the table again and again, and
says how long one time took. Prints user+system CPU time and peak memory, as medians of the ratios pair by
pair. `--python` runs schemalint with another Python than the peer, such as that of an environment with
nothing but `schemalint[live]`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.paired import Pairs, describe, measured

COMMITS = 100
"""Of a small table; see `benchmarks.logs`."""

WARM_READS = 200

_PEER = (
    "from deltalake import DeltaTable; table = DeltaTable(sys.argv[1]); "
    "print(table.protocol(), table.schema().to_json())"
)
_WARM = """
import statistics, time
def once():
    started = time.process_time()
    {read}
    return time.process_time() - started
once()
print(statistics.median(once() for _ in range({reads})))
"""
_OURS_WARM = "from schemalint.tables.storage import read_table" + _WARM
_PEER_WARM = "from deltalake import DeltaTable" + _WARM


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make = [sys.executable, "-m", "benchmarks.logs", folder, "--files", str(options.files)]
        # Not in this process: the peak of a child begins with its parent's memory.
        subprocess.run(make, check=True)
        small(Path(folder), options.python, options.runs)
        large(Path(folder), options.python, options.runs, options.files)


def small(folder: Path, python: str, runs: int) -> None:
    """A table of a hundred commits, without and with a checkpoint."""
    for table, name in (("plain", "without a checkpoint"), ("checkpointed", "with a checkpoint")):
        print(
            describe(f"cold, {COMMITS} commits {name}", cold(folder / table, python, runs, "--no-history")),
            flush=True,
        )
        print(warm(f"warm, {COMMITS} commits {name}", folder / table, python, runs), flush=True)


def large(folder: Path, python: str, runs: int, files: int) -> None:
    """Checkpoints of very many files, and a few commits behind them."""
    for table, kind in (("classic", "classic checkpoint"), ("v2", "V2 checkpoint with sidecars")):
        name = f"{kind} of {files:,} files"
        print(describe(f"{name}, state", cold(folder / table, python, runs, "--no-history")), flush=True)
        print(describe(f"{name}, with history", cold(folder / table, python, runs)), flush=True)


def cold(table: Path, python: str, runs: int, *options: str) -> Pairs:
    """Whole processes."""
    command = [str(Path(python).with_name("schemalint")), "show", "--output-format", "json", *options]
    return measured([*command, str(table)], [*_python(_PEER), str(table)], runs)


def warm(name: str, table: Path, python: str, runs: int) -> str:
    """One read in a process that has read the table before."""
    read = f"read_table({str(table)!r}, history=False)"
    peer_read = f"table = DeltaTable({str(table)!r}); table.protocol(); table.schema()"
    pairs = measured(
        _python(_OURS_WARM.format(read=read, reads=WARM_READS), python),
        _python(_PEER_WARM.format(read=peer_read, reads=WARM_READS)),
        runs,
    )
    times = [(float(ours.output), float(peer.output)) for ours, peer in pairs]
    ratio = statistics.median(ours / peer for ours, peer in times)
    ours_ms, peer_ms = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
    return f"{name}: CPU {ratio:.3f} x peer ({ours_ms:.2f} of {peer_ms:.2f} ms a read), {len(pairs)} runs"


def _python(code: str, python: str = sys.executable) -> list[str]:
    return [python, "-c", f"import sys; {code}"]


if __name__ == "__main__":
    main()
