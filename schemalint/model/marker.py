"""What `apply` stores in tables: the last applied declaration, and pending columns.

The marker is a transaction identifier, because a commit of metadata aborts all writers in progress. Its hash
decides "nothing to do"; its commit gives the base that separates drift from "not applied yet". Provenance in
the user metadata of commits is for people and never decides. The property `schemalint.pending` goes after the
marker: between the two, nothing but the ids in it tells exchanged columns from untouched ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from schemalint.base.errors import LiveError
from schemalint.base.redaction import without_secrets
from schemalint.base.values import frozen
from schemalint.delta.datatype import Field, Struct, Unmanaged, walk
from schemalint.delta.path import Path, format_path, path_from_json, path_to_json
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_text import print_type
from schemalint.model.contract import Contract

PENDING: Final = "schemalint.pending"
"""The table property that is set while `apply` runs a plan that frees a column name and reuses it."""

OWN_PROPERTIES: Final = frozenset({PENDING})
"""The table properties that `apply` writes itself; no contract can declare them."""

_FORMAT = 1
_NO_REVISION: Final = "-"
_APP_ID = r"schemalint:([0-9]+:[0-9a-f]+):(-|[0-9a-f]{40}|[0-9a-f]{64})"


@frozen
class Marker:
    """The declaration that was applied last: a transaction identifier of the table.

    A commit of metadata, such as one that sets a property, makes concurrent writers fail; a transaction
    identifier does not. It survives the cleanup of the log, and a clone does not take it along.

    Attributes:
        hash: The hash of the declaration; see `declaration_hash`.
        revision: The commit of the declaration; None for an uncommitted one.
    """

    hash: str
    revision: str | None = None

    @property
    def app_id(self) -> str:
        """The application id: ``schemalint:1:<hash>:<revision or ->``."""
        return f"schemalint:{self.hash}:{self.revision or _NO_REVISION}"


def read_marker(live: LiveTable) -> Marker | None:
    """Return the marker of a live table, the one with the highest version; None if it has none."""
    newest = max(_markers(live), default=None)
    if newest is None:
        return None
    _version, hash_, revision = newest
    return Marker(hash_, None if revision == _NO_REVISION else revision)


def next_version(live: LiveTable) -> int:
    """Return the version of the transaction identifier that replaces a table's marker."""
    return max((version for version, _hash, _revision in _markers(live)), default=0) + 1


def _markers(live: LiveTable) -> Iterator[tuple[int, str, str]]:
    """Yield version, hash and revision of every marker that the table ever had."""
    for app_id, version in live.transactions.items():
        if match := re.fullmatch(_APP_ID, app_id):
            yield version, match[1], match[2]


@frozen
class Pending:
    """The value of the property ``schemalint.pending``: the columns that a running plan renames or drops.

    Attributes:
        hash: The hash of the declaration that is being applied.
        targets: By column mapping id, the path that the column gets; None for a column to drop. Empty
            once all columns have their paths.
    """

    hash: str
    targets: Mapping[int, Path | None]

    def to_text(self) -> str:
        """Return the property value: equal values give equal text."""
        columns = {
            str(number): None if path is None else path_to_json(path)
            for number, path in sorted(self.targets.items())
        }
        return json.dumps({"hash": self.hash, "columns": columns}, separators=(",", ":"))


def read_pending(live: TableState) -> Pending | None:
    """Return the pending columns of a live table; None if there are none.

    Raises:
        LiveError: The property is unreadable, so columns cannot be told apart.
    """
    text = live.properties.get(PENDING)
    if not text:
        return None
    try:
        content = json.loads(text)
        targets = {
            int(number): None if path is None else path_from_json(path)
            for number, path in content["columns"].items()
        }
        return Pending(str(content["hash"]), targets)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise LiveError(
            f"the table property {PENDING} is unreadable: {without_secrets(text)[:200]}",
            help="rename the columns by hand, then UNSET the property",
        ) from None


def declaration_hash(contract: Contract) -> str:
    """Return the hash of the managed state of an effective contract: a format number and a SHA-256.

    Consumers, exceptions, deprecations and spelling do not count.
    """
    import hashlib  # noqa: PLC0415 (a check without a live table starts without it)

    state = contract.state
    clustered_by: object = state.clustered_by
    if not isinstance(state.clustered_by, Unmanaged):
        clustered_by = [format_path(path) for path in state.clustered_by]
    canonical = {
        "columns": _columns(state.columns),
        "description": _value(state.description),
        "partitioned_by": _value(state.partitioned_by),
        "clustered_by": _value(clustered_by),
        "constraints": _sorted(state.constraints),
        "properties": _sorted(state.properties),
        "features": sorted(state.features),
        "dropped": [
            [path_to_json(entry.path), print_type(entry.type) if entry.type else None]
            for entry in state.dropped
        ],
        "drop_features": [
            [name, "truncate_history"] if name in contract.truncated_features else name
            for name in sorted(contract.drop_features)
        ],
    }
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"))
    return f"{_FORMAT}:{hashlib.sha256(text.encode()).hexdigest()}"


def _columns(struct: Struct) -> list[object]:
    return [_field(field) for field in struct.fields]


def _field(field: Field) -> dict[str, object]:
    return {
        "name": field.name,
        "type": print_type(field.type),
        "nullable": field.nullable,
        "nulls": [_nulls(type_) for _path, type_ in walk(field.type)],
        "comment": _value(field.comment),
        "default": _value(field.default),
        "generated": _value(field.generated),
        "identity": repr(field.identity),
        "renamed_from": field.renamed_from,
        "fields": [_columns(type_) for _path, type_ in walk(field.type) if isinstance(type_, Struct)],
    }


def _nulls(type_: object) -> object:
    return _value(getattr(type_, "contains_null", getattr(type_, "value_contains_null", None)))


def _value(value: object) -> object:
    """Return JSON for a value that may be unmanaged: no value is ever an empty object."""
    if isinstance(value, Unmanaged):
        return {}
    return value


def _sorted(entries: Mapping[str, str | None]) -> list[list[str | None]]:
    return [[key, entries[key]] for key in sorted(entries)]
