"""Read the footers of a table's live data files concurrently, and merge them into one summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import islice
from typing import Final
from zlib import crc32

from schemalint.base.errors import LiveError
from schemalint.base.values import frozen
from schemalint.delta.footer_summary import Files, FooterSummary, merge_summaries
from schemalint.tables.delta_log.datafiles import is_absolute, live_files
from schemalint.tables.delta_log.footer import FooterError, read_footer
from schemalint.tables.delta_log.store import MissingFile, TableStore
from schemalint.tables.storage import NO_OPTIONS, open_store
from schemalint.tables.storage.concurrency import concurrently

_BATCH_SIZE: Final = 512
"""Files whose footers are in memory at the same time."""

# A bucket is opened like a table, so that the key is a path in it.
_BUCKET: Final = re.compile(r"(?P<bucket>[A-Za-z0-9]+://[^/]+)/(?P<path>.+)", re.DOTALL)
_FILE: Final = re.compile(r"file:(?://[^/]*)?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)


@frozen
class Share:
    """One of `of` disjoint parts of a table's files."""

    number: int = 0
    of: int = 1

    def holds(self, path: str) -> bool:
        """Whether this part contains the file; exactly one of the parts does."""
        return self.of == 1 or crc32(path.encode()) % self.of == self.number


ALL: Final = Share()


def count_files(reference: str, version: int, storage: Mapping[str, str] = NO_OPTIONS) -> int:
    """Count the live data files of a version.

    Raises:
        LiveError: The log cannot be reached or read.
    """
    return sum(1 for _path in live_files(open_store(reference, storage), version))


def summarize_files(
    reference: str, version: int, storage: Mapping[str, str] = NO_OPTIONS, share: Share = ALL
) -> FooterSummary:
    """Summarize the footers of a version's live data files.

    A file that is missing, or is not a Parquet file, counts as damaged.

    Args:
        reference: A path or a URI.
        version: The table's version.
        storage: See `schemalint.tables.storage.read_table`.
        share: The part of the files to read.

    Raises:
        LiveError: The log or a data file cannot be reached or read.
    """
    return summarize_store(open_store(reference, storage), version, storage, share)


def summarize_store(
    store: TableStore, version: int, storage: Mapping[str, str] = NO_OPTIONS, share: Share = ALL
) -> FooterSummary:
    """Summarize the footers like `summarize_files`, for a table that is already open.

    Args:
        store: The table's log and data files.
        version: The table's version.
        storage: The settings that opened the store: a shallow clone has data files in other locations.
        share: The part of the files to read.

    Raises:
        LiveError: The log or a data file cannot be reached or read.
    """
    if find_spec("pyarrow") is None:
        raise LiveError(
            "Parquet files cannot be read: pyarrow is not installed", help="pip install 'schemalint[live]'"
        )
    summarize = partial(_summarize_file, _Opener(store, storage))
    paths = (path for path in live_files(store, version) if share.holds(path))
    return merge_summaries(merge_summaries(concurrently(summarize, batch)) for batch in _batches(paths))


class _Opener:
    """Opens the data files of a table; those of a shallow clone are in other locations."""

    def __init__(self, store: TableStore, storage: Mapping[str, str]) -> None:
        self._store = store
        self._bucket = lru_cache(maxsize=16)(lambda bucket: open_store(bucket, storage))

    def footer(self, path: str) -> FooterSummary:
        store, path_in_store = self._store, path
        if is_absolute(path):
            if match := _FILE.fullmatch(path):
                path_in_store = match["path"]
                store = open_store("/")
            elif match := _BUCKET.fullmatch(path):
                store, path_in_store = self._bucket(match["bucket"]), match["path"]
        with store.open_data(path_in_store) as content:
            leaves = read_footer(content)
        files = Files(1, (path,))
        return FooterSummary(1, dict.fromkeys(leaves, files))


def _summarize_file(opener: _Opener, path: str) -> FooterSummary:
    try:
        return opener.footer(path)
    except MissingFile:
        return FooterSummary(damaged={"it is gone": Files(1, (path,))})
    except FooterError as error:
        return FooterSummary(damaged={str(error): Files(1, (path,))})


def _batches(paths: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(paths, _BATCH_SIZE)):
        yield batch
