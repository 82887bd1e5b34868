"""Read a contract that has no columns of its own, and adds to the declaration of another format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from schemalint.base.document import Sequence
from schemalint.base.document.outline import Outline
from schemalint.base.values import replace
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.build import Columns, UnreadColumns, build
from schemalint.contract.dialects.native.column_reader import ColumnReader
from schemalint.contract.dialects.native.faults import Report
from schemalint.contract.dialects.native.short_texts import read_path
from schemalint.delta.datatype import RecordedChange, Struct
from schemalint.delta.path import Path
from schemalint.model.contract import Contract


def read_overlay(data: native.Overlay, report: Report) -> Contract:
    """Return what a document adds; the steps of its paths count as names of fields until it is joined.

    Args:
        data: The document's content, which fits the format.
        report: The report of the same document. If it has errors afterwards, the contract is not valid.
    """
    columns = ColumnReader(report)
    renamed = {_path(text, "renamed_from", report): old for text, old in data.get("renamed_from", {}).items()}
    type_changes = {
        _path(text, "type_changes", report): tuple(_changes(entries, text, columns))
        for text, entries in data.get("type_changes", {}).items()
    }
    deprecated = {
        _path(text, "deprecated", report): columns.deprecation(entry, ("deprecated", text))
        for text, entry in data.get("deprecated", {}).items()
    }
    backfills = {
        _path(text, "backfill", report): columns.backfill(entry, ("backfill", text))
        for text, entry in data.get("backfill", {}).items()
    }
    document, end = report.document, report.document.span.end
    unread = UnreadColumns(
        Columns(), Columns(), Outline.of(document, Sequence((), flow=False, start=end, end=end))
    )
    contract = build(cast("native.Contract", {**data, "columns": []}), report, unread)
    return replace(
        contract,
        managed_by=data["extends"],
        extends=data["extends"],
        renamed_from=renamed,
        type_changes=type_changes,
        deprecated=deprecated,
        backfills=backfills,
    )


def _path(text: str, key: str, report: Report) -> Path:
    return read_path(text, (key, text), report, Struct())


def _changes(
    entries: list[native.OverlayChange], text: str, columns: ColumnReader
) -> Iterator[RecordedChange]:
    for index, entry in enumerate(entries):
        yaml_path = ("type_changes", text, index)
        from_type = columns.type_at(entry["from"], (*yaml_path, "from"))
        to_type = columns.type_at(entry["to"], (*yaml_path, "to"))
        if from_type is not None and to_type is not None:
            yield RecordedChange(from_type, to_type)
