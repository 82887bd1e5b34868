"""Under which schemas the live data files were written, as far as the history needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import INTEGER, Field
from schemalint.tables.delta_log import log_limits
from schemalint.tables.storage import read_table
from support.logs import Action, add, commit_info, metadata, protocol, remove, write_checkpoint, write_log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CREATED = [commit_info("CREATE TABLE"), protocol(), metadata(Field("a", INTEGER))]
RENAMED = [commit_info("SET TBLPROPERTIES"), metadata(Field("b", INTEGER))]
HARMLESS = [commit_info("ADD COLUMNS"), metadata(Field("a", INTEGER), Field("c", INTEGER))]
ONE, TWO = add("part-1.parquet"), add("part-2.parquet")


@pytest.mark.parametrize(
    ("commits", "versions"),
    [
        ([CREATED, [ONE], HARMLESS], None),
        ([CREATED, [ONE], RENAMED], {0}),
        ([CREATED, [ONE], RENAMED, [TWO]], {0, 2}),
        ([CREATED, [ONE], [*RENAMED, remove("part-1.parquet"), TWO]], {2}),
        ([CREATED, [ONE], RENAMED, [remove("part-1.parquet"), ONE]], {0}),
        ([CREATED, [ONE], RENAMED, [remove("part-1.parquet")], [TWO], [ONE]], {0, 2}),
        ([CREATED, RENAMED], set()),
    ],
    ids=[
        "no commit misfits files",
        "older file",
        "older and newer file",
        "replaced in the commit",
        "another deletion vector",
        "restored",
        "no files",
    ],
)
def test_a_file_has_the_schema_of_the_first_commit_that_adds_it(
    commits: Sequence[Sequence[Action]], versions: set[int] | None, tmp_path: Path
) -> None:
    assert read_table(str(write_log(tmp_path, commits))).history.file_versions == versions


def test_a_file_that_no_commit_adds_is_older_than_the_history(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, 3, CREATED[1:], data_files=1)
    write_log(tmp_path, [RENAMED, [ONE]], first=4)
    history = read_table(str(tmp_path)).history
    assert (history.known_from, history.file_versions) == (3, frozenset({3, 4}))


def test_too_many_files_are_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_limits, "MAX_LIVE_FILES", 1)
    assert read_table(str(write_log(tmp_path, [CREATED, [ONE, TWO], RENAMED]))).history.file_versions is None


def test_files_of_a_damaged_log_are_unknown(tmp_path: Path) -> None:
    table = write_log(tmp_path, [CREATED, [{"add": {"path": 1}}], RENAMED])
    assert read_table(str(table)).history.file_versions is None
