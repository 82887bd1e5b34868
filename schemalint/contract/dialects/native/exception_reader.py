"""Read exceptions: entries of ``allow`` in a contract, and those of ``exceptions.yaml`` with their tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from schemalint.base.document import Document, data_of, decode, node_at, read_documents
from schemalint.base.document import Path as YamlPath
from schemalint.base.document.shape import check_for
from schemalint.base.errors import ContractError, Location
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.faults import Report
from schemalint.contract.dialects.native.short_texts import read_path, read_table_name
from schemalint.delta import properties
from schemalint.delta.datatype import Struct
from schemalint.delta.protocol import canonical
from schemalint.model.exception import NAMED, ExceptionSource, RuleException, WrittenException

_OBJECTS = ("column", *NAMED, "object")
KEY = "schemalint_exceptions"


def read_exception(
    data: native.RuleException, yaml_path: YamlPath, report: Report, columns: Struct
) -> RuleException:
    """Return an exception; report an error if it names several objects.

    A text that is no date stays as it is: such an exception has expired.
    """
    objects = [key for key in _OBJECTS if key in data]
    if len(objects) > 1:
        report.at_key(
            (*yaml_path, objects[1]),
            f'an exception is for one object, not for "{objects[0]}" and "{objects[1]}"',
            "write one entry for each finding",
        )
    column, key, feature = data.get("column"), data.get("property"), data.get("feature")
    constraint = data.get("constraint")
    return RuleException(
        rule=data["rule"],
        reason=data["reason"],
        column=None if column is None else read_path(column, (*yaml_path, "column"), report, columns),
        property=None if key is None else properties.canonical(key),
        constraint=None if constraint is None else constraint.lower(),
        feature=None if feature is None else canonical(feature),
        consumer=data.get("consumer"),
        object=data.get("object"),
        old=data.get("from"),
        new=data.get("to"),
        via=data.get("via"),
        approved_by=data.get("approved_by"),
        expires=data.get("expires"),
    )


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
        from schemalint.contract.dialects.native.format_errors import report_problems  # noqa: PLC0415 (pydantic)

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
