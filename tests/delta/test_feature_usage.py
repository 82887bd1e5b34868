"""Which features of a table are needed, and by what."""

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
    found = uses(
        table(
            "deletionVectors",
            "timestampNtz",
            "checkConstraints",
            fields=(ID, Field("at", TIMESTAMP_NTZ)),
            properties={"delta.enableDeletionVectors": "true"},
            constraints={"positive": "id > 0"},
        )
    )
    assert found["deletionVectors"].needed_by == (("property", "delta.enableDeletionVectors"),)
    assert found["timestampNtz"].needed_by == (("column", "at"),)
    assert found["checkConstraints"].needed_by == (("constraint", "positive"),)


def test_clustering_needs_a_feature_that_needs_another() -> None:
    found = uses(table("clustering", "domainMetadata", clustered_by=(("id",),)))
    assert found["clustering"].needed_by == (("clustering", "id"),)
    assert found["domainMetadata"].needed_by == (("feature", "clustering"),)


def test_recorded_type_changes_need_the_feature_after_the_property_is_gone() -> None:
    widened = Field("id", LONG, type_changes=(RecordedChange(INTEGER, LONG),))
    assert uses(table("typeWidening", fields=(widened,)))["typeWidening"].needed_by == (("column", "id"),)
    assert uses(table("typeWidening"))["typeWidening"].is_idle


def test_a_preview_stands_in_for_its_feature() -> None:
    found = uses(table("typeWidening-preview", properties={"delta.enableTypeWidening": "true"}))
    assert list(found) == ["typeWidening-preview"]
    assert found["typeWidening-preview"].needed_by == (("property", "delta.enableTypeWidening"),)
    assert found["typeWidening-preview"].is_preview


def test_what_is_needed_and_not_supported_is_named() -> None:
    found = uses(table("appendOnly", fields=(Field("at", TIMESTAMP_NTZ),)))
    assert not found["timestampNtz"].supported
    assert not found["timestampNtz"].is_idle


def test_nothing_is_said_against_features_that_act_by_themselves_or_are_not_known() -> None:
    found = uses(table("vacuumProtocolCheck", "someday"))
    assert not found["vacuumProtocolCheck"].is_idle
    assert not found["someday"].is_idle
    assert not found["someday"].is_known
    assert found["someday"].binds_readers


def test_a_legacy_version_supports_what_nobody_uses() -> None:
    one = summary_of("sales.orders", table(protocol=Protocol(1, 4)))
    assert one.idle == ("changeDataFeed", "checkConstraints", "generatedColumns")
    assert one.versions == (1, 4)


def test_an_inventory_counts_tables() -> None:
    tables = [table("typeWidening-preview"), table("typeWidening-preview", "rowTracking", "domainMetadata")]
    inventory = Inventory(tuple(summary_of(str(number), one) for number, one in enumerate(tables)))
    assert inventory.idle == (("typeWidening-preview", 2), ("domainMetadata", 1), ("rowTracking", 1))
    assert inventory.preview == (("typeWidening-preview", 2),)
    assert inventory.versions == (((3, 7), 2),)
