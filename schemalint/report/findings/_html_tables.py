"""A table in the HTML page: both schemas side by side, the history of types, the protocol and its readers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from schemalint.base.phrases import counted
from schemalint.delta.change import FieldRenamed
from schemalint.delta.datatype import Field, Unmanaged
from schemalint.delta.diff import diff
from schemalint.delta.feature_usage import feature_uses
from schemalint.delta.history import changes, steps, type_history, utc_text
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.table import HistoryEntry, LiveTable, TableState
from schemalint.model.client import ClientSupport
from schemalint.model.finding import JudgedTable
from schemalint.report.findings._html import add, badge, grid, h
from schemalint.report.table.client_matrix import clients_by_verdict
from schemalint.report.table.fields import describe_changes, field_label, field_notes, fields_of, type_text

_MOST_UNCHANGED: Final = 30
"""A schema with more unchanged columns shows the changed ones alone."""
_MOST_COMMITS: Final = 50


class _RowKind(Enum):
    """What happens to the object of a row."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


_SIGNS: Final = {_RowKind.SAME: "", _RowKind.ADDED: "+", _RowKind.REMOVED: "−", _RowKind.CHANGED: "~"}  # noqa: RUF001 (a minus sign)


def table_blocks(table: JudgedTable, clients: Sequence[ClientSupport]) -> Iterator[Element]:
    """Yield the blocks of a table below its findings."""
    yield from _schema(table)
    if table.live:
        yield from _types(table.live)
        yield from _commits(table.live)
        yield from _protocol(table.live)
    yield from _clients(table, clients)


def _schema(table: JudgedTable) -> Iterator[Element]:
    before, after = table.before, table.after
    is_alone = before is None and table.live is not None
    rows = {"Columns": _column_rows(before, after), **_setting_rows(before, after)}
    for title, cells in rows.items():
        if not cells or (is_alone and title == "Features"):  # the protocol lists those of a live table
            continue
        shown = _shown(cells) if not is_alone else cells
        yield h("h3", title)
        if len(shown) < len(cells):
            yield h(
                "p", f"{counted(len(cells) - len(shown), 'row')} without a change not shown.", class_="quiet"
            )
        if shown and is_alone:
            body = [h("tr", _side(row.after)) for row in shown]
            yield grid(["now"], body, f"{title} of {table.name}")
        elif shown:
            body = [_row(row) for row in shown]
            yield grid(["", "before", "after"], body, f"{title} of {table.name}, before and after", "sides")


def _shown(rows: list[Row]) -> list[Row]:
    unchanged = sum(row.kind is _RowKind.SAME for row in rows)
    if unchanged <= _MOST_UNCHANGED:
        return rows
    return [row for row in rows if row.kind is not _RowKind.SAME]


def _row(row: Row) -> Element:
    label = "" if row.kind is _RowKind.SAME else row.kind.value
    sign = h("td", h("abbr", _SIGNS[row.kind], title=label) if label else None, class_="sign")
    return h("tr", sign, _side(row.before), _side(row.after), class_=row.kind.value)


def _side(cell: _Cell | None) -> Element:
    if cell:
        return h("td", *_cell(cell))
    return h("td", h("span", "none", class_="quiet"))


def _cell(cell: _Cell) -> list[Element]:
    depth = (len(cell.name) - len(cell.name.lstrip())) // 2
    elements = [h("code", cell.name.strip(), class_=f"name depth{min(depth, 6)}")]
    elements.append(h("span", cell.value, class_="type"))
    if cell.notes:
        elements.append(h("span", cell.notes, class_="quiet"))
    for element in elements[:-1]:
        element.tail = " "
    return elements


def _types(live: LiveTable) -> Iterator[Element]:
    history = type_history(live.history)
    if not history:
        return
    yield h("h3", "History of types")
    lines = []
    for path, committed in sorted(history.items(), key=lambda item: format_path(item[0])):
        items = [h("li", h("code", type_text(committed[0].old)), h("span", "at first", class_="quiet"))]
        items += [
            h("li", h("code", type_text(change.new)), h("span", _commit(change.entry), class_="quiet"))
            for change in committed
        ]
        lines += [h("dt", h("code", format_path(path))), h("dd", h("ol", *items, class_="timeline"))]
    yield h("dl", *lines, class_="types")


def _commit(entry: HistoryEntry) -> str:
    parts = (f"version {entry.version}", utc_text(entry.timestamp)[:10], entry.user and f"by {entry.user}")
    return ", ".join(text for text in parts if text)


def _commits(live: LiveTable) -> Iterator[Element]:
    all_steps = [step for step in steps(live.history) if step.before is not None]
    if not all_steps:
        return
    items = [
        h(
            "li",
            h("span", _commit(step.entry), class_="quiet"),
            " ",
            describe_changes(changes(step)) or "internal",
        )
        for step in reversed(all_steps[-_MOST_COMMITS:])
    ]
    noun = counted(len(all_steps), "change")
    yield h(
        "details", h("summary", f"{noun} of schema, properties and protocol"), h("ol", *items, class_="log")
    )


def _protocol(live: LiveTable) -> Iterator[Element]:
    yield h("h3", "Protocol")
    versions = f"reader {live.protocol.min_reader}, writer {live.protocol.min_writer}, version {live.version}"
    yield h("p", versions)
    rows = [
        h(
            "tr",
            h("td", h("code", use.name)),
            h("td", use.binds),
            h("td", "not in use" if use.is_idle else ", ".join(name for _, name in use.needed_by)),
        )
        for use in sorted(feature_uses(live), key=lambda use: (use.is_idle, use.name))
        if use.supported
    ]
    if rows:
        yield grid(["feature", "binds", "needed by"], rows, "Table features")


def _clients(table: JudgedTable, clients: Sequence[ClientSupport]) -> Iterator[Element]:
    """Yield who can read the table: the declared consumers, else all clients that schemalint knows."""
    if clients:
        yield h("h3", "Declared consumers")
        body = [_client(client) for client in clients]
        yield grid(["consumer", "before", "after", "because of"], body, f"Consumers of {table.name}")
    elif table.live:
        yield h("h3", "Who can read it")
        yield from _known_clients(table.live, table.client_rows)


def _client(client: ClientSupport) -> Element:
    before = client.verdict_before
    after = client.after.verdict.value
    return h(
        "tr",
        h("td", client.consumer.described),
        h("td", badge(before, f"verdict-{before}") if before else None),
        h("td", badge(after, f"verdict-{after}")),
        h("td", client.because),
    )


def _known_clients(live: LiveTable, rows: Sequence[Mapping[str, object]]) -> Iterator[Element]:
    for verdict, names in clients_by_verdict(live, rows):
        line = h("p", badge(verdict.value, f"verdict-{verdict.value}"), " ", class_="clients")
        add(line, names)
        yield line


class _Cell(NamedTuple):
    """One side of a row."""

    name: str
    value: str
    notes: str = ""


class Row(NamedTuple):
    """An object on both sides; None where the side has none."""

    before: _Cell | None
    after: _Cell | None

    @property
    def kind(self) -> _RowKind:
        """What happens to the object."""
        if self.before is None:
            return _RowKind.ADDED
        if self.after is None:
            return _RowKind.REMOVED
        if self.before == self.after:
            return _RowKind.SAME
        return _RowKind.CHANGED


def _column_rows(before: TableState | None, after: TableState | None) -> list[Row]:
    """Pair the fields of both sides by name or rename, in the new order; removed ones stay in place."""
    old, new = _fields(before), _fields(after)
    renames = _renames(before, after)
    kept = {_old_key(key, renames): key for key in new}
    removed: dict[Path | None, list[Row]] = {}
    place: Path | None = None
    for key, field in old.items():
        if key in kept:
            place = kept[key]
        else:
            removed.setdefault(place, []).append(Row(_schema_cell(field), None))
    rows = removed.get(None, [])
    for key, field in new.items():
        rows.append(Row(_schema_cell(old.get(_old_key(key, renames))), _schema_cell(field)))
        rows += removed.get(key, [])
    return rows


def _setting_rows(before: TableState | None, after: TableState | None) -> dict[str, list[Row]]:
    """Pair layout, constraints, properties and requested features; groups without rows are left out."""
    old, new = before or TableState(), after or TableState()
    groups = {
        "Layout": _pairs(_layout(old), _layout(new)),
        "Constraints": _pairs(old.constraints, new.constraints),
        "Properties": _pairs(old.properties, new.properties),
        "Features": _pairs(_features(old), _features(new)),
    }
    return {title: rows for title, rows in groups.items() if rows}


def _fields(state: TableState | None) -> dict[Path, tuple[Path, Field]]:
    fields = fields_of(state.columns, ()) if state else ()
    return {lowercased(path): (path, field) for path, field in fields}


def _renames(before: TableState | None, after: TableState | None) -> dict[Path, str]:
    if before is None or after is None:
        return {}
    changes = (change for change in diff(before, after) if isinstance(change, FieldRenamed))
    return {lowercased(change.path): change.old_name.lower() for change in changes}


def _old_key(key: Path, renames: Mapping[Path, str]) -> Path:
    return tuple(renames.get(key[: index + 1], step) for index, step in enumerate(key))


def _schema_cell(entry: tuple[Path, Field] | None) -> _Cell | None:
    if entry is None:
        return None
    path, field = entry
    return _Cell(field_label(path), type_text(field.type), field_notes(field))


def _layout(state: TableState) -> dict[str, str | None]:
    texts: dict[str, str | None] = {}
    if not isinstance(state.description, Unmanaged):
        texts["comment"] = state.description
    if not isinstance(state.partitioned_by, Unmanaged):
        texts["partitioned by"] = _listed((name,) for name in state.partitioned_by)
    if not isinstance(state.clustered_by, Unmanaged):
        texts["clustered by"] = _listed(state.clustered_by)
    return texts


def _listed(paths: Iterable[Path]) -> str | None:
    return ", ".join(map(format_path, paths)) or None


def _features(state: TableState) -> dict[str, str | None]:
    return dict.fromkeys(state.features, "requested")


def _pairs(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> list[Row]:
    return [
        Row(_setting(before, key), _setting(after, key))
        for key in sorted({*before, *after})
        if before.get(key) is not None or after.get(key) is not None
    ]


def _setting(values: Mapping[str, str | None], key: str) -> _Cell | None:
    value = values.get(key)
    if value is None:
        return None
    return _Cell(key, value)
