"""`schemalint check` in a cold process, as a ratio to a peer in turn: CPU and peak memory.

    python -m benchmarks.check [--tables 1000] [--columns 50] [--changed 1 50 1000] [--style flow] [--runs 7]
    python -m benchmarks.check --buf PATH
    python -m benchmarks.check --datacontract PATH --changed 1
    python -m benchmarks.check --native --style SQL --changed 1000

Makes a repository of tables, widens a column of some of them, and runs the command and its peer in turn. The
peer imports three of schemalint's dependencies; with ``--buf`` it is `buf breaking` on the same tables as
protobuf messages, with ``--native`` our check of the same tables as contracts of the style flow, with
``--datacontract`` one `datacontract breaking` on the changed table, before and after.
Prints user+system CPU and peak memory, as medians of the ratios pair by pair.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.paired import describe, measured
from benchmarks.repository import (
    STYLES,
    WIDENED,
    commit_all,
    write_contracts,
    write_data_contracts,
    write_messages,
)

IMPORTS = [sys.executable, "-c", "import click, pydantic, ruamel.yaml"]
COMMAND = [str(Path(sys.executable).with_name("schemalint")), "check", "--output-format", "concise"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=1_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--changed", type=int, nargs="+", default=[1, 50])
    parser.add_argument("--style", choices=STYLES, default="flow")
    peers = parser.add_mutually_exclusive_group()
    peers.add_argument("--buf", type=Path)
    peers.add_argument("--datacontract", type=Path)
    peers.add_argument("--native", action="store_true")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    if options.datacontract and options.changed != [1]:
        parser.error("datacontract compares one pair of files: --changed 1")
    size = (options.tables, options.columns)
    with tempfile.TemporaryDirectory() as contracts, tempfile.TemporaryDirectory() as messages:
        ours, theirs = Path(contracts), Path(messages)
        write_contracts(ours, *size, 0, options.style)
        commit_all(ours)
        if options.buf:
            write_messages(theirs, *size, 0)
            commit_all(theirs)
        if options.datacontract:
            write_data_contracts(theirs, options.columns)
        if options.native:
            write_contracts(theirs, *size, 0)
            commit_all(theirs)
        for changed in options.changed:
            write_contracts(ours, *size, changed, options.style)
            if options.buf:
                write_messages(theirs, *size, changed)
            if options.native:
                write_contracts(theirs, *size, changed)
            peer = peer_command(options)
            pairs = measured(COMMAND, peer, options.runs, ours, theirs)
            # Peers exit with 1 when they break too.
            if peer is not IMPORTS and any(WIDENED not in cost.output for _ours, cost in pairs):
                raise RuntimeError(f"{peer} did not find the change")
            case = f"{changed:,} of {size[0]:,} changed, {size[1]:,} columns, {options.style}"
            print(describe(case, pairs), flush=True)


def peer_command(options: argparse.Namespace) -> list[str]:
    """The command that ours is compared with."""
    if options.buf:
        return [str(options.buf.absolute()), "breaking", "--against", ".git"]
    if options.native:
        return COMMAND
    if options.datacontract:
        return [str(options.datacontract.absolute()), "breaking", "before.yaml", "after.yaml"]
    return IMPORTS


if __name__ == "__main__":
    main()
