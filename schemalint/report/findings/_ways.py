"""What to do about a finding: the ways out that formats for people show at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from schemalint.base.document.scalars import print_scalar
from schemalint.base.errors import ContractError
from schemalint.contract.dialects.native.exception_reader import KEY
from schemalint.model.exception import NAMED, ExceptionsFile, ExceptionSource
from schemalint.model.finding import (
    CheckResult,
    Finding,
    JudgedTable,
    Severity,
)
from schemalint.model.rule_codes import NEVER_APPROVED, TABLE_REMOVED
from schemalint.report.text_helpers import first_few
from schemalint.review.approve import exception_keys

_WIDTH: Final = 72
_UNNAMED: Final = ("table", "partitioning", "clustering")


class Approval(NamedTuple):
    """An exception that approves a finding once somebody writes its reason.

    Attributes:
        file: The file for it.
        lines: Its YAML, whole where the file or the key is new.
        where: Where it goes in the file; empty for the end.
        is_new: Whether there is no such file.
    """

    file: str
    lines: tuple[str, ...]
    where: str = ""
    is_new: bool = False

    def place(self, quoted: str) -> str:
        """Return where it is pasted, with the file as a format writes it."""
        return f"in {'a new file ' if self.is_new else ''}{quoted}{self.where}"


class Ways(NamedTuple):
    """Who can approve a finding, and how.

    Attributes:
        approval: None if no exception can approve it, or none is needed.
        ask: The owners of the table and of its consumers, as text; may be empty.
    """

    approval: Approval | None = None
    ask: str = ""


def ways_out(finding: Finding, tables: Mapping[str, JudgedTable], result: CheckResult) -> Ways:
    """Return the ways out of a finding; an existing one and a remark (``info``) need none."""
    table = tables.get(finding.table)
    if table is None or finding.existing or finding.severity is Severity.INFO:
        return Ways()
    return Ways(_approval(finding, table, result), ", ".join(_owners(table)))


def _owners(table: JudgedTable) -> Iterator[str]:
    if table.owner:
        yield f"{table.owner} (owner of the table)"
    consumers = [consumer for consumer in table.consumers if consumer.owner]
    yield from first_few([f"{consumer.owner} ({consumer.name})" for consumer in consumers])


def _approval(finding: Finding, table: JudgedTable, result: CheckResult) -> Approval | None:
    has_key = finding.column is not None or finding.object.kind in (*NAMED, *_UNNAMED)
    if not has_key or finding.code in NEVER_APPROVED or not table.file:
        return None
    in_contract = (
        ExceptionSource.CONTRACT in result.accepts
        and finding.code != TABLE_REMOVED
        and table.holds_exceptions
    )
    if not in_contract and ExceptionSource.FILE not in result.accepts:
        return None
    keys = [*exception_keys(finding)] if in_contract else [("table", finding.table), *exception_keys(finding)]
    try:
        entry = _wrapped([f"{key}: {_scalar(value)}" for key, value in keys])
    except ContractError:  # a name that YAML cannot represent
        return None
    if not in_contract:
        return _in_file(result.exceptions_file, entry)
    if table.has_exceptions:
        return Approval(table.file, tuple(entry), ", below `allow:`")
    return Approval(table.file, ("allow:", *entry))


def _in_file(file: ExceptionsFile, entry: Iterable[str]) -> Approval:
    match file.entries:
        case None:
            return Approval(file.name, (f"{KEY}: 1", "exceptions:", *entry), is_new=True)
        case 0:
            return Approval(file.name, ("exceptions:", *entry), ", in place of `exceptions: []`")
        case _:
            return Approval(file.name, tuple(entry), ", below `exceptions:`")


def _scalar(text: str) -> str:
    return print_scalar(text) if text else '""'


def _wrapped(pairs: list[str]) -> list[str]:
    """Return an item with these keys, in lines that a terminal shows whole."""
    lines = ["  - {" + pairs[0]]
    for pair in pairs[1:]:
        if len(lines[-1]) + len(pair) + 3 > _WIDTH:
            lines[-1] += ","
            lines.append(f"     {pair}")
        else:
            lines[-1] += f", {pair}"
    lines[-1] += "}"
    return lines
