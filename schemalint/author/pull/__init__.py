"""Create and update contracts from live tables."""

from schemalint.author.pull.files import require_contract_name
from schemalint.author.pull.pulling import pull
from schemalint.author.pull.request import (
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
