"""What a probe found, as rows of the client table, and compared with that table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from probe.asking import Answer
from probe.tables import ProbeTable
from schemalint.base.values import frozen, grouped
from schemalint.clients.support import support
from schemalint.delta.feature import FEATURES, implied_by
from schemalint.delta.type_text import parse_type, print_type
from schemalint.model.client import TableForm, Verdict
from schemalint.model.consumer import Consumer

SOURCE: Final = "make probe"


@frozen
class Reader:
    """The reader that was asked, as the client table names it.

    Attributes:
        client: The name of its client.
        version: Its version.
        read_path: The read path; empty if the client has one only.
    """

    client: str
    version: str
    read_path: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.client, self.version, self.read_path) if part)


def client_rows(reader: Reader, answers: Iterable[Answer], today: str) -> Iterator[dict[str, Any]]:
    """Yield a row of the client table for each thing that the tables need.

    Several tables may need the same thing, in several forms; the most harmful verdict counts.
    """
    for worst in _worst(answers):
        row: dict[str, Any] = {**worst.table.row, "versions": reader.version}
        row |= {"read_path": reader.read_path} if reader.read_path else {}
        row["verdict"] = worst.verdict.value
        row |= {"detail": worst.detail} if worst.verdict is not Verdict.OK else {}
        row["evidence"] = {"run": f"{reader.version}, {SOURCE}"}
        row["as_of"] = today
        yield row


def _worst(answers: Iterable[Answer]) -> Iterator[Answer]:
    """Yield the most harmful answer for each row that the tables speak of; some speak of none."""
    by_row = grouped((tuple(answer.table.row.items()), answer) for answer in answers if answer.table.row)
    for same in by_row.values():
        yield max(same, key=lambda answer: answer.verdict.harm)


def table_form(table: ProbeTable) -> TableForm:
    """Return the form of a table, to ask the client table about it."""
    features = frozenset(table.features) | implied_by(table.reader, table.writer)
    pairs = zip(table.types, table.types[1:], strict=False)
    return TableForm(
        table.reader,
        table.writer,
        features,
        frozenset(name for name in features if name in table.reader_features or _is_for_readers(name)),
        table.mapping,
        frozenset((_name(old), _name(new)) for old, new in pairs if old != new and table.tracked),
    )


def _is_for_readers(feature: str) -> bool:
    return feature in FEATURES and FEATURES[feature].reader


def _name(sql_type: str) -> str:
    return print_type(parse_type(sql_type)).partition("(")[0]


def disagreements(reader: Reader, answers: Iterable[Answer]) -> dict[str, Verdict]:
    """Return the verdict of the client table for each table for which it is another one than the reader's.

    The table is silent where it does not know, and where it infers: a feature may do harm in larger tables.
    """
    found: dict[str, Verdict] = {}
    consumer = Consumer("probe", reader.client, reader.version, reader.read_path or None)
    for answer in _worst(answers):
        known = support(consumer, table_form(answer.table))
        is_inferred = any(reason.evidence and reason.evidence.how == "inferred" for reason in known.reasons)
        if known.verdict not in (answer.verdict, Verdict.UNKNOWN) and not is_inferred:
            found[answer.table.name] = known.verdict
    return found
