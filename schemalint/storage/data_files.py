"""The footers of a table's live data files, many at a time, and what they hold together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Final
from zlib import crc32

from schemalint.delta.footer_summary import Files, FooterSummary, merge_summaries
from schemalint.delta_log.datafiles import is_absolute, live_files
from schemalint.delta_log.footer import FooterError, read_footer
from schemalint.delta_log.store import MissingFile
from schemalint.errors import LiveError
from schemalint.storage import NO_OPTIONS, open_store
from schemalint.storage.requests import concurrently
from schemalint.values import frozen

if TYPE_CHECKING:
    from schemalint.delta_log.store import TableStore

_AT_ONCE: Final = 512
"""Files whose footers are held together."""

# A bucket is opened as if it were a table, so that its key is the path; a path of the file system is a path.
_BUCKET: Final = re.compile(r"(?P<bucket>[A-Za-z0-9]+://[^/]+)/(?P<path>.+)", re.DOTALL)
_FILE: Final = re.compile(r"file:(?://[^/]*)?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)


@frozen
class Share:
    """A part of a table's files: the number of the part, and how many parts there are."""

    number: int = 0
    of: int = 1

    def holds(self, path: str) -> bool:
        """Whether a file belongs to it; it does to exactly one."""
        return self.of == 1 or crc32(path.encode()) % self.of == self.number


ALL: Final = Share()


def count_files(reference: str, version: int, storage: Mapping[str, str] = NO_OPTIONS) -> int:
    """How many live data files a version has.

    Raises:
        LiveError: The log cannot be reached or read.
    """
    return sum(1 for _path in live_files(open_store(reference, storage), version))


def summarize_files(
    reference: str, version: int, storage: Mapping[str, str] = NO_OPTIONS, share: Share = ALL
) -> FooterSummary:
    """What the footers of a version's live data files say.

    A file that is gone, or is no Parquet file, is counted as damaged.

    Args:
        reference: A path or a URI.
        version: Of the table.
        storage: See `schemalint.storage.read`.
        share: The part of the files to read.

    Raises:
        LiveError: The log or a data file cannot be reached or read.
    """
    return summarize_store(open_store(reference, storage), version, storage, share)


def summarize_store(
    store: TableStore, version: int, storage: Mapping[str, str] = NO_OPTIONS, share: Share = ALL
) -> FooterSummary:
    """The same of a table that is open.

    Args:
        store: The log says which data files are live.
        version: Likewise.
        storage: What opened it: a shallow clone has data files in other places.
        share: See `summarize_files`.

    Raises:
        LiveError: As `summarize_files`.
    """
    if find_spec("pyarrow") is None:
        raise LiveError(
            "Parquet files cannot be read: pyarrow is not installed", help="pip install 'schemalint[live]'"
        )
    read_one = partial(_tally_one, _Opener(store, storage))
    paths = (path for path in live_files(store, version) if share.holds(path))
    return merge_summaries(merge_summaries(concurrently(read_one, some)) for some in _batches(paths))


class _Opener:
    """Opens the data files of a table; those of a shallow clone lie elsewhere."""

    def __init__(self, store: TableStore, storage: Mapping[str, str]) -> None:
        self._store = store
        self._bucket = lru_cache(maxsize=16)(lambda bucket: open_store(bucket, storage))

    def footer(self, path: str) -> FooterSummary:
        store, inside = self._store, path
        if is_absolute(path):
            if match := _FILE.fullmatch(path):
                inside = match["path"]
                store = open_store("/")
            elif match := _BUCKET.fullmatch(path):
                store, inside = self._bucket(match["bucket"]), match["path"]
        with store.open_data(inside) as content:
            leaves = read_footer(content)
        files = Files(1, (path,))
        return FooterSummary(1, dict.fromkeys(leaves, files))


def _tally_one(opener: _Opener, path: str) -> FooterSummary:
    try:
        return opener.footer(path)
    except MissingFile:
        return FooterSummary(damaged={"it is gone": Files(1, (path,))})
    except FooterError as error:
        return FooterSummary(damaged={str(error): Files(1, (path,))})


def _batches(paths: Iterator[str]) -> Iterator[list[str]]:
    while some := list(islice(paths, _AT_ONCE)):
        yield some
