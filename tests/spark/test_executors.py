"""A task of `audit --via spark` reads its tables side by side where requests can overlap."""

from __future__ import annotations

import threading

import pytest

from schemalint.spark.executors import lines_of


@pytest.mark.parametrize("number", [1, 4, 16])
def test_the_remote_tables_of_a_task_wait_together(number: int) -> None:
    together = threading.Barrier(number)

    def read(reference: str, version: int) -> str:
        together.wait(30)
        return f"{reference}@{version}"

    rows = [(f"s3://lake/t{version}", version) for version in range(number)]
    assert lines_of(read, rows) == [f"s3://lake/t{version}@{version}" for version in range(number)]


def test_local_tables_need_no_threads() -> None:
    found = lines_of(lambda _reference: threading.current_thread().name, [("/lake/a",), ("/lake/b",)])
    assert set(found) == {threading.current_thread().name}
