"""How often reading a table waits for a store: counted on a clock that a request takes one tick of."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pytest

from schemalint.delta.table import TableState
from schemalint.model.contract import Contract
from schemalint.project.config import Target
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.tables.storage import concurrency, open_store, read_table
from schemalint.tables.storage.kinds import object_store
from schemalint.tables.storage.kinds.object_store import MOST_AHEAD, FilesAhead, object_store_log
from schemalint.tables.storage.table_workers import TableWorkers
from support.logs import write_checkpoint
from support.long_logs import STATE, LongLog, put_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.servers import Bucket

P = ParamSpec("P")
T = TypeVar("T")

MIB = 1 << 20


class Clock:
    """Answers each request a tick after its start; the clock goes on only where an answer is waited for."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self._answered: dict[Future[Any], int] = {}

    def start(self, request: Callable[P, T], *args: P.args, **options: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        self._answered[future] = self.now + 1
        self.most = max(self.most, len(self._answered))
        try:
            future.set_result(request(*args, **options))
        except Exception as error:  # noqa: BLE001 (whoever waits gets it)
            future.set_exception(error)
        return future

    def finish(self, future: Future[T]) -> T:
        self.now = max(self.now, self._answered.pop(future))
        return future.result()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(object_store_log, "start", clock.start)
    for module in (object_store_log, object_store):
        monkeypatch.setattr(module, "finish", clock.finish)
    return clock


@pytest.mark.parametrize("checksums", [False, True])
@pytest.mark.parametrize(
    ("kind", "rounds"), [("classic", 3), ("parts", 3), ("v2 parquet", 4), ("v2 json", 4)]
)
def test_the_newest_state_is_there_after_three_rounds(
    bucket: Bucket, clock: Clock, tmp_path: Path, kind: str, rounds: int, *, checksums: bool
) -> None:
    """The pointer, the listing, the files of the state; the sidecars of a V2 checkpoint are listed last."""
    uri = put_files(bucket, LongLog(commits=30, kind=kind, checksums=checksums).files(tmp_path))
    read_table(uri, storage=bucket.storage, history=False)
    assert clock.now == rounds


@pytest.mark.wide
@pytest.mark.parametrize(("commits", "rounds"), [(1, 3), (MOST_AHEAD, 3), (450, 7)])
def test_commits_without_a_checkpoint_are_requested_side_by_side(
    bucket: Bucket, clock: Clock, tmp_path: Path, commits: int, rounds: int
) -> None:
    uri = put_files(bucket, LongLog(commits=commits, interval=None).files(tmp_path))
    read_table(uri, storage=bucket.storage, history=False)
    assert clock.now == rounds
    assert clock.most <= MOST_AHEAD + 1


def test_a_history_is_there_after_three_rounds(bucket: Bucket, clock: Clock, tmp_path: Path) -> None:
    """The listing, the files of the state, the commits before."""
    uri = put_files(bucket, LongLog(commits=30).files(tmp_path))
    assert read_table(uri, storage=bucket.storage).history.known_from == 0
    assert clock.now == 3


@pytest.mark.wide
def test_a_large_checkpoint_is_read_at_its_end_and_in_front(
    bucket: Bucket, clock: Clock, tmp_path: Path
) -> None:
    """The pointer, the listing, the commits, then the footer, and the columns in front of the data files."""
    files = LongLog(commits=12).files(tmp_path)
    (name,) = (name for name in files if name.endswith(".parquet"))
    large = write_checkpoint(tmp_path, 0, STATE, data_files=150_000, row_group_size=MIB)
    files[name] = large.read_bytes()
    assert len(files[name]) > MIB
    assert read_table(put_files(bucket, files), storage=bucket.storage, history=False).version == 11
    assert clock.now == 5


def test_large_commits_are_bounded_by_their_bytes(bucket: Bucket, clock: Clock, tmp_path: Path) -> None:
    files = LongLog(commits=40, interval=None, checksums=False).files(tmp_path)
    padded = {name: content + b"\n" * (MIB // 2) for name, content in files.items()}
    uri = put_files(bucket, padded)
    assert read_table(uri, storage=bucket.storage, history=False).version == 39
    assert clock.most <= 32
    assert clock.now == 4


@pytest.mark.parametrize("jobs", [2, 4])
def test_as_many_tables_wait_as_jobs_are_allowed(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, jobs: int
) -> None:
    files = LongLog(commits=12).files(tmp_path)
    contracts = [
        Contract(f"t{number}", TableState(), location=f"s3://{bucket.name}/t{number}") for number in range(8)
    ]
    for contract in contracts:
        put_files(bucket, files, contract.table)
    monkeypatch.setattr(object_store, "MOST_AHEAD", 0)  # one request of each table at a time
    all_busy = threading.Event()
    lock, now, most = threading.Lock(), 0, 0

    def start(request: Callable[P, T], *args: P.args, **options: P.kwargs) -> Future[T]:
        def counted() -> T:
            nonlocal now, most
            with lock:
                now += 1
                most = max(most, now)
                if now >= jobs:
                    all_busy.set()
            if not all_busy.wait(30):
                all_busy.set()  # the assertion below fails
            try:
                return request(*args, **options)
            finally:
                with lock:
                    now -= 1

        return concurrency.start(counted)

    monkeypatch.setattr(object_store_log, "start", start)
    tables = TargetTables(
        TrustedTarget(Target("dev", root=f"s3://{bucket.name}")),
        tmp_path,
        bucket.storage,
        workers=TableWorkers(jobs),
    )
    tables.fetch(contracts)
    assert {table.version for table in tables.fetched} == {11}
    assert most == jobs


def test_the_tables_of_a_bucket_share_a_client(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    def client(table: str, **settings: str) -> object:
        store = open_store(f"s3://{bucket.name}/{table}", {**bucket.storage, **settings})
        assert isinstance(store, FilesAhead)
        return store.store.client

    first = client("a")
    assert client("b") is first
    assert client("a", region="eu-west-1") is not first
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert client("a") is not first
