"""Read ``exceptions.yaml``: entries of ``allow``, each with its table, outside of the contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from schemalint.base.document import Document, data_of, decode, node_at, read_documents
from schemalint.base.document.shape import check_for
from schemalint.base.errors import ContractError, Location
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.allow import read_exception
from schemalint.contract.dialects.native.faults import Report
from schemalint.contract.dialects.native.texts import read_table_name
from schemalint.delta.datatype import Struct
from schemalint.model.exception import ExceptionSource, WrittenException

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "schemalint_exceptions"


def read_exceptions(file: str, data: bytes) -> tuple[WrittenException, ...]:
    """Return the exceptions in a file.

    Raises:
        ContractError: The file is invalid.
    """
    documents = read_documents(decode(data, file), file)
    if len(documents) != 1:
        raise ContractError(
            f"the file has {len(documents)} documents", help=f"it has one: {KEY}: 1", location=Location(file)
        )
    report = Report(documents[0])
    content = data_of(documents[0].root)
    if not check_for(native.ExceptionsFile)(content):
        from schemalint.contract.dialects.native.explanations import report_problems  # noqa: PLC0415 (pydantic)

        report_problems(content, report, native.ExceptionsFile)
    exceptions = () if report.errors else tuple(_written(cast("native.ExceptionsFile", content), report))
    for error in sorted(report.errors, key=lambda error: str(error.location)):
        raise error
    return exceptions


def _written(content: native.ExceptionsFile, report: Report) -> Iterator[WrittenException]:
    for index, entry in enumerate(content["exceptions"]):
        path = ("exceptions", index)
        exception = read_exception(entry, path, report, Struct(()))
        table = read_table_name(entry["table"], (*path, "table"), report)
        location = _location(report.document, index)
        yield WrittenException(exception, table, ExceptionSource.FILE, location, index=index)


def _location(document: Document, index: int) -> Location:
    node = node_at(document, ("exceptions", index, "rule"))
    return document.location((node or document.root).span)
