"""The contracts of one target in one file, for programs without git: what a job needs to judge its writes.

Comments, owners, consumers and exceptions are left out; the hash of each declaration is that of the whole
one, so that it equals the marker that `apply` leaves in the table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from schemalint.base.json_object import JsonObject
from schemalint.base.values import frozen, replace
from schemalint.delta.datatype import UNMANAGED, Field, map_fields
from schemalint.delta.path import Path
from schemalint.delta.table import TableState
from schemalint.model.contract import Contract, WriterPermissions, table_key
from schemalint.model.effective import Effective
from schemalint.model.json_forms import own_json, state_from_json, state_to_json
from schemalint.model.marker import declaration_hash

FORMAT: Final = "schemalint guard"
VERSION: Final = 1

_SESSION_CATALOG: Final = "spark_catalog"
"""The catalog of Spark's own tables, whose name a target without a catalog leaves out."""


@frozen
class PackedContract:
    """The contract of one table in a target.

    Attributes:
        contract: What counts in the target.
        hash: The hash of the declaration, as in the table's marker.
        location: The URI of the table; None if a catalog knows it.
    """

    contract: Effective
    hash: str
    location: str | None = None


@frozen
class PackedContracts:
    """The contracts of a target.

    Attributes:
        target: The target.
        tables: The contracts, by the key of their tables (`table_key`).
        catalog: The target's catalog; None if it has none.
    """

    target: str
    tables: Mapping[str, PackedContract]
    catalog: str | None = None

    def find(self, table: str) -> PackedContract | None:
        """Return the contract of a table, by its name or its location; None if there is none.

        A name may have the target's catalog before it, whether the contract says it or not. The same name in
        another catalog is another table.
        """
        for name in self._names(table_key(table)):
            if (known := self.tables.get(name)) is not None:
                return known
        place = _place(table)
        for packed in self.tables.values():
            if packed.location is not None and _place(packed.location) == place:
                return packed
        return None

    def _names(self, key: str) -> Iterator[str]:
        """Yield the names that a contract may have for a table."""
        yield key
        first, _, rest = key.partition(".")
        if "." in rest and first == table_key(self.catalog or _SESSION_CATALOG):
            yield rest
        elif "." not in rest and self.catalog is not None:
            yield f"{table_key(self.catalog)}.{key}"


def _place(location: str) -> str:
    return location.removeprefix("file://").replace("s3a://", "s3://", 1).rstrip("/")


def pack(target: str, contracts: Iterable[PackedContract], catalog: str | None = None) -> dict[str, object]:
    """Return the contracts of a target as a JSON object, in the order of their names."""
    tables = [_packed(entry) for entry in sorted(contracts, key=lambda entry: entry.contract.key)]
    return {"format": FORMAT, "version": VERSION, "target": target, "catalog": catalog, "tables": tables}


def pack_contract(contract: Effective, location: str | None) -> PackedContract:
    """Return the contract of a table with the hash of its whole declaration."""
    return PackedContract(contract, declaration_hash(contract), location)


def _packed(entry: PackedContract) -> dict[str, object]:
    contract = entry.contract
    return {
        "table": contract.table,
        "location": entry.location,
        "hash": entry.hash,
        "open": {"columns": contract.open.columns, "widening": contract.open.widening},
        "managed_by": contract.managed_by,
        **state_to_json(_without_comments(contract.state)),
    }


def _without_comments(state: TableState) -> TableState:
    def bare(_path: Path, field: Field) -> Field:
        return replace(field, comment=UNMANAGED)

    return replace(state, columns=map_fields(state.columns, bare), description=UNMANAGED)


def unpack(content: str | bytes | Mapping[str, object]) -> PackedContracts:
    """Return the contracts of a file, or of what is in it.

    Raises:
        ValueError: It is no such file, or one of another version; the message says which.
    """
    value = content if isinstance(content, Mapping) else json.loads(content)
    packed = own_json(dict(value) if isinstance(value, Mapping) else value)
    if packed.content.get("format") != FORMAT:
        raise ValueError("it is no file of `schemalint export --format guard`")
    if packed.content.get("version") != VERSION:
        raise ValueError("it is of another version of schemalint: export it again")
    tables = tuple(map(_unpacked, packed.objects("tables")))
    by_key = {entry.contract.key: entry for entry in tables}
    if len(by_key) < len(tables):
        raise ValueError("it has a table twice")
    return PackedContracts(packed.text("target"), by_key, packed.optional("catalog", str))


def _unpacked(entry: JsonObject) -> PackedContract:
    allowed = entry.inner("open")
    contract = Contract(
        entry.text("table"),
        state_from_json(entry),
        location=entry.nullable("location", str),
        managed_by=entry.text("managed_by"),
        open=WriterPermissions(allowed.flag("columns"), allowed.flag("widening")),
    )
    return PackedContract(Effective(contract), entry.text("hash"), contract.location)
