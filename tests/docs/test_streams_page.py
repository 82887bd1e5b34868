"""The examples of ``docs/streams.md``: each command prints what the page shows.

A block ``yaml`` holds the contract, ``diff`` edits it, and the commands of ``console`` run in order. A line
of three dots stands for any lines. The log of the table and the files of the stream are written by hand, so
that only ``apply`` needs Spark.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.datatype import Field, Struct, Unmanaged
from schemalint.delta.schema_json import print_schema
from schemalint.model.declaration import created_state
from support.checkpoints import TABLE_ID, offset, offsets, write_checkpoint
from support.golden import assert_golden
from support.guide import as_shown
from support.logs import Action, commit_info, marker, metadata, protocol, write_log
from support.project import Project
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.model.contract import Contract

PAGE = Path(__file__).parents[2] / "docs/streams.md"
HOME = "/home/ada"
LAKE = f"{HOME}/lake"
BLOCK = re.compile(r"(?<=^```)(yaml|diff|console)\n(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
# These differ on every run: the hash of a checkpoint's path, a commit's id, a plan's hash, a time.
VARIES = (
    (re.compile(r"ckpt_-?\d+"), "ckpt_1234567890"),
    (re.compile(r"\bbase [0-9a-f]{7}\b"), "base 0000000"),
    (re.compile(r"\b2:[0-9a-f]{64}\b"), f"2:{'0' * 64}"),
    (re.compile(r"^applying: .*\n", re.MULTILINE), ""),  # only after some seconds
)


class Example:
    """A repository with a contract, its table, and the files of its stream, which has read version 0."""

    def __init__(self, project: Project, text: str) -> None:
        self._project = project
        self._home = str(project.repo.path.parent)
        self._text = text
        self._declare()
        project.repo.write("schemalint.toml", f'[targets.prod]\nroot = "{self._home}/lake"\n')
        revision = project.repo.commit()
        (declared,) = contracts.read("orders.yml", text).contracts
        write_table(self._path(f"{LAKE}/sales/orders"), declared, marker(text, revision))
        (consumer,) = declared.consumers
        assert consumer.stream is not None
        checkpoint = self._path(consumer.stream.checkpoint)
        files = {}
        if consumer.stream.schema_tracking_location is not None:
            files[f"schema/_schema_log_{TABLE_ID}/0"] = entry(declared, checkpoint)
        write_checkpoint(checkpoint, [offsets(offset(1))], files=files)

    def edit(self, diff: str) -> None:
        """Replace the lines of a diff in the contract."""
        lines = [(line[:1], line[1:] + "\n") for line in diff.splitlines()]
        old, new = ("".join(text for sign, text in lines if sign in (" ", kept)) for kept in "-+")
        assert self._text.count(old) == 1, old
        self._text = self._text.replace(old, new)
        self._declare()

    def run(self, command: str) -> str:
        """Return what a command prints."""
        if command.startswith("git commit"):
            self._project.repo.commit()
            return ""
        run = self._project.run(*command.split()[1:])
        text = (run.err + run.out).replace(self._home, HOME)
        for pattern, replacement in VARIES:
            text = pattern.sub(replacement, text)
        return text

    def _declare(self) -> None:
        self._project.declare(self._text.replace(HOME, self._home))

    def _path(self, shown: str) -> Path:
        return Path(shown.replace(HOME, self._home))


def write_table(table: Path, declared: Contract, marked: Action) -> None:
    """Write the log of a table as declared; recorded type changes happened in version 1."""
    created, now = (
        metadata(
            *fields.fields,
            properties=properties(declared),
            table_id=TABLE_ID,
        )
        for fields in (before(declared), columns(declared))
    )
    commits = [[commit_info("CREATE TABLE"), protocol_of(declared), created]]
    if now != created:
        commits.append([commit_info("CHANGE COLUMN"), now])
    write_log(table, [*commits, [commit_info(), marked]])


def entry(declared: Contract, checkpoint: Path) -> str:
    """Return the entry of a stream's schema log for version 0."""
    body = {
        "tableId": TABLE_ID,
        "deltaCommitVersion": 0,
        "dataSchemaJson": print_schema(before(declared)),
        "partitionSchemaJson": print_schema(Struct(())),
        "sourceMetadataPath": f"file:{checkpoint}/sources/0",
        "tableConfigurations": properties(declared),
        "protocolJson": json.dumps(protocol_of(declared)),
    }
    return f"v1\n{json.dumps(body)}"


def columns(declared: Contract) -> Struct:
    """Return the columns of the table, with the ids and names of column mapping."""
    created = created_state(declared.state).columns.fields
    return Struct(
        tuple(
            replace(
                field,
                column_id=number,
                physical_name=f"col-{number}",
                type_changes=() if isinstance(written.type_changes, Unmanaged) else written.type_changes,
            )
            for number, (field, written) in enumerate(
                zip(created, declared.state.columns.fields, strict=True), 1
            )
        )
    )


def before(declared: Contract) -> Struct:
    """Return the columns before their recorded type changes."""
    return Struct(tuple(_before(field) for field in columns(declared).fields))


def _before(field: Field) -> Field:
    changes = field.type_changes
    if isinstance(changes, Unmanaged) or not changes:
        return field
    return replace(field, type=changes[0].from_type, type_changes=())


def properties(declared: Contract) -> dict[str, str]:
    return {**declared.state.set_properties, "delta.columnMapping.maxColumnId": "9"}


def protocol_of(declared: Contract) -> Action:
    features = sorted(declared.created_features)
    return protocol(3, 7, [name for name in features if name in ("columnMapping", "typeWidening")], features)


def rendered(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, applies: bool
) -> str:
    """Return the page with the output of all commands; without Spark, that of ``apply`` stays."""
    head, *parts = re.split(r"^(?=## \d)", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    (shared,) = (text for kind, text in BLOCK.findall(head) if kind == "yaml")
    texts = [head]
    for number, part in enumerate(parts):
        own = [text for kind, text in BLOCK.findall(part) if kind == "yaml"]
        repo = Repo(folder / str(number) / "repository")
        for name, value in repo.env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(repo.path)
        example = Example(Project(repo, capsys), own[0] if own else shared)

        def block(match: re.Match[str], example: Example = example) -> str:
            kind, text = match.groups()
            if kind == "diff":
                example.edit(text)
            if kind != "console":
                return match[0]
            return f"{kind}\n{''.join(_output(example, text, applies=applies))}"

        texts.append(BLOCK.sub(block, part))
    return "".join(texts)


def _output(example: Example, text: str, *, applies: bool) -> Iterator[str]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        if applies or not command.startswith("schemalint apply"):
            output = as_shown(output, example.run(command))
        yield f"$ {command}\n{output}"


def test_checks_and_plans_print_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_golden(rendered(tmp_path, capsys, monkeypatch, applies=False), PAGE)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_apply_prints_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_golden(rendered(tmp_path, capsys, monkeypatch, applies=True), PAGE)
