"""A remote file reads like a local one, with few requests."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from schemalint.tables.storage.kinds.object_store.object_store_log import RangedFile

KIB = 1 << 10
CONTENT = b"".join(number.to_bytes(4, "big") for number in range(600 * KIB))
SIZES = st.integers(0, 700 * KIB)


class Requested(io.BufferedReader):
    """The content as a remote file, and the ranges that were requested."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []
        super().__init__(RangedFile(self._range, len(CONTENT)))

    def _range(self, begin: int, end: int) -> bytes:
        self.ranges.append((begin, end))
        return CONTENT[begin:end]


@given(st.lists(st.tuples(st.integers(0, len(CONTENT) + KIB), SIZES), max_size=6))
def test_the_bytes_are_those_of_the_file(reads: list[tuple[int, int]]) -> None:
    local, remote = io.BytesIO(CONTENT), Requested()
    for position, size in reads:
        for file in (local, remote):
            file.seek(position)
        assert remote.read(size) == local.read(size)
        assert remote.tell() == local.tell()


def test_the_end_is_requested_once() -> None:
    remote = Requested()
    for distance in (8, 64 * KIB, 8, 16 * KIB, 200 * KIB):
        remote.seek(-distance, io.SEEK_END)
        assert remote.read(distance) == CONTENT[-distance:]
    assert remote.ranges == [(len(CONTENT) - 256 * KIB, len(CONTENT))]


def test_a_large_read_is_one_request() -> None:
    remote = Requested()
    assert remote.read(1000 * KIB) == CONTENT[: 1000 * KIB]
    assert remote.ranges[0] == (0, 1000 * KIB)
    assert len(remote.ranges) == 1


def test_the_newest_blocks_are_kept_and_no_others() -> None:
    remote = Requested()
    for distance in (1, 300 * KIB, 1, 300 * KIB):
        remote.seek(-distance, io.SEEK_END)
        remote.read(1)
    assert len(remote.ranges) == 2
    for begin in range(0, len(CONTENT), 256 * KIB):
        remote.seek(begin)
        remote.read(1)
    remote.seek(-300 * KIB, io.SEEK_END)
    requested = len(remote.ranges)
    remote.seek(0)
    remote.read(1)
    assert len(remote.ranges) == requested + 1
