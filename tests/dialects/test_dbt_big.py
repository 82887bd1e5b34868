"""A real dbt parses 500 models in all shapes: each is read, in bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dialects.big_shop import write_big_shop
from schemalint.contract.dialects import Source, read_declarations
from schemalint.project.config.declarations import MOST_MIB, Declarations
from support.skipping import skip_or_fail

COPIES = 25
READ = """
import resource, sys
from pathlib import Path
from schemalint.contract.dialects import Source, read_declarations
from schemalint.project.config.declarations import Declarations
file = sys.argv[1]
reading = read_declarations(Source(file, Path(file).read_bytes(), Declarations(file, "dbt")))
print(len(reading.contracts), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


@pytest.mark.dbt
def test_five_hundred_models_are_read_in_a_gibibyte(tmp_path: Path) -> None:
    """The manifest that dbt wrote, filled up to the limit with the text of its models."""
    dbt = os.environ.get("SCHEMALINT_DBT") or skip_or_fail("SCHEMALINT_DBT names no dbt")
    project = tmp_path / "shop"
    write_big_shop(project, COPIES)
    env = {**os.environ, "DBT_PROFILES_DIR": str(project), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}
    subprocess.run([dbt, "parse"], cwd=project, env=env, check=True, capture_output=True)
    file = project / "target/manifest.json"
    reading = read_declarations(Source(str(file), file.read_bytes(), Declarations(str(file), "dbt")))
    assert (reading.errors, len(reading.contracts)) == ((), 14 * COPIES)
    assert f"{COPIES} views" in reading.left_out
    manifest = json.loads(file.read_bytes())
    filling = "x" * (((MOST_MIB << 20) - file.stat().st_size) // len(manifest["nodes"]) - 100)
    for node in manifest["nodes"].values():
        node["raw_code"] = filling
    file.write_text(json.dumps(manifest), encoding="utf-8")
    assert (MOST_MIB - 2) << 20 < file.stat().st_size <= MOST_MIB << 20
    said = subprocess.run([sys.executable, "-c", READ, str(file)], check=True, capture_output=True, text=True)
    contracts, mib = map(int, said.stdout.split())
    assert contracts == 14 * COPIES
    assert mib <= 1024
