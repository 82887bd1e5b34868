"""A run over many tables keeps the states of a few: those of 300 tables filled a heap of 1 GiB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.delta.datatype import LONG, Field
from support import jvm
from support.logs import metadata, protocol, write_log

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

TABLES: Final = 36  # more than Delta keeps: `_QUIET` in `schemalint.spark.session`
KEPT: Final = 32
# Python's garbage is not collected, so nothing but the code under test lets go of an object of the JVM.
RECORD: Final = """\
import gc
import json
import sys

from schemalint.project.config import SparkSettings
from schemalint.project.config.trust import TrustedSpark
from schemalint.spark.session import FITS_SNAPSHOTS, SNAPSHOT_PARTITIONS, start
from schemalint.spark.transaction_identifier import commit_identifier

session = start(TrustedSpark(SparkSettings(conf={FITS_SNAPSHOTS: "true", SNAPSHOT_PARTITIONS: "1"})))
gc.disable()
for table in sys.argv[1:]:
    assert commit_identifier(session, table, "app", 1, read=0)
gateway = session.sparkContext._gateway
known_to_python = gateway.java_gateway_server.getGateway().getBindings()
names = gateway.jvm.java.util.Objects.toString(known_to_python)
delta = gateway.jvm.org.apache.spark.sql.delta
logs = getattr(getattr(delta, "DeltaLog$"), "MODULE$")
print(json.dumps([names.count("=org.apache.spark.sql.delta.OptimisticTransaction@"), logs.cacheSize()]))
"""


def test_delta_keeps_the_states_of_few_tables(tmp_path: Path) -> None:
    """Their logs are those of Delta's cache, and Python lets go of a transaction after its commit."""
    log = [[protocol(1, 2), metadata(Field("id", LONG))]]
    tables = [write_log(tmp_path / f"t{number}", log) for number in range(TABLES)]
    run = subprocess.run(
        [sys.executable, "-c", RECORD, *map(str, tables)],
        env={**os.environ, "JAVA_TOOL_OPTIONS": jvm.OPTIONS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    transactions, cached = json.loads(run.stdout.splitlines()[-1])
    assert transactions <= 1
    assert 0 < cached <= KEPT
