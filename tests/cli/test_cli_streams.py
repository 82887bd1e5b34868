"""The declared streams in the JSON of `check`, in `plan` and in `audit`, by their own files too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from schemalint.cli.schema import schema_of
from schemalint.delta.datatype import INTEGER, Field
from support.checkpoints import MAPPED, TABLE_ID, entry, offset, offsets, write_checkpoint
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

ORDERS = """\
schemalint: 1
table: sales.orders
columns:
  - {name: COLUMN, type: int}
properties: {delta.columnMapping.mode: name}
consumers:
"""


class Lake:
    """A table whose column was renamed at version 3, and which two streams read."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.root = project.repo.path.parent / "lake"
        project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{self.root}"\n')
        self.declare("a")
        project.repo.commit()
        write_log(
            self.root / "sales/orders",
            [
                [commit_info("CREATE TABLE"), protocol(2, 5), self.named("a")],
                [commit_info("WRITE")],
                [commit_info("WRITE")],
                [commit_info("RENAME COLUMN"), self.named("b")],
            ],
        )

    @staticmethod
    def named(name: str) -> Any:  # noqa: ANN401
        column = Field(name, INTEGER, column_id=1, physical_name="col-0")
        return metadata(column, properties=MAPPED, table_id=TABLE_ID)

    def declare(self, column: str) -> None:
        self.project.declare(
            ORDERS.replace("COLUMN", column)
            + f"  - {{name: silver, owner: '@bi', stream: {{checkpoint: {self.root}/c, "
            f"schema_tracking_location: {self.root}/c/s}}}}\n"
            f"  - {{name: plain, stream: {{checkpoint: {self.root}/p}}}}\n"
        )

    def at(self, version: int) -> Path:
        """Write the files of both streams, which read up to before a version."""
        write_checkpoint(self.root / "p", [offsets(offset(version))])
        read = entry(0, [("a", "integer")], path=f"file:{self.root}/c/sources/0")
        log = {f"s/_schema_log_{TABLE_ID}/0": read}
        return write_checkpoint(self.root / "c", [offsets(offset(version))], files=log)

    def audit(self) -> dict[str, Any]:
        run = self.project.run("audit", "sales.orders", "--target", "dev", "--output-format", "json")
        content = json.loads(run.out)
        Draft202012Validator(schema_of("report")).validate(content)
        return {stream["consumer"]: stream for stream in content["streams"]}


@pytest.fixture
def lake(project: Project) -> Lake:
    return Lake(project)


def test_audit_says_what_a_stream_has_still_to_meet(lake: Lake) -> None:
    lake.at(3)
    streams = lake.audit()
    assert (streams["silver"]["verdict"], streams["silver"]["unblock"]) == ("blocked", ["rename"])
    assert set(streams["silver"]["settings"].values()) == {"3"}
    assert streams["plain"]["verdict"] == "new-checkpoint"
    text = lake.project.run("audit", "sales.orders", "--target", "dev").out
    assert "sales.orders: stream silver (@bi): stops once, blocked by rename" in text
    assert "set for version 3" in text


def test_audit_leaves_out_what_a_stream_has_passed(lake: Lake) -> None:
    lake.at(4)
    assert lake.audit()["plain"]["verdict"] == "continues"


def test_audit_does_not_know_a_stream_whose_files_it_cannot_read(lake: Lake) -> None:
    assert {stream["verdict"] for stream in lake.audit().values()} == {"unknown"}


def test_check_says_in_json_what_happens_to_each_stream(lake: Lake) -> None:
    lake.project.declare(
        (lake.project.repo.path / "contracts/orders.yml")
        .read_text()
        .replace("{name: a,", "{name: b, renamed_from: a,")
    )
    run = lake.project.run("check", "--output-format", "json")
    content = json.loads(run.out)
    Draft202012Validator(schema_of("report")).validate(content)
    found = [(stream["consumer"], stream["verdict"], stream["unblock"]) for stream in content["streams"]]
    assert found == [("silver", "blocked", ["rename"]), ("plain", "new-checkpoint", [])]
    assert set(content["streams"][0]["settings"].values()) == {"always"}
