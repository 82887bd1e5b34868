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
COMMAND = [sys.executable, "-m", "schemalint"]
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


@pytest.mark.each_time
def test_output_of_the_jvm_is_in_no_report(lakehouse: Lakehouse, tmp_path: Path) -> None:
    lakehouse.declare(ORDERS)
    lakehouse.apply()
    lakehouse.declare(UPGRADED)
    logs, report = tmp_path / "logs", tmp_path / "report.json"
    logs.mkdir()
    environment = {**os.environ, "TMPDIR": str(logs)}

    applied = subprocess.run(
        [*COMMAND, "apply", "--yes", "--allow", "upgrade", *OPTIONS],
        env=environment,
        cwd=lakehouse.repo.path,
        capture_output=True,
        check=False,
    )
    with report.open("wb") as file:
        audited = subprocess.run(
            [*COMMAND, "audit", "lake", "--into", f"delta.`{tmp_path / 'findings'}`", *OPTIONS],
            env=environment,
            cwd=lakehouse.repo.path,
            stdout=file,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert [table["outcome"] for table in json.loads(applied.stdout)["tables"]] == ["applied"]
    assert json.loads(report.read_bytes())["run"]["exit_status"] == audited.returncode
    assert b"[gc]" not in applied.stderr + audited.stderr
    printed = [log.read_text() for log in logs.glob("schemalint-spark-*.log")]
    assert len(printed) == 2
    assert all("[gc]" in text for text in printed)
    assert any("Upgraded table at" in text for text in printed)
