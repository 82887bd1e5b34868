"""A write as an engine gets it, and what it does to the table: values of `schemalint.delta.write_effect`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final

from schemalint.base.values import field, frozen
from schemalint.delta.engine import Release
from schemalint.delta.path import Path
from schemalint.delta.table import TableState

ASKED: Final = ("3.3.2", "4.0.1", "4.4.0")
"""The releases of Delta Spark that were asked what writes do: ``tests/engine/answers/*/writes.csv``."""

MERGE_SCHEMA: Final = "mergeschema"
OVERWRITE_SCHEMA: Final = "overwriteschema"
REPLACE_WHERE: Final = "replacewhere"
PARTITION_OVERWRITE: Final = "partitionoverwritemode"

AUTO_MERGE: Final = "spark.databricks.delta.schema.autoMerge.enabled"
AUTOMATIC_WIDENING: Final = "spark.databricks.delta.typeWidening.allowAutomaticWidening"
ANSI: Final = "spark.sql.ansi.enabled"
ASSIGNMENT: Final = "spark.sql.storeAssignmentPolicy"
CASE_SENSITIVE: Final = "spark.sql.caseSensitive"
DYNAMIC_OVERWRITE: Final = "spark.sql.sources.partitionOverwriteMode"

SETTINGS: Final = (AUTO_MERGE, AUTOMATIC_WIDENING, ANSI, ASSIGNMENT, CASE_SENSITIVE, DYNAMIC_OVERWRITE)
"""The settings of a session that change what a write does to a schema."""


class Method(Enum):
    """How rows are given to Delta; the methods cast and match columns differently."""

    SAVE = "save"
    SAVE_AS_TABLE = "saveAsTable"
    INSERT_INTO = "insertInto"
    WRITE_TO = "writeTo"
    INSERT = "INSERT"
    INSERT_BY_NAME = "INSERT BY NAME"
    MERGE = "MERGE"
    STREAM = "stream"

    @property
    def is_by_position(self) -> bool:
        """Whether columns are matched by their positions."""
        return self in (Method.INSERT_INTO, Method.INSERT)

    @property
    def is_by_name_in_sql(self) -> bool:
        """Whether columns are matched by their names, and cast as SQL casts."""
        return self is Method.INSERT_BY_NAME


class Mode(Enum):
    """The save mode of a writer."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    IGNORE = "ignore"
    ERROR = "errorifexists"


@frozen
class Write:
    """A write, without its data.

    Attributes:
        method: How the rows are given.
        delta: The release of Delta Spark that writes.
        mode: The save mode.
        options: The options of the writer, by their names in lower case.
        settings: The settings of the session that differ from the defaults, of `SETTINGS`.
        partition_by: What the writer partitions by.
        evolves: Whether the statement says ``WITH SCHEMA EVOLUTION``.
        assigned: The columns that a clause of a MERGE assigns; None if it says ``*``.
        keeps_rest: Whether the rows keep what the statement does not name, as those of an UPDATE.
        static: The partition columns whose values an INSERT names, and its query lacks.
    """

    method: Method
    delta: Release
    mode: Mode = Mode.APPEND
    options: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    evolves: bool = False
    assigned: tuple[str, ...] | None = None
    keeps_rest: bool = False
    static: tuple[str, ...] = ()

    def setting(self, name: str, default: str) -> str:
        """Return the value of a setting in lower case."""
        return self.settings.get(name, default).lower()


class Kind(Enum):
    """What a write does to values, beside the schema."""

    MAY_FAIL = "a row may be refused when the write runs"
    LOSES = "values are lost without an error"
    FILLED = "a column of the table that the data lacks is filled"
    BY_POSITION = "a value goes into a column of another name"
    TAKES_TYPE = "a void column takes its first type"
    ROUNDS = "digits that a column cannot hold are rounded"


@frozen
class Note:
    """What a write does to the values of a column.

    Attributes:
        kind: What it does.
        path: The column.
        text: What it does to it, as the end of a sentence that begins with the column.
    """

    kind: Kind
    path: Path
    text: str


@frozen
class Effect:
    """What a write does to a table.

    Attributes:
        after: The state of the table after it; as before if the write is refused.
        error: The error class with which Delta refuses the write before it reads a row; None if it does not.
        path: The column that it is refused for, if one is known.
        unknown: Why it is not known what the write does; None if it is.
        notes: What becomes of the values.
    """

    after: TableState
    error: str | None = None
    path: Path = ()
    unknown: str | None = None
    notes: tuple[Note, ...] = ()


def together(before: TableState, effects: Iterable[Effect]) -> Effect:
    """Return the effect of a statement whose clauses have these: what is unknown or refused decides for all.

    At most one of them changes the schema: that of the clauses with ``*``, which have one effect together.
    """
    every = tuple(effects)
    for effect in every:
        if effect.unknown is not None:
            return effect
    for effect in every:
        if effect.error is not None:
            return effect
    after = next((effect.after for effect in every if effect.after != before), before)
    return Effect(after, notes=tuple(dict.fromkeys(note for effect in every for note in effect.notes)))
