"""Logs that Spark refuses, or that contradict themselves: the known state and its defects are returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Field, Struct
from schemalint.delta.table import LogDefect, LogDefectKind
from schemalint.tables.delta_log.state_at_version import MissingCommit
from schemalint.tables.delta_log.store import DamagedFile
from schemalint.tables.storage import read_table
from support.logs import (
    add,
    clustering,
    commit_info,
    metadata,
    protocol,
    remove,
    write_checkpoint,
    write_checksum,
    write_commit,
    write_file,
    write_lines,
    write_log,
)

if TYPE_CHECKING:
    from pathlib import Path

ID = Field("id", LONG)
LATER = Field("later", LONG)
CREATED = [commit_info("CREATE TABLE"), protocol(), metadata(ID)]
WRITTEN = [commit_info("WRITE"), add()]
ALTERED = [commit_info("ADD COLUMNS"), metadata(ID, LATER)]
REPLACED = [commit_info("REPLACE TABLE"), protocol(1, 4), metadata(LATER), remove()]

with_and_without_history = pytest.mark.parametrize("history", [True, False])


def file_name(version: int, rest: str = "json") -> str:
    return f"{version:020}.{rest}"


def without_commits(table: Path, *versions: int) -> Path:
    for version in versions:
        table.joinpath("_delta_log", file_name(version)).unlink()
    return table


def missing_commit(
    version: int, message: str, delta_error: str = "DELTA_VERSIONS_NOT_CONTIGUOUS"
) -> LogDefect:
    return LogDefect(LogDefectKind.COMMIT_MISSING, message, file_name(version), delta_error=delta_error)


class TestMissingCommits:
    """Gaps between commits, and the files that replace missing commits."""

    @with_and_without_history
    def test_the_newest_known_version_is_the_one_before_a_gap(self, tmp_path: Path, *, history: bool) -> None:
        table = without_commits(
            write_log(tmp_path, [CREATED, ALTERED, WRITTEN, WRITTEN, WRITTEN, WRITTEN]), 2, 3
        )
        live = read_table(str(table), history=history)
        assert (live.version, live.state.columns) == (1, Struct((ID, LATER)))
        message = "the commits of versions 2 to 3 are missing, so version 1 is the newest known version"
        assert live.defects == (missing_commit(2, message),)
        assert [entry.version for entry in live.history.entries] == ([0, 1] if history else [])

    @with_and_without_history
    def test_a_requested_version_after_a_gap_is_refused(self, tmp_path: Path, *, history: bool) -> None:
        table = without_commits(write_log(tmp_path, [CREATED, WRITTEN, WRITTEN, WRITTEN]), 2)
        with pytest.raises(MissingCommit, match="the commit of version 2 is missing") as caught:
            read_table(str(table), version=3, history=history)
        assert caught.value.help
        assert read_table(str(table), version=1, history=history).defects == ()

    @with_and_without_history
    def test_a_table_replaced_after_a_gap_is_known(self, tmp_path: Path, *, history: bool) -> None:
        table = without_commits(
            write_log(tmp_path, [CREATED, WRITTEN, WRITTEN, WRITTEN, REPLACED, ALTERED]), 2
        )
        live = read_table(str(table), history=history)
        assert (live.version, live.protocol.min_writer) == (5, 4)
        assert live.state.columns == Struct((ID, LATER))
        assert live.defects == (missing_commit(2, "the commit of version 2 is missing"),)
        assert live.history.known_from == (4 if history else 5)
        assert [entry.version for entry in live.history.entries] == ([4, 5] if history else [])

    @with_and_without_history
    def test_a_checksum_after_a_gap_gives_the_state(self, tmp_path: Path, *, history: bool) -> None:
        table = without_commits(write_log(tmp_path, [CREATED, WRITTEN, WRITTEN, WRITTEN, ALTERED]), 2)
        write_checksum(table, 3, *CREATED[1:])
        live = read_table(str(table), history=history)
        assert (live.version, live.state.columns) == (4, Struct((ID, LATER)))
        assert live.defects == (missing_commit(2, "the commit of version 2 is missing"),)
        assert live.history.known_from == (3 if history else 4)

    def test_an_incomplete_checksum_after_a_gap_does_not_help(self, tmp_path: Path) -> None:
        clustered = protocol(1, 7, None, ["clustering", "domainMetadata"])
        table = without_commits(
            write_log(tmp_path, [[clustered, metadata(ID), clustering(["id"])], WRITTEN, WRITTEN]), 1
        )
        write_checksum(table, 2, clustered, metadata(ID))
        assert read_table(str(table)).version == 0
        write_checksum(table, 2, clustered, metadata(ID), clustering(["id"]))
        assert (read_table(str(table)).version, read_table(str(table)).state.clustered_by) == (2, (("id",),))

    @with_and_without_history
    def test_a_compaction_replaces_missing_commits_but_not_their_history(
        self, tmp_path: Path, *, history: bool
    ) -> None:
        table = without_commits(
            write_log(tmp_path, [CREATED, WRITTEN, ALTERED, WRITTEN, WRITTEN, WRITTEN]), 2
        )
        write_lines(table, f"{1:020}.{3:020}.compacted.json", [ALTERED[1], add()])
        live = read_table(str(table), history=history)
        assert (live.version, live.state.columns) == (5, Struct((ID, LATER)))
        assert live.defects == (missing_commit(2, "the commit of version 2 is missing"),)
        assert live.history.known_from == 5
        assert [entry.metadata for entry in live.history.entries] == ([live.metadata] if history else [])
        assert read_table(str(table), version=3, history=history).state.columns == Struct((ID, LATER))
        with pytest.raises(MissingCommit):
            read_table(str(table), version=2, history=history)

    @pytest.mark.parametrize("name", [f"{1:020}.{1:020}", f"{3:020}.{4:020}", f"{4:020}.{2:020}"])
    def test_a_compaction_of_other_commits_does_not_replace_missing_ones(
        self, tmp_path: Path, name: str
    ) -> None:
        table = without_commits(write_log(tmp_path, [CREATED, WRITTEN, ALTERED, WRITTEN, WRITTEN]), 2)
        write_lines(table, f"{name}.compacted.json", [ALTERED[1]])
        assert read_table(str(table)).version == 1

    def test_a_damaged_compaction_of_missing_commits_is_an_error(self, tmp_path: Path) -> None:
        table = without_commits(write_log(tmp_path, [CREATED, WRITTEN, ALTERED, WRITTEN]), 2)
        write_file(table, f"{2:020}.{2:020}.compacted.json", b'{"metaData":')
        with pytest.raises(DamagedFile, match="compacted"):
            read_table(str(table))

    @with_and_without_history
    def test_a_log_without_its_first_commits_can_give_the_state(
        self, tmp_path: Path, *, history: bool
    ) -> None:
        table = write_log(tmp_path, [CREATED, ALTERED], first=5)
        live = read_table(str(table), history=history)
        assert (live.version, live.state.columns) == (6, Struct((ID, LATER)))
        message = "the commits of versions 0 to 4 are missing"
        assert live.defects == (missing_commit(0, message, "DELTA_TRUNCATED_TRANSACTION_LOG"),)
        assert live.history.known_from == (5 if history else 6)

    @with_and_without_history
    def test_a_log_without_its_first_commits_and_without_a_schema_is_refused(
        self, tmp_path: Path, *, history: bool
    ) -> None:
        table = write_log(tmp_path, [ALTERED, WRITTEN], first=5)
        with pytest.raises(MissingCommit, match="the log's first commit is 5"):
            read_table(str(table), history=history)

    def test_a_gap_after_a_checkpoint_has_another_delta_error(self, tmp_path: Path) -> None:
        write_checkpoint(tmp_path, 4, CREATED[1:])
        table = write_log(tmp_path, [WRITTEN, WRITTEN], first=6)
        live = read_table(str(table))
        message = "the commit of version 5 is missing, so version 4 is the newest known version"
        assert live.version == 4
        assert live.defects == (missing_commit(5, message, "DELTA_TRUNCATED_TRANSACTION_LOG"),)

    def test_a_gap_before_the_newest_checkpoint_is_no_defect(self, tmp_path: Path) -> None:
        table = without_commits(write_log(tmp_path, [CREATED, WRITTEN, WRITTEN, WRITTEN, WRITTEN]), 1)
        write_checkpoint(table, 3, CREATED[1:])
        assert read_table(str(table)).defects == ()

    def test_a_checkpoint_without_its_commit_is_a_defect(self, tmp_path: Path) -> None:
        write_checkpoint(write_log(tmp_path, [CREATED]), 5, CREATED[1:])
        message = "version 5, the newest version, has a checkpoint but no commit"
        live = read_table(str(tmp_path))
        error = "IllegalStateException: Could not find any delta files"
        assert (live.version, live.defects) == (5, (missing_commit(5, message, error),))

    def test_huge_version_numbers_are_handled_quickly(self, tmp_path: Path) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN])
        write_commit(table, 2**63 - 1, b"")
        write_commit(table, 10**20 - 1, b"")
        (defect,) = read_table(str(table)).defects
        assert defect.message == (
            "the commits of versions 2 to 9223372036854775806 are missing, "
            "so version 1 is the newest known version"
        )


class TestDamagedCommits:
    """Commits that cannot be read."""

    @pytest.mark.parametrize("content", [b"{rub", b'{"metaData": rubbish}', b'{"metaData":{"id":"x"'])
    def test_the_history_starts_after_a_damaged_commit(self, tmp_path: Path, content: bytes) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN, WRITTEN, REPLACED, ALTERED])
        write_commit(table, 1, content)
        live = read_table(str(table))
        (defect,) = live.defects
        assert (defect.kind, defect.file, defect.line) == (LogDefectKind.FILE_UNREADABLE, file_name(1), 1)
        assert defect.delta_error == "FAILED_READ_FILE.NO_HINT"
        assert (live.version, live.history.known_from) == (4, 3)
        assert [entry.version for entry in live.history.entries] == [3, 4]
        assert read_table(str(table), history=False).defects == (defect,)

    def test_a_damaged_commit_before_the_newest_checkpoint_has_no_delta_error(self, tmp_path: Path) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN, WRITTEN, ALTERED])
        write_commit(table, 0, b"{rub")
        write_checkpoint(table, 1, CREATED[1:])
        live = read_table(str(table))
        assert [defect.delta_error for defect in live.defects] == [None]
        assert live.history.known_from == 1
        assert [entry.version for entry in live.history.entries] == [1, 3]

    @with_and_without_history
    def test_the_error_for_a_needed_damaged_commit_names_file_and_line(
        self, tmp_path: Path, *, history: bool
    ) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN, WRITTEN])
        write_commit(table, 1, b'{"add":{}}\n{"metaData": rubbish}\n')
        with pytest.raises(DamagedFile, match=rf"{file_name(1)}, line 2: the action is not JSON") as caught:
            read_table(str(table), history=history)
        assert (caught.value.file, caught.value.line) == (file_name(1), 2)
        assert read_table(str(table), version=0).version == 0

    @with_and_without_history
    def test_a_checksum_replaces_a_damaged_commit(self, tmp_path: Path, *, history: bool) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN, WRITTEN, ALTERED])
        write_commit(table, 1, b"{rub")
        write_checksum(table, 1, *CREATED[1:])
        live = read_table(str(table), history=history)
        assert live.state.columns == Struct((ID, LATER))
        assert [defect.kind for defect in live.defects] == [LogDefectKind.FILE_UNREADABLE]
        assert live.history.known_from == (1 if history else 3)


class TestChecksums:
    """Version checksums, which are compared with the log and never trusted over it."""

    def test_a_checksum_that_agrees_with_the_log_is_no_defect(self, tmp_path: Path) -> None:
        clustered = protocol(1, 7, None, ["clustering", "domainMetadata"])
        actions = [clustered, metadata(ID), clustering(["id"])]
        table = write_log(tmp_path, [actions, WRITTEN])
        write_checksum(table, 1, *actions)
        assert read_table(str(table)).defects == ()

    @pytest.mark.parametrize(
        ("body", "parts"),
        [
            ([protocol(1, 4), metadata(ID)], "protocol"),
            ([protocol(), metadata(LATER)], "schemaString"),
            ([metadata(ID, properties={"a": "b"})], "configuration"),
            ([protocol(), metadata(ID, table_id="other", description="d")], "id, description"),
            ([clustering(["id"])], "clustering"),
        ],
    )
    @with_and_without_history
    def test_a_checksum_that_contradicts_the_log_is_a_defect(
        self, tmp_path: Path, body: list[dict[str, object]], parts: str, *, history: bool
    ) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN])
        write_checksum(table, 1, *body)
        live = read_table(str(table), history=history)
        message = f"the version checksum contradicts the log: {parts}"
        assert live.defects == (LogDefect(LogDefectKind.CHECKSUM_DIFFERS, message, file_name(1, "crc")),)
        assert (live.state.columns, live.protocol.min_writer) == (Struct((ID,)), 2)

    def test_checksums_of_older_versions_are_ignored(self, tmp_path: Path) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN])
        write_checksum(table, 0, protocol(1, 4))
        assert read_table(str(table)).defects == ()
        assert read_table(str(table), version=0).defects

    @pytest.mark.parametrize("data", [b"", b"{rub", b"[]", b'{"protocol":{}}', b"\xff", b"[" * 10**5])
    def test_an_unreadable_checksum_is_a_warning(self, tmp_path: Path, data: bytes) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN])
        write_file(table, file_name(1, "crc"), data)
        live = read_table(str(table))
        (warning,) = live.warnings
        assert warning.startswith(f"{file_name(1, 'crc')}: the version checksum cannot be read: ")
        assert live.defects == ()

    def test_a_checksum_without_protocol_and_metadata_is_ignored(self, tmp_path: Path) -> None:
        table = write_log(tmp_path, [CREATED, WRITTEN])
        write_checksum(table, 1)
        live = read_table(str(table))
        assert (live.defects, live.warnings) == ((), ())


def test_a_repeated_action_is_a_defect_of_its_commit(tmp_path: Path) -> None:
    live = read_table(
        str(write_log(tmp_path, [CREATED, [protocol(), metadata(), metadata(ID), protocol(1, 4)]]))
    )
    assert (live.state.columns, live.protocol.min_writer) == (Struct((ID,)), 4)
    message = "there is more than one {} action; the last one counts"
    assert live.defects == tuple(
        LogDefect(LogDefectKind.REPEATED_ACTION, message.format(name), file_name(1), line)
        for name, line in (("metaData", 3), ("protocol", 4))
    )


def test_metadata_without_a_schema_is_a_table_without_columns(tmp_path: Path) -> None:
    body = metadata()
    del body["metaData"]["schemaString"]
    table = write_log(tmp_path, [CREATED, [body], WRITTEN])
    live = read_table(str(table))
    assert live.state.columns == Struct()
    message = "the metaData action has no schemaString, so the table has no columns"
    error = "DELTA_READ_TABLE_WITHOUT_COLUMNS"
    assert live.defects == (LogDefect(LogDefectKind.NO_SCHEMA, message, file_name(1), delta_error=error),)
    assert read_table(str(write_log(table, [CREATED], first=3))).defects == ()


def test_the_history_gives_operation_user_and_engine(tmp_path: Path) -> None:
    info = commit_info(
        "REPLACE TABLE", operationParameters={"mode": "x"}, userName="ada", engineInfo="e", userMetadata="why"
    )
    live = read_table(str(write_log(tmp_path, [CREATED, [info, *REPLACED[1:]]])))
    first, entry = live.history.entries
    assert (entry.operation, entry.parameters, entry.user) == ("REPLACE TABLE", {"mode": "x"}, "ada")
    assert (entry.engine, entry.user_metadata) == ("e", "why")
    assert (first.removes_files, entry.removes_files) == (False, True)
