"""One ALTER TABLE on tables with many files, by the number of partitions in which Delta rebuilds a snapshot.

    python -m benchmarks.snapshots --files 10000 --partitions 1 2 8 50 [--runs 3]

Each statement alters a table of its own, whose log has a checkpoint with so many files. All run in one
session with schemalint's settings; the first round warms the engine up. Prints wall time and the CPU of the
JVM, as medians, and the JVM's peak memory so far.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.logs import write_checkpoint, write_commits
from schemalint.project.config import SparkSettings
from schemalint.project.config.trust import TrustedSpark
from schemalint.spark.session import start

SETTING = "spark.databricks.delta.snapshotPartitions"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, nargs="+", default=[1, 2, 8, 50])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    session = start(TrustedSpark(SparkSettings()))
    jvm = _child()
    found: dict[int, list[tuple[float, float]]] = {number: [] for number in options.partitions}
    for run in range(options.runs + 1):
        for partitions, results in found.items():
            with tempfile.TemporaryDirectory() as folder:
                table = Path(folder)
                write_commits(table, 0, 0)
                write_checkpoint(table, 0, options.files)
                session.conf.set(SETTING, str(partitions))
                wall, cpu = time.monotonic(), _cpu(jvm)
                session.sql(f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES ('run' = '{run}')").collect()
                if run or options.runs == 0:
                    results.append((time.monotonic() - wall, _cpu(jvm) - cpu))
            print(f"run {run}, {partitions} partitions: peak {_peak(jvm)} MiB", flush=True)
    for partitions, results in found.items():
        wall_times, cpu_times = zip(*results, strict=True)
        print(
            f"{options.files} files, {partitions} partitions: {statistics.median(wall_times):.2f} s, "
            f"CPU {statistics.median(cpu_times):.2f} s"
        )
    session.stop()


def _child() -> int:
    """Return the JVM, the only child of this process."""
    (line,) = subprocess.run(
        ["/usr/bin/pgrep", "-P", str(os.getpid()), "java"], capture_output=True, text=True, check=True
    ).stdout.split()
    return int(line)


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) // 1024


if __name__ == "__main__":
    main()
