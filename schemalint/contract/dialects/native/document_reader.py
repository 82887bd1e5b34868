"""Read the documents of schemalint's own format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from schemalint.base.document import Document, Mapping, Sequence, data_of
from schemalint.base.document.outline import Outline
from schemalint.base.document.outline import read_beside as read_items_beside
from schemalint.base.document.shape import check_for
from schemalint.base.errors import ContractError
from schemalint.base.values import replace
from schemalint.contract.anchors import TextAnchors
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.build import Columns, UnreadColumns, build
from schemalint.contract.dialects.native.column_reader import ColumnReader
from schemalint.contract.dialects.native.faults import Report
from schemalint.contract.dialects.native.short_texts import read_path
from schemalint.delta.datatype import Field, RecordedChange, Struct
from schemalint.delta.path import Path
from schemalint.model.contract import Contract

_KEY = "schemalint"


def handles(document: Document) -> bool:
    """Whether the document has the key ``schemalint``."""
    return isinstance(document.root, Mapping) and document.root.entry(_KEY) is not None


def read_document(document: Document) -> Contract | tuple[ContractError, ...]:
    """Return the contract, or all of its errors in the order of the text."""
    report = Report(document)
    contract = _read(data_of(document.root), report)
    if contract is not None and not report.errors:
        return contract
    return tuple(sorted(report.errors, key=_order))


def read_beside(text: str, older: Contract) -> Contract | None:
    """Return the contract of a text, with the very columns of an older one where they are the same.

    Columns with the same text are read once, and are the very same values on both sides. The result is
    that of `read_document`; None if it has errors, or if the whole text must be read to know it.
    """
    anchors = older.anchors
    if not isinstance(anchors, TextAnchors):
        return None
    beside = read_items_beside(text, older.file, anchors.text, anchors.outline, ("columns",))
    columns = older.state.columns
    if (
        older.extends
        or older.rewrites
        or beside is None
        or not handles(beside.document)
        or ((older.deprecated or older.backfills) and not columns.has_unique_names)
    ):
        return None
    before = _known(older, columns.fields[: beside.first])
    after = _known(older, columns.fields[beside.last + 1 :])
    report = Report(beside.document)
    contract = _read(data_of(beside.document.root), report, UnreadColumns(before, after, beside.outline))
    return None if report.errors else contract


def _known(contract: Contract, fields: tuple[Field, ...]) -> Columns:
    """Return some columns of a contract; if it says more of some, no two columns have one name."""
    if not (contract.deprecated or contract.backfills):
        return Columns(fields)
    names = {field.name for field in fields}
    return Columns(
        fields,
        {path: deprecation for path, deprecation in contract.deprecated.items() if path[0] in names},
        {path: backfill for path, backfill in contract.backfills.items() if path[0] in names},
    )


def _read(data: dict[str, Any], report: Report, unread: UnreadColumns | None = None) -> Contract | None:
    if not _is_version(data[_KEY], report):
        return None
    is_overlay = "extends" in data
    keys = native.Overlay if is_overlay else native.Contract
    if not check_for(keys)(data):
        # Imported here because pydantic costs more than the rest of a check.
        from schemalint.contract.dialects.native.format_errors import report_problems  # noqa: PLC0415

        report_problems(data, report, keys)
        if report.errors:
            return None
    if is_overlay:
        return _read_overlay(cast("native.Overlay", data), report)
    return build(cast("native.Contract", data), report, unread)


def _read_overlay(data: native.Overlay, report: Report) -> Contract:
    """Return what a document adds; the steps of its paths count as names of fields until it is joined.

    Args:
        data: The document's content, which fits the format.
        report: The report of the same document. If it has errors afterwards, the contract is not valid.
    """
    columns = ColumnReader(report)
    renamed = {
        _path_of(text, "renamed_from", report): old for text, old in data.get("renamed_from", {}).items()
    }
    type_changes = {
        _path_of(text, "type_changes", report): tuple(_changes(entries, text, columns))
        for text, entries in data.get("type_changes", {}).items()
    }
    deprecated = {
        _path_of(text, "deprecated", report): columns.deprecation(entry, ("deprecated", text))
        for text, entry in data.get("deprecated", {}).items()
    }
    backfills = {
        _path_of(text, "backfill", report): columns.backfill(entry, ("backfill", text))
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


def _path_of(text: str, key: str, report: Report) -> Path:
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


def _is_version(version: object, report: Report) -> bool:
    if type(version) is int and version == native.VERSION:
        return True
    if type(version) is int and version > native.VERSION:
        report.at_value(
            (_KEY,), f"format version {version} is newer than this schemalint", "update schemalint"
        )
    else:
        report.at_value((_KEY,), "the format version must be 1", "write schemalint: 1")
    return False


def _order(error: ContractError) -> tuple[object, ...]:
    location = error.location
    if location:
        return (location.line, location.column, error.message)
    return ()
