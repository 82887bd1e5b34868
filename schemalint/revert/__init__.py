"""An older revision of a contract -> the edit that leads back to it."""

from schemalint.revert.reverting import Reverted, revert

__all__ = ["Reverted", "revert"]
