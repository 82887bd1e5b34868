"""The attempts of a run whose statements lose against commits of other writers."""

from __future__ import annotations

import time
from typing import Final

ATTEMPTS: Final = 6

_FIRST_PAUSE_SECONDS: Final = 0.1


def pause(attempt: int) -> None:
    """Wait before the next attempt, each time twice as long.

    Args:
        attempt: The number of the attempt that lost; the first one has 1.
    """
    time.sleep(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
