"""The files of a stream, whatever is in them: its place is known, or the fault is named.

An input has the files of a checkpoint as parts, by their path. They stay in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.oracle import require, require_no_bug, require_rendered
from fuzz.parts import joined, split
from schemalint.base.values import frozen, replace
from schemalint.delta.datatype import LONG, Field, Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.stream_progress import commits_to_meet, effect_from
from schemalint.delta.streams import StreamVerdict
from schemalint.delta.table import History, HistoryEntry, LiveTable, Metadata, TableState
from schemalint.judge.case import as_declared
from schemalint.model.consumer import Consumer, Stream
from schemalint.review.rulebook import load_rules
from schemalint.review.run_audit import audit
from schemalint.tables.streaming.stream_checkpoint import read_stream
from support.checkpoints import TABLE_ID, entry, offset, offsets
from support.judging import audited

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RULES = tuple(rule for rule in load_rules() if rule.code in ("RD012", "RD013"))
STREAM = Stream("/lake/chk", "/lake/chk/s")
PATH: Final = "file:/lake/chk/sources/0"
LOG: Final = f"s/_schema_log_{TABLE_ID}"
WORDS = (
    *("v1\n", "v2\n", "=== offsets/1\n", "=== commits/1\n", f"=== {LOG}/1\n", f"=== {LOG}_x/0\n"),
    *('"reservoirId":', '"reservoirVersion":', '"sourceVersion":', '"index":-20', '"isStartingVersion":true'),
    *(
        '"tableId":',
        '"deltaCommitVersion":',
        '"dataSchemaJson":',
        '"partitionSchemaJson":',
        '"protocolJson":',
    ),
    *('"sourceMetadataPath":', '"tableConfigurations":{', '"previousMetadataSeqNum":', "0:{", TABLE_ID),
)
LONGEST = 16_000


def _state(*names: str) -> Metadata:
    return Metadata(TABLE_ID, TableState(Struct(tuple(Field(name, LONG) for name in names))))


PROTOCOL = Protocol(1, 2)
TABLE = LiveTable(
    "file:/lake/t",
    6,
    PROTOCOL,
    _state("id", "b"),
    History(
        (
            HistoryEntry(0, metadata=_state("id"), protocol=PROTOCOL),
            HistoryEntry(4, metadata=_state("id", "b")),
        )
    ),
)


@frozen
class MemoryFolder:
    """A checkpoint whose files are in memory."""

    contents: Mapping[str, bytes]
    uri: str = "/lake/chk"

    def files(self, folder: str) -> Iterator[str]:
        """Yield the names of the files in a folder."""
        yield from (rest for rest in self._below(folder) if "/" not in rest)

    def folders(self, folder: str) -> Iterator[str]:
        """Yield the names of the folders in a folder."""
        yield from {rest.partition("/")[0] for rest in self._below(folder) if "/" in rest}

    def read(self, name: str) -> bytes | None:
        """Return a file."""
        return self.contents.get(name)

    def _below(self, folder: str) -> Iterator[str]:
        prefix = f"{folder}/" if folder else ""
        yield from (name.removeprefix(prefix) for name in self.contents if name.startswith(prefix))


def run(data: bytes) -> None:
    """Read a stream's files, say what it meets, and judge its declaration."""
    store = MemoryFolder(split(data))
    for stream in (STREAM, replace(STREAM, schema_tracking_location=None)):
        progress = read_stream(store, stream, TABLE_ID)
        progress = replace(progress, to_meet=commits_to_meet(progress, TABLE))
        tracked = stream.schema_tracking_location is not None
        effect = effect_from(progress, tracked=tracked)
        require((effect.verdict is StreamVerdict.UNKNOWN) == (progress.to_meet is None), "no verdict")
        contract = replace(
            as_declared(TABLE), consumers=(Consumer("x", stream=replace(stream, progress=progress)),)
        )
        result = audit([audited(TABLE, RULES, contract)])
        require_no_bug(result.errors)
        require_rendered(result)
        require(progress.is_known or bool(result.findings), "a fault is passed in silence")


def seeds() -> Iterator[bytes]:
    """Yield checkpoints as Spark writes them."""
    commit = 'v1\n{"nextBatchWatermarkMs":0}'
    columns = (("id", "long"),)
    entries = [entry(version, columns, path=PATH, configuration={}) for version in (0, 4)]
    for files in (
        {"metadata": '{"id":"x"}'},
        {"offsets/0": offsets(offset(2)), "commits/0": commit, f"{LOG}/0": entries[0]},
        {"offsets/0": offsets(offset(2)), "offsets/1": offsets(offset(4, -20)), "commits/0": commit},
        {
            "offsets/0": offsets(offset(2)),
            "offsets/1": offsets(offset(4, -19)),
            "commits/1": commit,
            **{f"{LOG}/{n}": text for n, text in enumerate(entries)},
        },
        {"offsets/0": offsets(offset(3, 7, initial=True), "-"), f"{LOG}_x/0": entries[0]},
        {"offsets/0": offsets(f"0:{offset(3)}").replace("v1", "v2", 1), "commits/0": commit},
    ):
        yield joined({name: text.encode() for name, text in files.items()})
