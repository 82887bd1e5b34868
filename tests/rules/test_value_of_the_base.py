"""An invalid property value that the base has too is an existing finding; a different one is new."""

from __future__ import annotations

import pytest

from support.rule_judging import built_in, findings

TEXT = (
    "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: order_id, type: bigint}\n"
    "properties: {delta.checkpointInterval: VALUE}\n"
)


@pytest.mark.parametrize(("value", "existing"), [("x", True), ("y", False)])
def test_only_the_same_invalid_value_is_an_existing_finding(value: str, *, existing: bool) -> None:
    texts = {"before": TEXT.replace("VALUE", "x"), "after": TEXT.replace("VALUE", value)}
    (finding,) = findings(built_in()["property-invalid-value"], texts)
    assert finding.existing == existing
