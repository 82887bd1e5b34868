"""A stand-in for GitHub's API of comments, over HTTP: pages, permissions, limits, faults, a moving head."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "acme/contracts"
TOKEN = "ghs-of-the-job"  # noqa: S105 (made up)
BOT, STRANGER = 41898282, 7
LONGEST = 65_536
"""The most characters of a comment."""

Answer = tuple[int, dict[str, str], object]


@dataclass
class GitHubServer:
    """One repository with one pull request.

    Attributes:
        head: The commit at the pull request's head.
        comments: The comments, the oldest first.
        may_write: Whether the token has the permission ``pull-requests: write``.
        faults: Answers to the next requests, by a part of ``METHOD path``; each is given once.
        per_page: The most comments on a page, whatever the client asks for.
        link_host: The host that the links to the next page name; empty: this server.
    """

    head: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    may_write: bool = True
    faults: list[tuple[str, Answer]] = field(default_factory=list)
    per_page: int = 100
    link_host: str = ""
    on_request: Callable[[str], None] = lambda _request: None
    address: str = ""
    requests: list[str] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        """The variables of a job in this repository."""
        return {
            "GITHUB_API_URL": self.address,
            "GITHUB_GRAPHQL_URL": f"{self.address}/graphql",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "4711",
            "GITHUB_SERVER_URL": "https://github.example.com",
        }

    def comment(self, body: str, author: int = BOT) -> dict[str, Any]:
        """Add a comment."""
        number = 1000 + len(self.comments)
        address = f"https://github.example.com/{REPOSITORY}/pull/1#issuecomment-{number}"
        made = {"id": number, "user": {"id": author}, "body": body, "html_url": address}
        self.comments.append(made)
        return made

    def answer(self, method: str, target: str, authorization: str, body: Any) -> Answer:  # noqa: ANN401 (JSON)
        """Answer a request."""
        request = f"{method} {target}"
        self.requests.append(request)
        self.on_request(request)
        for number, (part, fault) in enumerate(self.faults):
            if part in request:
                del self.faults[number]
                return fault
        if authorization != f"Bearer {TOKEN}":
            return 401, {}, {"message": "Bad credentials"}
        url = urlsplit(target)
        path = url.path.removeprefix(f"/repos/{REPOSITORY}")
        match method, path:
            case "POST", "/graphql":
                assert body == {"query": "{ viewer { databaseId } }"}
                return 200, {}, {"data": {"viewer": {"databaseId": BOT}}}
            case "GET", "/pulls/1":
                return 200, {}, {"number": 1, "head": {"sha": self.head}}
            case "GET", "/issues/1/comments":
                return self._page(url.path, parse_qs(url.query))
            case "POST" | "PATCH", _ if not self.may_write:
                return 403, {}, {"message": "Resource not accessible by integration"}
            case "POST" | "PATCH", _ if len(body["body"]) > LONGEST:
                return 422, {}, {"message": "Body is too long"}
            case "POST", "/issues/1/comments":
                return 201, {}, self.comment(body["body"])
            case "PATCH", _ if match := re.fullmatch(r"/issues/comments/(\d+)", path):
                for comment in self.comments:
                    if comment["id"] == int(match[1]):
                        comment["body"] = body["body"]
                        return 200, {}, comment
        return 404, {}, {"message": "Not Found"}

    def _page(self, path: str, query: dict[str, list[str]]) -> Answer:
        size = min(int(query["per_page"][0]), self.per_page)
        page = int(query["page"][0])
        end = page * size
        host = self.link_host or self.address
        links = [f'<{host}{path}?page={page - 1}>; rel="prev"'] if page > 1 else []
        if end < len(self.comments):
            links.append(f'<{host}{path}?page={page + 1}>; rel="next"')
        return 200, {"Link": ", ".join(links)} if links else {}, self.comments[end - size : end]

    @contextmanager
    def serving(self) -> Iterator[GitHubServer]:
        """Answer requests in a thread."""
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(length)) if length else None
                token = self.headers.get("Authorization", "")
                status, headers, content = stand_in.answer(self.command, self.path, token, body)
                data = json.dumps(content).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_PATCH = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.address = f"http://127.0.0.1:{server.server_port}"
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            yield self
            server.shutdown()
