"""What the client table does not know is listed in the docs; where sources or the vendor answer, it knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from probe.rows import table_form
from probe.tables import all_tables
from schemalint.clients.client_table import client_names, file_data, find_client
from schemalint.clients.support import support
from schemalint.delta.feature import FEATURES
from schemalint.model.client import TableForm, Verdict
from schemalint.model.consumer import Consumer
from support.golden import assert_golden

DOCS = Path(__file__).parents[2] / "docs" / "clients.md"
START, END = "<!-- unknown: start -->\n", "<!-- unknown: end -->\n"

ANSWERED = {
    "trino": ("440", "444", "450", "453", "476", "481"),
    "databricks": ("13.3", "14.3", "15.4", "16.4", "17.3"),
    "delta-spark": ("3.3.0", "3.3.2", "4.0.1", "4.1.0", "4.2.0", "4.3.0", "4.4.0"),
}
NAMES = ("mapping-", "deletion-vectors", "timestamp-ntz", "v2-checkpoint", "widened-", "feature-typeWidening")


@pytest.mark.parametrize(
    ("client", "version"), [(name, each) for name in ANSWERED for each in ANSWERED[name]]
)
def test_nothing_is_unknown_where_sources_or_the_vendor_answer(client: str, version: str) -> None:
    tables = [table for table in all_tables() if table.name.startswith(NAMES)]
    assert len(tables) == 33
    unknown = [
        table.name for table in tables if _verdict(client, version, table_form(table)) is Verdict.UNKNOWN
    ]
    assert unknown == []


def _verdict(client: str, version: str | None, form: TableForm, read_path: str | None = None) -> Verdict:
    return support(Consumer("asked", client, version, read_path), form).verdict


IN_THE_MATRIX = {
    *("columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "v2Checkpoint", "variantType"),
}


def test_the_documentation_lists_what_is_unknown() -> None:
    """Of the newest version of each client, for readers: what the matrix above on the page does not show."""
    page = DOCS.read_text(encoding="utf-8")
    before, rest = page.split(START)
    _listed, after = rest.split(END)
    clients: dict[str, list[str]] = {}
    for name in client_names():
        for unknown in _unknown(name):
            clients.setdefault(unknown, []).append(name)
    lines = [
        f"- {unknown}: {', '.join(names)}\n"
        for unknown, names in clients.items()
        if unknown not in IN_THE_MATRIX
    ]
    assert_golden(f"{before}{START}{''.join(lines)}{END}{after}", DOCS)


def _unknown(name: str) -> list[str]:
    client = find_client(name)
    assert client is not None
    if client.reads is not None:
        return []
    version = file_data(name).get("newest")
    paths = client.read_paths or (None,)
    found = []
    for table in all_tables():
        rows = [FEATURES.get(name) for name in table.features]
        is_released = all(row and row.in_spark and not row.preview for row in rows)
        verdicts = [_verdict(name, version, table_form(table), path) for path in paths]
        if table.row and is_released and Verdict.UNKNOWN in verdicts:
            found.append(str(table.row.get("feature") or table.row.get("type_change") or table.name))
    changes = [name for name in found if "->" in name]
    features = [name for name in dict.fromkeys(found) if "->" not in name]
    return [*features, *(["type changes"] if changes else [])]
