"""The guard stands alone: a driver needs no git, no YAML and no command line for it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from support.guard_tables import packed, table_at

if TYPE_CHECKING:
    from pathlib import Path

FOREIGN = {"click", "pydantic", "ruamel", "sqlglot", "subprocess", "yaml", "pyspark", "obstore", "pyarrow"}
ROOMS = {"base", "delta", "guard", "judge", "model", "plugin", "tables"}

IMPORT = """\
import json, sys
import schemalint.guard
print(json.dumps(sorted(sys.modules)))
"""
WRITE = """\
import sys
from schemalint.guard import check_arrow
import pyarrow
schema = pyarrow.schema([("id", pyarrow.int64()), ("x", pyarrow.int32())])
print(check_arrow(schema, "sales.orders", contracts=sys.argv[1], schema_mode="merge"))
assert not {"click", "yaml", "ruamel"} & set(sys.modules)
assert not [name for name in sys.modules if name.startswith(("schemalint.project", "schemalint.contract"))]
"""


def test_the_guard_loads_neither_git_nor_yaml_nor_the_command_line() -> None:
    run = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True)
    modules = json.loads(run.stdout)
    assert {module.split(".")[1] for module in modules if module.startswith("schemalint.")} == ROOMS
    assert FOREIGN & set(modules) == set()


def test_a_driver_without_git_judges_a_write(tmp_path: Path) -> None:
    file = tmp_path / "contracts.json"
    file.write_text(json.dumps(packed(table_at(tmp_path / "orders"))))
    run = subprocess.run(
        [sys.executable, "-c", WRITE, str(file)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": str(tmp_path)},
    )
    assert "is refused" in run.stdout, run.stderr
    assert "adds column x" in run.stdout
