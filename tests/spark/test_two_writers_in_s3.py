"""Two JVMs write to one S3 server: Delta's default log store loses commits, and `apply` refuses to write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.tables.storage import read_table
from support import jvm
from support.project import ORDERS
from support.racing_store import racing_s3_server
from support.repo import Repo
from support.servers import CREDENTIALS, Bucket, send_put

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.spark, pytest.mark.engine]

ROUNDS = int(os.environ.get("SCHEMALINT_RACE_ROUNDS", "2"))
TESTS = Path(__file__).parents[1]
CONFIGURATION = """\
[targets.prod]
root = "s3://{bucket.name}"

[targets.prod.storage]
endpoint = "{bucket.endpoint}"
region = "us-east-1"
allow_http = "true"
access_key_id = "${{LAKE_KEY}}"
secret_access_key = "${{LAKE_SECRET}}"
"""


@pytest.fixture
def store() -> Iterator[tuple[Bucket, list[str]]]:
    with racing_s3_server() as (address, put):
        bucket = Bucket(address)
        send_put(f"{address}/{bucket.name}")
        yield bucket, put


def test_a_commit_is_lost_in_each_round_and_apply_is_refused_each_time(
    tmp_path: Path, store: tuple[Bucket, list[str]]
) -> None:
    bucket, put = store
    repo = Repo(tmp_path / "repository")
    repo.write("schemalint.toml", CONFIGURATION.format(bucket=bucket))
    repo.write("contracts/orders.yml", ORDERS)
    repo.commit()

    said = _race(repo, bucket)

    tables = [
        read_table(f"s3://{bucket.name}/raced/{number}", history=True, storage=bucket.storage)
        for number in range(ROUNDS)
    ]
    # Both statements succeeded, and the table has one of the two commits.
    assert [table.version for table in tables] == [1] * ROUNDS
    writers = {"writer0", "writer1"}
    assert [len(writers & set(table.state.properties)) for table in tables] == [1] * ROUNDS
    assert [len(lines) for lines in said] == [ROUNDS, ROUNDS]
    assert all("S3SingleDriverLogStore" in (line or "applied") for lines in said for line in lines)
    assert not [path for path in put if "/sales/orders" in path]


def _race(repo: Repo, bucket: Bucket) -> list[list[str | None]]:
    """Run both writers, and return what `apply` said in each round, if it refused."""
    secrets = {"LAKE_KEY": CREDENTIALS["access_key_id"], "LAKE_SECRET": CREDENTIALS["secret_access_key"]}
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "support.racing_writer"),
                *(str(repo.path), bucket.endpoint, str(writer), str(ROUNDS)),
            ],
            env={
                **os.environ,
                **repo.env,
                **secrets,
                "PYTHONPATH": str(TESTS),
                "JAVA_TOOL_OPTIONS": jvm.OPTIONS,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for writer in range(2)
    ]
    results = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], "".join(err for _, err in results)
    return [[json.loads(line) for line in out.splitlines()] for out, _ in results]
