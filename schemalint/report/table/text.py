"""A live table as an engineer wants to see it first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemalint.delta.feature_usage import feature_uses
from schemalint.delta.history import changes, steps, stops_tracked_streams
from schemalint.delta.path import format_path
from schemalint.printable import printable
from schemalint.report.table._cells import by_whom, short, table_rows, when
from schemalint.report.table._changes import describe_changes
from schemalint.report.table._columns import column_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schemalint.delta.feature_usage import FeatureUse
    from schemalint.delta.history import HistoryStep
    from schemalint.delta.table import LiveTable
    from schemalint.table_json import TableDocument

_MOST_ENTRIES: Final = 20


def show_text(shown: TableDocument) -> str:
    """All that is known of a table, in sections."""
    live = shown.live
    sections = [
        _head(shown),
        [_protocol_title(live), *_protocol(live)],
        _section(f"Columns ({len(live.state.columns.fields)})", column_lines(live)),
        _section("Layout", _layout(live)),
        _section("Constraints", _pairs(live.state.constraints, " CHECK ")),
        _section("Properties", _pairs(live.state.properties, " = ")),
        _section(_history_title(live), _history(live)),
        _section("Log", _log(live)),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    """The title over its lines; nothing where there are none."""
    found = list(lines)
    return [title, *found] if found else []


def _head(shown: TableDocument) -> list[str]:
    live = shown.live
    rows = [["version", str(live.version)], ["last change", _last_change(live)]]
    rows += [["table id", live.metadata.table_id], ["created", when(live.metadata.created_time)]]
    rows.append(["name", live.metadata.name or ""])
    if isinstance(live.state.description, str):
        rows.append(["comment", short(live.state.description)])
    if live.catalog:
        rows.append(["catalog", f"{live.catalog.name} in {live.catalog.catalog}"])
    title = f"{shown.table} at {live.uri}" if shown.table else live.uri
    return [printable(title), *(f"  {row}" for row in table_rows([row for row in rows if row[1]]))]


def _last_change(live: LiveTable) -> str:
    """Of schema, protocol or properties; the commits of data are not part of the history."""
    if not live.history.entries:
        return ""
    entry = live.history.entries[-1]
    if live.history.known_from and len(live.history.entries) == 1:
        return f"version {entry.version} or before"
    known = (when(entry.timestamp), entry.operation or "", by_whom(entry))
    return ", ".join([f"version {entry.version}", *(text for text in known if text)])


def _protocol_title(live: LiveTable) -> str:
    return f"Protocol: reader {live.protocol.min_reader}, writer {live.protocol.min_writer}"


def _protocol(live: LiveTable) -> Iterator[str]:
    """The features in use first, then the others."""
    uses = sorted(feature_uses(live), key=lambda use: (use.is_idle, use.name))
    yield from (f"  {row}" for row in table_rows([[use.name, _binds(use), _need(use)] for use in uses]))


def _binds(use: FeatureUse) -> str:
    return ("readers and writers" if use.binds_readers else "writers") + (
        ", preview" if use.is_preview else ""
    )


def _need(use: FeatureUse) -> str:
    if use.is_idle:
        return "supported, not in use"
    reasons = [name if kind == "property" else f"{kind} {name}" for kind, name in use.needed_by]
    text = ", ".join(reasons[:4]) + (f" and {len(reasons) - 4} more" if len(reasons) > 4 else "")  # noqa: PLR2004
    if not use.supported:
        return f"NOT SUPPORTED, needed by {text}"
    if text:
        return f"needed by {text}"
    return "acts by being supported" if use.is_known else "not known to this version of schemalint"


def _layout(live: LiveTable) -> Iterator[str]:
    state = live.state
    if isinstance(state.partitioned_by, tuple) and state.partitioned_by:
        names = ", ".join(format_path((name,)) for name in state.partitioned_by)
        yield f"  partitioned by {printable(names)}"
    if isinstance(state.clustered_by, tuple) and state.clustered_by:
        yield f"  clustered by {printable(', '.join(map(format_path, state.clustered_by)))}"


def _pairs(entries: Mapping[str, str | None], sign: str) -> Iterator[str]:
    for key in sorted(entries):
        yield f"  {printable(key)}{sign}{printable(str(entries[key]))}"


def _history_title(live: LiveTable) -> str:
    known = live.history.known_from
    return "History" if known == 0 else f"History, known from version {known}"


def _history(live: LiveTable) -> Iterator[str]:
    known = list(steps(live.history))
    latest = known[-_MOST_ENTRIES:]
    if len(latest) < len(known):
        yield f"  {len(known) - len(latest)} earlier changes are in --output-format json"
    yield from (f"  {row}" for row in table_rows([_entry(step) for step in latest]))
    stops = [str(step.entry.version) for step in known if stops_tracked_streams(step)]
    if stops:
        noun = "version" if len(stops) == 1 else "versions"
        yield f"  A stream that tracks the schema was stopped, once each, by {noun} {', '.join(stops)}"


def _entry(step: HistoryStep) -> list[str]:
    entry = step.entry
    if step.before is None:
        told = "created" if entry.version == 0 else "the oldest state that is known"
    else:
        told = describe_changes(changes(step)) or "internal metadata only"
    return [str(entry.version), when(entry.timestamp), entry.operation or "", by_whom(entry), told]


def _log(live: LiveTable) -> Iterator[str]:
    for one in live.defects:
        place = one.file if one.line is None else f"{one.file}, line {one.line}"
        spark = f" (Spark: {one.delta_error})" if one.delta_error else ""
        yield printable(f"  defect: {place}: {one.message}{spark}")
    yield from (printable(f"  warning: {text}") for text in live.warnings)
