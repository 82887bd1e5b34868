"""Tools that tests install into a cache: once for all runs, and tried once in a run."""

from __future__ import annotations

import fcntl
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final

from support.skipping import skip_or_fail

if TYPE_CHECKING:
    from collections.abc import Callable

CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "schemalint-tests"
_RUN: Final = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
"""The workers of pytest-xdist are one run."""


def install_once(place: Path, install: Callable[[], str]) -> None:
    """Install something, unless it is there; the test skips or fails where it cannot be installed.

    Other workers wait meanwhile. Behind a proxy an attempt takes up to a minute, so after a failure the run
    makes no other one.

    Args:
        place: The file or folder that `install` makes.
        install: Makes it whole, or returns why it cannot.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    failure = place.with_name(f"{place.name}.failure")
    with place.with_name(f"{place.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.exists():
            return
        run, _, reason = failure.read_text("utf-8").partition("\n") if failure.exists() else ("", "", "")
        if run != _RUN:
            reason = install()
            if reason:
                failure.write_text(f"{_RUN}\n{reason}", "utf-8")
            else:
                failure.unlink(missing_ok=True)
    if reason:
        skip_or_fail(reason)
