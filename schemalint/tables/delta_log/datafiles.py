"""List the live data files of a table, from all its ``add`` and ``remove`` actions.

The log is reconciled by PROTOCOL.md ("Action Reconciliation"): first the commits, newest first, then the
checkpoint in batches. Memory holds the paths of the commits since the checkpoint, never those of the whole
table. A file with a deletion vector is live: readers still read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log.checkpoint import parquet_rows
from schemalint.tables.delta_log.file_names import LogFile
from schemalint.tables.delta_log.json_lines import damage_in, read_bodies, read_paths
from schemalint.tables.delta_log.log_listing import Checkpoint, Listing, list_log
from schemalint.tables.delta_log.parquet_headers import ParquetError
from schemalint.tables.delta_log.store import DAMAGED, LogStore

_IN_CHECKPOINT: Final = ["add.path", "sidecar.path"]
SIDECARS: Final = "_sidecars"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def live_files(store: LogStore, version: int) -> Iterator[str]:
    """Yield the data files of a version, in any order, each once.

    Yields:
        Decoded paths: relative to the table's folder, or absolute paths or URIs, as shallow clones have them.

    Raises:
        NoTable: There is no log.
        LiveError: A required file of the log is missing, or cannot be fetched or parsed.
    """
    listing = list_log(store)
    start = listing.checkpoint_before(version)
    store.expect(listing.commits[at].name for at in range(version, start, -1) if at in listing.commits)
    seen: set[str] = set()
    for part in _newest_first(listing, version):
        if isinstance(part, Checkpoint):
            yield from (path for path in _checkpointed(store, part) if path not in seen)
            return
        added, removed = _actions(store, part)
        # To change a deletion vector, a commit removes and adds the same file.
        yield from added - seen
        seen |= added | removed


def _newest_first(listing: Listing, version: int) -> Iterator[LogFile | Checkpoint]:
    """Yield the commits that lead to a version, newest first, and the checkpoint that they follow."""
    at = version
    while at >= 0:
        if checkpoints := listing.checkpoints.get(at):
            yield checkpoints[0]
            return
        file = commit_of(listing, at, version)
        yield file
        at = file.version - 1


def sidecars(store: LogStore, checkpoint: Checkpoint) -> Iterator[str]:
    """Yield the files that a checkpoint names as its sidecars, relative to ``_delta_log``.

    Raises:
        LiveError: As `live_files`.
    """
    for file in checkpoint.files:
        if file.name.endswith(".json"):
            paths = _lines(store, file, ["sidecar"])
        else:
            paths = _rows(store, file.name, ["sidecar.path"])
        yield from (_sidecar(path) for _action, path in paths)


def is_absolute(path: str) -> bool:
    """Whether a path of `live_files` is absolute and not relative to the table's folder."""
    return path.startswith("/") or _SCHEME.match(path) is not None


def commit_of(listing: Listing, version: int, newest: int) -> LogFile:
    """Return the commit of a version, or a log compaction that contains it."""
    file = listing.commits.get(version) or listing.compaction(version, newest)
    if file is None:
        raise LiveError(
            f"{listing.uri}: the commit of version {version} is missing in _delta_log: the data files of "
            f"version {newest} are unknown",
            help=DAMAGED,
        )
    return file


def _actions(store: LogStore, file: LogFile) -> tuple[set[str], set[str]]:
    """Return the paths that a file of JSON lines adds, and the paths that it removes."""
    paths: dict[str, set[str]] = {"add": set(), "remove": set(), "sidecar": set()}
    for name, path in _lines(store, file):
        paths[name].add(unquote(path))
    return paths["add"], paths["remove"]


def _checkpointed(store: LogStore, checkpoint: Checkpoint) -> Iterator[str]:
    """Yield the files of a checkpoint; it is already reconciled, so ``remove`` actions are ignored."""
    opened: set[str] = set()
    for file in checkpoint.files:
        is_text = file.name.endswith(".json")
        for name, path in _lines(store, file) if is_text else _rows(store, file.name, _IN_CHECKPOINT):
            if name == "add":
                yield unquote(path)
            elif name == "sidecar" and path not in opened:
                opened.add(path)
                yield from (unquote(added) for _action, added in _rows(store, _sidecar(path), ["add.path"]))


def _sidecar(path: str) -> str:
    """Return a sidecar's file; all are in one folder (PROTOCOL.md, "Sidecar File Information")."""
    return f"{SIDECARS}/{unquote(path).rpartition('/')[2]}"


def _lines(
    store: LogStore, file: LogFile, actions: Sequence[str] = ("add", "remove", "sidecar")
) -> Iterator[tuple[str, str]]:
    with damage_in(store, file):
        yield from read_paths(store, file, actions)


def _rows(store: LogStore, name: str, columns: list[str]) -> Iterator[tuple[str, str]]:
    """Yield action name and value of each ``<action>.path`` column in a Parquet file."""
    with parquet_rows(store, name) as rows:
        for action, column in rows.batches(columns):
            yield from ((action, path) for path in _texts(column))


def _texts(column: Any) -> Iterable[str]:  # noqa: ANN401 - pyarrow has no types
    """Return the distinct texts of a struct column with a single leaf; a checkpoint lists each path once."""
    # `drop_null` would load `pyarrow.compute`: see `checkpoint._not_null`.
    leaf = column.flatten()[0]
    if leaf.null_count == len(leaf):
        return ()
    texts = [text for text in leaf.to_pylist() if text is not None]
    if not all(isinstance(text, str) for text in texts):
        raise ParquetError("a path is no text")
    return dict.fromkeys(texts)


def live_bodies(store: LogStore, version: int, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the ``add`` actions of the live data files of a version, from a checkpoint these columns of them.

    Raises:
        NoTable: There is no log.
        LiveError: A required file of the log is missing, or cannot be fetched or parsed.
    """
    seen: set[str] = set()
    for part in _newest_first(list_log(store), version):
        if isinstance(part, Checkpoint):
            listed = _bodies_of_checkpoint(store, part, columns)
            yield from (body for body in listed if _path(body) not in seen)
            return
        bodies = list(_bodies(store, part, ("add", "remove")))
        yield from (body for name, body in bodies if name == "add" and _path(body) not in seen)
        seen |= {_path(body) for _name, body in bodies}


def _bodies_of_checkpoint(
    store: LogStore, checkpoint: Checkpoint, columns: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    for file in checkpoint.files:
        if file.name.endswith(".json"):
            yield from (body for _name, body in _bodies(store, file, ("add",)))
        else:
            yield from _in_parquet(store, file.name, columns)
    for name in dict.fromkeys(sidecars(store, checkpoint)):
        yield from _in_parquet(store, name, columns)


def _bodies(
    store: LogStore, file: LogFile, names: tuple[str, ...]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with damage_in(store, file):
        yield from read_bodies(store, file, names)


def _in_parquet(store: LogStore, name: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    with parquet_rows(store, name) as rows:
        for _action, column in rows.batches(list(columns)):
            yield from (body for body in column.to_pylist() if body and body.get("path"))


def _path(body: Mapping[str, Any]) -> str:
    return unquote(str(body.get("path")))
