"""Commands that see live tables read the files of declared streams: what a stream has not met yet counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemalint.cli.schema import schema_of
from schemalint.delta.datatype import LONG, Field
from schemalint.delta.stream_progress import BEFORE_CHANGE
from schemalint.delta.stream_settings import java_hash
from support.checkpoints import entry, offset, offsets, write_checkpoint
from support.logs import add, commit_info, metadata, protocol, write_log
from support.project import Project

CONTRACT = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint}
  - {name: total, type: bigint}
  - {name: note, type: string}
properties: {delta.columnMapping.mode: name}
"""
PROPERTIES = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}


class Lake:
    """A table whose column ``amount`` became ``total`` in version 2, and the streams that read it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.folder = project.repo.path.parent / "lake"
        (self.folder / "sales").mkdir(parents=True)
        project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{self.folder}"\n')
        mapping = protocol(2, 7, None, ["columnMapping", "appendOnly", "invariants"])
        write_log(
            self.folder / "sales/orders",
            [
                [commit_info("CREATE TABLE"), mapping, self._metadata("amount")],
                [commit_info(), add("a.parquet")],
                [commit_info("RENAME COLUMN"), self._metadata("total")],
                [commit_info(), add("b.parquet")],
            ],
        )

    @staticmethod
    def _metadata(name: str) -> dict[str, Any]:
        columns = (
            Field("id", LONG, column_id=1, physical_name="col-0"),
            Field(name, LONG, column_id=2, physical_name="col-1"),
        )
        return metadata(*columns, properties=PROPERTIES)

    def stream(self, version: int, logged: int | None = None, name: str = "chk") -> str:
        """Write the checkpoint of a stream, and return its declaration."""
        folder = self.folder / name
        files = {}
        if logged is not None:
            columns = (("id", "long"), ("amount" if logged < 2 else "total", "long"))
            path = f"file:{folder}/sources/0"
            files = {"s/_schema_log_t-1/0": entry(logged, columns, path=path, table_id="t-1")}
        write_checkpoint(folder, [offsets(offset(version, table_id="t-1"))], files=files)
        tracked = "" if logged is None else f", schema_tracking_location: {folder}/s"
        return f"{{checkpoint: {folder}{tracked}}}"

    def stopped_stream(self, version: int = 2, index: int = BEFORE_CHANGE) -> str:
        """Write the checkpoint of a stream that has stopped at the rename, or passed it, and declare it."""
        folder = self.folder / "stopped"
        entries = {
            f"s/_schema_log_t-1/{number}": entry(
                version, (("id", "long"), (name, "long")), path=f"file:{folder}/sources/0", table_id="t-1"
            )
            for number, (version, name) in enumerate(((0, "amount"), (2, "total")))
        }
        write_checkpoint(folder, [offsets(offset(version, index, table_id="t-1"))], files=entries)
        return f"{{checkpoint: {folder}, schema_tracking_location: {folder}/s}}"

    def declare(self, stream: str) -> None:
        self.project.declare(f"{CONTRACT}consumers: [{{name: billing, stream: {stream}}}]\n")

    def plan(self) -> Any:  # noqa: ANN401
        run = self.project.run("plan", "--output-format", "json")
        assert run.status == 0, run.out + run.err
        (stream,) = json.loads(run.out)["streams"]
        return stream

    def codes(self, *arguments: str) -> list[tuple[str, str]]:
        run = self.project.run(*arguments, "--output-format", "json")
        findings = json.loads(run.out)["findings"]
        return [
            (found["code"], found["message"]) for found in findings if found["code"] in ("RD012", "RD013")
        ]


@pytest.fixture
def lake(project: Project) -> Lake:
    return Lake(project)


def test_an_untracked_stream_before_the_rename_needs_a_new_checkpoint_for_an_added_column(lake: Lake) -> None:
    lake.declare(lake.stream(2))
    assert (lake.plan()["verdict"], lake.plan()["unknown"]) == ("new-checkpoint", None)
    lake.declare(lake.stream(4, name="past"))
    assert lake.plan()["verdict"] == "restarts"


def test_a_tracked_stream_is_blocked_by_what_its_log_does_not_have_yet(lake: Lake) -> None:
    lake.declare(lake.stream(2, logged=0))
    stream = lake.plan()
    number = java_hash(f"file:{lake.folder}/chk/sources/0")
    assert (stream["verdict"], stream["stops"], stream["unblock"]) == ("blocked", 2, ["rename"])
    assert stream["settings"] == {
        f"spark.databricks.delta.streaming.allowSourceColumnRename.ckpt_{number}": "2"
    }
    lake.declare(lake.stream(4, logged=2, name="past"))
    stream = lake.plan()
    assert (stream["verdict"], stream["stops"], stream["unblock"]) == ("restarts", 1, [])


def test_a_stream_that_waits_on_a_table_that_does_not_change_is_reported_by_all_commands(lake: Lake) -> None:
    as_it_is = CONTRACT.replace("  - {name: note, type: string}\n", "")
    stream = lake.stream(2, logged=0)
    allowed = stream.replace("}", ", unblock: {rename: 2}}")
    for declared, verdict in ((stream, "blocked"), (allowed, "restarts")):
        lake.project.declare(f"{as_it_is}consumers: [{{name: billing, stream: {declared}}}]\n")
        lake.project.repo.commit()
        assert lake.plan()["verdict"] == verdict
        audited = lake.project.run("audit", "--target", "dev", "--all", "--output-format", "json")
        assert [report["verdict"] for report in json.loads(audited.out)["streams"]] == [verdict]
        checked = lake.project.run("check", "--live", "--all", "--output-format", "json")
        assert [report["verdict"] for report in json.loads(checked.out)["streams"]] == [verdict]
        codes = [finding["code"] for finding in json.loads(checked.out)["findings"]]
        assert codes == (["RD009"] if verdict == "blocked" else ["RD011"])
    lake.project.declare(f"{as_it_is}consumers: [{{name: billing, stream: {stream}}}]\n")
    assert lake.project.check("--live").codes == ["RD009"], "unblock was taken out too early"


def test_a_stream_that_has_passed_a_rename_still_needs_what_unblocks_it(lake: Lake) -> None:
    """Each start compares the newest entry of its log with the one before (measured on Delta 4.4.0)."""
    as_it_is = CONTRACT.replace("  - {name: note, type: string}\n", "")
    stream = lake.stopped_stream(4, -1)
    allowed = stream.replace("}", ", unblock: {rename: 2}}")
    lake.project.declare(f"{as_it_is}consumers: [{{name: billing, stream: {allowed}}}]\n")
    lake.project.repo.commit()
    assert lake.project.check("--live", "--all").codes == []
    lake.project.declare(f"{as_it_is}consumers: [{{name: billing, stream: {stream}}}]\n")
    assert lake.project.check("--live").codes == ["RD009"]
    assert "do: adapt the queries, and set for billing" in lake.project.run("check", "--live").out
    for command in (("audit", "--target", "dev", "--all"), ("plan",)):
        out = lake.project.run(*command).out
        assert "goes on with its settings; without them each start is blocked by rename" in out
        assert "keep set for version 2, and remove it once" in out


def test_a_stream_that_has_stopped_does_not_stop_again_for_the_same_change(lake: Lake) -> None:
    as_it_is = CONTRACT.replace("  - {name: note, type: string}\n", "")
    stream = lake.stopped_stream()
    lake.project.declare(f"{as_it_is}consumers: [{{name: billing, stream: {stream}}}]\n")
    assert "has stopped, blocked by rename" in lake.project.run("audit", "--target", "dev", "--all").out
    allowed = stream.replace("}", ", unblock: {rename: 2}}")
    lake.project.declare(f"{as_it_is}consumers: [{{name: billing, stream: {allowed}}}]\n")
    assert "times" not in lake.project.run("audit", "--target", "dev", "--all").out
    assert lake.project.check("--live", "--all").codes == []


def test_a_stream_elsewhere_is_not_opened_and_its_place_is_unknown(lake: Lake, tmp_path: Path) -> None:
    outside = write_checkpoint(tmp_path / "outside", [offsets(offset(2, table_id="t-1"))])
    lake.declare(f"{{checkpoint: {outside}}}")
    reason = f"the checkpoint {outside} is not allowed in target dev, and was not opened"
    assert lake.plan()["unknown"] == reason
    assert f"its position is unknown: {reason}" in lake.project.run("plan").out
    for command in (("check", "--all", "--live"), ("audit", "--target", "dev", "--all")):
        assert lake.codes(*command) == [("RD013", f"it is unknown where the stream of billing is: {reason}")]
    assert lake.codes("check", "--all") == []


def test_a_change_and_an_unknown_stream_give_no_verdict_but_what_would_happen(
    lake: Lake, tmp_path: Path
) -> None:
    outside = write_checkpoint(tmp_path / "outside", [offsets(offset(4, table_id="t-1"))])
    stream = f"{{checkpoint: {outside}, schema_tracking_location: {outside}/s}}"
    reason = f"the checkpoint {outside} is not allowed in target dev, and was not opened"
    lake.declare(stream)
    planned = lake.plan()
    assert (planned["verdict"], planned["if_up_to_date"], planned["stops"]) == ("unknown", "restarts", 1)
    lines = "  stream billing: unknown; if it has read everything before: stops once; start it again\n"
    assert f"{lines}      its position is unknown: {reason}\n" in lake.project.run("plan").out
    lake.project.repo.commit()
    lake.declare(stream)
    lake.project.declare(
        f"{CONTRACT.replace('name: total', 'renamed_from: total, name: sum')}"
        f"consumers: [{{name: billing, stream: {stream}}}]\n"
    )
    run = lake.project.run("check", "--live", "--output-format", "json")
    content = json.loads(run.out)
    Draft202012Validator(schema_of("report")).validate(content)
    (checked,) = content["streams"]
    found = (checked["verdict"], checked["if_up_to_date"], checked["unblock"], checked["unknown"])
    assert found == ("unknown", "blocked", ["rename"], reason)
    (blocked,) = (finding["message"] for finding in content["findings"] if finding["code"] == "RD009")
    assert blocked.endswith(": billing (at an unknown position) for rename")
    assert run.status == 1  # what is unknown does not hide what is certain
    offline = json.loads(lake.project.run("check", "--output-format", "json").out)["streams"]
    assert [(stream["verdict"], stream["if_up_to_date"]) for stream in offline] == [("blocked", None)]


def test_a_trusted_location_lets_the_checkpoint_be_read(lake: Lake, tmp_path: Path) -> None:
    outside = write_checkpoint(tmp_path / "outside", [offsets(offset(2, table_id="t-1"))])
    text = f'[targets.dev]\nroot = "{lake.folder}"\nallowed_locations = ["{outside}"]\n'
    lake.project.repo.write("schemalint.toml", text)
    lake.declare(f"{{checkpoint: {outside}}}")
    assert (lake.plan()["verdict"], lake.plan()["unknown"]) == ("new-checkpoint", None)


@pytest.mark.parametrize(
    ("logged", "edit", "refused"),
    [
        (0, ("name: note", "name: other"), False),
        (0, ("name: total", "renamed_from: total, name: sum"), True),
        (2, ("name: total", "renamed_from: total, name: sum"), True),
    ],
)
def test_a_change_is_refused_for_what_it_does_itself_and_not_for_what_a_stream_waits_for_already(
    lake: Lake, logged: int, edit: tuple[str, str], *, refused: bool
) -> None:
    stream = lake.stream(4 if logged else 2, logged=logged)
    lake.declare(stream)
    lake.project.repo.commit()
    lake.project.declare(lake.project.repo.path.joinpath("contracts/orders.yml").read_text().replace(*edit))
    run = lake.project.run("plan", "--base", "HEAD")
    assert ("- RD009: " in run.out) == refused, run.out
