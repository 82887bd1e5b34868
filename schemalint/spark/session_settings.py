"""The settings of a session that change what schemalint's statements do, and their values while they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Final

from schemalint.base.errors import ApplyError
from schemalint.delta.sql_text import always_quoted
from schemalint.project.config.trust import SESSION_CATALOG
from schemalint.spark.session import CURRENT_SCHEMA, SqlSession, first_line

# Measured on Delta 4.4.0 with Spark 4.2.0: with another value, a statement makes another table or checks
# another condition, or Spark refuses it, or accepts what it refuses by default.
REQUIRED: Final[Mapping[str, str]] = {
    # Types and their metadata
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.charAsVarchar": "false",
    "spark.sql.legacy.charVarcharAsString": "false",
    "spark.sql.preserveCharVarcharTypeInfo": "false",
    "spark.databricks.delta.alterTable.bypassCharVarcharToStringFix": "false",
    "spark.databricks.delta.schema.removeExistsDefault": "true",
    "spark.databricks.delta.schema.typeCheck.enabled": "true",
    # Expressions, literals and names
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.runSQLOnFiles": "true",
    "spark.sql.session.timeZone": "UTC",  # of literals such as timestamp'2026-01-01'
    "spark.sql.variable.substitute": "false",  # Spark substitutes even in quoted names
    # Statements
    "spark.sql.defaultColumn.enabled": "true",
    "spark.sql.legacy.notReserveProperties": "false",
    "spark.databricks.delta.allowArbitraryProperties.enabled": "false",
    "spark.databricks.delta.alterTable.changeColumn.checkExpressions": "true",
    "spark.databricks.delta.alterTable.dropColumn.enabled": "true",
    "spark.databricks.delta.columnMapping.allowRemoval": "true",
    "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled": "false",
    "spark.databricks.delta.constraints.assumesDropIfExists.enabled": "false",
    "spark.databricks.delta.createEmptySchemaTable.enabled": "true",
    "spark.databricks.delta.identityColumn.enabled": "true",
    "spark.databricks.delta.rowTracking.backfill.enabled": "true",
    "spark.databricks.delta.v2.enableMode": "AUTO",
    # Table features
    "spark.databricks.delta.tableFeatures.fastDropFeature.enabled": "true",
    "spark.databricks.delta.variant.forceUsePreviewTableFeature": "false",
    "spark.databricks.delta.variantShredding.forceUsePreviewTableFeature": "true",
}

# The session's defaults for new tables: properties, features and protocol versions that no contract declares.
DEFAULTS_OF_NEW_TABLES: Final = "spark.databricks.delta.properties.defaults."

_APP_ID: Final = "spark.databricks.delta.write.txnAppId"
_APP_VERSION: Final = "spark.databricks.delta.write.txnVersion"
_USER_METADATA: Final = "spark.databricks.delta.commitInfo.userMetadata"


@contextmanager
def required_settings(*sessions: SqlSession) -> Iterator[None]:
    """Run statements with the settings that schemalint's statements are made for.

    Afterwards the sessions have their own settings again. Other threads that use them meanwhile run with
    these settings too.

    Args:
        sessions: Sessions with the same settings: the first one is asked for them.

    Raises:
        ApplyError: The sessions have another setting, and do not allow to change it; nothing was run.
    """
    with ExitStack() as restored:
        for key, value in _changes(sessions[0]).items():
            for session in sessions:
                old = session.conf.get(key, None)
                try:
                    _assign(session, key, value)
                except Exception:  # noqa: BLE001 (pyspark's errors share no class)
                    raise _refusal(key, value) from None
                restored.callback(_assign, session, key, old)
        yield


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


@contextmanager
def prepared(session: SqlSession, user_metadata: str) -> Iterator[None]:
    """Set the user metadata of the commits of statements."""
    with assigned(session, {_USER_METADATA: user_metadata}):
        yield


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


def _changes(session: SqlSession) -> dict[str, str | None]:
    """Return the settings to change, with their values; None removes a setting."""
    changes: dict[str, str | None] = {
        key: value
        for key, value in REQUIRED.items()
        if (current := _effective(session, key)) is not None and current.lower() != value.lower()
    }
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
    wanted = f"set it to {value}" if value is not None else "unset it"
    return ApplyError(
        f"the setting {key} of the session changes what statements do, and schemalint must not change it",
        help=f"{wanted}, or use another session",
    )


def _assign(session: SqlSession, key: str, value: str | None) -> None:
    """Set a setting of a session; None removes it."""
    if value is None:
        session.conf.unset(key)
    else:
        session.conf.set(key, value)
