"""The effects of a step that its change alone tells."""

from __future__ import annotations

import pytest

from schemalint.delta.change import PropertyChanged
from schemalint.delta.datatype import UNMANAGED
from schemalint.model.impact import risks
from schemalint.model.plan import Step, StepKind

FEED = "delta.enableChangeDataFeed"


@pytest.mark.parametrize(
    ("key", "old", "new", "is_risk"),
    [
        (FEED, "true", "false", True),
        (FEED, "TRUE", None, True),
        (FEED, "true", "TRUE", False),
        (FEED, "false", None, False),
        (FEED, UNMANAGED, "false", False),
        ("delta.appendOnly", "true", "false", False),
    ],
)
def test_feed_that_is_turned_off_is_a_risk(key: str, old: str, new: str | None, *, is_risk: bool) -> None:
    step = Step(StepKind.SET_PROPERTIES, "", (PropertyChanged(key, old, new),), ())
    assert any("change data feed" in risk for risk in risks(step)) is is_risk
    assert not any("change data feed" in risk for risk in risks(step, creates=True))
