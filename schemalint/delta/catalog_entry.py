"""What a catalog's entry of a table repeats of the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schemalint.delta.properties import FEATURE_PREFIX, PREFIX

_DERIVED: Final = frozenset(
    {
        "delta.minReaderVersion",
        "delta.minWriterVersion",
        "delta.clusteringColumns",
        "delta.rowTracking.rowIdHighWaterMark",
        "delta.lastUpdateVersion",
        "delta.lastCommitTimestamp",
    }
)
"""Properties that Unity Catalog derives and the log does not hold (its delta.yaml,
``DeltaTableMetadata.properties``); clients must not send them."""


def stale_properties(registered: Mapping[str, str], logged: Mapping[str, str]) -> dict[str, str | None]:
    """Return the properties in a catalog's entry that differ from the log, with their values there.

    Only Delta's properties count: a catalog may have others of its own, and need not repeat any.
    """
    return {
        key: logged.get(key)
        for key, value in sorted(registered.items())
        if _is_logged(key) and logged.get(key) != value
    }


def _is_logged(key: str) -> bool:
    return key.startswith(PREFIX) and not key.startswith(FEATURE_PREFIX) and key not in _DERIVED
