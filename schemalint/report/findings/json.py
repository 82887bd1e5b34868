"""The whole result as JSON, which ``json.schema.json`` describes."""

from __future__ import annotations

import pkgutil
from functools import cache

import schemalint_rules
from schemalint import __version__
from schemalint.base.errors import Location, SchemalintError
from schemalint.base.printable import SafeText, json_text
from schemalint.base.project_home import page_url
from schemalint.base.values import as_dict
from schemalint.delta.path import path_to_json
from schemalint.delta.table import HistoryEntry
from schemalint.model.contract_edit import Fix, TextChange
from schemalint.model.finding import ApprovedFinding, CheckResult, Finding, Run, SideRef
from schemalint.model.inventory import Inventory
from schemalint.model.stream_report import stream_json
from schemalint.report.words import client_json, consequence_json, way_json

VERSION = 1
"""The version of the format; it changes with the meaning of a key."""

SHOWS_TABLES = False


def render(result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render one JSON object in ASCII with all findings; those that the base has too are ``existing``."""
    document = {
        "version": VERSION,
        "tool": {"name": "schemalint", "version": __version__},
        "run": _run(result.run, result.exit_status),
        "findings": [_finding(finding) for finding in result.findings],
        "approved": [_approved(approval) for approval in result.approved],
        "errors": [_error(error) for error in result.errors],
        "clients": [client_json(client) for client in result.clients],
        "streams": [stream_json(report) for report in result.streams],
        "inventory": _inventory(result.inventory) if result.inventory else None,
    }
    return json_text(document, indent=2)


def _run(run: Run, exit_status: int) -> dict[str, object]:
    return {
        "base": _side(run.base) if run.base else None,
        "head": _side(run.head),
        "target": run.target,
        "compared": list(run.compared),
        "skipped": [{"table": skipped.table, "reason": skipped.reason} for skipped in run.skipped],
        "exit_status": exit_status,
    }


def _side(side: SideRef) -> dict[str, object]:
    return {"spec": side.spec, "commit": side.commit, "why": side.why}


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "rule": finding.rule,
        "severity": finding.severity.label,
        "message": finding.message,
        "help": finding.help,
        "table": finding.table,
        "target": finding.target,
        "column": finding.column,
        "path": path_to_json(finding.path),
        "object": {"kind": finding.object.kind, "name": finding.object.name},
        "against": list(finding.against),
        "from": finding.old,
        "to": finding.new,
        "location": _location(finding.location),
        "previous_location": _location(finding.previous_location),
        "delta_error": finding.delta_error,
        "fingerprint": finding.fingerprint,
        "then": [consequence_json(each) for each in finding.then],
        "ways": [way_json(way) for way in finding.ways],
        "fix": _fix(finding.fix, finding.text_changes) if finding.fix else None,
        "existing": finding.existing,
        "commit": _commit(finding.commit) if finding.commit else None,
        "url": _url(finding.code),
    }


def _approved(approval: ApprovedFinding) -> dict[str, object]:
    by = approval.by
    return {
        "finding": _finding(approval.finding),
        "by": {
            "source": by.source.value,
            "location": _location(by.location),
            "reason": by.exception.reason,
            "approved_by": by.exception.approved_by,
            "expires": by.exception.expires,
            "via": by.exception.via,
            "added": by.added,
            "claim": by.claim,
        },
    }


def _commit(entry: HistoryEntry) -> dict[str, object]:
    return {
        "version": entry.version,
        "timestamp": entry.timestamp,
        "operation": entry.operation,
        "user": entry.user,
    }


def _fix(fix: Fix, changes: tuple[TextChange, ...]) -> dict[str, object]:
    edits = [{"location": _location(change.location), "text": change.text} for change in changes]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}


def _inventory(inventory: Inventory) -> dict[str, object]:
    return {
        "tables": [
            {
                "table": table.table,
                "uri": table.uri,
                "version": table.version,
                "min_reader_version": table.versions[0],
                "min_writer_version": table.versions[1],
                "idle_features": list(table.idle),
                "preview_features": list(table.preview),
            }
            for table in inventory.tables
        ],
        "protocols": [
            {"min_reader_version": reader, "min_writer_version": writer, "tables": number}
            for (reader, writer), number in inventory.versions
        ],
        "idle_features": _counts(inventory.idle),
        "preview_features": _counts(inventory.preview),
    }


def _counts(features: tuple[tuple[str, int], ...]) -> list[dict[str, object]]:
    return [{"feature": name, "tables": number} for name, number in features]


def _error(error: SchemalintError) -> dict[str, object]:
    return {"message": error.message, "help": error.help, "location": _location(error.location)}


def _location(location: Location | None) -> dict[str, object] | None:
    return as_dict(location) if location else None


def _url(code: str) -> str | None:
    """Return the page of a built-in rule; None for rules of other packages, and if no page is known."""
    if code[:-3] in _areas():
        return page_url(code)
    return None


@cache
def _areas() -> frozenset[str]:
    """Return the areas of the built-in rules, which have a page each."""
    return frozenset(package.name.upper() for package in pkgutil.iter_modules(schemalint_rules.__path__))
