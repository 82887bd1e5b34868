"""Standard output holds the report and nothing else, whatever the JVM prints by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support import jvm

if TYPE_CHECKING:
    from pathlib import Path

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

ORDERS = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int}
"""
# Delta prints "Upgraded table at …" for row tracking, and the JVM a line for each collection.
UPGRADED = ORDERS + "properties: {delta.enableRowTracking: true}\n"
# By command: its options, and what else Delta prints.
COMMANDS = {
    "apply": (["--yes", "--allow", "upgrade"], ["Upgraded table at"]),
    "audit": (["lake", "--into", "delta.`{folder}/findings`"], []),
}
SETTINGS = {
    "spark.driver.extraJavaOptions": f"-Xlog:gc {jvm.OPTIONS}",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
OPTIONS = [
    "--output-format",
    "json",
    *(word for key, value in SETTINGS.items() for word in ("--conf", f"{key}={value}")),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_output_of_the_jvm_is_in_no_report(command: str, lakehouse: Lakehouse, tmp_path: Path) -> None:
    options, printed = COMMANDS[command]
    words = [option.format(folder=tmp_path) for option in options]
    lakehouse.declare(ORDERS)
    lakehouse.apply()
    lakehouse.declare(UPGRADED)
    report = tmp_path / "report.json"

    with report.open("wb") as file:
        run = subprocess.run(
            [sys.executable, "-m", "schemalint", command, *words, *OPTIONS],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            cwd=lakehouse.repo.path,
            stdout=file,
            stderr=subprocess.PIPE,
            check=False,
        )

    printed_report = json.loads(report.read_bytes())
    assert printed_report.get("run", printed_report)["exit_status"] == run.returncode
    assert b"[gc]" not in run.stderr
    (log,) = tmp_path.glob("schemalint-spark-*.log")
    for text in ("[gc]", *printed):
        assert text in log.read_text()
