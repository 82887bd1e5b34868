"""In how many partitions Delta rebuilds the snapshot of a table, in a session that schemalint started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from schemalint.base.errors import LiveError
from schemalint.model.table_plan import TablePlan
from schemalint.spark.session import FITS_SNAPSHOTS, SNAPSHOT_PARTITIONS
from schemalint.spark.session_settings import assigned
from schemalint.spark.statements import SqlSession
from schemalint.tables.delta_log.told_values import told_files
from schemalint.tables.storage import open_store

_FEW_FILES: Final = 1_000  # one task reads them
# No partition gets more files than one of Delta's 50 has for a table of a million: tasks need no more memory.
_FEWEST: Final = 2
_FILES_OF_ONE: Final = 20_000
_MOST: Final = 50
_UNCOMPILED: Final = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
}


@contextmanager
def snapshots_that_fit(session: SqlSession, plan: TablePlan, storage: Mapping[str, str]) -> Iterator[None]:
    """Run statements about a table with as many partitions as its log needs.

    Delta's default is 50, whatever the size: most of the time of a statement then goes into empty tasks. A
    session that schemalint did not start keeps what it has.
    """
    if session.conf.get(FITS_SNAPSHOTS, None) is None:
        yield
        return
    with assigned(session, {SNAPSHOT_PARTITIONS: str(partitions_for(_files(plan, storage)))}):
        yield


def partitions_for(files: int | None) -> int:
    """Return how many partitions the snapshot of so many files needs; None is an unknown number."""
    if files is None:
        return _MOST
    if files <= _FEW_FILES:
        return 1
    return min(_MOST, max(_FEWEST, -(-files // _FILES_OF_ONE)))


@contextmanager
def uncompiled(session: SqlSession) -> Iterator[None]:
    """Commit to a table of few files without code that Spark compiles for it.

    Delta rebuilds the snapshot, for the checksum of a log that has none yet, or for an append to look for an
    older transaction identifier. For few files Spark needs longer to write and compile the code than to read
    them (`benchmarks/README.md`). A session that schemalint did not start keeps what it has.
    """
    is_own = session.conf.get(FITS_SNAPSHOTS, None) is not None
    settings = _UNCOMPILED if is_own and session.conf.get(SNAPSHOT_PARTITIONS, None) == "1" else {}
    with assigned(session, settings):
        yield


def _files(plan: TablePlan, storage: Mapping[str, str]) -> int | None:
    if plan.version is None:
        return 0
    with suppress(LiveError):
        return told_files(open_store(plan.uri, storage), plan.version)
    return None
