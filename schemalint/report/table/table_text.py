"""A live table as text, in sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from schemalint.base.phrases import affixed, counted, first_of, plural
from schemalint.base.printable import SafeText, terminal_text
from schemalint.delta.datatype import DataType, Field, items_of, parts
from schemalint.delta.feature_usage import FeatureUse, feature_uses
from schemalint.delta.history import CommittedTypeChange, HistoryStep, changes, steps, type_history, utc_text
from schemalint.delta.invariants import invariants_of
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.stream_history import stops_of_tracked_streams
from schemalint.delta.table import LiveTable
from schemalint.delta.type_text import print_type
from schemalint.model.marker import read_marker
from schemalint.report.table.client_matrix import clients_by_verdict
from schemalint.report.table.fields import (
    describe_changes,
    field_label,
    field_notes,
    fields_of,
    split_by_field,
    type_text,
)
from schemalint.report.text_helpers import committer_text, error_name, separated, shortened, table_rows
from schemalint.tables.table_json import TableDocument

_MOST_ENTRIES: Final = 20
_MOST_REASONS: Final = 4


def show_text(document: TableDocument, rows: Sequence[Mapping[str, Any]]) -> SafeText:
    """Render a table in sections: protocol, columns, layout, constraints, properties, clients, history.

    Args:
        document: The table.
        rows: The rows of the configuration that precede those of the client table.
    """
    live = document.live
    sections = [
        _head(document),
        [_protocol_title(live), *_protocol(live)],
        _section(f"Columns ({len(live.state.columns.fields)})", _column_lines(live)),
        _section("Layout", _layout(live)),
        _section("Constraints", _pairs(live.state.constraints, " CHECK ")),
        _section("Invariants of columns", _invariants(live)),
        _section("Properties", _pairs(live.state.properties, " = ")),
        _section("Clients at their newest known version", _clients(live, rows)),
        _section(_history_title(live), _history(live)),
        _section("Log", _log(live)),
    ]
    return terminal_text(separated(lines for lines in sections if lines))


def _invariants(live: LiveTable) -> list[str]:
    invariants = invariants_of(live.state.columns)
    texts = {format_path(path): invariant.expression or "unreadable" for path, invariant in invariants}
    return list(_pairs(texts, " CHECK "))


def _section(title: str, lines: Iterable[str]) -> list[str]:
    """Return the title and its lines; an empty section has no title."""
    content = list(lines)
    return [title, *content] if content else []


def _head(document: TableDocument) -> list[str]:
    live = document.live
    rows = [["version", str(live.version)], ["last change", _last_change(live)]]
    rows += [["table id", live.metadata.table_id], ["created", utc_text(live.metadata.created_time)]]
    rows.append(["last applied", _last_applied(live)])
    rows.append(["name", live.metadata.name or ""])
    if isinstance(live.state.description, str):
        rows.append(["comment", shortened(live.state.description)])
    if live.catalog:
        rows.append(["catalog", f"{live.catalog.name} in {live.catalog.catalog}"])
    title = f"{document.table} at {live.uri}" if document.table else live.uri
    return [title, *(f"  {row}" for row in table_rows([row for row in rows if row[1]]))]


def _last_applied(live: LiveTable) -> str:
    marker = read_marker(live)
    if marker is None:
        return ""
    return f"revision {marker.revision or 'not known'}, declaration {marker.hash[:14]}"


def _last_change(live: LiveTable) -> str:
    """Describe the last change of schema, protocol or properties; commits of data have no history entry."""
    if not live.history.entries:
        return ""
    entry = live.history.entries[-1]
    if live.history.known_from and len(live.history.entries) == 1:
        return f"version {entry.version} or before"
    texts = (utc_text(entry.timestamp), entry.operation or "", committer_text(entry))
    return ", ".join([f"version {entry.version}", *(text for text in texts if text)])


def _protocol_title(live: LiveTable) -> str:
    return f"Protocol: reader {live.protocol.min_reader}, writer {live.protocol.min_writer}"


def _protocol(live: LiveTable) -> Iterator[str]:
    """Render the table features, those in use first."""
    uses = sorted(feature_uses(live), key=lambda use: (use.is_idle, use.name))
    yield from (f"  {row}" for row in table_rows([[use.name, _binds(use), _need(use)] for use in uses]))


def _binds(use: FeatureUse) -> str:
    if use.is_preview:
        return f"{use.binds}, preview"
    return use.binds


def _need(use: FeatureUse) -> str:
    if use.is_idle:
        return "supported, not in use"
    reasons = [name if kind == "property" else f"{kind} {name}" for kind, name in use.needed_by]
    text = first_of(reasons, _MOST_REASONS)
    if not use.supported:
        return f"NOT SUPPORTED, needed by {text}"
    if text:
        return f"needed by {text}"
    if use.is_known:
        return "active while supported"
    return "unknown to this version of schemalint"


def _layout(live: LiveTable) -> Iterator[str]:
    state = live.state
    if state.partition_columns:
        names = ", ".join(format_path((name,)) for name in state.partition_columns)
        yield f"  partitioned by {names}"
    if state.clustering_columns:
        yield f"  clustered by {', '.join(map(format_path, state.clustering_columns))}"


def _pairs(entries: Mapping[str, str | None], sign: str) -> Iterator[str]:
    for key in sorted(entries):
        yield f"  {key}{sign}{entries[key]}"


def _clients(live: LiveTable, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Render who can read the table today, one line per verdict."""
    yield from (f"  {verdict.value}: {names}" for verdict, names in clients_by_verdict(live, rows))


def _history_title(live: LiveTable) -> str:
    first_version = live.history.known_from
    if first_version == 0:
        return "History"
    return f"History, known from version {first_version}"


def _history(live: LiveTable) -> Iterator[str]:
    all_steps = list(steps(live.history))
    latest = all_steps[-_MOST_ENTRIES:]
    if len(latest) < len(all_steps):
        yield f"  {counted(len(all_steps) - len(latest), 'earlier change')}: see --output-format json"
    yield from (f"  {row}" for row in table_rows([_entry(step) for step in latest]))
    stops = [str(version) for version in stops_of_tracked_streams(live.history)]
    if stops:
        at = f"{plural(len(stops), 'version')} {', '.join(stops)}"
        yield f"  Streams with a schemaTrackingLocation stop at {at}"


def _entry(step: HistoryStep) -> list[str]:
    entry = step.entry
    if step.before is None:
        description = "created" if entry.version == 0 else "oldest known state"
    else:
        description = describe_changes(changes(step)) or "internal metadata only"
    commit = [str(entry.version), utc_text(entry.timestamp), entry.operation or "", committer_text(entry)]
    return [*commit, description]


def _log(live: LiveTable) -> Iterator[str]:
    for defect in live.defects:
        line = f"  defect: {defect.location}: {defect.message}"
        if defect.delta_error:
            line += f" (Spark: {error_name(defect.delta_error)})"
        yield line
    yield from (f"  warning: {text}" for text in live.warnings)


def _column_lines(live: LiveTable) -> Iterator[str]:
    """Render a row for each column and field, with its type changes below it, oldest first."""
    fields = list(fields_of(live.state.columns, ()))
    rows = table_rows(
        [[field_label(path), type_text(field.type), field_notes(field)] for path, field in fields]
    )
    history = type_history(live.history)
    for (path, field), row in zip(fields, rows, strict=True):
        yield f"  {row}".rstrip()
        indent = "  " * (len(split_by_field(path)) + 2)
        changes = _type_lines(path, field, history, live.history.known_from)
        yield from (f"{indent}{line}" for line in changes)


def _type_lines(
    path: Path, field: Field, history: Mapping[Path, tuple[CommittedTypeChange, ...]], known_from: int
) -> Iterator[str]:
    """Render the recorded type changes with their commits, then the commits with unrecorded changes."""
    commits = {part: list(history.get(lowercased((*path, *part)), ())) for part in _part_paths(field.type)}
    for change in items_of(field.type_changes):
        steps = commits.get(change.at, [])
        types = (change.from_type, change.to_type)
        step = next((step for step in steps if (step.old, step.new) == types), None)
        if step is not None:
            steps.remove(step)
        unknown = f"version {known_from} or before" if known_from else "by no commit of the log"
        source = _commit(step) if step else unknown
        yield f"{_prefix(change.at)}{print_type(change.from_type)} -> {print_type(change.to_type)}  {source}"
    for part, steps in commits.items():
        for step in steps:
            types_text = f"{_prefix(part)}{type_text(step.old)} -> {type_text(step.new)}"
            yield f"{types_text}  {_commit(step)}, not recorded"


def _part_paths(type_: DataType, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of a type and of the parts of arrays and maps in it, but not of struct fields."""
    yield path
    for part, inner in parts(type_):
        yield from _part_paths(inner, (*path, part))


def _prefix(part: Path) -> str:
    return f"{format_path(part)}: " if part else ""


def _commit(step: CommittedTypeChange) -> str:
    texts = (f"version {step.entry.version}", utc_text(step.entry.timestamp), affixed("by ", step.entry.user))
    return ", ".join(filter(None, texts))
