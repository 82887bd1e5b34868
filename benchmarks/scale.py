"""Many contracts: `check` of one changed contract, and of all contracts, with how both grow.

    python -m benchmarks.scale [--tables 1000 10000] [--columns 50] [--style flow] [--runs 3]

Makes repositories of tables and widens a column of one. Prints wall time, CPU and peak memory, as medians,
and the exponent of the growth between two numbers of tables.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.check import COMMAND
from benchmarks.repository import STYLES, commit_all, write_contracts
from benchmarks.tables import Timed, describe, exponents, medians, timed

_CASES: Final = {"check, 1 changed": COMMAND, "check --all, 1 changed": [*COMMAND, "--all"]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--style", choices=STYLES, default="flow")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    sizes: dict[str, dict[int, Timed]] = {case: {} for case in _CASES}
    for tables in options.tables:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_contracts(folder, tables, options.columns, 0, options.style)
            commit_all(folder)
            write_contracts(folder, tables, options.columns, 1, options.style)
            for case, command in _CASES.items():
                found = medians([timed(command, folder) for _ in range(options.runs)])
                sizes[case][tables] = found
                print(f"{case}, {tables:,} tables: {describe(found)}", flush=True)
    for case, found_by_size in sizes.items():
        if len(found_by_size) > 1:
            print(f"{case}: exponents {exponents(found_by_size)}", flush=True)


if __name__ == "__main__":
    main()
