"""What an engine does: the one place that reads `schemalint.delta.engine_rows`.

An engine that nobody named is None: that is the newest Delta, which does all of it.
"""

from __future__ import annotations

import datetime as dt
from enum import Enum
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta import engine_rows as rows
from schemalint.delta.datatype import (
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    INTEGERS,
    LONG,
    SHORT,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Atomic,
    DataType,
    Decimal,
    String,
)
from schemalint.delta.engine import (
    DATABRICKS,
    DELTA_SPARK,
    FABRIC,
    FABRIC_PAGE,
    FABRIC_READ,
    MEASURED,
    Engine,
    Release,
    release_of,
)
from schemalint.delta.feature import FEATURES
from schemalint.delta.functions import built_in_name, newer
from schemalint.delta.widening import TypeStep, step


class Evidence(Enum):
    """How it is known what an engine does."""

    MEASURED = "measured"
    """That release was asked."""
    DOCUMENTED = "documented"
    """A source file of that release, or a page of the vendor, says it."""
    UNKNOWN = "unknown"


@frozen
class Answer:
    """Whether an engine does something.

    Attributes:
        does: None if that is unknown.
        evidence: How it is known.
        since: Which version does it, as a clause: ``Delta can from 4.0 on``; empty if none is known.
        read_on: The day (ISO), or the month, on which the vendor's page was read; empty without one.
    """

    does: bool | None
    evidence: Evidence
    since: str = ""
    read_on: str = ""

    def note(self, today: dt.date) -> str:
        """Return what a message says about the evidence; empty if the engine was asked.

        A vendor changes its engine and its pages: what was read more than a year ago says so.
        """
        if self.evidence is Evidence.MEASURED:
            return ""
        if self.read_on and today - dt.date.fromisoformat(f"{self.read_on}-01"[:10]) > _YEAR:
            return f" ({self.evidence.value}, by a page read more than a year ago)"
        return f" ({self.evidence.value})"


_YEAR: Final = dt.timedelta(days=365)
_YES: Final = Answer(does=True, evidence=Evidence.MEASURED)
_NO: Final = Answer(does=False, evidence=Evidence.MEASURED)
_ASSUMED: Final = Answer(does=True, evidence=Evidence.DOCUMENTED)
_UNKNOWN: Final = Answer(does=None, evidence=Evidence.UNKNOWN)


def changes_type(engine: Engine | None, old: DataType, new: DataType, *, nested: bool = False) -> Answer:
    """Return whether an engine makes a change of type that the newest Delta makes; arguments of `step`."""
    if engine is None or step(old, new, nested=nested) not in (TypeStep.WIDENING, TypeStep.FREE):
        return _YES
    return _answer(engine, _span_of_type_change(old, new))


def reads_type_change(engine: Engine, old: DataType, new: DataType) -> Answer:
    """Return whether an engine reads a table whose log records a change of type.

    Delta 3.3 knows typeWidening, and refuses a table with changes that it does not make itself
    (``DELTA_UNSUPPORTED_TYPE_CHANGE_IN_PREVIEW``; measured on Delta 3.3.2: ``tests/engine/answers/3.3.2``).
    """
    return _answer(engine, _span_of_type_change(old, new))


def parses_type(engine: Engine | None, type_: DataType) -> bool:
    """Whether the Spark of an engine has a leaf type: Spark 3.5 has no variant (measured on Delta 3.3.2)."""
    if engine is None or type_ != VARIANT:
        return True
    return knows_feature(engine, "variantType").does is not False


def has_own_types(engine: Engine | None, *types: DataType) -> bool:
    """Whether an engine may do with these types what Delta Spark refuses: Databricks stores collations.

    What exactly it does with them nobody has asked yet, so no verdict of Delta Spark counts there.
    """
    if engine is None or engine.name != DATABRICKS:
        return False
    return any(isinstance(type_, String) and type_ != String() for type_ in types) or any(
        isinstance(type_, Atomic) and type_.name.startswith(("geometry", "geography")) for type_ in types
    )


def knows_feature(engine: Engine | None, name: str) -> Answer:
    """Return whether an engine knows a table feature: only then it writes a table that has the feature."""
    row = FEATURES.get(name)
    if engine is None:
        if row is not None and row.in_spark:
            return _YES
        return _NO
    if name not in rows.FEATURE_SPANS and engine.name == DATABRICKS:
        return _UNKNOWN if row is not None else _NO
    return _answer(engine, rows.FEATURE_SPANS.get(name, rows.Span(None)))


PASS_WIDENING_SINCE: Final = rows.STREAMS_PASS_WIDENING.since
"""The first release of Delta Spark with which streams without a schemaTrackingLocation pass a widening."""


def streams_pass_widening(delta: Release | None) -> bool:
    """Whether streams without a schemaTrackingLocation pass a widening; None is the newest Delta Spark."""
    return delta is None or rows.STREAMS_PASS_WIDENING.does(delta) is True


def streams_block_widening(delta: Release | None) -> bool:
    """Whether streams with a schemaTrackingLocation wait at a widening; None is the newest Delta Spark."""
    return delta is None or rows.STREAMS_BLOCK_WIDENING.does(delta) is True


def drops_feature(engine: Engine | None, name: str) -> Answer:
    """Return whether an engine drops a feature that the newest Delta drops."""
    return _answer(engine, rows.DROP_SPANS.get(name))


def drops_fast(engine: Engine | None) -> bool:
    """Whether an engine drops a feature in one run, and leaves checkpointProtection instead of waiting.

    Delta 3.3.2 waits, and has no setting ``tableFeatures.fastDropFeature.enabled`` (measured).
    """
    return engine is None or engine.delta is None or engine.delta >= release_of("4.0")


def knows_property(engine: Engine | None, key: str) -> Answer:
    """Return whether an engine knows a property of Delta Spark, by its key as Delta stores it."""
    prefix = next((name for name in rows.PROPERTY_SPANS if name.endswith(".") and key.startswith(name)), key)
    return _answer(engine, rows.PROPERTY_SPANS.get(prefix))


def sets_of_existing_table(engine: Engine | None, key: str) -> Answer:
    """Return whether an engine sets a property, by its key as Delta stores it, of a table that exists."""
    return _answer(engine, rows.EXISTING_SPANS.get(key))


def knows_older_property(engine: Engine | None, key: str) -> bool:
    """Whether an engine knows a property that the newest Delta does not know any more."""
    if engine is None:
        return False
    span = next((span for name, span in rows.OLDER_PROPERTIES.items() if name.lower() == key.lower()), None)
    return span is not None and _answer(engine, span).does is True


def makes_column(engine: Engine | None, kind: str) -> Answer:
    """Return whether ``CREATE TABLE`` makes such columns: ``generated``, ``identity`` or ``default``."""
    return _answer(engine, rows.COLUMN_SPANS[kind])


def has_function(engine: Engine | None, name: str) -> Answer:
    """Return whether the Spark of an engine has a function of Spark 4.2.0, by its name in lower case."""
    spark = newer().get(built_in_name(name))
    if engine is None or spark is None:
        return _YES
    return _answer(engine, rows.SPARK_SPANS[spark])


def adds_by_hand_only(engine: Engine | None, name: str) -> bool:
    """Whether an engine adds a feature to an existing table only if ``delta.feature.<name>`` asks for it.

    Beside those that `schemalint.delta.feature` has as not automatic.
    """
    if engine is None:
        return False
    span = rows.MANUAL_SPANS.get(name)
    return span is not None and _answer(engine, span).does is True


def activated_by(
    engine: Engine | None, active: frozenset[str], supported: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return the features that an engine adds where the newest Delta would add these.

    Delta 3.2 and 3.3 add the preview of typeWidening (measured on 3.3.2, on new and existing
    tables), unless the table supports typeWidening itself.
    """
    if engine is None or "typeWidening" not in active - supported:
        return active
    if _answer(engine, rows.FINAL_TYPE_WIDENING).does is False:
        return active - {"typeWidening"} | {"typeWidening-preview"}
    return active


def alters_many_columns(engine: Engine | None) -> bool:
    """Whether one ``ALTER COLUMN`` of an engine can name several columns; Databricks' answer is unknown."""
    return _answer(engine, rows.COLUMN_LISTS).does is True


def creates_defaults_of_lengths(engine: Engine | None) -> bool:
    """Whether ``CREATE TABLE`` takes the default of a char or varchar column; true where that is unknown."""
    if engine is None:
        return True
    return _answer(engine, rows.DEFAULTS_OF_LENGTHS).does is not False


def has_session_variables(engine: Engine | None) -> bool:
    """Whether a session of an engine has variables; true where that is unknown."""
    return _answer(engine, rows.SESSION_VARIABLES).does is not False


def compares_retentions(engine: Engine | None) -> bool:
    """Whether an engine refuses to keep deleted files longer than the log; true where that is unknown."""
    return _answer(engine, rows.RETENTIONS_COMPARED).does is not False


def collects_of_variant(engine: Engine | None) -> bool:
    """Whether an engine collects statistics of a variant column on request; true where that is unknown."""
    return _answer(engine, rows.VARIANT_STATISTICS).does is not False


def takes_reader_version_3_alone(engine: Engine | None) -> Answer:
    """Return whether ``CREATE TABLE`` takes reader version 3 without writer version 7, and makes that 7."""
    return _answer(engine, rows.READER_VERSION_3_ALONE)


def collects_of_part_of_struct(engine: Engine | None) -> Answer:
    """Return whether an engine collects statistics of a struct of which some fields can have none."""
    return _answer(engine, rows.STRUCT_STATISTICS)


def checks_iceberg_partitions(engine: Engine | None) -> bool:
    """Whether Iceberg compatibility refuses types of partition columns; true where that is unknown."""
    return _answer(engine, rows.ICEBERG_PARTITIONS).does is not False


def asks_for_iceberg_first(engine: Engine) -> Answer:
    """Return whether an engine without the jar delta-iceberg refuses a statement before it commits."""
    return _answer(engine, rows.ICEBERG_JAR_FIRST)


def error_of(engine: Engine | None, name: str | None) -> str | None:
    """Return the name that an error class of the newest Delta has in an engine; None if it has no class."""
    if name is None or engine is None or engine.delta is None:
        return name
    row = rows.ERROR_NAMES.get(name)
    if row is None or engine.delta >= release_of(row.since):
        return name
    return row.older


def _answer(engine: Engine | None, span: rows.Span | None) -> Answer:
    """Return whether an engine does what the row is about; without a row all do, as the newest Delta."""
    if engine is None:
        return _YES
    if span is None:
        return _ASSUMED
    if engine.delta is None:
        return _answer_of_databricks(engine, span)
    does = span.does(engine.delta)
    if does is None:
        return _UNKNOWN
    is_asked = span.asked and engine.name == DELTA_SPARK and engine.release in map(release_of, MEASURED)
    since = "" if span.since is None or does else f"Delta can from {span.since} on"
    if engine.name == FABRIC and not does:
        line = ".".join(map(str, engine.delta[:2]))
        runtime = f"{engine.name} {engine.judged_as or engine.version}"
        source = f"{runtime} is Delta {line}, as {FABRIC_PAGE} says ({FABRIC_READ})"
        return Answer(does, Evidence.DOCUMENTED, f"{since}; {source}" if since else source, FABRIC_READ)
    return Answer(does, Evidence.MEASURED if is_asked else Evidence.DOCUMENTED, since)


def _answer_of_databricks(engine: Engine, span: rows.Span) -> Answer:
    page = span.databricks
    if page is None:
        return _UNKNOWN
    does = engine.release >= release_of(page.since)
    since = "" if does else f"Databricks can from {page.since} on, as {page.address} says ({page.date})"
    return Answer(does, Evidence.DOCUMENTED, since, page.date)


def _span_of_type_change(old: DataType, new: DataType) -> rows.Span | None:
    if old == VOID:
        return rows.FROM_VOID
    if new in (SHORT, INTEGER):
        return rows.SMALL_INTEGERS
    if isinstance(old, Decimal) and isinstance(new, Decimal):
        if old.scale == new.scale:
            return rows.SAME_KIND
        return rows.OTHER_KIND
    if (old, new) in ((FLOAT, DOUBLE), (DATE, TIMESTAMP_NTZ)) or new == LONG:
        return rows.SAME_KIND
    if old in INTEGERS:
        return rows.OTHER_KIND
    return None
