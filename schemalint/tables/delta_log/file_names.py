"""The file names in ``_delta_log`` (Delta's FileNames.scala; PROTOCOL.md, "File Types")."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from schemalint.base.values import frozen


class Kind(Enum):
    """The kinds of files in the log that are read; sidecars are read by the names that checkpoints give."""

    COMMIT = "commit"
    CHECKPOINT = "classic checkpoint"
    MULTI_PART_CHECKPOINT = "multi-part checkpoint"
    V2_CHECKPOINT = "V2 checkpoint"
    COMPACTED = "log compaction"
    CHECKSUM = "version checksum"
    LAST_CHECKPOINT = "pointer to the last checkpoint"
    STAGED_COMMIT = "staged commit"


MAX_VERSION: Final = 2**63 - 1  # a version is a 64-bit integer; twenty digits can exceed it

_UUID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_VERSION: Final = r"(?P<version>[0-9]{20})"
_PATTERNS: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (Kind.COMMIT, rf"{_VERSION}\.json"),
        (Kind.CHECKSUM, rf"{_VERSION}\.crc"),
        (Kind.CHECKPOINT, rf"{_VERSION}\.checkpoint\.parquet"),
        (Kind.V2_CHECKPOINT, rf"{_VERSION}\.checkpoint\.[^./]+\.(?:json|parquet)"),
        (
            Kind.MULTI_PART_CHECKPOINT,
            rf"{_VERSION}\.checkpoint\.(?P<part>[0-9]{{10}})\.(?P<parts>[0-9]{{10}})\.parquet",
        ),
        (Kind.COMPACTED, rf"{_VERSION}\.(?P<end>[0-9]{{20}})\.compacted\.json"),
        (Kind.LAST_CHECKPOINT, r"_last_checkpoint"),
        (Kind.STAGED_COMMIT, rf"_staged_commits/{_VERSION}\.{_UUID}\.json"),
    )
)


@frozen
class LogFile:
    """A file of the log, classified by its name.

    Attributes:
        version: The version that the file commits or describes; the first version of a log compaction.
        end: The last version of a log compaction.
        part: Number of the part of a multi-part checkpoint, from 1; `parts` is the number of parts.
        modified_ms: Milliseconds since the epoch.
        size: Size in bytes, 0 if unknown.
    """

    name: str
    kind: Kind
    version: int = 0
    end: int = 0
    part: int = 0
    parts: int = 0
    modified_ms: int | None = None
    size: int = 0


def commit_name(version: int) -> str:
    """Return the name of the file that commits a version."""
    return f"{version:020}.json"


def checksum_name(version: int) -> str:
    """Return the name of the version checksum."""
    return f"{version:020}.crc"


def log_file(name: str, modified_ms: int | None = None, size: int = 0) -> LogFile | None:
    """Classify a file by its path relative to ``_delta_log``; None for hidden and foreign files."""
    for kind, pattern in _PATTERNS:
        if match := pattern.fullmatch(name):
            numbers = {key: int(digits) for key, digits in match.groupdict().items()}
            if max(numbers.values(), default=0) > MAX_VERSION:
                return None
            return LogFile(name, kind, modified_ms=modified_ms, size=size, **numbers)
    return None
