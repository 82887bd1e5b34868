"""Stores without a connection a moment ago: the tables that are opened next need not wait for that again.

Over a network that drops packets, a request takes 20 seconds with all its attempts: a run over hundreds of
tables would take minutes to say the same of each.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from schemalint.base.errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS: Final = 60.0
"""How long a store counts as unreachable after a request, unless another one was answered since."""


class StoreUnreachable(LiveError):  # noqa: N818 (what happened)
    """There was no connection to a store, after all attempts.

    Attributes:
        reason: The message without the URI of the table.
    """

    def __init__(self, uri: str, reason: str, *, help: str) -> None:  # noqa: A002
        super().__init__(f"{uri}: {reason}", help=help)
        self.reason = reason


_failed: Final[dict[str, tuple[float, StoreUnreachable]]] = {}


def require_reachable(store: str, uri: str) -> None:
    """Raise the error of another table of the store, if it is recent.

    Raises:
        StoreUnreachable: No request was answered since.
    """
    at, error = _failed.get(store, (0.0, None))
    if error is not None and time.monotonic() - at < SECONDS:
        raise StoreUnreachable(uri, error.reason, help=error.help)


@contextmanager
def watched(store: str) -> Iterator[None]:
    """Remember whether the requests of the block reach the store."""
    try:
        yield
    except StoreUnreachable as error:
        _failed[store] = time.monotonic(), error
        raise
    except Exception:  # an answer too
        _failed.pop(store, None)
        raise
    _failed.pop(store, None)
