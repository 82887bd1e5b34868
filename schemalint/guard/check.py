"""Say before a write what it would do to its table; see `check_write`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, ParamSpec

from schemalint.base.values import replace
from schemalint.delta.arrow_effect import ArrowWrite, arrow_effect
from schemalint.delta.datatype import Struct
from schemalint.delta.engine import release_of
from schemalint.delta.table import TableState
from schemalint.delta.write_effect import effect_of
from schemalint.delta.writes import ASKED, Effect, Method, Mode, Write, together
from schemalint.guard.arrow import arrow_columns
from schemalint.guard.contracts import Contracts, contract_of
from schemalint.guard.result import GuardResult, unknown
from schemalint.guard.session import (
    NotSeen,
    SeenTable,
    Session,
    engine_of,
    schema_of,
    settings_of,
    table_in_session,
)
from schemalint.guard.sql import SqlWrite, explained, parsed_statement
from schemalint.guard.table import table_at
from schemalint.guard.verdict import of_creation, verdict
from schemalint.model.marker import PENDING, read_marker
from schemalint.model.packed_contracts import PackedContract

P = ParamSpec("P")

LOG: Final = logging.getLogger("schemalint.guard")
SECONDS: Final = 10.0
"""How long a store may take by default."""

_MODES: Final = {"error": Mode.ERROR, "errorifexists": Mode.ERROR, "default": Mode.ERROR} | {
    mode.value: mode for mode in Mode
}
_WITH_DATAFRAMES: Final = {
    method.value: method
    for method in (Method.SAVE, Method.SAVE_AS_TABLE, Method.INSERT_INTO, Method.WRITE_TO)
}
_NOT_JUDGED: Final = ("replaceon", "replaceusing")
"""Options of Delta 4.4 whose effect nobody has asked."""

_OLDEST: Final = (3, 3)


def _never_raises(check: Callable[P, GuardResult]) -> Callable[P, GuardResult]:
    """Let a check return *unknown* in place of any error: a job never fails because of its guard."""

    @wraps(check)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> GuardResult:
        table = str(kwargs.get("table", args[1] if len(args) > 1 else ""))
        try:
            return check(*args, **kwargs)
        except NotSeen as reason:
            return unknown(str(reason), table)
        except Exception as error:  # noqa: BLE001 (a bug of schemalint is no reason to stop a job)
            return unknown(f"a bug in schemalint: {type(error).__name__}: {str(error)[:200]}", table)

    return guarded


@_never_raises
def check_write(  # noqa: PLR0913 (what a writer is told in five calls)
    df: Any,  # noqa: ANN401 (a DataFrame of any Spark)
    table: str,
    *,
    contracts: Contracts,
    save_mode: str = "append",
    method: str = "saveAsTable",
    options: Mapping[str, object] | None = None,
    partition_by: tuple[str, ...] | list[str] = (),
    session: Session = None,
    seconds: float = SECONDS,
) -> GuardResult:
    """Return what a write would do to the schema and the values of its table.

    It never raises, and runs nothing on data.

    Args:
        df: The DataFrame; a streaming one is judged as a stream's sink.
        table: A name of the contracts, or the path of one of their tables.
        contracts: A file of ``schemalint export --format guard``, or what is in it.
        save_mode: ``append``, ``overwrite``, ``ignore`` or ``errorifexists``.
        method: ``save``, ``saveAsTable``, ``insertInto`` or ``writeTo`` (`DataFrameWriterV2`, ``append``
            and ``overwrite``): they cast and match columns differently.
        options: The options of the writer; none of an ``insertInto`` without ``format("delta")``, as Spark
            passes those on to nobody.
        partition_by: What the writer partitions by.
        session: The session; by default that of the DataFrame.
        seconds: How long the table's store may take.
    """
    session = session or getattr(df, "sparkSession", None)
    data = schema_of(df)
    packed = contract_of(contracts, table, None if method == Method.SAVE.value else session)
    write = _write(df, session, method, save_mode, options or {}, tuple(partition_by))
    return _judged(
        packed, _seen(packed, table, session, seconds), lambda seen: effect_on_release(seen, data, write)
    )


def _write(
    df: Any,  # noqa: ANN401 (as above)
    session: Session,
    method: str,
    save_mode: str,
    options: Mapping[str, object],
    partition_by: tuple[str, ...],
) -> Write:
    known = Method.STREAM if getattr(df, "isStreaming", False) else _WITH_DATAFRAMES.get(method)
    mode = _MODES.get(save_mode.lower())
    is_other = known is Method.WRITE_TO and mode not in (Mode.APPEND, Mode.OVERWRITE)
    if known is None or mode is None or is_other:
        raise NotSeen(f"there is no write by {method} in the mode {save_mode}")
    lowered = {key.lower(): str(value) for key, value in options.items()}
    if any(option in lowered for option in _NOT_JUDGED):
        raise NotSeen("nobody has asked what replaceOn and replaceUsing do to a schema")
    if session is None:
        raise NotSeen("there is no session to ask for the engine and its settings")
    return Write(known, _release(session), mode, lowered, settings_of(session), partition_by)


def _release(session: Session) -> tuple[int, ...]:
    engine = engine_of(session)
    if engine is None or engine.delta is None or engine.delta < _OLDEST:
        named = "the session does not tell its Delta" if engine is None else f"nobody has asked {engine}"
        raise NotSeen(f"the engine is unknown: {named}")
    return engine.delta


def _measured_around(release: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the measured releases between which a release lies: where they agree, it does what they do."""
    measured = [release_of(version) for version in ASKED]
    if release[:2] > measured[-1][:2]:
        raise NotSeen(f"nobody has asked Delta {'.'.join(map(str, release))}")
    older = [known for known in measured if known <= release]
    newer = [known for known in measured if known >= release]
    return tuple(dict.fromkeys((*older[-1:], *newer[:1])))


def effect_on_release(table: SeenTable | None, data: Struct, write: Write) -> Effect:
    """Return what a write does on its release: as the asked releases around it do, where these agree."""
    state = None if table is None else table.live.state
    features = frozenset[str]() if table is None else table.live.protocol.features
    effects = [
        effect_of(state, features, data, replace(write, delta=release))
        for release in _measured_around(write.delta)
    ]
    first = effects[0]
    if all(_same(effect, first) for effect in effects):
        return effects[-1]
    version = ".".join(map(str, write.delta))
    return Effect(
        TableState(), unknown=f"nobody has asked Delta {version}, and the releases around it differ"
    )


def _same(effect: Effect, other: Effect) -> bool:
    """Whether two releases do the same; they may name it by other error classes."""
    if effect.error is not None and other.error is not None:
        return True
    return (effect.after, effect.error, effect.unknown) == (other.after, other.error, other.unknown)


def _seen(packed: PackedContract, name: str, session: Session, seconds: float) -> SeenTable | None:
    """Return the table by its log, else by the session; None if there is none."""
    if packed.location is None:
        return table_in_session(session, name)
    try:
        return table_at(packed.location, seconds)
    except NotSeen:
        if session is None:
            raise
        try:
            return table_in_session(session, packed.contract.table)
        except NotSeen:
            pass
        raise


def _judged(
    packed: PackedContract, seen: SeenTable | None, effect: Callable[[SeenTable | None], Effect]
) -> GuardResult:
    contract = packed.contract
    if seen is None:
        return of_creation(contract, effect(None))
    marker = read_marker(seen.live)
    if marker is not None and marker.hash != packed.hash:
        raise NotSeen("the contracts are stale: the table has another declaration; export them again")
    if PENDING in seen.live.state.properties:
        raise NotSeen("an `apply` of the table has not ended")
    result = verdict(contract, seen.live, effect(seen), seen.unseen)
    return result if seen.is_from_log else replace(result, version=None)


@_never_raises
def check_arrow(
    schema: Any,  # noqa: ANN401 (a schema of any Arrow)
    table: str,
    *,
    contracts: Contracts,
    save_mode: str = "append",
    schema_mode: str | None = None,
    predicate: str | None = None,
    seconds: float = SECONDS,
) -> GuardResult:
    """Return what ``write_deltalake`` of delta-rs would do with data of an Arrow schema; it never raises.

    Args:
        schema: A ``pyarrow.Schema``, or what exports one (``__arrow_c_schema__``).
        table: A name of the contracts, or the path of one of their tables.
        contracts: As for `check_write`.
        save_mode: The ``mode`` of ``write_deltalake``: ``append`` or ``overwrite``.
        schema_mode: Its ``schema_mode``: ``merge``, ``overwrite`` or None.
        predicate: Its ``predicate``.
        seconds: How long the table's store may take.
    """
    mode = {"append": Mode.APPEND, "overwrite": Mode.OVERWRITE}.get(save_mode)
    if mode is None:
        raise NotSeen(f"nobody has asked what delta-rs does to a schema in the mode {save_mode}")
    data = arrow_columns(schema)
    packed = contract_of(contracts, table)
    if packed.location is None:
        raise NotSeen("the location of the table is not known: export the contracts of a target with a root")
    write = ArrowWrite(mode, schema_mode, predicate is not None)

    def effect(seen: SeenTable | None) -> Effect:
        if seen is None:
            return Effect(TableState(data))
        return arrow_effect(seen.live.state, seen.live.protocol.features, data, write)

    return _judged(packed, table_at(packed.location, seconds), effect)


@_never_raises
def check_sql(
    session: Session, statement: str, *, contracts: Contracts, seconds: float = SECONDS
) -> GuardResult:
    """Return what an INSERT or a MERGE would do, by EXPLAIN alone; it never raises, and runs nothing.

    Args:
        session: The session that would run the statement.
        statement: One statement of Spark SQL.
        contracts: As for `check_write`.
        seconds: How long the table's store may take.
    """
    parts = parsed_statement(statement)
    table = parts[0].table
    packed = contract_of(contracts, table, session)
    error = explained(session, statement)
    seen = _seen(packed, table, session, seconds)
    if error is not None:
        return _judged(packed, seen, lambda table: _refused(table, error))

    def effect(table: SeenTable | None) -> Effect:
        effects = [effect_on_release(table, sql.data_of(session), _sql_write(session, sql)) for sql in parts]
        return together(_state_of(table), effects)

    return _judged(packed, seen, effect)


def _refused(table: SeenTable | None, error: str) -> Effect:
    return Effect(_state_of(table), error=error)


def _state_of(table: SeenTable | None) -> TableState:
    return TableState() if table is None else table.live.state


def _sql_write(session: Session, sql: SqlWrite) -> Write:
    return Write(
        sql.method,
        _release(session),
        sql.mode,
        sql.options,
        settings_of(session),
        evolves=sql.evolves,
        assigned=sql.assigned,
        keeps_rest=sql.keeps_rest,
        static=sql.static,
    )
