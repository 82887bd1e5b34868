"""What runs on the executors of a Spark cluster: a table, or its data files, to a line of JSON.

Nothing here needs Spark or the contracts, so that an executor loads little. A table that cannot be read is a
line too: it does not fail the task that it is in.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping

from schemalint.config import Target, resolve_storage
from schemalint.delta.footer_summary import FooterSummary
from schemalint.delta_log.store import NoTable
from schemalint.errors import LiveError, SchemalintError
from schemalint.storage import read_table
from schemalint.storage.data_files import Share, count_files, summarize_files
from schemalint.table_json import TableDocument, TableFailure, failure_to_json, from_json, to_json
from schemalint.table_json.footers import summary_from_json, summary_to_json
from schemalint.table_json.values import JsonObject


def storage_text(target: Target | None) -> str:
    """How a target's store is opened, as its configuration says it: variables by their names, no secrets."""
    return json.dumps({"target": target.name, "storage": dict(target.storage)} if target else {})


def table_line(reference: str, version: int | None, at: int | None, storage: str) -> str:
    """A table as ``show`` tells it; `table_of` reads the line.

    Args:
        reference: See `schemalint.storage.read`, as for `version` and `at`.
        version: Of the table.
        at: Likewise.
        storage: Of `storage_text`; the variables are looked up in this process's environment.
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
    """The inverse of `table_line`."""
    return from_json(json.loads(line))


def count_line(reference: str, version: int, storage: str) -> str:
    """How many live data files a table has; `count_of` reads the line."""
    return _line(lambda: {"count": count_files(reference, version, _storage(storage))})


def count_of(line: str) -> int | LiveError:
    """The inverse of `count_line`; the error that it met."""
    body = JsonObject.of(json.loads(line))
    return _error(body) or body.number("count")


def footers_line(reference: str, version: int, storage: str, number: int, of: int) -> str:
    """What a share of a table's data files hold; `footers_of` reads the line."""
    return _line(
        lambda: summary_to_json(summarize_files(reference, version, _storage(storage), Share(number, of)))
    )


def footers_of(line: str) -> FooterSummary | LiveError:
    """The inverse of `footers_line`; the error that it met."""
    body = JsonObject.of(json.loads(line))
    return _error(body) or summary_from_json(body.content)


def _storage(text: str) -> Mapping[str, str]:
    given = JsonObject.of(json.loads(text))
    if "target" not in given.content:
        return {}
    return resolve_storage(Target(given.text("target"), storage=given.pairs("storage")))


def _line(content: Callable[[], Mapping[str, object]]) -> str:
    try:
        return json.dumps(content())
    except SchemalintError as error:
        return json.dumps({"error": error.message, "help": error.help})


def _error(body: JsonObject) -> LiveError | None:
    return LiveError(body.text("error"), help=body.text("help")) if "error" in body.content else None
