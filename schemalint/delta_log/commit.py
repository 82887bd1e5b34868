"""Files of JSON lines: commits, log compactions and V2 checkpoints.

Only those lines are parsed that say what the table is: most lines are about files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from schemalint.delta_log import limits
from schemalint.delta_log.actions import (
    NOTHING,
    ActionError,
    Body,
    CommitInfo,
    TableActions,
    read_clustering,
    read_info,
    read_metadata,
    read_protocol,
)
from schemalint.delta_log.jsontext import JsonError, read_json
from schemalint.values import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from schemalint.delta_log.names import LogFile
    from schemalint.delta_log.store import LogStore


class _Line(NamedTuple):
    number: int
    data: bytes


def read_lines(store: LogStore, file: LogFile) -> TableActions:
    """The actions of a file; see `parse_lines`.

    Raises:
        ActionError: It cannot be understood.
        LiveError: It cannot be fetched.
    """
    return parse_lines(_content(store, file))


def read_commit_info(store: LogStore, file: LogFile) -> CommitInfo:
    """The ``commitInfo`` of a commit, also of one that is only about files.

    Raises:
        ActionError, LiveError: As `read_lines`.
    """
    for block in _content(store, file):
        if line := next(_lines_with(block, "commitInfo", 1), None):
            return read_info(_body(line, "commitInfo") or {})
    return CommitInfo()


def read_paths(store: LogStore, file: LogFile) -> Iterator[tuple[str, str]]:
    """The ``path`` of each ``add``, ``remove`` and ``sidecar``, with the action's name; as it is written.

    Raises:
        ActionError, LiveError: As `read_lines`.
    """
    first = 1
    for block in _content(store, file):
        for name in _ABOUT_FILES:
            for line in _lines_with(block, name, first):
                if (body := _body(line, name)) is not None:
                    yield name, _path(body, line)
        first += block.count(b"\n")


def parse_commit(data: bytes) -> TableActions:
    """The actions of a whole commit; see `parse_lines`."""
    return parse_lines((data,))


def parse_lines(blocks: Iterable[bytes]) -> TableActions:
    """The actions in blocks of whole lines.

    A line is parsed only if an action's name stands in it. Byte order mark, CRLF, empty lines and a missing
    final newline are tolerated.

    Raises:
        ActionError: A line that matters cannot be read, or the content ends within a line.
    """
    found, info, removes, size = NOTHING, None, False, 0
    places: dict[str, list[int]] = {name: [] for name in _READERS}
    first = 1
    for block in blocks:
        if (end := block.rstrip()) and not end.endswith(b"}"):
            raise ActionError("the file ends within an action", first + end.count(b"\n"), is_text=True)
        for name, read in _READERS.items():
            for line in _lines_with(block, name, first):
                if (body := _body(line, name)) is not None:
                    found = _read(read, body, line).over(found)
                    places[name].append(line.number)
                    size += len(line.data) if name == "metaData" else 0
        info = info or next(_lines_with(block, "commitInfo", first), None)
        removes = removes or any(_starts(line.data, "remove") for line in _lines_with(block, "remove", first))
        first += block.count(b"\n")
    if found.is_empty:
        return NOTHING
    body = _body(info, "commitInfo") if info else None
    repeated = tuple((name, places[name][-1]) for name in ("protocol", "metaData") if len(places[name]) > 1)
    return replace(found, info=read_info(body or {}), repeated=repeated, removes_files=removes, size=size)


def _content(store: LogStore, file: LogFile) -> Iterator[bytes]:
    if file.size <= limits.BLOCK:
        yield store.read(file.name)
        return
    with store.open(file.name) as content:
        yield from _blocks(content)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """A file's whole lines, so many at a time as are in a block."""
    rest = b""
    while chunk := file.read(limits.BLOCK):
        whole, newline, begun = chunk.rpartition(b"\n")
        if newline:
            yield rest + whole + newline
            rest = begun
        else:
            rest += chunk
        if len(rest) > limits.MAX_LINE:
            raise ActionError(f"the action is larger than {limits.MAX_LINE >> 20} MiB", is_limit=True)
    if rest:
        yield rest


def _lines_with(block: bytes, name: str, first: int) -> Iterator[_Line]:
    """The lines that may hold an action of that name, numbered from `first` on."""
    # Inside a string, such as the statistics of a file, the quotes of a key are escaped and do not match.
    key = b'"%s"' % name.encode()
    counted, number = 0, first
    at = block.find(key)
    while at >= 0:
        start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
        end = len(block) if end < 0 else end
        number += block.count(b"\n", counted, start)
        counted = start
        yield _Line(number, block[start:end])
        at = block.find(key, end)


def _starts(line: bytes, name: str) -> bool:
    """Whether the line is an action of that name, as all writers print them."""
    return line[:64].replace(b" ", b"").startswith(b'{"%s":' % name.encode())


def _body(line: _Line, name: str) -> Body | None:
    try:
        found = _parsed(line.data).get(name)
    except ActionError as error:
        raise ActionError(str(error), line.number, is_text=True, is_limit=error.is_limit) from None
    return found if isinstance(found, dict) else None


def _path(body: Body, line: _Line) -> str:
    path = body.get("path")
    if not isinstance(path, str):
        raise ActionError("the action about a file has no path", line.number)
    return path


def _read(read: Callable[[Body], TableActions], body: Body, line: _Line) -> TableActions:
    try:
        return read(body)
    except ActionError as error:
        raise ActionError(str(error), line.number, is_limit=error.is_limit) from None


def _parsed(line: bytes) -> Body:
    try:
        action = read_json(line, limits.MAX_ACTION)
    except JsonError as error:
        raise ActionError(f"the action {error}", is_text=True, is_limit=error.is_limit) from None
    if not isinstance(action, dict):
        raise ActionError("the action is no JSON object", is_text=True)
    return action


_READERS: Final[Mapping[str, Callable[[Body], TableActions]]] = {
    "protocol": lambda body: TableActions(protocol=read_protocol(body)),
    "metaData": lambda body: TableActions(metadata=read_metadata(body)),
    "domainMetadata": lambda body: TableActions(clustering=read_clustering(body)),
}
_ABOUT_FILES: Final = ("add", "remove", "sidecar")
