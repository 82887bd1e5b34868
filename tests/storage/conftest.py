"""An S3 of moto's, shared by the tests of a worker; each test has a bucket of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from support.servers import Bucket, s3_server, send


@pytest.fixture(autouse=True)
def _no_credentials_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def bucket(s3: str) -> Bucket:
    new = Bucket(s3)
    send(f"{s3}/{new.name}")
    return new
