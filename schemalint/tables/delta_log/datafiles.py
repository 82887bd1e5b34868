"""List the live data files of a table, from all its ``add`` and ``remove`` actions.

The log is reconciled by PROTOCOL.md ("Action Reconciliation"): first the commits, newest first, then the
checkpoint in batches. Memory holds the paths of the commits since the checkpoint, never those of the whole
table. Deletion vectors do not matter: readers still read a file that has one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log.actions import ActionError
from schemalint.tables.delta_log.checkpoint import no_pyarrow
from schemalint.tables.delta_log.commit import read_paths
from schemalint.tables.delta_log.parquet import Rows
from schemalint.tables.delta_log.parquet_headers import LimitError
from schemalint.tables.delta_log.segment import list_log
from schemalint.tables.delta_log.store import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schemalint.tables.delta_log.names import LogFile
    from schemalint.tables.delta_log.segment import Checkpoint, Listing
    from schemalint.tables.delta_log.store import LogStore

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
    at = version
    while at >= 0:
        if checkpoints := listing.checkpoints.get(at):
            yield from (path for path in _checkpointed(store, checkpoints[0]) if path not in seen)
            return
        file = commit_of(listing, at, version)
        added, removed = _actions(store, file)
        # To change a deletion vector, a commit removes and adds the same file.
        yield from added - seen
        seen |= added | removed
        at = file.version - 1


def sidecars(store: LogStore, checkpoint: Checkpoint) -> Iterator[str]:
    """Yield the files that a checkpoint names as its sidecars, relative to ``_delta_log``.

    Raises:
        LiveError: As `live_files`.
    """
    for file in checkpoint.files:
        paths = (
            _lines(store, file, ["sidecar"])
            if file.name.endswith(".json")
            else _rows(store, file.name, ["sidecar.path"])
        )
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
            help="The log is damaged: restore the file, or repair the table with Delta's own tools.",
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
                yield from _in_sidecar(store, path)


def _in_sidecar(store: LogStore, path: str) -> Iterator[str]:
    """Yield a sidecar's files."""
    yield from (unquote(added) for _action, added in _rows(store, _sidecar(path), ["add.path"]))


def _sidecar(path: str) -> str:
    """Return a sidecar's file; all are in one folder (PROTOCOL.md, "Sidecar File Information")."""
    return f"{SIDECARS}/{unquote(path).rpartition('/')[2]}"


def _lines(
    store: LogStore, file: LogFile, actions: Sequence[str] = ("add", "remove", "sidecar")
) -> Iterator[tuple[str, str]]:
    try:
        yield from read_paths(store, file, actions)
    except ActionError as error:
        raise DamagedFile(store.uri, file.name, str(error), error.line, is_limit=error.is_limit) from None


def _rows(store: LogStore, name: str, columns: list[str]) -> Iterator[tuple[str, str]]:
    """Yield action name and value of each ``<action>.path`` column in a Parquet file."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need
    except ImportError:
        raise no_pyarrow(store.uri) from None
    try:
        with store.open(name) as content:
            for batch in Rows(content).batches(columns):
                for action, column in zip(batch.schema.names, batch.columns, strict=True):
                    yield from ((action, path) for path in _texts(column))
    except LimitError as error:
        raise DamagedFile(store.uri, name, str(error), is_limit=True) from None
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise DamagedFile(store.uri, name, f"the checkpoint cannot be read: {error}") from None


def _texts(column: Any) -> Iterable[str]:  # noqa: ANN401 - pyarrow has no types
    """Return the distinct texts of a struct column with a single leaf; a checkpoint lists each path once."""
    # `drop_null` would load `pyarrow.compute`: see `checkpoint._not_null`.
    leaf = column.flatten()[0]
    if leaf.null_count == len(leaf):
        return ()
    texts: dict[str | None, None] = dict.fromkeys(leaf.to_pylist())
    return [text for text in texts if text is not None]
