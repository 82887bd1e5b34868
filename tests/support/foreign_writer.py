"""A writer in a process of its own, and of another client: it appends, deletes, and maybe widens a column.

The table has the columns ``id``, ``part``, ``old``, and maybe ``new``. Each commit says what it did, so that
the log tells which rows there must be: Delta's store of local files looks for a commit and renames its own in
two steps, so a JVM may, very rarely, replace what another process has just committed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import IO, Final, NamedTuple, Self

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError, SchemaMismatchError

ROWS: Final = 60
"""How many rows the table has before: row ``n`` has ``n`` in its columns."""

PARTITIONS: Final = 3
"""The last one is left alone."""

_NAME: Final = "foreign"
_PAUSE_SECONDS: Final = 0.1
_WIDE: Final = 1 << 40


class Commit(NamedTuple):
    """What the writer does.

    Attributes:
        number: From 0.
        knows_new: Whether the table has the new column.
        widens: Whether the writer widens the old column.
    """

    number: int
    knows_new: bool
    widens: bool

    @property
    def deleted(self) -> int | None:
        """The row that goes, none of the last partition; None if another one comes."""
        nth, is_left = divmod(self.number, 3)
        others = PARTITIONS - 1
        return nth // others * PARTITIONS + nth % others if is_left == 2 else None

    @property
    def is_widening(self) -> bool:
        """Whether the old column is widened."""
        return self.widens and self.number == 1

    @property
    def row(self) -> dict[str, int | str | None]:
        """The new row: each second one as of a writer that knows the new column."""
        value = self.number + (_WIDE if self.widens and self.number > 1 else 0)
        new = {"new": "own" if self.number % 2 else None} if self.knows_new else {}
        return {"id": ROWS + self.number, "part": self.number % (PARTITIONS - 1), "old": value, **new}

    @property
    def note(self) -> str:
        """The commit, as its table keeps it."""
        return f"{_NAME} {self.number} {int(self.knows_new)} {int(self.widens)}"

    @classmethod
    def of_note(cls, note: object) -> Commit | None:
        """Read what a commit says; None if it is of another writer."""
        match = re.fullmatch(rf"{_NAME} (\d+) ([01]) ([01])", str(note))
        return match and cls(int(match[1]), match[2] == "1", match[3] == "1")


def commits_in(path: str) -> list[Commit]:
    """Return the commits of the writer that the log of a table has, the oldest first."""
    notes = (entry.get("userMetadata") for entry in DeltaTable(path).history())
    return [commit for note in notes if (commit := Commit.of_note(note)) is not None][::-1]


def rows_after(commits: list[Commit], own: frozenset[int] = frozenset()) -> dict[int, tuple[int, str]]:
    """Return the values of the old and the filled column by id; some rows had a value of their own before."""
    rows = {number: (number, "own" if number in own else str(number)) for number in range(ROWS)}
    for commit in commits:
        if commit.deleted is not None:
            del rows[commit.deleted]
        elif not commit.is_widening:
            old = int(commit.row["old"] or 0)
            rows[ROWS + commit.number] = (old, str(commit.row.get("new") or old))
    return rows


class ForeignWriter:
    """A writer that runs; it ends where its block does."""

    def __init__(self, client: str, path: str) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed with the block)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.foreign_writer", client, path],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._committed = 0
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        with self._errors, self._process:
            self._stdin.close()
            self._reader.join()
            status = self._process.wait()
            self._errors.seek(0)
            assert status == 0, self._errors.read()[-2_000:]

    def go(self) -> None:
        """Let it write, as soon as it is ready; before, it does not."""
        self._stdin.write("go\n")
        self._stdin.flush()

    def wait_for(self, number: int) -> None:
        """Wait until it has committed so many times more."""
        goal = self._committed + number
        while self._committed < goal and self._reader.is_alive():
            time.sleep(_PAUSE_SECONDS)

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _read(self) -> None:
        assert self._process.stdout is not None
        for _line in self._process.stdout:
            self._committed += 1


def _write_with_delta_rs(path: str, commit: Commit) -> bool:
    properties = CommitProperties(custom_metadata={"userMetadata": commit.note})
    try:
        if commit.deleted is not None:
            DeltaTable(path).delete(f"id = {commit.deleted}", commit_properties=properties)
        else:
            types = {"id": pa.int32(), "part": pa.int32(), "old": pa.int32(), "new": pa.string()}
            schema = pa.schema([(name, types[name]) for name in commit.row])
            rows = pa.Table.from_pylist([commit.row], schema)
            write_deltalake(path, rows, mode="append", commit_properties=properties)
    except (CommitFailedError, SchemaMismatchError):  # the latter if the new column came meanwhile
        return False
    return True


class _Spark:
    """A JVM of its own."""

    def __init__(self, path: str) -> None:
        from conftest import start_session  # noqa: PLC0415 (the tests of other writers need no Spark)

        self._session = start_session(Path(path).parent / "warehouse")

    def write(self, path: str, commit: Commit) -> bool:
        from schemalint.spark.statements import StatementError, run  # noqa: PLC0415 (as above)

        table = f"delta.`{path}`"
        values = ", ".join("NULL" if value is None else repr(value) for value in commit.row.values())
        statement = f"INSERT INTO {table} VALUES ({values})"
        if commit.deleted is not None:
            statement = f"DELETE FROM {table} WHERE id = {commit.deleted}"
        elif commit.is_widening:
            statement = f"ALTER TABLE {table} ALTER COLUMN old TYPE bigint"
        self._session.conf.set("spark.databricks.delta.commitInfo.userMetadata", commit.note)
        try:
            run(self._session, statement)
        except StatementError as error:
            if not error.is_conflict:
                raise
            return False
        return True


def main(client: str, path: str) -> None:
    """Commit one after another, until the standard input ends."""
    write = _Spark(path).write if client == "spark" else _write_with_delta_rs
    sys.stdin.readline()
    is_over = Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        is_over.set()

    Thread(target=wait_for_the_end, daemon=True).start()
    for number in count():
        while not is_over.wait(_PAUSE_SECONDS):
            knows_new = any(field.name == "new" for field in DeltaTable(path).schema().fields)
            if write(path, Commit(number, knows_new, widens=client == "spark")):
                sys.stdout.write(f"{number}\n")
                sys.stdout.flush()
                break
        else:
            return


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
