"""The newest state of a table with many commits takes few requests, and local files are opened as rarely."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pytest

from schemalint.delta.datatype import LONG, Field
from schemalint.delta.history import history_from
from schemalint.delta.table import TableState
from schemalint.model.contract import Contract
from schemalint.project.config import Target
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.tables.storage import read_table
from schemalint.tables.storage.kinds import local
from support.logs import metadata
from support.long_logs import COLUMNS, MARKER, LongLog, put_files, write_files
from support.project import ORDERS, Project
from support.repo import Repo

if TYPE_CHECKING:
    from support.servers import Bucket

# The pointer, a listing, nine commits since the newest checkpoint, its two or three files, and one to spare.
MOST_OF_NEWEST_STATE = 15
KINDS = ("classic", "parts", "v2 parquet", "v2 json")
ORDERS_BY_SHOP = ORDERS + "properties: {team: shop}\nfeatures: [v2Checkpoint]\n"


class Requests:
    """The requests for one bucket since the last `take`."""

    def __init__(self, seen: list[str], bucket: str) -> None:
        self._seen = seen
        self._bucket = bucket

    def take(self) -> list[str]:
        found = [request for request in self._seen if self._bucket in request]
        self._seen.clear()
        return found


@pytest.fixture
def requests(seen_requests: list[str], bucket: Bucket) -> Requests:
    seen_requests.clear()
    return Requests(seen_requests, bucket.name)


@pytest.mark.parametrize("checksums", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_newest_state_takes_the_files_since_the_newest_checkpoint(
    bucket: Bucket, requests: Requests, tmp_path: Path, kind: str, *, checksums: bool
) -> None:
    uri = put_files(bucket, LongLog(kind=kind, checksums=checksums).files(tmp_path))
    requests.take()
    table = read_table(uri, storage=bucket.storage, history=False)
    sent = requests.take()
    assert len(sent) <= MOST_OF_NEWEST_STATE, sent
    assert sum("list-type=2" in request for request in sent) == 1 + kind.startswith("v2"), sent
    assert (table.version, table.state.properties, table.defects) == (1_299, {"team": "shop"}, ())
    assert table.transactions == {MARKER["txn"]["appId"]: 1}


def test_google_s_store_lists_from_the_checkpoint(bucket: Bucket, requests: Requests, tmp_path: Path) -> None:
    put_files(bucket, LongLog(commits=25, checksums=False).files(tmp_path))
    bucket.make_public()
    storage = {"endpoint": bucket.endpoint, "allow_http": "true", "anonymous": "true"}
    requests.take()
    assert read_table(f"gs://{bucket.name}/t", storage=storage, history=False).version == 24
    sent = requests.take()
    assert len(sent) <= 9, sent
    assert any(f"start-after=t/_delta_log/{20:020}" in request for request in sent), sent


def test_a_local_table_is_read_from_as_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path / "t", LongLog().files(tmp_path / "parts"))
    opened: list[str] = []
    open_file = local._open_file  # noqa: SLF001 (every reading of a local file calls it)

    def counted(path: Path | str) -> BinaryIO:
        opened.append(Path(path).name)
        return open_file(path)

    monkeypatch.setattr(local, "_open_file", counted)
    table = read_table(str(tmp_path / "t"), history=False)
    assert len(opened) <= MOST_OF_NEWEST_STATE, opened
    opened.clear()
    table.history_since(table.version - 9)
    assert not opened
    assert table.recent_history.known_from == table.version - 100
    assert len(opened) <= 110, opened  # a hundred commits, of which the newest ones were read


def test_a_log_without_a_checkpoint_takes_each_commit_once(
    bucket: Bucket, requests: Requests, tmp_path: Path
) -> None:
    uri = put_files(bucket, LongLog(commits=40, interval=None, checksums=False).files(tmp_path))
    requests.take()
    read_table(uri, storage=bucket.storage, history=False)
    sent = requests.take()
    assert len(sent) <= 45, sent


@pytest.fixture
def project(
    tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Project:
    """A repository whose target is a bucket with a long log."""
    repo = Repo(tmp_path / "repo")
    monkeypatch.chdir(repo.path)
    storage = "".join(f"{key} = {json.dumps(value)}\n" for key, value in bucket.storage.items())
    settings = f'[targets.dev]\nroot = "s3://{bucket.name}"\n[targets.dev.storage]\n{storage}'
    settings = re.sub('"AKIA.*"', '"${ACCESS}"', settings).replace('"a-secret-for-tests"', '"${SECRET}"')
    monkeypatch.setenv("ACCESS", "AKIAFORTESTS")
    monkeypatch.setenv("SECRET", "a-secret-for-tests")
    repo.write("schemalint.toml", settings)
    repo.write("contracts/orders.yml", ORDERS_BY_SHOP)
    repo.commit()
    put_files(bucket, LongLog().files(tmp_path / "parts"), "sales/orders")
    return Project(repo, capsys)


@pytest.mark.parametrize(
    ("command", "edited", "status"),
    [
        ("check --live --all", False, 0),
        ("check --live", True, 0),
        ("plan --exit-code --base HEAD", False, 0),
        ("plan --exit-code --base HEAD", True, 4),
        ("pull --diff sales.orders", False, 0),
        ("pull --diff sales.orders", True, 4),
    ],
)
def test_a_command_reads_the_newest_state_once(
    project: Project, requests: Requests, command: str, status: int, *, edited: bool
) -> None:
    if edited:
        project.declare(ORDERS_BY_SHOP.replace("shop", "sales"))
    requests.take()
    run = project.run(*command.split())
    assert run.status == status, (run.out, run.err)
    sent = requests.take()
    assert len(sent) <= MOST_OF_NEWEST_STATE, sent


@pytest.mark.wide
@pytest.mark.parametrize(
    ("version", "most", "is_named"),
    [(1_295, MOST_OF_NEWEST_STATE, True), (1_220, 120, True), (1_100, 120, False)],
)
def test_the_author_of_drift_takes_the_newest_commits(
    project: Project,
    bucket: Bucket,
    requests: Requests,
    tmp_path: Path,
    version: int,
    most: int,
    *,
    is_named: bool,
) -> None:
    edit = metadata(*COLUMNS, Field("extra", LONG), properties={"team": "shop"})
    put_files(bucket, LongLog(edits={version: [edit]}).files(tmp_path / "edited"), "sales/orders")
    requests.take()
    out = project.run("check", "--live", "--all").out
    assert (f"changed in version {version} (WRITE" in out) is is_named, out
    assert len(requests.take()) <= most


def test_the_reads_of_an_apply_are_as_few_each(bucket: Bucket, requests: Requests, tmp_path: Path) -> None:
    put_files(bucket, LongLog().files(tmp_path))
    tables = TargetTables(TrustedTarget(Target("dev", root=f"s3://{bucket.name}")), tmp_path, bucket.storage)
    contract = Contract("t", TableState(), location=f"s3://{bucket.name}/t")
    requests.take()
    before = tables.read(contract)
    assert before is not None
    assert len(requests.take()) <= MOST_OF_NEWEST_STATE
    # A step, whose version gets a checkpoint: the newest files no longer tell the state before.
    edits = {1_300: [metadata(*COLUMNS, properties={"team": "sales"})]}
    put_files(bucket, LongLog(commits=1_301, edits=edits).files(tmp_path))
    requests.take()
    after = tables.read(contract)
    assert after is not None
    assert len(requests.take()) <= 6
    (_, entry) = after.history_since(before.version).entries
    assert entry.metadata is not None
    assert (entry.version, entry.metadata.state.properties["team"]) == (1_300, "sales")
    assert len(requests.take()) <= 6


def test_the_commits_since_a_version_are_read_and_no_others(
    bucket: Bucket, requests: Requests, tmp_path: Path
) -> None:
    edits = {
        1_150: [metadata(*COLUMNS, Field("old", LONG), properties={"team": "shop"})],
        1_250: [metadata(*COLUMNS, properties={"team": "shop"})],
        1_295: [metadata(*COLUMNS, properties={"team": "sales"})],
    }
    files = LongLog(edits=edits).files(tmp_path / "parts")
    uri = put_files(bucket, files)
    whole = read_table(str(write_files(tmp_path / "t", files))).history
    table = read_table(uri, storage=bucket.storage, history=False)
    requests.take()
    assert table.history_since(1_292) == history_from(whole, 1_292)
    assert not requests.take()
    assert table.recent_history == history_from(whole, 1_199)
    sent = requests.take()
    # A listing, the commits that were not read, and the state before them: a commit, its checksum.
    assert len(sent) <= 110, sent
    assert table.history_since(1_199) == table.recent_history
    assert not requests.take()


def test_several_threads_read_tables_at_the_same_time(
    bucket: Bucket, requests: Requests, tmp_path: Path
) -> None:
    files = LongLog(commits=25).files(tmp_path)
    contracts = [
        Contract(f"t{number}", TableState(), location=f"s3://{bucket.name}/t{number}") for number in range(12)
    ]
    for contract in contracts:
        put_files(bucket, files, contract.table)
    tables = TargetTables(TrustedTarget(Target("dev", root=f"s3://{bucket.name}")), tmp_path, bucket.storage)
    tables.fetch(contracts[:6])
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(tables.read, contracts))
    assert [table and table.uri for table in found] == [contract.location for contract in contracts]
    assert {table and table.version for table in found} == {24}
    assert len(requests.take()) <= 12 * 10
