"""The settings of a session that change what schemalint's statements do, and their values while they run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Final

from schemalint.base.errors import ApplyError
from schemalint.base.values import frozen
from schemalint.delta.sql_text import always_quoted
from schemalint.model.table_plan import StepKind, TablePlan
from schemalint.project.config.trust import SESSION_CATALOG
from schemalint.spark.session import CURRENT_SCHEMA
from schemalint.spark.statements import SqlSession, first_line

_CREATE: Final = frozenset({StepKind.CREATE})
_COLUMNS: Final = _CREATE | {StepKind.ADD_COLUMNS}
_TYPES: Final = _COLUMNS | {StepKind.ALTER_COLUMNS}
_VALUES: Final = frozenset({StepKind.FILL, StepKind.REWRITE})
_EXPRESSIONS: Final = _CREATE | _VALUES | {StepKind.ALTER_COLUMNS, StepKind.ADD_CONSTRAINT}
_DEFAULTS: Final = _CREATE | {StepKind.ALTER_COLUMNS, StepKind.RECORD}
# Delta parses the expressions of the table when its columns change, and when rows are written.
_PARSED: Final = _EXPRESSIONS | {StepKind.RENAME_COLUMN, StepKind.DROP_COLUMNS, StepKind.RECORD}
_PROPERTIES: Final = _CREATE | {StepKind.SET_PROPERTIES, StepKind.UNSET_PROPERTIES, StepKind.NOTE_PENDING}
_TEXTS: Final = _PROPERTIES | _TYPES | _VALUES | {StepKind.ADD_CONSTRAINT}
_ALL: Final = frozenset(StepKind)


TIME_ZONE: Final = "spark.sql.session.timeZone"
UTC: Final = "UTC"


@frozen
class Setting:
    """A setting that changes what statements do.

    Attributes:
        value: The value that schemalint's statements are made for.
        kinds: The statements whose meaning it changes.
    """

    value: str
    kinds: frozenset[StepKind]


# Measured on Delta 4.4.0 with Spark 4.2.0: with another value, a statement makes another table or checks
# another condition, or Spark refuses it, or accepts what it refuses by default.
REQUIRED: Final[Mapping[str, Setting]] = {
    # Types and their metadata
    "spark.sql.timestampType": Setting("TIMESTAMP_LTZ", _TYPES | _EXPRESSIONS),
    "spark.sql.charAsVarchar": Setting("false", _TYPES),
    "spark.sql.legacy.charVarcharAsString": Setting("false", _TYPES | _VALUES),
    "spark.sql.preserveCharVarcharTypeInfo": Setting("false", _TYPES),
    "spark.databricks.delta.alterTable.bypassCharVarcharToStringFix": Setting(
        "false", frozenset({StepKind.ALTER_COLUMNS})
    ),
    "spark.databricks.delta.schema.removeExistsDefault": Setting("true", _DEFAULTS),
    "spark.databricks.delta.schema.typeCheck.enabled": Setting("true", _TYPES),
    # Expressions, literals and names
    "spark.sql.ansi.enabled": Setting("true", _EXPRESSIONS),
    "spark.sql.ansi.doubleQuotedIdentifiers": Setting("false", _PARSED),
    "spark.sql.ansi.enforceReservedKeywords": Setting("false", _PARSED),
    "spark.sql.caseSensitive": Setting("false", _ALL),
    "spark.sql.parser.escapedStringLiterals": Setting("false", _TEXTS | _PARSED),
    "spark.sql.parser.quotedRegexColumnNames": Setting("false", _PARSED),
    "spark.sql.legacy.timeParserPolicy": Setting("CORRECTED", _EXPRESSIONS),
    "spark.sql.storeAssignmentPolicy": Setting("ANSI", _VALUES),
    "spark.sql.readSideCharPadding": Setting("true", _EXPRESSIONS),
    "spark.sql.runSQLOnFiles": Setting("true", _ALL),
    TIME_ZONE: Setting(UTC, _EXPRESSIONS),  # of literals such as timestamp'2026-01-01'
    "spark.sql.variable.substitute": Setting("false", _ALL),  # Spark substitutes even in quoted names
    # A rewrite reads all rows, or fails.
    "spark.sql.files.ignoreCorruptFiles": Setting("false", frozenset({StepKind.REWRITE})),
    "spark.sql.files.ignoreMissingFiles": Setting("false", frozenset({StepKind.REWRITE})),
    # Statements
    "spark.sql.defaultColumn.enabled": Setting("true", _DEFAULTS),
    "spark.sql.legacy.notReserveProperties": Setting("false", _PROPERTIES),
    "spark.databricks.delta.allowArbitraryProperties.enabled": Setting("false", _PROPERTIES),
    "spark.databricks.delta.alterTable.changeColumn.checkExpressions": Setting(
        "true", frozenset({StepKind.ALTER_COLUMNS, StepKind.RENAME_COLUMN, StepKind.DROP_COLUMNS})
    ),
    "spark.databricks.delta.alterTable.dropColumn.enabled": Setting(
        "true", frozenset({StepKind.DROP_COLUMNS})
    ),
    "spark.databricks.delta.columnMapping.allowRemoval": Setting(
        "true", _PROPERTIES | {StepKind.DROP_FEATURE}
    ),
    "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled": Setting("false", _COLUMNS),
    "spark.databricks.delta.constraints.assumesDropIfExists.enabled": Setting(
        "false", frozenset({StepKind.DROP_CONSTRAINT})
    ),
    "spark.databricks.delta.createEmptySchemaTable.enabled": Setting("true", _CREATE),
    "spark.databricks.delta.identityColumn.enabled": Setting("true", _CREATE | {StepKind.RECORD}),
    "spark.databricks.delta.rowTracking.backfill.enabled": Setting("true", _PROPERTIES),
    "spark.databricks.delta.v2.enableMode": Setting("AUTO", _ALL),
    # Table features
    "spark.databricks.delta.tableFeatures.fastDropFeature.enabled": Setting(
        "true", frozenset({StepKind.DROP_FEATURE})
    ),
    "spark.databricks.delta.variant.forceUsePreviewTableFeature": Setting("false", _COLUMNS),
    "spark.databricks.delta.variantShredding.forceUsePreviewTableFeature": Setting("true", _PROPERTIES),
}

# The session's defaults for new tables: properties, features and protocol versions that no contract declares.
DEFAULTS_OF_NEW_TABLES: Final = "spark.databricks.delta.properties.defaults."

_APP_ID: Final = "spark.databricks.delta.write.txnAppId"
_APP_VERSION: Final = "spark.databricks.delta.write.txnVersion"
_USER_METADATA: Final = "spark.databricks.delta.commitInfo.userMetadata"


@contextmanager
def required_settings(*sessions: SqlSession, kinds: Collection[StepKind] = _ALL) -> Iterator[None]:
    """Run statements with the settings that schemalint's statements are made for.

    Only settings that change what these statements mean are required: a serverless session allows few.

    Afterwards the sessions have their own settings again. Other threads that use them meanwhile run with
    these settings too.

    Args:
        sessions: Sessions with the same settings: the first one is asked for them.
        kinds: The kinds of the statements.

    Raises:
        ApplyError: The sessions have another setting, and do not allow to change it; nothing was run.
    """
    with ExitStack() as restored:
        for key, value in _changes(sessions[0], required_values(kinds)).items():
            for session in sessions:
                old = session.conf.get(key, None)
                try:
                    _assign(session, key, value)
                except Exception:  # noqa: BLE001 (pyspark's errors share no class)
                    raise _refusal(key, value) from None
                restored.callback(_assign, session, key, old)
        yield


def kinds_of(plans: Iterable[TablePlan]) -> frozenset[StepKind]:
    """Return the kinds of the statements of plans and markers; the proof of a drop is one of a fill."""
    kinds = {StepKind.RECORD}
    for plan in plans:
        kinds |= {step.kind for step in plan.steps}
        if plan.rewrites_to_prove:
            kinds.add(StepKind.REWRITE)
        if plan.drops_to_prove or any(step.fills for step in plan.steps):
            kinds.add(StepKind.FILL)
    return frozenset(kinds)


@contextmanager
def session_catalog(*sessions: SqlSession) -> Iterator[None]:
    """Run statements about tables at paths with ``spark_catalog`` as the current catalog.

    In another catalog, ``delta.`path` `` is a table of that name in its schema ``delta`` (measured on Spark
    4.2.0 with a JDBC catalog). Afterwards the sessions have their own current catalog and schema again.

    Args:
        sessions: Sessions with the same current catalog and schema: the first one is asked for them.

    Raises:
        ApplyError: The current catalog is unknown, or cannot be changed; nothing was run.
    """
    try:
        ((catalog, schema),) = sessions[0].sql(CURRENT_SCHEMA).collect()
        others = sessions if catalog.lower() != SESSION_CATALOG else ()
        for session in others:
            session.sql(f"USE {SESSION_CATALOG}").collect()
    except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
        raise ApplyError(
            f"the session cannot use {SESSION_CATALOG}, the catalog of tables at paths: {first_line(error)}",
            help=f"set spark.sql.defaultCatalog to {SESSION_CATALOG}, or use another session",
        ) from None
    try:
        yield
    finally:
        for session in others:
            # Spark quotes the parts of a schema's name where they need it.
            session.sql(f"USE {always_quoted(catalog)}{schema and f'.{schema}'}").collect()


def prepared(session: SqlSession, user_metadata: str) -> AbstractContextManager[None]:
    """Set the user metadata of the commits of statements."""
    return assigned(session, {_USER_METADATA: user_metadata})


@contextmanager
def transaction(session: SqlSession, app_id: str, version: int) -> Iterator[None]:
    """Give the commit of a writing statement a transaction identifier.

    Delta skips the statement in silence if the table has this version of the identifier, or a higher one. So
    no other thread may write to the table with this session meanwhile.

    Raises:
        ApplyError: The session does not allow it.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(assigned(session, {_APP_ID: app_id, _APP_VERSION: str(version)}))
        except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
            raise ApplyError(f"the session cannot set {_APP_ID}: {first_line(error)}") from None
        yield


@contextmanager
def assigned(session: SqlSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Give settings of a session other values for a while."""
    before = {key: session.conf.get(key, None) for key in settings}
    try:
        for key, value in settings.items():
            session.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            _assign(session, key, old)


def required_values(kinds: Collection[StepKind]) -> dict[str, str | None]:
    """Return the values that statements of these kinds need by setting; None is one that must not be set.

    `DEFAULTS_OF_NEW_TABLES` stands for all settings that begin so.
    """
    values: dict[str, str | None] = {
        key: setting.value for key, setting in REQUIRED.items() if not setting.kinds.isdisjoint(kinds)
    }
    return values | ({DEFAULTS_OF_NEW_TABLES: None} if StepKind.CREATE in kinds else {})


def _changes(session: SqlSession, required: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the settings to change, with their values; None removes a setting."""
    changes: dict[str, str | None] = {
        key: value
        for key, value in required.items()
        if value is not None
        and (current := _effective(session, key)) is not None
        and current.lower() != value.lower()
    }
    if DEFAULTS_OF_NEW_TABLES not in required:
        return changes
    keys = (row["key"] for row in session.sql("SET").collect())
    return changes | dict.fromkeys(key for key in keys if key.startswith(DEFAULTS_OF_NEW_TABLES))


def _effective(session: SqlSession, key: str) -> str | None:
    """Return the value that a setting has, by default too; None if the engine does not have the setting."""
    try:
        value: str | None = session.conf.get(key)
    except Exception:  # noqa: BLE001 (other versions of Spark and Connect raise various errors)
        return None
    return value


def _refusal(key: str, value: str | None) -> ApplyError:
    what = f"set it to {value}" if value is not None else "unset it"
    return ApplyError(
        f"the setting {key} of the session changes what statements do, and schemalint must not change it",
        help=f"{what}, or use another session",
    )


def _assign(session: SqlSession, key: str, value: str | None) -> None:
    """Set a setting of a session; None removes it."""
    if value is None:
        session.conf.unset(key)
    else:
        session.conf.set(key, value)
