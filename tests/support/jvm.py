"""The JVMs of the tests: their options, and the jars that Spark fetches for them."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from support.installing import CACHE

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONS: Final = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m"
    " -Djdk.lang.Process.launchMechanism=VFORK"
)
"""The cheap compiler and collector start seconds sooner, and leave a core to the other tests.

With this compiler alone a JVM keeps 48 MiB of compiled code. A session of many tests fills that in minutes,
and would then throw code away and compile it again.
"""


@contextmanager
def one_fetches_jars() -> Iterator[None]:
    """Let no other process of the tests fetch jars meanwhile: two that fill Ivy's cache at once fail."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "jars.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
