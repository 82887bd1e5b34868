"""Run a recipe as a program of its own: ``python reader.py RECIPE.py [READ_PATH TABLE...]``.

Without a read path it prints the reader's version and its read paths, else one line for each table, in their
order: its rows, or the error. It imports nothing of schemalint, which the reader's Python need not have.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from typing import Any


def _main(recipe: str, *arguments: str) -> None:
    # What a reader's libraries print goes to standard error: Spark's child process prints too.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        module = runpy.run_path(recipe)
        if not arguments:
            about = {"version": module["version"](), "read_paths": list(module["READ_PATHS"])}
            print(json.dumps(about), file=answers)
            return
        read_path, *tables = arguments
        for table in tables:
            print(
                json.dumps(_ask(module["READ_PATHS"][read_path], table), default=str),
                file=answers,
                flush=True,
            )


def _ask(read: Any, table: str) -> dict[str, Any]:  # noqa: ANN401 (of a recipe)
    try:
        return {"rows": [dict(row) for row in read(table)]}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 (a panic of a reader in Rust is no Exception)
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    _main(*sys.argv[1:])
