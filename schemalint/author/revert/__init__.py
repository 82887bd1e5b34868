"""Edit a contract so that it returns to an older revision."""

from schemalint.author.revert.reverting import Reverted, revert

__all__ = ["Reverted", "revert"]
