"""The files of streams in object stores: a listing has pages, and only the newest files are fetched."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from schemalint.base.errors import LiveError
from schemalint.model.consumer import Stream
from schemalint.tables.storage import open_folder
from schemalint.tables.streaming.stream_checkpoint import read_stream
from support.checkpoints import TABLE_ID, entry, offset, offsets
from support.servers import CREDENTIALS

BATCHES = 20_000
PAGE = 1_000
CHECKPOINT = "s3://chk/orders"
FILES = {
    f"orders/offsets/{BATCHES - 1}": offsets(offset(9)),
    f"orders/offsets/{BATCHES - 2}": offsets(offset(8)),
    f"orders/commits/{BATCHES - 1}": "v1\n{}",
    f"orders/s/_schema_log_{TABLE_ID}/0": entry(5, path=f"{CHECKPOINT.replace('s3', 's3a')}/sources/0"),
}
NUMBERED = sorted(str(number) for number in range(BATCHES))


class Store(BaseHTTPRequestHandler):
    """S3 with a checkpoint of so many batches; it counts its requests."""

    requests: ClassVar[Counter[str]] = Counter()

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        key = unquote(address.path).removeprefix("/chk").lstrip("/")
        if key:
            self.requests[key] += 1
            self._answer(FILES.get(key))
            return
        query = parse_qs(address.query)
        prefix = query["prefix"][0]
        self.requests[f"list {prefix}"] += 1
        start = int(query.get("continuation-token", ["0"])[0])
        numbered = prefix in ("orders/offsets/", "orders/commits/")
        below = NUMBERED if numbered else [name[len(prefix) :] for name in FILES if name.startswith(prefix)]
        folders = {name.partition("/")[0] for name in below if "/" in name}
        names = [name for name in below if "/" not in name]
        more = start + PAGE < len(names)
        contents = "".join(
            f"<Contents><Key>{prefix}{name}</Key><LastModified>2026-11-22T10:00:00.000Z</LastModified>"
            f"<ETag>x</ETag><Size>10</Size></Contents>"
            for name in names[start : start + PAGE]
        )
        folded = "".join(
            f"<CommonPrefixes><Prefix>{prefix}{name}/</Prefix></CommonPrefixes>" for name in folders
        )
        token = f"<NextContinuationToken>{start + PAGE}</NextContinuationToken>" if more else ""
        self._answer(
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{contents}{folded}{token}"
            "</ListBucketResult>"
        )

    def _answer(self, text: str | None) -> None:
        data = (text or "<Error><Code>NoSuchKey</Code></Error>").encode()
        self.send_response(404 if text is None else 200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Last-Modified", "Sun, 22 Nov 2026 10:00:00 GMT")
        self.send_header("ETag", '"x"')
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def storage() -> Iterator[dict[str, str]]:
    Store.requests.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Store) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        endpoint = f"http://127.0.0.1:{server.server_port}"
        yield {"endpoint": endpoint, "allow_http": "true", "region": "us-east-1", **CREDENTIALS}
        server.shutdown()


def test_a_checkpoint_of_many_pages_is_read_by_its_newest_files(storage: dict[str, str]) -> None:
    store = open_folder(CHECKPOINT, ["s3a://chk"], storage)
    assert store is not None
    stream = Stream(CHECKPOINT, f"{CHECKPOINT}/s", checkpoint_scheme="s3a")
    progress = read_stream(store, stream, TABLE_ID)
    assert (progress.unknown, progress.defects, progress.last_version) == (None, (), 8)
    assert progress.current is not None
    assert (progress.current.version, progress.next_version) == (5, 6)
    pages = -(-BATCHES // PAGE)
    assert Store.requests == {
        "list orders/offsets/": pages,
        "list orders/commits/": pages,
        "list orders/s/": 1,
        f"list orders/s/_schema_log_{TABLE_ID}/": 1,
        **dict.fromkeys(FILES, 1),
    }


@pytest.mark.parametrize(
    "root", ["s3://chk/ord", "s3://other/orders", "gs://chk/orders", "/chk/orders", "s3://chk/orders/x"]
)
def test_a_checkpoint_that_is_not_below_a_root_gets_no_request(storage: dict[str, str], root: str) -> None:
    assert open_folder(CHECKPOINT, [root], storage) is None
    assert not Store.requests


def test_a_missing_checkpoint_is_unknown(storage: dict[str, str]) -> None:
    store = open_folder("s3://chk/nothing", ["s3://chk"], storage)
    assert store is not None
    assert "there is no checkpoint in s3://chk/nothing" in str(
        read_stream(store, Stream("s3://chk/nothing"), TABLE_ID).unknown
    )


def test_a_store_that_does_not_answer_is_unknown() -> None:
    gone = {"endpoint": "http://127.0.0.1:9", "allow_http": "true", "region": "x", **CREDENTIALS}
    store = open_folder(CHECKPOINT, ["s3://chk"], gone)
    assert store is not None
    with pytest.raises(LiveError):
        store.read("metadata")
    progress = read_stream(store, Stream(CHECKPOINT), TABLE_ID)
    assert progress.unknown is not None
    assert CREDENTIALS["secret_access_key"] not in progress.unknown
