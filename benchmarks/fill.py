"""A fill of a whole table: `apply --allow data` in a JVM with a small heap that lets nothing be collected.

    python -m benchmarks.fill [--gigabytes 1] [--partitions 0] [--heap 1g]

A table of Spark's `range` with an old column of text, and padding that does not compress, in a temporary
folder. One `apply` adds the new column, the measured one fills it. A result of more than one MiB for the
driver would fail (`spark.driver.maxResultSize`). Prints bytes, rows, commits, seconds, the JVM's largest heap
and the largest memory of the Python process, after it has proved number and sum of the filled values.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.apply import declare
from schemalint.deploy.results import Outcome
from schemalint.project.config import SparkSettings
from schemalint.project.config.trust import TrustedSpark
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.runner import apply
from schemalint.spark.session import start

ROW_BYTES = 256
COLUMNS = """\
schemalint: 1
table: sales.table_{{number}}
columns:
  - {{{{name: part, type: int}}}}
  - {{{{name: old, type: string}}}}
  - {{{{name: padding, type: string}}}}
{new}{partitioned}"""
NEW = '  - {{name: new, type: bigint, backfill: {{from: old, with: "cast(old as bigint)"}}}}\n'


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--partitions", type=int, default=0)
    parser.add_argument("--heap", default="1g")
    options = parser.parse_args()
    conf = {
        "spark.driver.memory": options.heap,
        "spark.driver.maxResultSize": "1m",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
    }
    session = start(TrustedSpark(SparkSettings(conf=conf)))
    with tempfile.TemporaryDirectory() as folder:
        measure(session, Path(folder) / "repository", int(options.gigabytes * (1 << 30)), options.partitions)
    session.stop()


def measure(session: Any, repository: Path, size: int, partitions: int) -> None:  # noqa: ANN401 (pyspark's)
    """Make a table, fill it, and print what that took."""
    partitioned = "partitioned_by: [part]\n" if partitions else ""
    declare(repository, COLUMNS.format(new="", partitioned=partitioned), 1)
    applied(session, repository)
    table = f"delta.`{repository.resolve() / 'lake/sales/table_0'}`"
    rows = max(size // ROW_BYTES, partitions)
    padding = ", ".join(f"sha2(CAST(id * 4 + {number} AS string), 256)" for number in range(4))
    # The rows of a partition come one after the other, so that each has one file or few.
    session.sql(
        f"INSERT INTO {table} SELECT CAST(id * {max(partitions, 1)} DIV {rows} AS int), CAST(id AS string), "  # noqa: S608 (all ours)
        f"concat({padding}) FROM range({rows})"
    )
    declare(repository, COLUMNS.format(new=NEW, partitioned=partitioned), 1)
    applied(session, repository)
    details = session.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    started = time.monotonic()
    result = applied(session, repository, allow=["data"])
    seconds = time.monotonic() - started
    ((filled, total),) = session.sql(f"SELECT count(new), sum(new) FROM {table}").collect()  # noqa: S608
    if (filled, total) != (rows, rows * (rows - 1) // 2):
        raise RuntimeError(f"{filled:,} of {rows:,} rows filled, with the sum {total:,}")
    print(f"{details['sizeInBytes']:,} bytes in {details['numFiles']:,} files: {result.done[0].note}")
    python = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{seconds:.0f} s; heap {peak_heap(session):,} MiB at its peak, Python {python:,} MiB")


def applied(session: Any, repository: Path, **options: Any) -> Any:  # noqa: ANN401 (pyspark's)
    """Apply the contract."""
    (result,) = apply(session, repository, ApplyOptions(**options))
    if result.outcome not in (Outcome.APPLIED, Outcome.FILLING):
        raise RuntimeError(f"{result.outcome}: {result.error}")
    return result


def peak_heap(session: Any) -> int:  # noqa: ANN401 (pyspark's)
    """The MiB of the heap's pools, each at its own peak: at least what was in use at any time."""
    management = session.sparkContext._jvm.java.lang.management  # noqa: SLF001
    pools = management.ManagementFactory.getMemoryPoolMXBeans()
    of_heap = [pool for pool in pools if pool.getType().toString() == "Heap memory"]
    return int(sum(pool.getPeakUsage().getUsed() for pool in of_heap)) >> 20


if __name__ == "__main__":
    main()
