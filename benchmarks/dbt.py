"""Manifests of dbt: `check` of two manifests, by the number of models and by their size in MiB.

    python -m benchmarks.dbt [--models 500 1000 2000] [--mib 64 128 256] [--runs 3]

Multiplies the manifest of the project in `tests/made_files/shop`; the text of its models fills it up.
One decimal gets smaller in the head. Prints wall time, CPU and peak memory, as medians, and the exponent of
the growth.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.check import COMMAND
from benchmarks.repository import commit_all
from benchmarks.tables import Timed, describe, exponents, medians, timed

_MANIFEST: Final = Path(__file__).parents[1] / "tests/made_files/manifests/v12.json"
_COMMAND: Final = [*COMMAND, "--base-from", "dbt:../state/manifest.json"]
_CONFIGURATION: Final = 'contracts = [{path = "target/manifest.json", format = "dbt", most_mib = 1024}]\n'


def manifest(models: int, mib: int = 0) -> dict[str, Any]:
    """Return a manifest with about as many models and snapshots, in all shapes, and of about that size."""
    made: dict[str, Any] = json.loads(_MANIFEST.read_text("utf-8"))
    text = json.dumps(made["nodes"])
    copies = -(-models // len(made["nodes"]))
    nodes: dict[str, Any] = {}
    for copy in range(copies):
        for name, node in json.loads(text).items():
            nodes[f"{name}_{copy}"] = {
                **node,
                "unique_id": f"{name}_{copy}",
                "name": f"{node['name']}_{copy}",
                "alias": f"{node['alias']}_{copy}",
            }
    children = {
        f"{parent}_{copy}": [f"{child}_{copy}" for child in below]
        for parent, below in made["child_map"].items()
        for copy in range(copies)
    }
    filling = "x" * max(0, ((mib << 20) - len(text) * copies) // len(nodes))
    for node in nodes.values():
        node["raw_code"] = filling
    return {**made, "nodes": nodes, "child_map": children}


def write(folder: Path, models: int, mib: int) -> Path:
    """Write a project with the manifests of base and head; return its folder."""
    project, made = folder / "project", manifest(models, mib)
    project.mkdir()
    for name, content in (("schemalint.toml", _CONFIGURATION), (".gitignore", "target/\n")):
        (project / name).write_text(content, encoding="utf-8")
    commit_all(project)
    made["metadata"]["generated_at"] = "2099-01-01T00:00:00Z"
    for path in (folder / "state", project / "target"):
        path.mkdir()
        (path / "manifest.json").write_text(json.dumps(made), encoding="utf-8")
        made["nodes"]["model.shop.orders_0"]["columns"]["amount"]["data_type"] = "decimal(5,2)"
    return project


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", type=int, nargs="*", default=[500, 1_000, 2_000])
    parser.add_argument("--mib", type=int, nargs="*", default=[64, 128, 256])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for unit, cases in (
        ("models", {models: (models, 0) for models in options.models}),
        ("MiB of 500 models", {mib: (500, mib) for mib in options.mib}),
    ):
        sizes: dict[int, Timed] = {}
        for size, (models, mib) in cases.items():
            with tempfile.TemporaryDirectory() as name:
                project = write(Path(name), models, mib)
                said = subprocess.run(_COMMAND, cwd=project, capture_output=True, text=True, check=False)
                if said.stdout.count("TW003") != 1:
                    raise SystemExit(f"the change was not found: {said.stdout}{said.stderr}")
                sizes[size] = medians([timed(_COMMAND, project) for _ in range(options.runs)])
            print(f"{size:,} {unit}: {describe(sizes[size])}", flush=True)
        if len(sizes) > 1:
            print(f"by {unit}: exponents {exponents(sizes)}", flush=True)


if __name__ == "__main__":
    main()
