"""Catalog-managed tables: the catalog decides which commits are part of the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schemalint.base.errors import LiveError
from schemalint.delta.datatype import LONG, STRING, Field
from schemalint.delta.history import history_from
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables import catalog
from schemalint.tables.catalog import ManagedCommits, StagedCommit
from schemalint.tables.catalog.ratified_log import RatifiedLog
from schemalint.tables.delta_log.datafiles import live_files
from schemalint.tables.delta_log.table_reader import POSSIBLY_STALE
from schemalint.tables.storage import open_store, read_table
from support.logs import add, metadata, protocol, remove, write_checkpoint, write_file, write_log
from support.managed_tables import PROTOCOL, stage
from support.unity_server import Table, UnityServer

ID = Field("id", LONG)

both_apis = pytest.mark.usefixtures("each_api")


@pytest.fixture
def table(server: UnityServer, tmp_path: Path) -> Table:
    """A catalog-managed table with version 0 published."""
    write_log(tmp_path / "orders", [[PROTOCOL, metadata(ID)]])
    managed = Table(
        str(tmp_path / "orders"), properties={"delta.feature.catalogManaged": "supported"}, latest=0
    )
    server.tables["main.sales.orders"] = managed
    return managed


def version_and_columns(target: TrustedTarget) -> tuple[int, list[str]]:
    """Return the version and the column names of the table; the newest files tell them too."""
    live, newest = (catalog.read("sales.orders", target, history=history) for history in (True, False))
    assert (newest.version, newest.metadata) == (live.version, live.metadata)
    return live.version, [field.name for field in live.state.columns.fields]


@both_apis
def test_staged_commits_listed_by_the_catalog_are_read(target: TrustedTarget, table: Table) -> None:
    for version in range(1, 6):
        added = [Field(f"c{number}", STRING) for number in range(1, version + 1)]
        table.staged.append(stage(table, version, metadata(ID, *added)))
    table.latest = 5
    assert version_and_columns(target) == (5, ["id", "c1", "c2", "c3", "c4", "c5"])
    history = catalog.read("sales.orders", target).history.entries
    assert [entry.version for entry in history] == [0, 1, 2, 3, 4, 5]
    assert read_table(table.location).version == 0, "the log's folder does not contain them"


def test_staged_commit_not_listed_by_the_catalog_is_ignored(target: TrustedTarget, table: Table) -> None:
    stage(table, 1, metadata(ID, Field("lost", STRING)), letter="b")
    table.staged.append(stage(table, 1, metadata(ID, Field("won", STRING))))
    table.latest = 1
    assert version_and_columns(target) == (1, ["id", "won"])


def test_published_version_above_the_catalog_s_latest_is_ignored(target: TrustedTarget, table: Table) -> None:
    write_log(Path(table.location), [[metadata(ID, Field("rogue", STRING))]], first=1)
    write_file(Path(table.location), f"{1:020}.crc")
    assert version_and_columns(target) == (0, ["id"])


@pytest.mark.parametrize("pointed", [2, 4, 9])
def test_the_newest_checkpoint_is_a_ratified_one(target: TrustedTarget, table: Table, pointed: int) -> None:
    location = Path(table.location)
    write_log(location, [[add("a")], [add("b")]], first=1)
    write_checkpoint(location, 2, [PROTOCOL, metadata(ID)])
    write_checkpoint(location, 9, [PROTOCOL, metadata(ID, Field("rogue", STRING))])
    write_file(location, "_last_checkpoint", json.dumps({"version": pointed}).encode())
    table.staged += [stage(table, 3, add("c")), stage(table, 4, metadata(ID, Field("new", STRING)))]
    table.latest = 4
    assert version_and_columns(target) == (4, ["id", "new"])
    newest = catalog.read("sales.orders", target, history=False)
    whole = catalog.read("sales.orders", target).history
    assert newest.history_since(1) == history_from(whole, 1)


def test_catalog_s_copy_of_a_published_version_wins(target: TrustedTarget, table: Table) -> None:
    write_log(Path(table.location), [[metadata(ID, Field("published", STRING))]], first=1)
    table.staged.append(stage(table, 1, metadata(ID, Field("staged", STRING))))
    table.latest = 1
    assert version_and_columns(target) == (1, ["id", "staged"])
    commits = ManagedCommits(1, (StagedCommit(1, table.staged[0]["file_name"], 7),))
    listed = list(RatifiedLog(open_store(table.location), commits).list())
    assert [file.name for file in listed] == [f"{0:020}.json", f"{1:020}.json"]
    assert listed[1].size == 7


def test_table_read_through_the_catalog_has_no_stale_warning(target: TrustedTarget, table: Table) -> None:
    assert POSSIBLY_STALE in read_table(table.location).warnings
    live = catalog.read("sales.orders", target)
    assert live.warnings == ()
    assert live.catalog is not None
    assert live.catalog.managed_commits


@both_apis
def test_protocol_in_the_log_overrides_the_catalog_s_properties(target: TrustedTarget, table: Table) -> None:
    table.properties.clear()
    table.staged.append(stage(table, 1, metadata(ID, Field("new", STRING))))
    table.latest = 1
    assert version_and_columns(target) == (1, ["id", "new"])


def data_files(target: TrustedTarget, *, version: int | None = None) -> list[str]:
    """Return the names of the table's data files."""
    live = catalog.read("sales.orders", target, version=version)
    assert live.catalog is not None
    return sorted(live_files(catalog.open_table(live.catalog, target).store, live.version))


@both_apis
@pytest.mark.parametrize("says_managed", [True, False])
def test_data_files_come_from_ratified_commits_only(
    target: TrustedTarget, table: Table, *, says_managed: bool
) -> None:
    if not says_managed:
        table.properties.clear()
    write_log(Path(table.location), [[add("a"), add("b")], [add("rogue")]], first=1)
    table.staged += [stage(table, 2, remove("a"), add("c")), stage(table, 3, add("d"))]
    stage(table, 3, add("lost"), remove("b"), letter="b")
    table.latest = 3
    assert data_files(target) == ["b", "c", "d"]
    assert data_files(target, version=2) == ["b", "c"]


def test_data_files_belong_to_the_version_that_was_read(target: TrustedTarget, table: Table) -> None:
    table.staged.append(stage(table, 1, add("a")))
    table.latest = 1
    live = catalog.read("sales.orders", target)
    table.staged.append(stage(table, 2, remove("a"), add("b")))
    table.latest = 2
    assert live.catalog is not None
    assert list(live_files(catalog.open_table(live.catalog, target).store, live.version)) == ["a"]


def test_log_that_ends_before_the_catalog_s_latest_version_is_an_error(
    target: TrustedTarget, table: Table
) -> None:
    table.latest = 3
    with pytest.raises(LiveError, match="latest version is 3, but the log ends at 0"):
        version_and_columns(target)


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd", "x.json", f"{2:020}.aaaaaaaa-0000-4000-8000-000000000000.json"]
)
def test_catalog_cannot_list_a_file_that_is_no_staged_commit(
    target: TrustedTarget, table: Table, name: str
) -> None:
    table.staged.append({**stage(table, 1, metadata(ID)), "file_name": name})
    table.latest = 1
    with pytest.raises(LiveError, match="not a staged commit of that version"):
        version_and_columns(target)


def test_unmanaged_tables_are_read_without_the_catalog_s_commits(
    server: UnityServer, target: TrustedTarget, tmp_path: Path
) -> None:
    write_log(tmp_path / "plain", [[protocol(), metadata(ID)], [metadata(ID, Field("new", STRING))]])
    server.tables["main.sales.orders"] = Table(str(tmp_path / "plain"))
    assert version_and_columns(target) == (1, ["id", "new"])
