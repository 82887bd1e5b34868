"""Logs and data files, whatever is in them: read, shown and judged, or refused.

An input has the files of a table as parts, by their path in the table's folder. The log stays in memory, and
data files outside of the folder are not opened.
"""

from __future__ import annotations

import datetime as dt
import io
import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from fuzz.oracle import (
    only_errors_of_the_input,
    require_harmless,
    require_no_bug,
    require_rendered,
    require_written,
)
from fuzz.parts import joined, split
from schemalint.base.errors import LiveError
from schemalint.base.values import frozen
from schemalint.delta.footer_summary import (
    Files,
    FooterSummary,
    PhysicalTypes,
    merge_summaries,
    physical_types,
)
from schemalint.report.table.table_text import show_text
from schemalint.review.rulebook import load_rules
from schemalint.review.run_audit import audit
from schemalint.tables.delta_log.datafiles import is_absolute, live_files
from schemalint.tables.delta_log.footer import FooterError, read_footer
from schemalint.tables.delta_log.store import FileEntry, MissingFile, NoTable
from schemalint.tables.delta_log.table_reader import read_table
from schemalint.tables.table_json import TableDocument
from support.judging import audited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schemalint.delta.table import LiveTable

HERE = Path(__file__).parents[2] / "delta_log"
READ_AT = dt.datetime(2026, 11, 20, 10, tzinfo=dt.UTC)
RULES = load_rules()
WORDS = (
    *('{"commitInfo":{', '{"metaData":{', '{"protocol":{', '{"add":{', '{"remove":{', '{"domainMetadata":{'),
    *(
        '"schemaString":',
        '"configuration":{',
        '"readerFeatures":[',
        '"path":',
        '"operation":',
        '"timestamp":',
    ),
    *(
        "=== _delta_log/00000000000000000001.json\n",
        ".checkpoint.parquet",
        "_last_checkpoint",
        ".crc",
        "PAR1",
    ),
    *("=== _delta_log/_sidecars/", '{"checkpointMetadata":{', '{"sidecar":{', "=== part-0.parquet\n"),
)
LONGEST = 64_000

_LOG: Final = "_delta_log/"
_MOST_DATA_FILES: Final = 20


@frozen
class MemoryStore:
    """A table whose files are in memory."""

    files: Mapping[str, bytes]
    uri: str = "memory:/lake/t"

    def list(self, folder: str = "", *, first: str = "") -> Iterator[FileEntry]:
        """List the files of the log or of a folder in it."""
        prefix = f"{_LOG}{folder}/" if folder else _LOG
        names = [name.removeprefix(prefix) for name in self.files if name.startswith(prefix)]
        if not names and not folder:
            raise NoTable("there is no log")
        for name in names:
            if "/" not in name and name and name >= first:
                path = f"{folder}/{name}" if folder else name
                yield FileEntry(path, len(self.files[f"{_LOG}{path}"]), 1_700_000_000_000)

    def expect(self, names: Iterable[str]) -> None:
        """Do nothing: the files are at hand."""

    def find(self, name: str) -> bytes | None:
        """Return a file of the log; None if there is no such file."""
        return self.files.get(_LOG + name)

    def read(self, name: str) -> bytes:
        """Return a file of the log."""
        if (content := self.files.get(_LOG + name)) is None:
            raise LiveError(f"{name} is gone")
        return content

    def open(self, name: str) -> BinaryIO:
        """Open a file of the log."""
        return io.BytesIO(self.read(name))

    def open_data(self, path: str) -> BinaryIO:
        """Open a data file."""
        if (content := self.files.get(path)) is None:
            raise MissingFile(f"{path} is gone")
        return io.BytesIO(content)


def run(data: bytes) -> None:
    """Read a log and its data files; show, write and judge the table."""
    store = MemoryStore(split(data))
    with only_errors_of_the_input():
        read_table(store, version=0)
    with only_errors_of_the_input():
        table = read_table(store)
        document = TableDocument(table, READ_AT)
        require_written(document)
        require_harmless(show_text(document, ()))
        files = _stored(store, table)
        readable = None if isinstance(files, LiveError) else files
        result = audit([audited(table, RULES, files=readable)])
        require_no_bug(result.errors)
        require_rendered(result)


def _stored(store: MemoryStore, table: LiveTable) -> PhysicalTypes | LiveError:
    try:
        paths = [path for path in live_files(store, table.version) if not is_absolute(path)]
    except LiveError as error:
        return error
    summaries = (_footer(store, path) for path in islice(paths, _MOST_DATA_FILES))
    return physical_types(table, merge_summaries(summaries))


def _footer(store: MemoryStore, path: str) -> FooterSummary:
    files = Files(1, (path,))
    try:
        return FooterSummary(1, dict.fromkeys(read_footer(store.open_data(path)), files))
    except (FooterError, MissingFile) as error:
        return FooterSummary(damaged={str(error): files})


def seeds() -> Iterator[bytes]:
    """Yield the recorded logs, whole and damaged, and a table with data files."""
    for log in sorted(HERE.glob("*/**/_delta_log")):
        files = {
            str(path.relative_to(log.parent)): path.read_bytes()
            for path in sorted(log.rglob("*"))
            if path.is_file()
        }
        if sum(map(len, files.values())) < LONGEST:
            yield joined(files)
    yield joined(_with_data_files())


def _with_data_files() -> dict[str, bytes]:
    import pyarrow as pa  # noqa: PLC0415 (not for every target)
    from pyarrow import parquet  # noqa: PLC0415

    schema = pa.schema([("id", pa.int32()), ("at", pa.timestamp("us")), ("tags", pa.list_(pa.string()))])
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"id": [1], "at": [None], "tags": [["a"]]}, schema), buffer)
    fields = [
        {"name": "id", "type": "long", "nullable": True, "metadata": {}},
        {"name": "at", "type": "timestamp", "nullable": True, "metadata": {}},
    ]
    actions = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {"id": "t", "schemaString": json.dumps({"type": "struct", "fields": fields})}},
        {"add": {"path": "part-0.parquet", "partitionValues": {}, "size": 1, "modificationTime": 1}},
    ]
    commit = "".join(json.dumps(action) + "\n" for action in actions).encode()
    return {f"{_LOG}{0:020}.json": commit, "part-0.parquet": buffer.getvalue()}
