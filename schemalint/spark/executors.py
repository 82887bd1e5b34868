"""Functions that run on the executors of a Spark cluster, and return a line of JSON.

This module needs neither Spark nor the contracts, so that executors load little. A table that cannot be read
gives a line too: it does not fail the task.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence

from schemalint.base.errors import LiveError, SchemalintError
from schemalint.base.json_object import JsonObject
from schemalint.delta.footer_summary import FooterSummary
from schemalint.project.config import Target
from schemalint.project.config.trust import TrustedTarget, resolve_storage
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import is_remote, read_table
from schemalint.tables.storage.concurrency import concurrently
from schemalint.tables.storage.data_files import Share, count_files, summarize_files
from schemalint.tables.table_json import TableDocument, TableFailure, failure_to_json, from_json, to_json
from schemalint.tables.table_json.footers import summary_from_json, summary_to_json
from schemalint.tables.table_json.table_document import written_by_show


def lines_of(function: Callable[..., str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Call a function of this module for the tables of a task, side by side if requests can overlap."""

    def call(row: Sequence[object]) -> str:
        return function(*row)

    overlap = any(is_remote(str(reference)) for reference, *_ in rows)
    if overlap:
        return concurrently(call, rows)
    return list(map(call, rows))


def storage_text(target: TrustedTarget | None) -> str:
    """Return a target's storage settings as configured: with ``${NAME}``, without secrets."""
    return json.dumps({"target": target.name, "storage": dict(target.storage)} if target else {})


def table_line(reference: str, version: int | None, at: int | None, storage: str) -> str:
    """Read a table into the JSON of ``show``; `table_of` parses the line.

    Args:
        reference: A path or a URI.
        version: See `schemalint.tables.storage.read_table`.
        at: See `schemalint.tables.storage.read_table`.
        storage: The result of `storage_text`; this process's environment has the values of its variables.
    """
    read_at = dt.datetime.now(tz=dt.UTC)
    try:
        table = read_table(reference, version=version, at=at, storage=_storage(storage))
    except SchemalintError as error:
        missing = isinstance(error, NoTable)
        return json.dumps(
            failure_to_json(TableFailure(reference, error.message, read_at, error.help, missing=missing))
        )
    return json.dumps(to_json(TableDocument(table, read_at)))


def table_of(line: str) -> TableDocument | TableFailure:
    """Parse a line of `table_line`."""
    return from_json(json.loads(line))


def count_line(reference: str, version: int, storage: str) -> str:
    """Count the live data files of a table; `count_of` parses the line."""
    return _line(lambda: {"count": count_files(reference, version, _storage(storage))})


def count_of(line: str) -> int | LiveError:
    """Parse a line of `count_line` into the count, or into the error."""
    body = written_by_show(json.loads(line))
    return _error(body) or body.number("count")


def footers_line(reference: str, version: int, storage: str, number: int, of: int) -> str:
    """Summarize the footers of a share of a table's data files; `footers_of` parses the line."""
    return _line(
        lambda: summary_to_json(summarize_files(reference, version, _storage(storage), Share(number, of)))
    )


def footers_of(line: str) -> FooterSummary | LiveError:
    """Parse a line of `footers_line` into the summary, or into the error."""
    body = written_by_show(json.loads(line))
    return _error(body) or summary_from_json(body.content)


def _storage(text: str) -> Mapping[str, str]:
    settings = written_by_show(json.loads(text))
    if "target" not in settings.content:
        return {}
    # The driver sends the settings of a trusted target.
    return resolve_storage(TrustedTarget(Target(settings.text("target"), storage=settings.pairs("storage"))))


def _line(content: Callable[[], Mapping[str, object]]) -> str:
    try:
        return json.dumps(content())
    except SchemalintError as error:
        return json.dumps({"error": error.message, "help": error.help})


def _error(body: JsonObject) -> LiveError | None:
    if "error" in body.content:
        return LiveError(body.text("error"), help=body.text("help"))
    return None
