"""A commit: a file of JSON lines, of which only those are parsed that say what the table is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, TypeVar

from schemalint.delta_log.actions import (
    ActionError,
    Body,
    CommitInfo,
    TableActions,
    read_clustering,
    read_info,
    read_metadata,
    read_protocol,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINE: Final = 64 * 1024 * 1024

T = TypeVar("T")


def parse_commit(data: bytes) -> TableActions:
    """The actions of a commit.

    A commit has a line for every file, and they are most of it: a line is parsed only if an action's name
    stands in it. Byte order mark, CRLF, empty lines and a missing final newline are tolerated.

    Raises:
        ActionError: A line that matters cannot be read, or the file ends within a line.
    """
    data = data.rstrip()
    if data and not data.endswith(b"}"):
        raise ActionError("the file ends within an action", _line_number(data, len(data)))
    protocols = _all(data, "protocol", read_protocol)
    metadata = _all(data, "metaData", read_metadata)
    clustering = [paths for paths in _all(data, "domainMetadata", read_clustering) if paths is not None]
    if not (protocols or metadata or clustering):
        return TableActions()
    return TableActions(
        protocol=_last(protocols),
        metadata=_last(metadata),
        clustering=_last(clustering),
        info=_last(_all(data, "commitInfo", read_info)) or CommitInfo(),
        warnings=(*_repeated("protocol", protocols), *_repeated("metaData", metadata)),
    )


def _all(data: bytes, name: str, read: Callable[[Body], T]) -> list[T]:
    """The actions of that name, in order."""
    # Inside a string, such as the statistics of a file, the quotes of a key are escaped and do not match.
    key = b'"%s"' % name.encode()
    found: list[T] = []
    at = data.find(key)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        end = len(data) if end < 0 else end
        try:
            body = _parsed(data[start:end]).get(name)
            if isinstance(body, dict):
                found.append(read(body))
        except ActionError as error:
            raise ActionError(str(error), _line_number(data, start)) from None
        at = data.find(key, end)
    return found


def _parsed(line: bytes) -> Body:
    if len(line) > MAX_LINE:
        raise ActionError(f"the action is larger than {MAX_LINE >> 20} MiB")
    try:
        action = json.loads(line)
    except RecursionError:
        raise ActionError("the action is nested too deeply") from None
    except ValueError as error:
        raise ActionError(f"the action is not JSON: {error}") from None
    if not isinstance(action, dict):
        raise ActionError("the action is no JSON object")
    return action


def _last(found: list[T]) -> T | None:
    return found[-1] if found else None


def _repeated(name: str, found: list[T]) -> tuple[str, ...]:
    """PROTOCOL.md allows one per commit; Spark takes the last."""
    return (f"there are {len(found)} {name} actions; the last one counts",) if len(found) > 1 else ()


def _line_number(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
