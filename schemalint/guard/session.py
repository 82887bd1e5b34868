"""What a Spark session tells without running anything on data: its engine, its settings, and a table.

The session is the caller's, and its classes are not imported: classic sessions and Spark Connect have the
same methods, and what one of them cannot tell is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from schemalint.base.values import frozen
from schemalint.delta.datatype import Struct, Unknown, walk
from schemalint.delta.engine import DELTA_SPARK, Engine, parse_engine
from schemalint.delta.protocol import Protocol
from schemalint.delta.schema_json import parse_schema
from schemalint.delta.sql_text import always_quoted
from schemalint.delta.table import LiveTable, Metadata, TableState
from schemalint.delta.writes import SETTINGS

Session: TypeAlias = Any
"""A SparkSession, classic or of Spark Connect."""

_VERSION: Final = re.compile(r"\d+(?:\.\d+){1,2}")
_ASK: Final = "SELECT java_method('io.delta.package', 'VERSION') FROM VALUES (1)"
_CONSTRAINT: Final = "delta.constraints."
_FEATURE: Final = "delta.feature."
_NOT_IN_SESSION: Final = (
    "the table's log was not read: generated columns, identities, clustering, partitions and the marker of "
    "`apply` are not seen"
)

_engines: Final[WeakKeyDictionary[Session, Engine]] = WeakKeyDictionary()
"""The engines of the sessions that have told: over Connect each answer is a query."""


class NotSeen(Exception):  # noqa: N818 (an answer)
    """The session does not tell."""


@frozen
class SeenTable:
    """A table as far as it can be seen.

    Attributes:
        live: The table.
        unseen: What could not be seen of it.
        is_from_log: Whether its version is known.
    """

    live: LiveTable
    unseen: tuple[str, ...] = ()
    is_from_log: bool = True


def first_line(error: Exception) -> str:
    """Return what an error of Spark says, without its plan and its stack trace."""
    return str(error).strip().partition("\n")[0][:200]


def schema_of(data: Any) -> Struct:  # noqa: ANN401 (a DataFrame of any Spark)
    """Return the schema of a DataFrame.

    Raises:
        NotSeen: It is none, or has a type that schemalint does not know.
    """
    try:
        schema = getattr(data, "schema", None)
    except Exception as error:  # noqa: BLE001 (Connect analyzes only now, and its clients raise various errors)
        raise NotSeen(f"Spark does not analyze the data: {first_line(error)}") from None
    if schema is None or not callable(getattr(schema, "json", None)):
        raise NotSeen(f"a {type(data).__name__} is no DataFrame")
    columns = _columns_of(schema.json())
    if any(isinstance(type_, Unknown) for _, type_ in walk(columns)):
        raise NotSeen("the data has a type that this version of schemalint does not know")
    return columns


@lru_cache(maxsize=64)  # each batch of a stream has the same schema
def _columns_of(text: str) -> Struct:
    return parse_schema(text)


def settings_of(session: Session) -> Mapping[str, str]:
    """Return the settings of a session that decide about schemas, as far as they are set."""
    values = ((name, session.conf.get(name, None)) for name in SETTINGS)
    return {name: str(value) for name, value in values if value is not None}


def engine_of(session: Session) -> Engine | None:
    """Return the Delta of a session; None for one that does not tell, or is not Delta Spark."""
    known = _engines.get(session)
    if known is None and (known := _engine_of(session)) is not None:
        _engines[session] = known
    return known


def _engine_of(session: Session) -> Engine | None:
    try:
        package = getattr(session._jvm.io.delta, "package")  # noqa: B009, SLF001 (a word of Python)
        text = str(package.VERSION())
    except Exception:  # noqa: BLE001 (Connect has no JVM here, and its clients raise various errors)
        text = _asked(session)
    match = _VERSION.match(text)
    try:
        return parse_engine(f"{DELTA_SPARK} {match[0]}") if match else None
    except ValueError:
        return None


def _asked(session: Session) -> str:
    try:
        ((version,),) = session.sql(_ASK).collect()
    except Exception:  # noqa: BLE001 (a session may forbid it)
        return ""
    return str(version)


def table_in_session(session: Session, name: str) -> SeenTable:
    """Return a table as the session's catalog knows it, without its version.

    Raises:
        NotSeen: The session does not know it, or it is no Delta table.
    """
    quoted = name if "`" in name else ".".join(map(always_quoted, name.split(".")))
    try:
        columns = parse_schema(session.table(quoted).schema.json())
        rows = session.sql(f"SHOW TBLPROPERTIES {quoted}").collect()
    except Exception as error:  # noqa: BLE001 (as above)
        raise NotSeen(f"the session does not show the table: {first_line(error)}") from None
    properties = {str(row[0]): str(row[1]) for row in rows}
    if "delta.minWriterVersion" not in properties:
        raise NotSeen(f"{name} is no Delta table, or the session does not show its protocol")
    return SeenTable(_live(name, columns, properties), (_NOT_IN_SESSION,), is_from_log=False)


def _live(name: str, columns: Struct, properties: Mapping[str, str]) -> LiveTable:
    features = frozenset(key.removeprefix(_FEATURE) for key in properties if key.startswith(_FEATURE))
    state = TableState(
        columns,
        constraints={
            key.removeprefix(_CONSTRAINT): value
            for key, value in properties.items()
            if key.startswith(_CONSTRAINT)
        },
        properties={
            key: value for key, value in properties.items() if not key.startswith((_CONSTRAINT, _FEATURE))
        },
    )
    protocol = Protocol(
        int(properties.get("delta.minReaderVersion", "1")),
        int(properties["delta.minWriterVersion"]),
        frozenset(),
        features,
    )
    return LiveTable(name, 0, protocol, Metadata("", state))
