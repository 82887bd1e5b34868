"""The client table and what clients do with one table: as text, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from schemalint.base.phrases import affixed
from schemalint.base.printable import SafeText, json_text, markdown_prose, printable, terminal_text
from schemalint.base.values import grouped
from schemalint.clients.client_table import Client, client_names, find_client, rows_of
from schemalint.clients.support import support
from schemalint.delta.table import LiveTable
from schemalint.judge.client_losses import known_clients, today
from schemalint.model.client import ClientSupport, TableForm, Verdict
from schemalint.model.consumer import Consumer
from schemalint.report.text_helpers import table_rows
from schemalint.report.words import client_json, client_text


def _form(
    *features: str, reader: int = 3, mapping: str = "none", change: tuple[str, str] | None = None
) -> TableForm:
    names = frozenset(features)
    return TableForm(reader, 7, names, names, mapping, frozenset({change} if change else ()))


_FORMS: Final = {
    "columnMapping (2,7)": _form("columnMapping", reader=2, mapping="name"),
    "columnMapping (3,7)": _form("columnMapping", mapping="name"),
    "deletionVectors": _form("deletionVectors"),
    "timestampNtz": _form("timestampNtz"),
    "typeWidening": _form("typeWidening"),
    "int -> bigint": _form("typeWidening", change=("int", "bigint")),
    "v2Checkpoint": _form("v2Checkpoint"),
    "variantType": _form("variantType"),
}
"""The columns of the matrix: what most tables of today use."""


def matrix_text(clients: Iterable[Consumer], rows: Sequence[Mapping[str, Any]]) -> SafeText:
    """Return the newest known version of each client as a line, with a verdict for each form of a table."""
    return terminal_text(table_rows(_matrix(clients, rows)))


def matrix_markdown(clients: Iterable[Consumer], rows: Sequence[Mapping[str, Any]]) -> SafeText:
    """Return the same as a table; clients with the same verdicts share a row."""
    head, *body = [[markdown_prose(cell) for cell in row] for row in _matrix(clients, rows)]
    alike = grouped((tuple(verdicts), name) for name, *verdicts in body)
    shared = [[", ".join(names), *verdicts] for verdicts, names in alike.items()]
    lines = [head, ["---"] * len(head), *shared]
    return terminal_text(f"| {' | '.join(line)} |" for line in lines)


def _matrix(clients: Iterable[Consumer], rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    lines = [
        [
            _client_name(consumer),
            *(support(consumer, form, rows).verdict.value for form in _FORMS.values()),
        ]
        for consumer in clients
    ]
    return [["client", *_FORMS], *lines]


def table_json(names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> SafeText:
    """Return all rows of clients as they are written."""
    rows_json = [
        {
            "client": client.name,
            "title": client.title,
            "newest": client.newest,
            "read_paths": list(client.read_paths),
            "reads": client.reads,
            "rows": rows_of(client.name, rows),
        }
        for client in _found(names, rows)
    ]
    return json_text({"version": 1, "clients": rows_json}, indent=2)


def rows_text(names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> SafeText:
    """Return all rows of clients with their evidence, in the order in which they decide."""
    lines: list[str] = []
    for client in _found(names, rows):
        newest = affixed(", up to ", client.newest)
        lines.append(printable(f"{client.name}: {client.title or 'rows of the configuration'}{newest}"))
        lines += (f"  {row}" for row in table_rows([_cells(row) for row in rows_of(client.name, rows)]))
    return terminal_text(lines)


def _found(names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[Client]:
    return [client for name in names if (client := find_client(name, rows))]


def _cells(row: Mapping[str, Any]) -> list[str]:
    ((how, source),) = row["evidence"].items()
    conditions = [f"{key} {row[key]}" for key in ("mapping", "reader", "writer", "format") if key in row]
    what = [_listed(row[key]) for key in ("feature", "type_change") if key in row]
    return [
        row["verdict"],
        row.get("access", "read"),
        row.get("versions", "all versions"),
        row.get("read_path", ""),
        ", ".join([*what, *conditions]),
        row.get("detail", ""),
        f"[{', '.join(filter(None, (how, row.get('as_of'))))}] {source}",
    ]


def _listed(value: str | list[str]) -> str:
    if isinstance(value, str):
        return value
    return ", ".join(value)


def survey_text(title: str, clients: Sequence[ClientSupport], *, markdown: bool = False) -> SafeText:
    """Return a line for each client, those that lose or lack the table first."""
    lines = [client_text(client) for client in _worst_first(clients)]
    if markdown:
        return terminal_text([markdown_prose(title), "", *(f"- {markdown_prose(line)}" for line in lines)])
    return terminal_text([printable(title), *(f"  {printable(line)}" for line in lines)])


def survey_json(clients: Sequence[ClientSupport]) -> SafeText:
    """Return the same as JSON."""
    return json_text({"version": 1, "clients": [client_json(client) for client in clients]}, indent=2)


def clients_json(live: LiveTable, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Return what all known clients do with a table today, each at its newest known version."""
    return [
        {
            "client": answer.consumer.client,
            "version": answer.consumer.version,
            "read_path": answer.consumer.read_path,
            "verdict": answer.after.verdict.value,
            "because": answer.because,
        }
        for answer in today(live.uri, live, known_clients(rows), rows)
    ]


def clients_by_verdict(live: LiveTable, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Verdict, str]]:
    """Yield the verdicts on a table today, the best first, each with the names of its clients."""
    answers = today(live.uri, live, known_clients(rows), rows)
    names = grouped((answer.after.verdict, _client_name(answer.consumer)) for answer in answers)
    for verdict in sorted(names, key=lambda verdict: verdict.harm):
        yield verdict, ", ".join(names[verdict])


def _client_name(consumer: Consumer) -> str:
    return " ".join(filter(None, (consumer.client, consumer.version, consumer.read_path)))


def _worst_first(clients: Iterable[ClientSupport]) -> list[ClientSupport]:
    return sorted(clients, key=lambda client: -client.after.verdict.harm)


def all_names(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of all clients, those of the configuration among them."""
    return tuple(sorted({*client_names(), *(str(row["client"]) for row in rows)}))
