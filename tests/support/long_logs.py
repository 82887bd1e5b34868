"""The log of a table with many commits, as files in memory: written by hand, because Spark takes minutes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemalint.delta.datatype import LONG, Decimal, Field
from support.logs import (
    Action,
    add,
    commit_info,
    metadata,
    protocol,
    transaction,
    write_checkpoint,
    write_checksum,
    write_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.servers import Bucket

MARKER = transaction("schemalint:1:0123456789abcdef:-", 1)
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"
COLUMNS = (Field("id", LONG), Field("amount", Decimal(10, 2)))
STATE = [
    protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint", "appendOnly", "invariants"]),
    metadata(*COLUMNS, properties={"team": "shop"}),
]


@dataclass
class LongLog:
    """The files of a ``_delta_log`` by name.

    Attributes:
        edits: Actions of commits that do more than write a file.
    """

    commits: int = 1_300
    interval: int | None = 10
    checksums: bool = True
    kind: str = "classic"
    edits: dict[int, list[Action]] = field(default_factory=dict)

    def files(self, folder: Path) -> dict[str, bytes]:
        """Return the files; the folder is for those that must be written to disk."""
        found: dict[str, bytes] = {}
        for version in range(self.commits):
            actions = self.edits.get(version, [])
            if version == 0:
                actions = [*STATE, MARKER, *actions]
            lines = [commit_info("WRITE", userName="anna"), *actions, add(f"part-{version}.parquet")]
            found[f"{version:020}.json"] = "".join(json.dumps(line) + "\n" for line in lines).encode()
        state: list[Action] = []
        parts: dict[str, bytes] = {}
        checksum = b""
        for version in range(self.commits):
            if not version or version in self.edits:
                state = self._state(version)
                checksum = write_checksum(folder, 0, *state).read_bytes()
                parts = _PARTS[self.kind](folder, state)
            if self.checksums:
                found[f"{version:020}.crc"] = checksum
            if self.interval and version and version % self.interval == 0:
                found |= {f"{version:020}.{name}": content for name, content in parts.items()}
                found["_last_checkpoint"] = json.dumps({"version": version, "size": 9}).encode()
        if self.kind.startswith("v2"):
            found |= {f"_sidecars/{number}.parquet": b"" for number in range(2)}
        return found

    def _state(self, version: int) -> list[Action]:
        """Return the table's state at a version."""
        edits = [action for at, actions in self.edits.items() if at <= version for action in actions]
        newest = {next(iter(action)): action for action in (*STATE, *edits)}
        return [*newest.values(), MARKER]


def put_files(bucket: Bucket, files: dict[str, bytes], table: str = "t") -> str:
    """Put files into the log of a table, without requests, and return the table's URI."""
    for name, content in files.items():
        bucket.put(f"{table}/_delta_log/{name}", content)
    return f"s3://{bucket.name}/{table}"


def write_files(table: Path, files: dict[str, bytes]) -> Path:
    """Write files into the log of a table in a folder."""
    for name, content in files.items():
        path = table / "_delta_log" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return table


def _classic(folder: Path, state: list[Action]) -> dict[str, bytes]:
    return {"checkpoint.parquet": write_checkpoint(folder, 0, state).read_bytes()}


def _parts(folder: Path, state: list[Action]) -> dict[str, bytes]:
    names = [f"checkpoint.{part:010}.{2:010}.parquet" for part in (1, 2)]
    halves = (state[:1], state[1:])
    return {
        name: write_checkpoint(folder, 0, half, name=name).read_bytes()
        for name, half in zip(names, halves, strict=True)
    }


def _v2_parquet(folder: Path, state: list[Action]) -> dict[str, bytes]:
    name = f"checkpoint.{UUID}.parquet"
    rows = [{"checkpointMetadata": {"version": 0}}, *state, *_sidecars()]
    return {name: write_checkpoint(folder, 0, rows, data_files=0, name=name).read_bytes()}


def _v2_json(folder: Path, state: list[Action]) -> dict[str, bytes]:
    name = f"checkpoint.{UUID}.json"
    rows = [{"checkpointMetadata": {"version": 0}}, *state, *_sidecars()]
    return {name: write_lines(folder, f"{0:020}.{name}", rows).read_bytes()}


def _sidecars() -> list[Action]:
    return [{"sidecar": {"path": f"{number}.parquet", "sizeInBytes": 1}} for number in range(2)]


_PARTS: dict[str, Callable[[Path, list[Action]], dict[str, bytes]]] = {
    "classic": _classic,
    "parts": _parts,
    "v2 parquet": _v2_parquet,
    "v2 json": _v2_json,
}
