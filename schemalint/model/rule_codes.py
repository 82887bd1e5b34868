"""The codes of built-in rules that other code names.

A plan compares more revisions than a check, so it finds the problems of all but the last without the rule.
"""

from __future__ import annotations

from typing import Final

TABLE_REMOVED: Final = "CT001"
DUPLICATE_TABLE: Final = "CT002"
DRIFT_SCHEMA: Final = "DR001"
CASE_COLLISION: Final = "CM007"
SETTING_LOOSENED: Final = "CF001"
FIRST_CONFIGURATION: Final = "CF002"
