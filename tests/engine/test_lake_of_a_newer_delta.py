"""What Delta 3.3.2 and 4.0.1 answered about tables that 4.4.0 wrote: the rows of the engines say the same."""

from __future__ import annotations

from typing import Final

import pytest

from engine.record_lake import ACCEPTED, LAKE, QUESTIONS, read_record
from schemalint.delta.datatype import BYTE, INTEGER, LONG, DataType
from schemalint.delta.engine import parse_engine
from schemalint.delta.engine_answers import knows_feature, knows_property, reads_type_change
from schemalint.delta.feature import FEATURES

ASKED: Final = ("3.3.2", "4.0.1")
FEATURE_OF: Final = {
    "widened": "typeWidening",
    "widened_small": "typeWidening",
    "widened_nested": "typeWidening",
    "widening_on": "typeWidening",
    "variant": "variantType",
    "generated": "generatedColumns",
    "identity": "identityColumns",
    "rowtracking": "rowTracking",
    "dropped": "checkpointProtection",
    "shredding": "variantShredding-preview",
    "matpart": "materializePartitionColumns",
    "ntz": "timestampNtz",
}
CHANGED: Final[dict[str, tuple[DataType, DataType]]] = {
    "widened": (INTEGER, LONG),
    "widened_nested": (INTEGER, LONG),
    "widened_small": (BYTE, INTEGER),
}
# No rule: Delta 4.0.1 knows the feature, and Spark 4.0.2 cannot read the files that Spark 4.2.0 wrote.
OF_FILES: Final = {
    ("4.0.1", "variant", "read"): "FAILED_READ_FILE.NO_HINT",
    ("4.0.1", "variant", "append"): "TASK_WRITE_FAILED",
    ("4.0.1", "variant", "rewrite"): "TASK_WRITE_FAILED",
}
METADATA_ONLY: Final = ("prop", "addcol", "comment")


@pytest.mark.parametrize("version", ASKED)
def test_engine_and_rows_agree(version: str) -> None:
    expected = {
        (table, statement): OF_FILES.get((version, table, statement)) or _verdict(version, table, statement)
        for table in LAKE
        for statement in QUESTIONS
    }
    assert read_record(version) == expected


def _verdict(version: str, table: str, statement: str) -> str:
    """Return what the rules about features (PF016) and recorded type changes (EN007) say of it."""
    engine = parse_engine(f"delta-spark {version}")
    feature = FEATURE_OF.get(table)
    if feature is not None and knows_feature(engine, feature).does is False:
        if FEATURES[feature].reader:
            return "DELTA_UNSUPPORTED_FEATURES_FOR_READ"
        return ACCEPTED if statement == "read" else "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"
    if table in CHANGED and statement not in METADATA_ONLY:
        old, new = CHANGED[table]
        if reads_type_change(engine, old, new).does is False:
            return "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_PREVIEW"
    return ACCEPTED


def test_properties_that_it_does_not_know_are_ignored() -> None:
    """EN008: the table ``props`` has three of them, and every statement was carried out."""
    engine = parse_engine("delta-spark 3.3.2")
    assert knows_property(engine, "delta.parquet.format.version").does is False
    assert {read_record("3.3.2")["props", statement] for statement in QUESTIONS} == {ACCEPTED}
