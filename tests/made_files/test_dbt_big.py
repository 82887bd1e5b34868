"""A real dbt parses 500 models in all shapes: each is read, in bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from made_files.big_shop import write_big_shop
from schemalint.contract.made_files import Source, read_made
from schemalint.project.config.contracts_entry import MOST_MIB, ContractsEntry
from support.skipping import skip_or_fail

COPIES = 25
READ = """
import resource, sys
from pathlib import Path
from schemalint.contract.made_files import Source, read_made
from schemalint.project.config.contracts_entry import ContractsEntry
file = sys.argv[1]
reading = read_made(Source(file, Path(file).read_bytes(), ContractsEntry(file, "dbt")))
print(len(reading.contracts), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


@pytest.mark.dbt
def test_five_hundred_models_are_read_in_a_gibibyte(tmp_path: Path) -> None:
    """The manifest that dbt wrote, up to the limit of bytes by the text of models, and to that of columns."""
    dbt = os.environ.get("SCHEMALINT_DBT") or skip_or_fail("SCHEMALINT_DBT names no dbt")
    project = tmp_path / "shop"
    write_big_shop(project, COPIES)
    env = {**os.environ, "DBT_PROFILES_DIR": str(project), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}
    subprocess.run([dbt, "parse"], cwd=project, env=env, check=True, capture_output=True)
    file = project / "target/manifest.json"
    reading = read_made(Source(str(file), file.read_bytes(), ContractsEntry(str(file), "dbt")))
    assert (reading.errors, len(reading.contracts)) == ((), 14 * COPIES)
    assert f"{COPIES} views" in reading.left_out
    manifest = json.loads(file.read_bytes())
    assert _read_in_a_gibibyte(manifest, file) == 14 * COPIES
    nodes, columns = (
        manifest["nodes"],
        {f"c{n}": {"name": f"c{n}", "data_type": "bigint"} for n in range(200)},
    )
    for node in nodes.values():
        node["columns"] = columns
    orders = nodes["model.shop.orders_0"]
    for index in range(2048 * MOST_MIB // 208 - len(nodes) - 100):
        nodes[f"m{index}"] = {**orders, "unique_id": f"m{index}", "alias": f"m{index}"}
    assert _read_in_a_gibibyte(manifest, file) > 2000


def _read_in_a_gibibyte(manifest: dict[str, Any], file: Path) -> int:
    """Return the number of contracts of a manifest that text fills up to the limit of bytes."""
    nodes = manifest["nodes"].values()
    for node in nodes:
        node["raw_code"] = ""
    filling = "x" * (((MOST_MIB << 20) - len(json.dumps(manifest))) // len(nodes))
    for node in nodes:
        node["raw_code"] = filling
    file.write_text(json.dumps(manifest), encoding="utf-8")
    assert (MOST_MIB - 2) << 20 < file.stat().st_size <= MOST_MIB << 20
    run = subprocess.run([sys.executable, "-c", READ, str(file)], check=True, capture_output=True, text=True)
    contracts, mib = map(int, run.stdout.split())
    assert mib <= 1024
    return contracts
