"""Which objects of a table need which table features."""

from __future__ import annotations

from schemalint.delta.datatype import INTEGER, LONG, TIMESTAMP_NTZ, Field, RecordedChange, Struct
from schemalint.delta.feature_usage import FeatureUse, feature_uses
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata, TableState
from schemalint.model.inventory import Inventory, summary_of

ID = Field("id", LONG)


def table(
    *features: str, fields: tuple[Field, ...] = (ID,), protocol: Protocol | None = None, **others: object
) -> LiveTable:
    state = TableState(Struct(fields), None, (), **others)  # type: ignore[arg-type]
    own = protocol or Protocol(3, 7, frozenset(features), frozenset(features))
    return LiveTable("/lake/t", 4, own, Metadata("t", state))


def uses(live: LiveTable) -> dict[str, FeatureUse]:
    return {use.name: use for use in feature_uses(live)}


def test_a_property_a_column_and_a_constraint_need_features() -> None:
    by_name = uses(
        table(
            "deletionVectors",
            "timestampNtz",
            "checkConstraints",
            fields=(ID, Field("at", TIMESTAMP_NTZ)),
            properties={"delta.enableDeletionVectors": "true"},
            constraints={"positive": "id > 0"},
        )
    )
    assert by_name["deletionVectors"].needed_by == (("property", "delta.enableDeletionVectors"),)
    assert by_name["timestampNtz"].needed_by == (("column", "at"),)
    assert by_name["checkConstraints"].needed_by == (("constraint", "positive"),)


def test_clustering_needs_a_feature_that_needs_another() -> None:
    by_name = uses(table("clustering", "domainMetadata", clustered_by=(("id",),)))
    assert by_name["clustering"].needed_by == (("clustering", "id"),)
    assert by_name["domainMetadata"].needed_by == (("feature", "clustering"),)


def test_recorded_type_changes_need_the_feature_after_the_property_is_gone() -> None:
    widened = Field("id", LONG, type_changes=(RecordedChange(INTEGER, LONG),))
    assert uses(table("typeWidening", fields=(widened,)))["typeWidening"].needed_by == (("column", "id"),)
    assert uses(table("typeWidening"))["typeWidening"].is_idle


def test_a_preview_feature_counts_as_its_stable_feature() -> None:
    by_name = uses(table("typeWidening-preview", properties={"delta.enableTypeWidening": "true"}))
    assert list(by_name) == ["typeWidening-preview"]
    assert by_name["typeWidening-preview"].needed_by == (("property", "delta.enableTypeWidening"),)
    assert by_name["typeWidening-preview"].is_preview


def test_a_needed_but_unsupported_feature_is_listed() -> None:
    by_name = uses(table("appendOnly", fields=(Field("at", TIMESTAMP_NTZ),)))
    assert not by_name["timestampNtz"].supported
    assert not by_name["timestampNtz"].is_idle


def test_features_that_act_by_themselves_or_are_unknown_are_never_idle() -> None:
    by_name = uses(table("vacuumProtocolCheck", "someday"))
    assert not by_name["vacuumProtocolCheck"].is_idle
    assert not by_name["someday"].is_idle
    assert not by_name["someday"].is_known
    assert by_name["someday"].binds_readers


def test_unused_features_of_a_legacy_version_are_idle() -> None:
    summary = summary_of("sales.orders", table(protocol=Protocol(1, 4)))
    assert summary.idle == ("changeDataFeed", "checkConstraints", "generatedColumns")
    assert summary.versions == (1, 4)


def test_an_inventory_counts_tables() -> None:
    tables = [table("typeWidening-preview"), table("typeWidening-preview", "rowTracking", "domainMetadata")]
    inventory = Inventory(tuple(summary_of(str(number), live) for number, live in enumerate(tables)))
    assert inventory.idle == (("typeWidening-preview", 2), ("domainMetadata", 1), ("rowTracking", 1))
    assert inventory.preview == (("typeWidening-preview", 2),)
    assert inventory.versions == (((3, 7), 2),)
