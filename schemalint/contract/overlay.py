"""Join what a file of another format declares with what a contract of schemalint's own format adds to it.

A contract adds by ``extends``. Its columns are named by their paths, because the other file has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import cast

from schemalint.base.errors import ContractError, Location
from schemalint.base.values import replace
from schemalint.contract.dialects import dialects
from schemalint.contract.dialects.native.column_reader import Entry, distributed
from schemalint.delta.datatype import Field, Struct, field_at, map_fields, path_of_names
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.type_history import carrier_of
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Anchor, Anchors, Contract


def with_overlays(
    tables: Mapping[str, Contract], contracts: Iterable[Contract]
) -> tuple[dict[str, Contract], tuple[ContractError, ...]]:
    """Return the tables with what contracts add to them (``extends``), and why one cannot.

    Args:
        tables: The tables of one side by their keys.
        contracts: Contracts of the same side; those that extend no other are left out.
    """
    joined, errors = dict(tables), list[ContractError]()
    keys = {contract.known_as: key for key, contract in tables.items() if contract.known_as}
    for overlay in contracts:
        if overlay.extends is None:
            continue
        key = overlay.key if overlay.key in joined else keys.get(overlay.key, overlay.key)
        declared = joined.get(key)
        if declared is None or declared.dialect != overlay.extends:
            errors.append(nothing_to_extend(overlay))
            continue
        joined[key], faults = extended(declared, overlay)
        errors += faults
    return joined, tuple(errors)


def joined_by_key(contracts: Iterable[Contract]) -> dict[str, Contract]:
    """Return the contracts of one revision by table key, the last one of each, with what extends them.

    What does not fit is left out: whoever changes it has the error.
    """
    tables: dict[str, Contract] = {}
    overlays: list[Contract] = []
    for contract in contracts:
        if is_overlay(contract):
            overlays.append(contract)
        else:
            tables[contract.key] = contract
    return with_overlays(tables, overlays)[0]


def is_overlay(contract: Contract) -> bool:
    """Whether a contract adds to a table that another file of the globs declares.

    What extends a made file (`schemalint.contract.made_files`) is joined where that is read.
    """
    return contract.extends is not None and contract.extends in dialects()


def extended(declared: Contract, overlay: Contract) -> tuple[Contract, tuple[ContractError, ...]]:
    """Return the table of both, whose positions lead into either file, and where the two disagree.

    The declaration has the columns. What only the overlay says counts; what both say must agree.

    Args:
        declared: What the other file declares.
        overlay: What extends it.
    """
    errors = (*_said_twice(declared, overlay), *_without_column(declared, overlay))
    columns = declared.state.columns
    if not errors:
        columns = _columns(columns, overlay)
    state = replace(
        declared.state,
        columns=columns,
        properties={**overlay.state.properties, **declared.state.properties},
        dropped=overlay.state.dropped,
    )
    joined = replace(
        declared,
        state=state,
        location=overlay.location if overlay.location is not None else declared.location,
        owner=overlay.owner or declared.owner,
        unsaid=declared.unsaid - _said(overlay),
        protocol=overlay.protocol,
        open=overlay.open if overlay.open.columns or overlay.open.widening else declared.open,
        drop_features=overlay.drop_features,
        truncated_features=overlay.truncated_features,
        consumers=(*declared.consumers, *(_consumer(each, columns) for each in overlay.consumers)),
        named_consumers=overlay.named_consumers,
        exceptions=overlay.exceptions,
        deprecated={_path(path, columns): value for path, value in overlay.deprecated.items()},
        backfills={
            _path(path, columns): replace(fill, source=_path(fill.source, columns))
            for path, fill in overlay.backfills.items()
        },
        anchors=_JoinedAnchors(declared.anchors, overlay.anchors),
    )
    return joined, errors


def _said(overlay: Contract) -> frozenset[str]:
    """Return the parts that an overlay says, that the format of the declaration may lack."""
    parts = {"owner": overlay.owner, "type_changes": overlay.type_changes}
    return frozenset(part for part, value in parts.items() if value)


def nothing_to_extend(overlay: Contract) -> ContractError:
    """Return the error of a contract that extends a declaration which no file has."""
    return ContractError(
        f"no file of {overlay.extends} declares {overlay.table}",
        help="correct the name, or declare `columns` instead of `extends`",
        location=overlay.locate(("table",)),
    )


class _JoinedAnchors(Anchors):
    """The places of a declaration, and of what extends it."""

    __slots__ = ("_declared", "_overlay")

    def __init__(self, declared: Mapping[Anchor, Location], overlay: Mapping[Anchor, Location]) -> None:
        self._declared, self._overlay = declared, overlay

    def of_target(self, target: str) -> _JoinedAnchors:
        sides = (self._declared, self._overlay)
        of_target = (side.of_target(target) if isinstance(side, Anchors) else side for side in sides)
        return _JoinedAnchors(*of_target)

    def __getitem__(self, anchor: Anchor) -> Location:
        found = self._declared.get(anchor)
        if found is not None:
            return found
        kind, *rest = anchor
        # The overlay does not know the columns: a part of an array or a map is a name there.
        return self._overlay[(kind, *(_names(each) if isinstance(each, tuple) else each for each in rest))]

    def __iter__(self) -> Iterator[Anchor]:
        return iter(dict.fromkeys(chain(self._declared, self._overlay)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _names(path: Path) -> tuple[str, ...]:
    return tuple(str(getattr(step, "value", step)) for step in path)


def _path(path: Path, columns: Struct) -> Path:
    return path_of_names(columns, _names(path))[0]


def _consumer(consumer: Consumer, columns: Struct) -> Consumer:
    return replace(consumer, columns=tuple(_path(path, columns) for path in consumer.columns))


def _columns(columns: Struct, overlay: Contract) -> Struct:
    """Return the columns with their old names and their type changes."""
    old_names = {lowercased(_path(path, columns)): old for path, old in overlay.renamed_from.items()}
    entries = [
        Entry(_path(path, columns), change.from_type, change.to_type)
        for path, changes in overlay.type_changes.items()
        for change in changes
    ]
    managed = {lowercased(carrier_of(_path(path, columns))[0]) for path in overlay.type_changes}

    def updated(path: Path, field: Field) -> Field:
        if lowercased(path) in managed:
            field = replace(field, type_changes=())
        return replace(field, renamed_from=old_names.get(lowercased(path)))

    struct, _own = distributed(map_fields(columns, updated), tuple(entries))
    return cast("Struct", struct)


def _said_twice(declared: Contract, overlay: Contract) -> Iterator[ContractError]:
    """Yield what both files say; a file that another tool makes may say the same."""
    for key, value in overlay.state.properties.items():
        if key not in declared.state.properties:
            continue
        other = declared.state.properties[key]
        if other != value:
            message = f"{key} is {value} here, and {other} in the declaration of {overlay.extends}"
        elif not declared.is_made:
            message = f"{key} stands in {declared.file} already"
        else:
            continue
        place = overlay.locate(("property", key))
        yield ContractError(message, help="say it in one place", location=place)
    if overlay.location is not None and declared.location is not None and not declared.is_made:
        yield ContractError(
            f"the location stands in {declared.file} already",
            help="say it in one place",
            location=overlay.locate(("location",)),
        )


def _without_column(declared: Contract, overlay: Contract) -> Iterator[ContractError]:
    columns = declared.state.columns
    of_fields = {"renamed_from": overlay.renamed_from, "deprecated": overlay.deprecated}
    for kind, paths in {**of_fields, "backfill": overlay.backfills}.items():
        for path in paths:
            if field_at(columns, _path(path, columns)) is None:
                yield _no_column(declared, overlay, kind, path)
    for path in overlay.type_changes:
        if not path_of_names(columns, _names(path))[1]:
            yield _no_column(declared, overlay, "type_changes", path)


def _no_column(declared: Contract, overlay: Contract, kind: str, path: Path) -> ContractError:
    return ContractError(
        f"{overlay.extends} declares no column {format_path(path)} in {declared.table}",
        help="correct the name, or remove the line",
        location=overlay.locate((kind, path), (kind,)),
    )
