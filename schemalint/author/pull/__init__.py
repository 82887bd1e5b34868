"""Create and update contracts from live tables."""

from schemalint.author.pull.contract_files import require_contract_name
from schemalint.author.pull.pull_input import (
    NotPulled,
    Pulled,
    PullInput,
    declared_contracts,
    find,
    unseen,
)
from schemalint.author.pull.run import pull

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
