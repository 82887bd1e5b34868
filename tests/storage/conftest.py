"""moto's S3 server, one per test worker; each test has its own bucket."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.servers import Bucket, s3_server, send_put


@pytest.fixture(scope="session")
def seen_requests() -> list[str]:
    """The requests of all tests to the server."""
    return []


@pytest.fixture(scope="session")
def s3(seen_requests: list[str]) -> Iterator[str]:
    """The address of the server."""
    with s3_server(seen_requests) as address:
        yield address


@pytest.fixture
def bucket(s3: str) -> Bucket:
    """An empty bucket."""
    new = Bucket(s3)
    send_put(f"{s3}/{new.name}")
    return new
