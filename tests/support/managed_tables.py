"""Catalog-managed tables: their protocol and staged commits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from support.logs import protocol, write_file

if TYPE_CHECKING:
    from support.logs import Action
    from support.unity_server import Json, Table

_FEATURES = ("catalogManaged", "inCommitTimestamp", "vacuumProtocolCheck")
PROTOCOL = protocol(3, 7, _FEATURES[:1], _FEATURES)


def stage(table: Table, version: int, *actions: Action, letter: str = "a") -> Json:
    """Write a staged commit and return its entry for the catalog, which does not list it yet."""
    name = f"{version:020}.{letter * 8}-0000-4000-8000-000000000000.json"
    data = "".join(json.dumps(action) + "\n" for action in actions).encode()
    write_file(Path(table.location), f"_staged_commits/{name}", data)
    return {
        "version": version,
        "timestamp": 1_700_000_000_000,
        "file_name": name,
        "file_size": len(data),
        "file_modification_timestamp": 1_700_000_000_000 + version,
    }
