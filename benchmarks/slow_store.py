"""An S3 store that answers each request late: the time of a run divided by the wait is its rounds.

    python -m benchmarks.slow_store FOLDER [--latency 0.05]

Serves the table in a folder under the names ``s3://lake/db/table_0`` and so on, as many as anybody asks for.
Prints its address, and at the end of its standard input the connections and requests, and the largest number
of requests at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from asyncio import StreamReader, StreamWriter
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

BUCKET: Final = "lake"
_SCHEMA: Final = "db"
_TABLE: Final = re.compile(rf"{_SCHEMA}/table_\d+/")


def main() -> None:
    """Serve until the end of the standard input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--tables", type=int, default=1_000)
    options = parser.parse_args()
    asyncio.run(Store(options.folder, options.tables, options.latency).serve())


class Store:
    """The table, and what was asked of it."""

    def __init__(self, table: Path, tables: int, latency: float) -> None:
        self._files = {
            file.relative_to(table).as_posix(): file.read_bytes()
            for file in sorted(table.rglob("*"))
            if file.is_file()
        }
        self._tables = tables
        self._latency = latency
        self._connections = self._requests = self._now = self._most = 0

    async def serve(self) -> None:
        """Serve until the end of the standard input."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1_000)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        print(self._connections, self._requests, self._most)

    async def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._connections += 1
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                self._requests += 1
                self._now += 1
                self._most = max(self._most, self._now)
                await asyncio.sleep(self._latency)
                self._now -= 1
                status, content = self._answer(head.split()[1], head.lower())
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n"
                    f'Last-Modified: Mon, 23 Nov 2026 00:00:00 GMT\r\nETag: "1"\r\n'.encode()
                    + (b"\r\n" if head.startswith("HEAD") else b"\r\n" + content)
                )
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _answer(self, target: str, head: str) -> tuple[str, bytes]:
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        if query.get("list-type") == "2":
            return "200 OK", self._listing(query)
        content = self._files.get(_file(unquote(url.path).removeprefix(f"/{BUCKET}/")))
        if content is None:
            return "404 Not Found", b"<Error><Code>NoSuchKey</Code></Error>"
        if found := re.search(r"\nrange: bytes=(\d+)-(\d+)", head):
            first, last = int(found[1]), int(found[2])
            part = content[first : last + 1]
            return (
                f"206 Partial Content\r\nContent-Range: bytes {first}-{first + len(part) - 1}/{len(content)}",
                part,
            )
        return "200 OK", content

    def _listing(self, query: dict[str, str]) -> bytes:
        prefix, after = query.get("prefix", ""), query.get("start-after", "")
        tables = [prefix.rpartition("_delta_log/")[0]] if "_delta_log" in prefix else self._folders(prefix)
        keys = (f"{table}{file}" for table in tables for file in self._files)
        names = sorted(key for key in keys if key.startswith(prefix) and key > after)
        folders: set[str] = set()
        if query.get("delimiter"):
            below = {name: name[len(prefix) :].partition("/") for name in names}
            folders = {f"{prefix}{first}/" for first, slash, _ in below.values() if slash}
            names = [name for name in names if not below[name][1]]
        modified = datetime(2026, 11, 23, tzinfo=UTC).isoformat().replace("+00:00", ".000Z")
        files = "".join(
            f"<Contents><Key>{name}</Key><LastModified>{modified}</LastModified><ETag>1</ETag>"
            f"<Size>{len(self._files[_file(name)])}</Size></Contents>"
            for name in names
        )
        common = "".join(
            f"<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>" for name in sorted(folders)
        )
        return (
            f'<?xml version="1.0"?><ListBucketResult><Name>{BUCKET}</Name><Prefix>{prefix}</Prefix>'
            f"<IsTruncated>false</IsTruncated>{files}{common}</ListBucketResult>"
        ).encode()

    def _folders(self, prefix: str) -> list[str]:
        """Return the tables at or below a prefix."""
        if found := _TABLE.match(prefix):
            return [found[0]]
        return [f"{_SCHEMA}/table_{number}/" for number in range(self._tables)]


def _file(key: str) -> str:
    """Return the path of a file in its table."""
    return _TABLE.sub("", key, count=1)


if __name__ == "__main__":
    main()
