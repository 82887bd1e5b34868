"""The effective contract of a target."""

from __future__ import annotations

from schemalint.contract import read
from schemalint.model.consumer import Consumer
from schemalint.model.contract import ProtocolLimits
from schemalint.model.effective import Environment, effective

TEXT = """
schemalint: 1
table: t
location: shared
columns: []
properties: {a: shared, b: shared, c: shared}
features: [appendOnly]
protocol: {max_reader: 1}
consumers: [dashboards, {name: shared}, {name: both, client: trino}]
targets:
  all: {location: own, absent: true, properties: {b: own, c: null, d: own}, features: [invariants],
        protocol: {max_writer: 7}, consumers: [nightly, {name: both, client: spark}, {name: own}]}
  none: {}
  no_consumers: {consumers: []}
"""
(CONTRACT,) = read("f.yml", TEXT).contracts


def test_an_overlay_adds_to_properties_and_features_and_replaces_the_rest() -> None:
    contract = effective(CONTRACT, Environment("all"))

    assert contract.location == "own"
    assert contract.absent
    assert contract.state.properties == {"a": "shared", "b": "own", "c": None, "d": "own"}
    assert contract.state.features == {"appendOnly", "invariants"}
    assert contract.protocol == ProtocolLimits(max_writer=7)
    assert contract.consumers == (Consumer("shared"), Consumer("both", "spark"), Consumer("own"))
    assert contract.named_consumers == ("dashboards", "nightly")
    assert contract.table == "t"


def test_an_empty_or_missing_overlay_changes_nothing() -> None:
    assert effective(CONTRACT, Environment("none")) == CONTRACT
    assert effective(CONTRACT, Environment("elsewhere")) == CONTRACT
    assert effective(CONTRACT, Environment(None)) == CONTRACT


def test_an_overlay_removes_no_consumer() -> None:
    assert effective(CONTRACT, Environment("no_consumers")).consumers == CONTRACT.consumers


def test_targets_are_listed_in_file_order() -> None:
    assert tuple(CONTRACT.targets) == ("all", "none", "no_consumers")
