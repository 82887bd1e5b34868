"""Tests that need a tool: without it they skip, or fail where every test is asked for."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def skip_or_fail(reason: str) -> NoReturn:
    """Skip the test; fail it under ``SCHEMALINT_TEST_ALL=1``."""
    if os.environ.get("SCHEMALINT_TEST_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
