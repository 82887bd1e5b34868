"""The codes of built-in rules that other code names.

A plan compares more revisions than a check, so it finds the problems of all but the last without the rule.
"""

from __future__ import annotations

from typing import Final

TABLE_REMOVED: Final = "CT001"
DUPLICATE_TABLE: Final = "CT002"
PROTOCOL_UPGRADE: Final = "PF004"
DRIFT_SCHEMA: Final = "DR001"
CASE_COLLISION: Final = "CM007"
UNDECLARED_DROP: Final = "CM003"
SETTING_LOOSENED: Final = "CF001"
FIRST_CONFIGURATION: Final = "CF002"
EXCEPTION_EXPIRED: Final = "CT004"
EXCEPTION_UNUSED: Final = "CT005"
EXCEPTION_EXPIRES_SOON: Final = "CT011"
EXCEPTION_WITHOUT_EFFECT: Final = "CT012"

_OF_GATE: Final = "a setting of the gate is no exception"
_OF_EXCEPTION: Final = "a finding about an exception needs no exception"
NEVER_APPROVED: Final = {
    PROTOCOL_UPGRADE: "an upgrade needs protocol.allow_upgrade in the contract, or an approved plan",
    SETTING_LOOSENED: _OF_GATE,
    FIRST_CONFIGURATION: _OF_GATE,
    EXCEPTION_EXPIRED: _OF_EXCEPTION,
    EXCEPTION_UNUSED: _OF_EXCEPTION,
    EXCEPTION_EXPIRES_SOON: _OF_EXCEPTION,
    EXCEPTION_WITHOUT_EFFECT: _OF_EXCEPTION,
}
"""The rules whose findings no exception approves, with the reason."""
