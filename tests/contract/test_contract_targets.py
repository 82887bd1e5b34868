"""What is effective for a target."""

from __future__ import annotations

from schemalint.contract import effective, read, targets_of
from schemalint.model.contract import Consumer, ProtocolLimits

TEXT = """
schemalint: 1
table: t
location: shared
columns: []
properties: {a: shared, b: shared, c: shared}
features: [appendOnly]
protocol: {max_reader: 1}
consumers: [{name: shared}]
targets:
  all: {location: own, absent: true, properties: {b: own, c: null, d: own}, features: [invariants],
        protocol: {max_writer: 7}, consumers: [{name: own}]}
  none: {}
  nobody: {consumers: []}
"""
(CONTRACT,) = read("f.yml", TEXT).contracts


def test_an_overlay_adds_to_properties_and_features_and_replaces_the_rest() -> None:
    contract = effective(CONTRACT, "all")

    assert contract.location == "own"
    assert contract.absent
    assert contract.state.properties == {"a": "shared", "b": "own", "c": None, "d": "own"}
    assert contract.state.features == {"appendOnly", "invariants"}
    assert contract.protocol == ProtocolLimits(max_writer=7)
    assert contract.consumers == (Consumer("own"),)
    assert contract.table == "t"


def test_an_overlay_that_says_nothing_changes_nothing() -> None:
    assert effective(CONTRACT, "none") == CONTRACT
    assert effective(CONTRACT, "elsewhere") == CONTRACT
    assert effective(CONTRACT, None) == CONTRACT


def test_an_overlay_can_take_all_consumers_away() -> None:
    assert effective(CONTRACT, "nobody").consumers == ()


def test_targets_are_named_in_order() -> None:
    assert targets_of(CONTRACT) == ("all", "none", "nobody")
