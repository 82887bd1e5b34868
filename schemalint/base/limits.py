"""The limits of what is read, apart from logs: those are in `schemalint.tables.delta_log.log_limits`.

Contracts and configuration come from strangers' pull requests, and whatever a server answers comes from a
network. Each limit is above what a repository of ten thousand tables needs. `docs/tables.md` lists the
limits that users may meet.
"""

from __future__ import annotations

from typing import Final

_MIB: Final = 1 << 20

GIT_SECONDS: Final = 300.0
"""Seconds for a git command on the local clone; the longest one lists the files of a revision, which takes 3
seconds for a million files (measured)."""

FETCH_SECONDS: Final = 1_800.0
"""Seconds for ``git fetch``: half of the hour after which most CI services end a job."""

MAX_GIT_OUTPUT: Final = 128 * _MIB
"""Bytes that a git command may print where its output is held in memory: 800,000 files with paths of 60
characters. A million of them take 0.5 GiB of memory (measured)."""

MAX_GIT_ERRORS: Final = 64 << 10
"""Bytes of a git command's standard error that are kept, the last ones: only its last line is shown."""

MAX_CONTENTS: Final = 256 * _MIB
"""Bytes of all contract files of both sides, and of other YAML files where `contracts` has globs: ten
thousand contracts of 10 KiB in two versions take 200 MiB."""

MAX_SKIPPED: Final = 64 * _MIB
"""Bytes of a file that is too large, which are still read to reach the next one; a new git process costs less
than more of them, and a packed file can expand a thousandfold."""

MAX_TRACE: Final = 16 * _MIB
"""Bytes of the text that `explain` reads from standard input: more than any stack trace has."""

MAX_TABLES_FILE: Final = 256 * _MIB
"""Bytes of a file for ``--live-from``: ten thousand tables of 25 KiB; most tables take fewer than 10."""

MAX_PLAN_FILE: Final = 64 * _MIB
"""Bytes of a file for ``--plan``: 2,500 changed tables of 50 columns take 26 KB each; some JSON takes 25
times as much in Python."""

MAX_DEPLOY_LOG: Final = 64 * _MIB
"""Bytes of a file for ``--after``: 10,000 changed tables of 6 KB each."""

MAX_EVENT: Final = 32 * _MIB
"""Bytes of GitHub's event file; GitHub sends at most 25 MB."""

STORE_RETRIES: Final = 3
"""Attempts after the first one for a request to an object store that fails: resets, time limits, 429, 5xx.
The client waits longer before each further one: 0.3 to 0.7 seconds in all (measured)."""

STORE_RETRY_SECONDS: Final = 60.0
"""Seconds after which a request to an object store is not repeated: with the client's own limits, 5 seconds
to connect and 30 for an answer, none takes longer than 90."""

MAX_PAGES: Final = 20_000
"""Pages of a list that a catalog sends, of 50 entries each."""

MAX_PROBLEMS: Final = 200_000
"""Problems that a rule may find in one fact, which stops a rule that never ends. A contract has at most
100,000 nodes, a type text of 1 MiB at most 180,000 fields, and a table whose log is read 100,000 columns."""

MAX_CONFIG: Final = _MIB
"""Bytes of a configuration file, as of a contract: ten thousand `removed` tables take fewer."""

MAX_CONFIG_DEPTH: Final = 16
"""Levels of nested settings; the deepest one has 3."""

MAX_NESTED: Final = 1_000
"""Nested files of the configuration: more folders with settings of their own than any monorepo has."""

MAX_NESTED_BYTES: Final = 4 * _MIB
"""Bytes of all nested files together."""

MAX_BASELINE: Final = 64 * _MIB
"""Bytes of a baseline: 250,000 entries of 250 bytes; git is asked for 1 MiB of it."""

MAX_KEY_PARTS: Final = 100
"""Parts of a dotted key of TOML: Python takes 2 seconds for a key of 8,000 parts, and 8 for twice as many."""

MAX_GLOBS: Final = 1_000
"""Globs of `contracts`, and entries of `tables`: each is tried with each file or table."""

MAX_GLOB: Final = 4_096
"""Characters of a glob: the longest path that Linux opens."""
