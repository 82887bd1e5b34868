"""The limits of what is read from a log.

Others write to the storage of a log, and a few kilobytes can expand to terabytes. Within these limits a table
takes less than 1 GiB of memory, and time in proportion to the size of its files. Tables that Delta writes
stay far below every limit: they may have a hundred thousand columns, a million data files in one part of a
checkpoint, and commits and checkpoints of any size.
"""

from __future__ import annotations

from typing import Final

BEYOND: Final = "limit of schemalint exceeded"
"""The beginning of every message about one of these limits."""

_KIB: Final = 1 << 10
_MIB: Final = 1 << 20

BLOCK: Final = 8 * _MIB
"""Bytes of a file of JSON lines that are held in memory at once, unless a line is longer."""

MAX_LINE: Final = 64 * _MIB
"""Bytes of a line; a file without line ends would otherwise be read into memory as a whole."""

MAX_ACTION: Final = 16 * _MIB
"""Bytes of a line that is parsed; a column takes 100 to 200 bytes."""

MAX_VALUES: Final = 1_000_000
"""JSON values in a text that is parsed; Python takes up to 240 bytes for a value of 3 characters."""

MAX_SIZE: Final = 64 * _MIB
"""Bytes of a file that is read as a whole: a checksum, or ``_last_checkpoint``."""

MAX_WRITERS: Final = 100
"""Engines that are kept of a table's commits, those that wrote last."""

MAX_OLDER_COMMITS: Final = 30
"""Commits before the newest checkpoint that are read to learn who writes a table."""

MAX_HISTORY: Final = 32 * _MIB
"""Bytes of all ``metaData`` actions of a history; beyond that the oldest are left out."""

MAX_LIVE_FILES: Final = 1_000_000
"""Paths of data files that are held at once, to find the commits that wrote them; each takes 200 bytes."""

MAX_DEFECTS: Final = 100
"""Defects of one kind that are reported individually."""

MAX_FOOTER: Final = 64 * _MIB
"""Bytes of a Parquet footer; ten thousand columns in a hundred row groups take more, but Delta never writes
such files."""

LARGE_FOOTER: Final = 256 * _KIB
"""Bytes above which a footer is checked before pyarrow reads it, one footer at a time."""

MAX_CHUNKS: Final = 400_000
"""Schema elements, row groups and column chunks of a footer; pyarrow takes about 1 KiB for an element of 3
bytes."""

MAX_PAGES: Final = 256 * _MIB
"""Bytes of the pages that are decompressed at once: one page of each column, with its dictionary."""

MAX_LEVELS: Final = _MIB
"""Bytes of repetition levels that are counted in a column chunk; a few rows with entries take fewer."""

MAX_DICTIONARY: Final = 16 * _MIB
"""Bytes of a dictionary that is searched for its longest text; writers stop at 1 MiB."""

MAX_BATCH: Final = 64 * _MIB
"""Bytes of a batch of rows; a single dictionary value may be repeated in every row."""

BATCH: Final = 32_768
"""Rows of a batch, unless `MAX_BATCH` allows fewer."""

MAX_BATCHES: Final = 500_000
"""Batches of a file; a schema of 16 MiB in a million rows, read twice, takes this many."""

ROWS_PER_BYTE: Final = 8
"""Rows per byte of a file; each row of a checkpoint names a file, but run lengths can claim billions of rows
in ten bytes."""

BYTES_PER_BYTE: Final = 1_000
"""Bytes of all batches per byte of the file; a real checkpoint takes ten to fifty."""

MAX_SAME: Final = 10
"""Rows of a checkpoint with a protocol, or with metadata; it should have one (PROTOCOL.md, "Checkpoints")."""

MAX_DOMAINS: Final = 10_000
"""Rows of a checkpoint with domain metadata."""

KEPT_APP_IDS: Final = "schemalint:"
"""The beginning of the application ids whose transaction identifiers are kept: a table that was written by
thousands of streams has thousands, and nothing asks about them."""

MAX_TRANSACTIONS: Final = 100
"""Transaction identifiers that are kept, those with the highest versions: only the highest one counts, and
every applied revision adds one."""
