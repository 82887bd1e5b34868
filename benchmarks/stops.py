"""How far a reader walks: the modules that a plan enters up to its first statement, and the returns to one.

    python -m benchmarks.stops [--list]

Plans the fixture `orders`, a table that gets a column, in this process, and notes from `prepare` on each
function when it is called for the first time, as somebody meets it who reads along. A return is a step back
into a module that was left before. Python's profiler tells the calls (`sys.setprofile`); every run
counts the same.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.repository import commit_all

if TYPE_CHECKING:
    from types import FrameType

CONTRACT: Final = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: bigint}\n"
CONFIGURATION: Final = '[targets.dev]\nroot = "lake"\n'
LOG: Final = (
    {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
    {
        "metaData": {
            "id": "orders",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(
                {
                    "type": "struct",
                    "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}],
                }
            ),
            "partitionColumns": [],
            "configuration": {},
        }
    },
)


class Planned(BaseException):
    """The first statement is made; no code of schemalint may catch this."""


class Walk:
    """The modules of schemalint in the order in which a reader meets their functions."""

    def __init__(self) -> None:
        self.modules: list[str] = []
        self._known: set[object] = set()
        self._started = False

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call; end with the first step of a plan."""
        code, module = frame.f_code, str(frame.f_globals.get("__name__", ""))
        if event != "call":
            return
        if code.co_name == "__init__" and type(frame.f_locals.get("self")).__name__ == "Step":
            raise Planned
        self._started |= code.co_name == "prepare" and module.startswith("schemalint.deploy.")
        if (
            not self._started
            or not module.startswith("schemalint.")
            or code.co_name == "<module>"
            or code in self._known
        ):
            return
        self._known.add(code)
        if self.modules[-1:] != [module]:
            self.modules.append(module)


def main() -> None:
    """Plan and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print each stop")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        declare(folder)
        os.chdir(folder)
        walk = walked()
    if options.list:
        print("\n".join(walk.modules))
    modules = set(walk.modules)
    rooms = {module.split(".")[1] for module in modules}
    returns = len(walk.modules) - len(modules)
    print(f"{len(modules)} modules in {len(rooms)} rooms, {returns} returns")


def declare(folder: Path) -> None:
    """Write the table, the contract that it was made from, and the contract with a column more."""
    log = folder / "lake/sales/orders/_delta_log"
    log.mkdir(parents=True)
    text = "".join(f"{json.dumps(action)}\n" for action in LOG)
    (log / f"{0:020}.json").write_text(text)
    (folder / "schemalint.toml").write_text(CONFIGURATION)
    (folder / "orders.yml").write_text(CONTRACT)
    commit_all(folder)
    (folder / "orders.yml").write_text(f"{CONTRACT}  - {{name: note, type: string}}\n")
    commit_all(folder)


def walked() -> Walk:
    """Plan in this process until the first statement is made."""
    from schemalint.cli import cli  # noqa: PLC0415 (its start is no part of the walk)

    walk = Walk()
    sys.setprofile(walk.note)
    try:
        cli.main(["plan", "--target", "dev"], standalone_mode=False)
    except Planned:
        return walk
    finally:
        sys.setprofile(None)
    raise SystemExit("the plan has no statement")


if __name__ == "__main__":
    main()
