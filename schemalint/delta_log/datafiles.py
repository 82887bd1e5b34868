"""The live data files of a table: what all ``add`` and ``remove`` actions together leave.

The log is reconciled as PROTOCOL.md says ("Action Reconciliation"), from the newest commit backwards, and
then the checkpoint in batches: what is held in memory are the files of the commits since the checkpoint,
never those of the whole table. Deletion vectors do not matter here: a file with one is still read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from schemalint.delta_log.actions import ActionError
from schemalint.delta_log.checkpoint import no_pyarrow
from schemalint.delta_log.commit import read_paths
from schemalint.delta_log.pages import LimitError
from schemalint.delta_log.parquet import Rows
from schemalint.delta_log.segment import list_log
from schemalint.delta_log.store import DamagedFile
from schemalint.errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemalint.delta_log.names import LogFile
    from schemalint.delta_log.segment import Checkpoint, Listing
    from schemalint.delta_log.store import LogStore

_IN_CHECKPOINT: Final = ["add.path", "sidecar.path"]
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def live_files(store: LogStore, version: int) -> Iterator[str]:
    """The data files of a version, in no order, each once.

    Yields:
        Decoded paths: relative to the table's folder, or absolute paths or URIs, as shallow clones have them.

    Raises:
        NoTable: There is no log.
        LiveError: A file that is needed is missing, or cannot be fetched or understood.
    """
    listing = list_log(store)
    decided: set[str] = set()
    at = version
    while at >= 0:
        if checkpoints := listing.checkpoints.get(at):
            yield from (path for path in _checkpointed(store, checkpoints[0]) if path not in decided)
            return
        file = _commit(listing, at, version)
        added, removed = _actions(store, file)
        # A deletion vector is changed by removing and adding the same file in one commit.
        yield from added - decided
        decided |= added | removed
        at = file.version - 1


def is_absolute(path: str) -> bool:
    """Whether a path of `live_files` does not lie in the table's folder by its name."""
    return path.startswith("/") or _SCHEME.match(path) is not None


def _commit(listing: Listing, version: int, newest: int) -> LogFile:
    """The commit of a version, or the log compaction that makes up for it."""
    file = listing.commits.get(version) or listing.compaction(version, newest)
    if file is None:
        raise LiveError(
            f"{listing.uri}: the commit of version {version} is missing in _delta_log: the data files of "
            f"version {newest} are not known",
            help="The log is damaged: restore the file, or repair the table with Delta's own tools.",
        )
    return file


def _actions(store: LogStore, file: LogFile) -> tuple[set[str], set[str]]:
    """The paths that a file of JSON lines adds, and those that it removes."""
    found: dict[str, set[str]] = {"add": set(), "remove": set(), "sidecar": set()}
    for name, path in _lines(store, file):
        found[name].add(unquote(path))
    return found["add"], found["remove"]


def _checkpointed(store: LogStore, checkpoint: Checkpoint) -> Iterator[str]:
    """The files of a checkpoint, which is reconciled: its ``remove`` actions are tombstones."""
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
    """The name counts: all sidecars are in ``_sidecars`` (PROTOCOL.md, "Sidecar File Information")."""
    name = f"_sidecars/{unquote(path).rpartition('/')[2]}"
    yield from (unquote(found) for _action, found in _rows(store, name, ["add.path"]))


def _lines(store: LogStore, file: LogFile) -> Iterator[tuple[str, str]]:
    try:
        yield from read_paths(store, file)
    except ActionError as error:
        raise DamagedFile(store.uri, file.name, str(error), error.line, is_limit=error.is_limit) from None


def _rows(store: LogStore, name: str, wanted: list[str]) -> Iterator[tuple[str, str]]:
    """The values of ``<action>.path`` in a Parquet file, batch by batch, with the action's name."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need
    except ImportError:
        raise no_pyarrow(store.uri) from None
    try:
        with store.open(name) as content:
            for batch in Rows(content).batches(wanted):
                for action, column in zip(batch.schema.names, batch.columns, strict=True):
                    yield from ((action, path) for path in _texts(column))
    except LimitError as error:
        raise DamagedFile(store.uri, name, str(error), is_limit=True) from None
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise DamagedFile(store.uri, name, f"the checkpoint cannot be read: {error}") from None


def _texts(column: Any) -> Iterable[str]:  # noqa: ANN401 - pyarrow has no types
    """The one leaf of a struct's column, where there is a struct; in a checkpoint each is there once."""
    found: list[str] = column.flatten()[0].drop_null().to_pylist()
    return dict.fromkeys(found)
