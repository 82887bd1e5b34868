"""Create and update contracts from live tables."""

from schemalint.pull.files import require_contract_name
from schemalint.pull.pulling import pull
from schemalint.pull.request import (
    NotPulled,
    Pulled,
    PullInput,
    declared_contracts,
    find,
    unseen,
)

__all__ = [
    "NotPulled",
    "PullInput",
    "Pulled",
    "declared_contracts",
    "find",
    "pull",
    "require_contract_name",
    "unseen",
]
