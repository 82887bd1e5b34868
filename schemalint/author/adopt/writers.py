"""Who wrote the tables lately, as the new configuration names them.

Engines stand in the target. A client that is no engine, such as delta-rs, stands in a comment, as a consumer
that writes the tables that it wrote: what locks it out would be an error from then on, and only people know
whether it must go on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from schemalint.base.values import frozen, grouped
from schemalint.delta.commit_engines import WHO_WROTE, as_setting, recent_clients, recent_writers
from schemalint.delta.engine import Engine

_IF_IT_STAYS: Final = "uncommented, a change that locks it out is an error, such as the first widening"


@frozen
class Writers:
    """Who wrote the tables of a target in the last 30 days.

    Attributes:
        engines: The engines.
        clients: The names of clients in the client table, with their newest version or an empty text.
        tables: The globs of the tables that each client wrote.
    """

    engines: tuple[Engine, ...]
    clients: Mapping[str, str]
    tables: Mapping[str, tuple[str, ...]]

    def added_to(self, settings: str) -> str:
        """Return a configuration whose last section is the target, with who wrote its tables."""
        begin, section, target = settings.rpartition("\n[targets.")
        return f"{begin}{''.join(map(self._client, self.clients))}{section}{target}{self._line}"

    @property
    def _line(self) -> str:
        return f"{as_setting(self.engines)}  # {WHO_WROTE}: see docs/engines.md\n" if self.engines else ""

    def _client(self, client: str) -> str:
        name, version = json.dumps(client), self.clients[client]
        lines = ["", f"[consumers.{client}]  # {WHO_WROTE}"]
        lines += [f"client = {name}", f'access = "write"  # {_IF_IT_STAYS}']
        lines += [f"version = {json.dumps(version)}"] if version else []
        for glob in self.tables[client]:
            match = json.dumps(glob, ensure_ascii=False)
            lines += ["", "[[tables]]", f"match = {match}", f"consumers = [{name}]"]
        return "".join(f"# {line}\n" if line else "\n" for line in lines)


def writers_of(tables: Mapping[str, Mapping[str, int]], now: int) -> Writers:
    """Return who wrote some tables.

    Args:
        tables: `LiveTable.writers` of each table, by its name.
        now: The time, in milliseconds since the epoch.
    """
    wrote = [(client, table) for table, writers in tables.items() for client in recent_clients(writers, now)]
    by_client = grouped((name, table) for (name, _version), table in wrote)
    return Writers(
        recent_writers(tables.values(), now),
        dict(sorted({client for client, _table in wrote})),
        {name: tuple(_globs(frozenset(written), tables)) for name, written in by_client.items()},
    )


def _globs(written: frozenset[str], tables: Iterable[str]) -> Iterator[str]:
    """Yield globs that match some of the tables, and no others: for all, for a schema, or for one."""
    if written.issuperset(tables):
        yield "*"
        return
    for schema, names in grouped((table.rpartition(".")[0], table) for table in tables).items():
        if schema and written.issuperset(names):
            yield f"{schema}.*"
        else:
            yield from (name for name in names if name in written)
