"""The file of ``--live-from``: refused, or read, shown, written and judged without losing anything."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.oracle import (
    only_errors_of_the_input,
    require,
    require_harmless,
    require_no_bug,
    require_rendered,
    require_written,
)
from schemalint.report.table.table_text import show_text
from schemalint.review.rulebook import load_rules
from schemalint.review.run_audit import audit
from schemalint.tables.storage import read_table
from schemalint.tables.table_json import (
    TableDocument,
    TableFailure,
    TableJsonError,
    failure_to_json,
    from_json,
    read_lines,
    to_json,
)
from support.judging import audited

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGS = Path(__file__).parents[2] / "delta_log/logs"
RULES = load_rules()
WORDS = (
    *(
        '{"format":1,',
        '"uri":',
        '"read_at":"2026-11-20T10:00:00+00:00"',
        '"version":',
        '"schema":',
        '"protocol":',
    ),
    *(
        '"history":[',
        '"file_versions":',
        '"defects":',
        '"catalog":null',
        '"properties":{',
        '"error":',
        '"table":',
    ),
)
LONGEST = 8_000


def run(data: bytes) -> None:
    """Read tables, write them and read them again; show and judge them."""
    try:
        documents = read_lines("live.json", data)
    except TableJsonError:
        return
    for document in documents:
        if isinstance(document, TableFailure):
            again: object = from_json(failure_to_json(document))
            require(again == document, "a failure is written as another one")
            continue
        _require_usable(document)


def _require_usable(document: TableDocument) -> None:
    require_written(document)
    require_harmless(show_text(document, ()))
    with only_errors_of_the_input():
        result = audit([audited(document.live, RULES)])
        require_no_bug(result.errors)
        require_rendered(result)


def seeds() -> Iterator[bytes]:
    """Yield the recorded tables, and one that could not be read."""
    at = dt.datetime(2026, 11, 20, 10, tzinfo=dt.UTC)
    for log in sorted(LOGS.rglob("_delta_log")):
        document = TableDocument(read_table(str(log.parent)), at, "a.b", "dev")
        yield json.dumps({**to_json(document), "uri": "file:/lake/t"}).encode()
    yield json.dumps(failure_to_json(TableFailure("file:/lake/t", "gone", at, missing=True))).encode()
