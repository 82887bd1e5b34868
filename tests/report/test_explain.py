"""`explain` finds the errors in a text, and what schemalint knows about each."""

from __future__ import annotations

import pytest

from schemalint.base.errors import UsageError
from schemalint.report.explain import error_advice, explain
from schemalint.review.rulebook import load_rules

RULES = load_rules()
CODES = {rule.code for rule in RULES}

STACK_TRACE = """\
26/11/22 12:00:01 ERROR MicroBatchExecution: Query orders [id = 4f1c] terminated with error
org.apache.spark.sql.streaming.StreamingQueryException: [STREAM_FAILED] Query [id = 4f1c] terminated:
[DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG] Streaming read is not supported on tables with
read-incompatible schema changes (e.g. rename or drop or datatype changes). SQLSTATE: 42KD4
\tat org.apache.spark.sql.execution.streaming.StreamExecution.runStream(StreamExecution.scala:1)
Caused by: java.lang.IllegalStateException: nothing
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""


def _errors(text: str) -> list[str]:
    return [error.name for error in explain(text, RULES).errors]


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("DELTA_METADATA_MISMATCH", ["DELTA_METADATA_MISMATCH"]),
        ("delta_metadata_mismatch.schema_mismatch", ["DELTA_METADATA_MISMATCH.SCHEMA_MISMATCH"]),
        ("io.delta.exceptions.MetadataChangedException: later", ["DELTA_METADATA_CHANGED"]),
        ("Failed to merge fields 'a' and 'a'. Failed to merge", ["DELTA_FAILED_TO_MERGE_FIELDS"]),
        (STACK_TRACE, ["STREAM_FAILED", "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"]),
        ("Caused by: java.lang.ClassCastException: x", ["ClassCastException"]),
        (
            "[DELTA_METADATA_CHANGED] a, [DELTA_PROTOCOL_CHANGED] b",
            ["DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED"],
        ),
        (
            "CHECK constraint c (a > 0) violated by row with values: - a : 0",
            ["DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"],
        ),
        ("x: Cannot change nullable column to non-nullable: a. Caused by: java.lang.ClassCastException", []),
        ("TW001", []),
    ],
)
def test_errors_are_found_in_the_order_of_the_text(text: str, errors: list[str]) -> None:
    assert _errors(text) == errors


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("DeltaError: Stats column z.z not found in schema", "Stats column … not found in schema"),
        ("Unsupported reader features required: [DeletionVectors]", "Unsupported reader features required"),
        (
            "Kernel: Schema error: Invalid data type for Delta Lake: Null",
            "Invalid data type for Delta Lake: Null",
        ),
        ("Duplicate field name (case-insensitive): 'ID'", "Duplicate field name (case-insensitive)"),
        (
            "Query 1 failed: Unsupported Delta Lake reader features: [fooBar]",
            "Unsupported Delta Lake reader features",
        ),
        (
            "Unable to read this table because it requires reader table feature(s) that are unsupported",
            "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
        ),
        ("PERMISSION_DENIED: User does not have MODIFY on Table 'a.b.c'", "PERMISSION_DENIED"),
        ('Column names "a b" contain invalid characters', "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
        ("cannot cast array<struct<a:int>> to array<string>", "DATATYPE_MISMATCH"),
        (
            "The specified schema does not match the existing schema at s3://lake/t.",
            "DELTA_CREATE_TABLE_SCHEME_MISMATCH",
        ),
        ("Parquet column cannot be converted in file a.parquet. Column: [a]", "FAILED_READ_FILE"),
        (
            "assertion failed: Should not have the protocol version (delta.minReaderVersion) as part of",
            "Should not have the protocol version",
        ),
        ("AnalysisException: IDENTITY column is not supported", "IDENTITY column is not supported"),
        (
            "at o.a.spark.sql.delta.DeltaErrors.streamingMetadataEvolutionException(DeltaErrors.scala)",
            "DELTA_STREAMING_METADATA_EVOLUTION",
        ),
    ],
)
def test_messages_without_an_error_class_are_known(text: str, name: str) -> None:
    assert _errors(text) == [name]


def test_a_word_that_pages_quote_is_no_message() -> None:
    with pytest.raises(UsageError):
        explain("the configuration of the cluster is missing", RULES)


def test_unknown_error_next_to_a_known_one_has_no_advice() -> None:
    unknown, known = explain(STACK_TRACE, RULES).errors
    assert (unknown.advice, unknown.rules) == (None, ())
    assert known.advice is not None


@pytest.mark.parametrize("text", ["DELTA_SCHEMA_CHANGD", "[DELTA_SCHEMA_CHANGD] Detected schema change"])
def test_unknown_error_alone_suggests_the_nearest_ones(text: str) -> None:
    with pytest.raises(UsageError, match="'DELTA_SCHEMA_CHANGD'") as error:
        explain(text, RULES)
    assert "DELTA_SCHEMA_CHANGED" in error.value.help


def test_long_text_without_an_error_is_cut_in_the_message() -> None:
    with pytest.raises(UsageError) as error:
        explain("x y " * 1_000_000, RULES)
    assert len(error.value.message) < 300


def test_rules_of_a_class_without_a_sub_class_are_those_of_all_its_sub_classes() -> None:
    assert {rule.code for rule in explain("DELTA_DUPLICATE_COLUMNS_FOUND", RULES).rules} == {"CM007", "NC014"}
    assert [rule.code for rule in explain("DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY", RULES).rules] == [
        "NC014"
    ]


def test_every_row_is_found_by_its_classes_and_texts_and_names_rules_that_exist() -> None:
    for advice in error_advice():
        for text in (*advice.errors, *(f"x: {text.replace('…', ' y ')}" for text in advice.texts)):
            assert advice in [error.advice for error in explain(text, RULES).errors], text
        assert set(advice.rules) <= CODES
        assert advice.cause.endswith(".")
        assert not advice.remedy or advice.remedy.endswith(".")


def test_no_class_has_two_rows() -> None:
    classes = [name for advice in error_advice() for name in advice.errors]
    assert sorted(classes) == sorted(set(classes))
