"""Read files of JSON lines: commits, log compactions and V2 checkpoints.

Most lines are about data files; only the lines about the table itself are parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Final, NamedTuple

from schemalint.base.values import replace
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.actions import (
    NOTHING,
    ActionError,
    Body,
    CommitInfo,
    MetadataAction,
    TableActions,
    missing_parts,
    read_clustering,
    read_info,
    read_metadata,
    read_protocol,
    read_transaction,
)
from schemalint.tables.delta_log.file_names import LogFile
from schemalint.tables.delta_log.jsontext import JsonError, read_json_object
from schemalint.tables.delta_log.store import DamagedFile, LogStore


class _Line(NamedTuple):
    number: int
    data: bytes


def read_lines(store: LogStore, file: LogFile, *, metadata: bool = True) -> TableActions:
    """Read the actions of a file; see `parse_lines`.

    Raises:
        ActionError: The file cannot be parsed.
        LiveError: The file cannot be fetched.
    """
    return parse_lines(_content(store, file), metadata=metadata)


def read_commit_info(store: LogStore, file: LogFile) -> CommitInfo:
    """Read the ``commitInfo`` of a commit, also of a commit that only changes data files.

    Raises:
        ActionError, LiveError: As `read_lines`.
    """
    for block in _content(store, file):
        if line := next(_lines_with(block, "commitInfo", 1), None):
            return read_info(_body(line, "commitInfo") or {})
    return CommitInfo()


def read_paths(
    store: LogStore, file: LogFile, actions: Sequence[str] = ("add", "remove", "sidecar")
) -> Iterator[tuple[str, str]]:
    """Yield action name and encoded ``path`` of each action about a file.

    Raises:
        ActionError, LiveError: As `read_lines`.
    """
    yield from ((name, str(body["path"])) for name, body in read_bodies(store, file, actions))


def read_bodies(store: LogStore, file: LogFile, actions: Sequence[str]) -> Iterator[tuple[str, Body]]:
    """Yield action name and content of each action about a file.

    Raises:
        ActionError, LiveError: As `read_lines`.
    """
    first = 1
    for block in _content(store, file):
        for name in actions:
            for line in _lines_with(block, name, first):
                if (body := _body(line, name)) is not None:
                    _require_path(body, line)
                    yield name, body
        first += block.count(b"\n")


@contextmanager
def damage_in(store: LogStore, file: LogFile) -> Iterator[None]:
    """Raise a `DamagedFile` for an `ActionError` about a file."""
    try:
        yield
    except ActionError as error:
        raise DamagedFile(store.uri, file.name, str(error), error.line, is_limit=error.is_limit) from None


def parse_lines(blocks: Iterable[bytes], *, metadata: bool = True) -> TableActions:
    """Parse the actions in blocks of whole lines.

    Lines without the name of a relevant action are skipped unparsed. Byte order mark, CRLF, empty lines and a
    missing final newline are accepted.

    Args:
        blocks: The blocks.
        metadata: Whether to return the ``metaData`` action; one that is not asked for need only be JSON, as
            for Spark where a newer one counts.

    Raises:
        ActionError: A relevant line cannot be parsed, or the content ends within a line.
    """
    actions, info, size = NOTHING, None, 0
    file_actions = {"add": False, "remove": False}
    line_numbers: dict[str, list[int]] = {name: [] for name in READERS}
    first = 1
    for block in blocks:
        if (end := block.rstrip()) and not end.endswith(b"}"):
            raise ActionError("the file ends within an action", first + end.count(b"\n"), is_text=True)
        for name, read in READERS.items():
            for line in _lines_with(block, name, first):
                if (body := _body(line, name)) is None:
                    continue
                line_numbers[name].append(line.number)
                if name == "metaData":
                    size += len(line.data)
                    if not metadata:
                        continue
                actions = _read(read, body, line).completed_by(actions)
        info = info or next(_lines_with(block, "commitInfo", first), None)
        for name, entries in file_actions.items():
            file_actions[name] = entries or any(
                _starts_with(line.data, name) for line in _lines_with(block, name, first)
            )
        first += block.count(b"\n")
    if actions.is_empty and not size:
        writer = _writer(info) if info else CommitInfo()
        return TableActions(transactions=actions.transactions, info=writer)
    body = _body(info, "commitInfo") if info else None
    repeated = tuple(
        (name, line_numbers[name][-1]) for name in ("protocol", "metaData") if len(line_numbers[name]) > 1
    )
    return replace(
        actions,
        info=CommitInfo() if body is None else read_info(body),
        repeated=repeated,
        removes_files=file_actions["remove"],
        adds_files=file_actions["add"],
        size=size,
    )


def _writer(line: _Line) -> CommitInfo:
    """Return who made a commit that only changes data files, and when; nothing if that cannot be parsed."""
    try:
        info = read_info(_body(line, "commitInfo") or {})
    except ActionError:
        return CommitInfo()
    kept = CommitInfo(in_commit_timestamp=info.in_commit_timestamp, is_missing=False)
    if not info.engine:
        return kept
    return replace(kept, operation=info.operation, timestamp=info.timestamp, engine=info.engine)


def _content(store: LogStore, file: LogFile) -> Iterator[bytes]:
    if file.size <= log_limits.BLOCK:
        yield store.read(file.name)
        return
    with store.open(file.name) as content:
        yield from _blocks(content)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file in blocks of whole lines."""
    rest = b""
    while chunk := file.read(log_limits.BLOCK):
        whole, newline, partial = chunk.rpartition(b"\n")
        if newline:
            yield rest + whole + newline
            rest = partial
        else:
            rest += chunk
        if len(rest) > log_limits.MAX_LINE:
            raise ActionError(f"the action is larger than {log_limits.MAX_LINE >> 20} MiB", is_limit=True)
    if rest:
        yield rest


def _lines_with(block: bytes, name: str, first: int) -> Iterator[_Line]:
    """Yield the lines that may hold an action of that name, numbered from `first`."""
    # Quotes inside a string, such as a file's statistics, are escaped and do not match the key.
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


def _starts_with(line: bytes, name: str) -> bool:
    """Whether the line begins with that action, as in the output of all writers."""
    return line[:64].replace(b" ", b"").startswith(b'{"%s":' % name.encode())


def _body(line: _Line, name: str) -> Body | None:
    try:
        body = read_json_object(line.data, log_limits.MAX_ACTION).get(name)
    except JsonError as error:
        message = f"the action {error}"
        raise ActionError(message, line.number, is_text=True, is_limit=error.is_limit) from None
    return body if isinstance(body, dict) else None


def _require_path(body: Body, line: _Line) -> None:
    if not isinstance(body.get("path"), str):
        raise ActionError("the file action has no path", line.number)


def _read(read: Callable[[Body], TableActions], body: Body, line: _Line) -> TableActions:
    try:
        return read(body)
    except ActionError as error:
        raise ActionError(str(error), line.number, is_limit=error.is_limit) from None


def _metadata_of_commit(body: Body) -> MetadataAction:
    metadata = read_metadata(body)
    return replace(metadata, faults=(*missing_parts(body), *metadata.faults))


READERS: Final[Mapping[str, Callable[[Body], TableActions]]] = {
    "protocol": lambda body: TableActions(protocol=read_protocol(body)),
    "metaData": lambda body: TableActions(metadata=_metadata_of_commit(body)),
    "domainMetadata": lambda body: TableActions(clustering=read_clustering(body)),
    "txn": lambda body: TableActions(transactions=read_transaction(body)),
}
"""What reads the body of an action about the table itself, by its name."""
