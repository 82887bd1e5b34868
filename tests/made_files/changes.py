"""Changes of the dbt project, each of an incremental model and of a table model, and what dbt says of them.

``python tests/made_files/changes.py DBT`` asks the dbt at that path, which needs no connection, and prints
its
answers for ``answers.yaml``. dbt lives in an environment of its own, with dbt-spark.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
SCHEMA: Final = "models/schema.yml"

CHANGES: Final = {
    "decimal(12,2) to decimal(5,2)": ("orders", r'"decimal\(12,2\)"', '"decimal(5,2)"'),
    "the same inside a struct": ("customers", r"decimal\(10,2\)", "decimal(5,2)"),
    "int to bigint": ("customers", r"data_type: int", "data_type: bigint"),
    "int to integer": ("customers", r"data_type: int", "data_type: integer"),
    "a new NOT NULL": ("orders", r"(data_type: timestamp)", r"\1\n        constraints: [{type: not_null}]"),
    "a dropped column": ("orders", r"      - name: customer\n        data_type: string\n", ""),
    "a renamed column": ("orders", r"name: customer\b", "name: buyer"),
    "other partitions": ("events", r"partition_by=\['day'\]", "partition_by=['kind']"),
}
"""By name: the incremental model (the table model is ``…_replaced``), and what is replaced by what."""

REMOVED: Final = ("payments", "notes")
"""The models of the last change, a removed model: the incremental one and the table."""

_OF_EACH_RUN: Final = (
    "Running with dbt",
    "Registered adapter",
    "Unable to do partial",
    "Found ",
    "While comparing",
)


def edit(project: Path, change: str) -> None:
    """Make one change in a copy of the project."""
    if change not in CHANGES:
        _edit_schema(project, REMOVED, r"(?s).*", "")
        for model in REMOVED:
            (project / f"models/{model}.sql").unlink()
        return
    model, old, new = CHANGES[change]
    models = (model, f"{model}_replaced")
    if change == "other partitions":
        for name in models:
            file = project / f"models/{name}.sql"
            file.write_text(re.sub(old, new, file.read_text("utf-8")), encoding="utf-8")
    else:
        _edit_schema(project, models, old, new)


def _edit_schema(project: Path, models: tuple[str, ...], old: str, new: str) -> None:
    file = project / SCHEMA
    parts = re.split(r"(?m)^(?=  - name: |exposures:)", file.read_text("utf-8"))
    edited = [
        re.sub(old, new, part, count=1)
        if part.partition("\n")[0].removeprefix("  - name: ") in models
        else part
        for part in parts
    ]
    file.write_text("".join(edited), encoding="utf-8")


def _ask(dbt: str, project: Path, *arguments: str) -> str:
    env = {**os.environ, "DBT_PROFILES_DIR": str(project), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}
    run = subprocess.run(
        [dbt, "--no-use-colors", *arguments],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout + run.stderr


def record(dbt: str) -> None:
    """Print what dbt says about each change: which models are selected, and what it warns of."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder, "base")
        shutil.copytree(HERE / "shop", base)
        _ask(dbt, base, "parse")
        for change in (*CHANGES, "a removed model"):
            project = Path(folder, "head")
            shutil.copytree(HERE / "shop", project)
            edit(project, change)
            said = _ask(
                dbt, project, "ls", "--select", "state:modified.contract", "--state", str(base / "target")
            )
            lines = [re.sub(r"^[0-9:]+ +", "", line).strip() for line in said.splitlines()]
            sys.stdout.write(f"{change}: |\n")
            sys.stdout.writelines(
                f"  {line}\n" for line in lines if line and not line.startswith(_OF_EACH_RUN)
            )
            shutil.rmtree(project)


if __name__ == "__main__":
    record(sys.argv[1])
