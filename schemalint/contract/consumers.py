"""The consumers of a table: those of its contract, and those that the configuration gives it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice
from typing import Any, Final, TypeAlias, TypeVar

from schemalint.base.errors import ConfigError, Location
from schemalint.base.phrases import affixed
from schemalint.base.values import replace
from schemalint.delta.column_names import nearest_name
from schemalint.delta.datatype import Struct, path_of_names
from schemalint.delta.engine import NO_ENGINES, Engines
from schemalint.model.client import parse_versions
from schemalint.model.consumer import Consumer, ConsumerFault, FaultKind, united
from schemalint.model.contract import Contract, TargetOverlay, table_key
from schemalint.model.effective import Environment
from schemalint.project.config import Config, TableSettings

# Contracts are strangers' texts: of more faults, and for longer names, nothing is compared.
_MOST_FAULTS: Final = 50
_LONGEST: Final = 100

_Rows: TypeAlias = Sequence[Mapping[str, Any]]
_Declaring = TypeVar("_Declaring", bound=Contract | TargetOverlay)


def with_consumers(contract: Contract, *configurations: Config) -> Contract:
    """Return a contract with the consumers that its table has by the configuration.

    Args:
        contract: The contract as it was read; it gets the writers of its table too.
        configurations: The configuration, or those of base and head: then a consumer that only the base's
            gives the table is one that the change removes. The names in the last one are known. Rows of the
            client table, and `cosmetic`, come from the first one alone. Nested files count.
    """
    configurations = tuple(config.at(contract.file) for config in configurations)
    trusted = configurations[0]
    if trusted.clients or trusted.cosmetic != "now":
        delays = trusted.cosmetic == "ride-along"
        contract = replace(contract, client_rows=trusted.clients, delays_cosmetic=delays)
    entries = chain.from_iterable(_entries_of(contract.table, config) for config in configurations)
    writers = tuple(dict.fromkeys(writer for entry in entries for writer in entry.writers))
    if writers:
        contract = replace(contract, engines=Engines(writers=writers))
    shared = _with_consumers(contract, contract, configurations, of_table=True)
    overlays = {
        target: _with_consumers(overlay, contract, configurations)
        for target, overlay in contract.targets.items()
    }
    if overlays:
        return replace(shared, targets=overlays)
    return shared


def environment(
    *configurations: Config, target: str | None = None, engines: Engines = NO_ENGINES
) -> Environment:
    """Return where contracts count by a configuration, or by those of base and head: see `with_consumers`."""
    targets = () if target is None else (target,)

    def settings(contract: Contract) -> Contract:
        return with_consumers(contract, *configurations)

    return Environment(target, engines, targets, settings)


def warning_of_writers(
    target: str, declared: Engines, configurations: Iterable[Config], writers: Iterable[Mapping[str, int]]
) -> str | None:
    """Warn of engines that wrote tables of a target lately, and that nobody declares."""
    from schemalint.delta.commit_engines import undeclared_writers  # noqa: PLC0415 (only with live tables)

    entries = (entry for config in configurations for entry in config.tables)
    engines = (declared, *(Engines(writers=entry.writers) for entry in entries))
    return undeclared_writers(target, engines, writers, int(time.time() * 1000))


def configuration_faults(config: Config) -> Iterator[ConfigError]:
    """Yield an error for each client, version and read path of a configuration that is unknown."""
    if of_rows := tuple(_faults_of_rows(config)):
        yield from of_rows
        return
    nested = (consumer for file in config.nested.values() for consumer in file.own.consumers.values())
    lines = {
        **config.consumer_lines,
        **{key: line for file in config.nested.values() for key, line in file.own.consumer_lines.items()},
    }
    for consumer in (*config.consumers.values(), *nested):
        for fault in _faults_of_client(consumer, config.clients):
            yield ConfigError(
                f"consumers.{consumer.name}.{fault.kind} is unknown: {fault.value!r}",
                help=affixed("did you mean '", fault.nearest, "'?"),
                location=lines.get((consumer.name, fault.kind)),
            )


def _with_consumers(
    declaring: _Declaring, contract: Contract, configurations: Sequence[Config], *, of_table: bool = False
) -> _Declaring:
    """Return a contract or an overlay with the consumers that it names, and those of its table."""
    consumers_of_config: tuple[Consumer, ...] = ()
    declarations: Mapping[str, Consumer] = {}
    for config in configurations:
        declarations = config.consumers
        entries = _entries_of(contract.table, config) if of_table else ()
        of_config = (name for entry in entries for name in entry.consumers)
        names = dict.fromkeys((*of_config, *declaring.named_consumers))
        consumers = (declarations[name] for name in names if name in declarations)
        consumers_of_config = united(
            consumers_of_config, [_of_columns(consumer, contract.state.columns) for consumer in consumers]
        )
    rows = configurations[0].clients
    faults = tuple(islice(_faults(declaring, declarations, rows), _MOST_FAULTS))
    if not consumers_of_config and not faults:
        return declaring
    return replace(declaring, consumers=(*consumers_of_config, *declaring.consumers), consumer_faults=faults)


def _entries_of(table: str, config: Config) -> Iterator[TableSettings]:
    """Yield the entries that give a table readers or writers."""
    for entry in config.tables:
        if (entry.consumers or entry.writers) and fnmatchcase(table_key(table), table_key(entry.match)):
            yield entry


def _of_columns(consumer: Consumer, columns: Struct) -> Consumer:
    """Return a consumer whose paths lead into the columns of a table."""
    if not consumer.columns:
        return consumer
    paths = (path_of_names(columns, [str(step) for step in path])[0] for path in consumer.columns)
    return replace(consumer, columns=tuple(paths))


def _faults_of_rows(config: Config) -> Iterator[ConfigError]:
    if not config.clients:
        return
    from schemalint.clients.client_table import read_row  # noqa: PLC0415 (only with rows)

    for number, row in enumerate(config.clients, 1):
        try:
            read_row(row)
        except ValueError as error:
            message = f"clients: row {number}, of {row['client']}: {error}"
            yield ConfigError(message, location=Location(config.file or ""))


def _faults(
    declaring: Contract | TargetOverlay, declared: Mapping[str, Consumer], rows: _Rows
) -> Iterator[ConsumerFault]:
    for name in declaring.named_consumers:
        if name not in declared:
            yield ConsumerFault("undeclared", name, nearest=_nearest(name, declared))
    for consumer in declaring.consumers:
        if consumer.name in declared:
            yield ConsumerFault("declared twice", consumer.name)
        yield from _faults_of_client(consumer, rows)


def _faults_of_client(consumer: Consumer, rows: _Rows) -> Iterator[ConsumerFault]:
    if consumer.client is None:
        return
    from schemalint.clients.client_table import client_names, find_client  # noqa: PLC0415 (only for clients)

    def fault(kind: FaultKind, value: str, candidates: Iterable[str] = ()) -> ConsumerFault:
        return ConsumerFault(kind, consumer.name, value, _nearest(value, candidates))

    client = find_client(consumer.client, rows)
    if client is None:
        yield fault("client", consumer.client, (*client_names(), *(row["client"] for row in rows)))
        return
    if consumer.read_path not in (None, *client.read_paths):
        yield fault("read_path", consumer.read_path or "", client.read_paths)
    if consumer.version is not None:
        try:
            parse_versions(consumer.version)
        except ValueError:
            yield fault("version", consumer.version)


def _nearest(name: str, candidates: Iterable[str]) -> str | None:
    if len(name) <= _LONGEST:
        return nearest_name(name, (other for other in candidates if len(other) <= _LONGEST))
    return None
