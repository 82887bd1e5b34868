"""Judging a write before it happens: Python's CPU, without what Spark and the store answer.

    python -m benchmarks.guard [--runs 9]

A table in a temporary folder, of 100 and of 2,000 columns, unchanged since the last call; contracts from a
file. The DataFrame and its session stand in for Spark's: they answer at once. Prints the median CPU time of a
call for a write of the same schema, and for one that adds a column.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from engine.write_questions import Table, struct_of
from schemalint.delta.schema_json import print_schema
from schemalint.guard import check_write
from support.guard_tables import packed, table_at

SIZES = (100, 2_000)


def data_frame(columns: str) -> Any:  # noqa: ANN401 (it stands in for a DataFrame)
    """Return what has the schema and the session of a DataFrame."""
    text = print_schema(struct_of(columns))
    package = SimpleNamespace(VERSION=lambda: "4.4.0")
    delta = SimpleNamespace(package=package)
    session = SimpleNamespace(
        _jvm=SimpleNamespace(io=SimpleNamespace(delta=delta)),
        conf=SimpleNamespace(get=lambda _name, default: default),
    )
    return SimpleNamespace(schema=SimpleNamespace(json=lambda: text), sparkSession=session)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            columns = ", ".join(f"c{number}: string" for number in range(size))
            table, path = Table(columns), Path(folder, str(size))
            file = path.with_suffix(".json")
            file.write_text(json.dumps(packed(table_at(path, table), table, columns=True)))
            for what, data in (("the same schema", columns), ("a column more", f"{columns}, z: int")):
                frame = data_frame(data)
                median = statistics.median(once(frame, file) for _ in range(runs + 1))
                print(f"{size:5} columns, {what}: {median * 1000:.1f} ms")


def once(frame: Any, file: Path) -> float:  # noqa: ANN401 (as above)
    """Judge a write, and return the CPU seconds that it took."""
    started = time.process_time()
    result = check_write(frame, "sales.orders", contracts=file, options={"mergeSchema": "true"})
    taken = time.process_time() - started
    if result.outcome != "allowed":
        raise SystemExit(str(result))
    return taken


if __name__ == "__main__":
    main()
