"""Who reads a table by the graph of a dbt project: models, snapshots and exposures, through views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.contract.dialects.dbt.manifest import Json, mapping, text, texts
from schemalint.model.consumer import Consumer

_PASSED_THROUGH: Final = ("view", "ephemeral")
"""What holds no rows of its own: who reads it reads the tables below it."""


def readers_of(manifest: Json, model: str) -> tuple[Consumer, ...]:
    """Return the readers of a model's table, each once, in the order of the graph."""
    consumers: dict[str, Consumer] = {}
    for child in _children(manifest, model):
        exposure = mapping(mapping(manifest, "exposures"), child)
        node = mapping(mapping(manifest, "nodes"), child)
        if exposure:
            name = f"{text(exposure, 'type') or 'exposure'} {text(exposure, 'name')}"
            consumers[child] = Consumer(name, owner=_owner(mapping(exposure, "owner")))
        elif text(node, "resource_type") in ("model", "snapshot") and _materialized(node) != "ephemeral":
            name = f"{text(node, 'resource_type')} {text(node, 'name')}"
            consumers[child] = Consumer(name, owner=owner_of(manifest, node))
    return tuple(consumers.values())


def owner_of(manifest: Json, node: Json) -> str | None:
    """Return who is responsible for a model: ``meta.owner``, or the owner of its group."""
    config = mapping(node, "config")
    own = text(mapping(config, "meta"), "owner") or text(mapping(node, "meta"), "owner")
    group = text(node, "group") or text(config, "group")
    group_id = f"group.{text(node, 'package_name')}.{group}"
    return own or _owner(mapping(mapping(mapping(manifest, "groups"), group_id), "owner"))


def _owner(owner: Json) -> str | None:
    return text(owner, "name") or text(owner, "email") or None


def _children(manifest: Json, model: str) -> Iterator[str]:
    graph, seen, waiting = mapping(manifest, "child_map"), {model}, [model]
    while waiting:
        for child in texts(graph, waiting.pop(0)):
            if child in seen:
                continue
            seen.add(child)
            yield child
            node = mapping(mapping(manifest, "nodes"), child)
            if _materialized(node) in _PASSED_THROUGH:
                waiting.append(child)


def _materialized(node: Json) -> str:
    return text(mapping(node, "config"), "materialized")
