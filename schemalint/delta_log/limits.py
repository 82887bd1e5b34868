"""What is read of a log at most.

Logs come from storage that others write to, and a few kilobytes can stand for terabytes. Within these limits
one table takes less than 1 GiB of memory, and time in proportion to the size of its files. Tables as Delta
writes them are far away from all of them: a hundred thousand columns, a million data files in one part of a
checkpoint, commits and checkpoints of any size.
"""

from __future__ import annotations

from typing import Final

BEYOND: Final = "more than schemalint reads"
"""How every message about one of these limits begins."""

_KIB: Final = 1 << 10
_MIB: Final = 1 << 20

BLOCK: Final = 8 * _MIB
"""How much of a file of JSON lines is held in memory at once, if its lines are not longer."""

MAX_LINE: Final = 64 * _MIB
"""Bytes of a line: without an end of the line a file would be read into memory as a whole."""

MAX_ACTION: Final = 16 * _MIB
"""Bytes of a line that is parsed. A column takes 100 to 200 bytes."""

MAX_VALUES: Final = 1_000_000
"""JSON values in a text that is parsed: Python takes up to 240 bytes for one that is written in 3."""

MAX_SIZE: Final = 64 * _MIB
"""Bytes of a file that is read at once: a checksum, or ``_last_checkpoint``."""

MAX_HISTORY: Final = 32 * _MIB
"""Bytes of all ``metaData`` actions of a history; where there are more, the older ones are left out."""

MAX_DEFECTS: Final = 100
"""Of a kind that are told one by one."""

MAX_FOOTER: Final = 64 * _MIB
"""Bytes of a Parquet footer. Ten thousand columns in a hundred row groups take more, and are not written."""

LARGE_FOOTER: Final = 256 * _KIB
"""Bytes of a footer that is looked at before pyarrow, and not at the same time as another one."""

MAX_CHUNKS: Final = 400_000
"""Elements of the schema, row groups and column chunks of a footer: pyarrow takes about 1 KiB for one that
is written in 3 bytes."""

MAX_PAGES: Final = 256 * _MIB
"""Bytes of the pages that are decompressed at once, one of each column, with their dictionaries."""

MAX_LEVELS: Final = _MIB
"""Bytes of the repetition levels of a column chunk that are counted; a few rows with entries take fewer."""

MAX_DICTIONARY: Final = 16 * _MIB
"""Bytes of a dictionary whose longest text is looked for; writers stop at 1 MiB."""

MAX_BATCH: Final = 64 * _MIB
"""Bytes of a batch of rows: a dictionary's one value may stand in all of them."""

BATCH: Final = 32_768
"""Rows of a batch, if they are not larger."""

MAX_BATCHES: Final = 500_000
"""Of a file. One that is read twice, a schema of 16 MiB in a million rows, takes as many."""

ROWS_PER_BYTE: Final = 8
"""A row of a checkpoint names a file; run lengths can claim thousands of millions of rows in ten bytes."""

BYTES_PER_BYTE: Final = 1_000
"""Of all batches for each byte of the file: what a checkpoint says takes ten to fifty."""

MAX_SAME: Final = 10
"""Rows of a checkpoint with a protocol, or with metadata: it has one (PROTOCOL.md, "Checkpoints")."""

MAX_DOMAINS: Final = 10_000
"""Rows of a checkpoint with the metadata of a domain."""
