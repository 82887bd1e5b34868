"""Contracts written, or brought up to date, from live tables."""

from schemalint.pull.pulling import pull
from schemalint.pull.request import (
    NotPulled,
    Pulled,
    PullInput,
    declared_contracts,
    find,
)

__all__ = ["NotPulled", "PullInput", "Pulled", "declared_contracts", "find", "pull"]
