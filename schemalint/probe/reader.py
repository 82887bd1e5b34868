"""Run a recipe as a program of its own: ``python reader.py RECIPE.py [READ_PATH TABLE...]``.

Without a read path it prints the reader's version and its read paths, else one line for each table, in their
order: its rows, or the error. It imports nothing of schemalint, which the reader's Python need not have.
"""

from __future__ import annotations

import json
import runpy
import sys
from typing import Any


def _main(recipe: str, *arguments: str) -> None:
    module = runpy.run_path(recipe)
    if not arguments:
        _print({"version": module["version"](), "read_paths": list(module["READ_PATHS"])})
        return
    read_path, *tables = arguments
    for table in tables:
        try:
            answer: dict[str, Any] = {"rows": [dict(row) for row in module["READ_PATHS"][read_path](table)]}
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 (a panic of a reader in Rust is no Exception)
            answer = {"error": f"{type(error).__name__}: {error}"}
        _print(answer)


def _print(answer: dict[str, Any]) -> None:
    print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
