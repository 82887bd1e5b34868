"""A Unity Catalog server on loopback that follows the published API descriptions.

Like the real server (0.6.0), it stores what clients register and reads no Delta log.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from schemalint.delta.datatype import Struct
from schemalint.delta.schema_json import parse_schema, print_schema
from support.openapi_checks import operation

BASE = "/api/2.1/unity-catalog"
Json = dict[str, Any]
Answer = tuple[int, Json]

BUCKET = {"s3.access-key-id": "of the whole bucket"}
LOAD_TABLE = "GET /v1/catalogs/{catalog}/schemas/{schema}/tables/{table}"
UPDATE_TABLE = "POST /v1/catalogs/{catalog}/schemas/{schema}/tables/{table}"
STAGE_TABLE = "POST /v1/catalogs/{catalog}/schemas/{schema}/staging-tables"


@dataclass
class Table:
    """A registered table.

    Attributes:
        staged: The commits that are not published to the log yet.
        prefix: The URI prefix that the credentials open, by default the location.
    """

    location: str
    columns: Struct = field(default_factory=Struct)
    properties: dict[str, str] = field(default_factory=dict)
    table_id: str = "7d9a1f5e-0000-4000-8000-000000000001"
    format: str = "DELTA"
    staged: list[Json] = field(default_factory=list)
    latest: int | None = None
    credentials: Json = field(default_factory=dict)
    prefix: str | None = None
    partitions: list[str] = field(default_factory=list)


@dataclass
class Request:
    """A request that the server received."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    authorization: str | None


@dataclass
class UnityServer:
    """The server's state, which tests change, and the requests that it received.

    Attributes:
        has_delta_api: Whether the server has the Delta API.
        may_stage: Whether the client may stage tables, which writes.
        may_update: Whether the client may update a table's entry, which writes.
        staged: The protocol and properties in the answer to staging a table; the example in the description
            has those of the real server.
        fault: Return a raw answer (status, headers, body) for a path, or None for the regular answer.
    """

    tables: dict[str, Table] = field(default_factory=dict)
    schemas: set[str] = field(default_factory=lambda: {"main.sales"})
    has_delta_api: bool = True
    may_stage: bool = False
    may_update: bool = False
    staged: Json = field(
        default_factory=lambda: _example("POST", "/delta/v1/catalogs/c/schemas/s/staging-tables")
    )
    token: str | None = "secret-token"  # noqa: S105
    page: int = 2
    fault: Callable[[str], tuple[int, Mapping[str, str], bytes] | None] = lambda _path: None
    requests: list[Request] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    uri: str = ""

    @property
    def request_lines(self) -> list[str]:
        """The requests as ``METHOD /path``."""
        return [f"{request.method} {request.path}" for request in self.requests]

    def answer(self, request: Request) -> Answer:
        """Answer a request; check both against the API description."""
        if request.path.startswith("/delta/v1/") and not self.has_delta_api:
            return 404, {}
        described = operation(request.method, request.path)
        if described is None:
            self.problems.append(f"{request.method} {request.path} is not described")
            return 405, {}
        self.problems += described.problems_of_request(request.query, request.body)
        status, body = self._answer(request)
        self.problems += described.problems_of_answer(status, body)
        return status, body

    def _answer(self, request: Request) -> Answer:
        if self.token is not None and request.authorization != f"Bearer {self.token}":
            return _error(request, 401, "UNAUTHENTICATED", "NotAuthorizedException", "no valid token")
        match request.path.strip("/").split("/"):
            case ["delta", "v1", "config"]:
                return 200, {"endpoints": [LOAD_TABLE, STAGE_TABLE, UPDATE_TABLE], "protocol-version": "1.0"}
            case ["delta", "v1", "catalogs", catalog, "schemas", schema, "staging-tables"]:
                if f"{catalog}.{schema}.{request.body['name']}" in self.tables:
                    return _error(request, 409, "", "AlreadyExistsException", "the table exists")
                return 200, self.staged
            case ["delta", "v1", "catalogs", catalog, "schemas", schema, "tables", table, *rest]:
                return self._delta(request, f"{catalog}.{schema}.{table}", bool(rest))
            case ["catalogs" | "schemas" | "tables" as kind]:
                return 200, self._page(kind, request.query)
            case ["catalogs" | "schemas" | "tables" as kind, name]:
                return self._object(request, kind, name)
            case ["temporary-table-credentials"]:
                table_of_id = self._by_id(request.body["table_id"])
                return 200, {**_NO_CREDENTIALS, **table_of_id.credentials, "url": table_of_id.location}
            case ["delta", "preview", "commits"]:
                return 200, self._commits(request.body)
        raise AssertionError(request.path)

    def _delta(self, request: Request, name: str, credentials: bool) -> Answer:  # noqa: FBT001
        if name not in self.tables:
            return _error(request, 404, "", "NoSuchTableException", f"{name} does not exist")
        table = self.tables[name]
        if table.format != "DELTA":
            return _error(request, 400, "", "UnsupportedTableFormatException", "use the other API")
        if request.method == "POST":
            return self._update(request, table)
        if credentials:
            bucket = {"prefix": "s3://bucket", "operation": "READ", "expiration-time-ms": 1}
            own = {**bucket, "prefix": table.prefix or table.location, "config": table.credentials}
            return 200, {"storage-credentials": [{**bucket, "config": BUCKET}, own]}
        metadata = {
            "etag": "e",
            "table-type": "MANAGED" if table.staged else "EXTERNAL",
            "table-uuid": table.table_id,
            "location": table.location,
            "created-time": 1,
            "updated-time": 1,
            "columns": _kebab(json.loads(print_schema(table.columns))),
            "partition-columns": table.partitions,
            "properties": table.properties,
        }
        staged = [{key.replace("_", "-"): value for key, value in commit.items()} for commit in table.staged]
        return 200, {"metadata": metadata, "commits": staged[::-1], "latest-table-version": table.latest}

    def _update(self, request: Request, table: Table) -> Answer:
        required = {entry["type"]: entry for entry in request.body["requirements"]}
        if required["assert-table-uuid"]["uuid"] != table.table_id or required["assert-etag"]["etag"] != "e":
            return _error(request, 409, "", "UpdateRequirementConflictException", "assert-etag failed")
        updates = {entry.pop("action"): entry for entry in request.body["updates"]}
        if "set-columns" in updates:
            table.columns = parse_schema(json.dumps(_spark(updates["set-columns"]["columns"])))
        table.partitions = updates.get("set-partition-columns", {}).get("partition-columns", table.partitions)
        table.properties |= updates.get("set-properties", {}).get("updates", {})
        for key in updates.get("remove-properties", {}).get("removals", ()):
            del table.properties[key]
        get = Request("GET", request.path, {}, None, request.authorization)
        return self._answer(get)

    def _object(self, request: Request, kind: str, name: str) -> Answer:
        if name not in self._names(kind):
            word = f"{kind.removesuffix('s').upper()}_NOT_FOUND"
            return _error(request, 404, word, "", f"{name} not found")
        return 200, self._info(kind, name)

    def _names(self, kind: str) -> list[str]:
        if kind == "tables":
            return list(self.tables)
        return sorted(
            {name.partition(".")[0] for name in self.schemas} if kind == "catalogs" else self.schemas
        )

    def _page(self, kind: str, query: Mapping[str, str]) -> Json:
        parent = ".".join(query[key] for key in ("catalog_name", "schema_name") if key in query)
        names = [name for name in self._names(kind) if name.startswith(f"{parent}." if parent else "")]
        start = int(query.get("page_token") or 0)
        page = [self._info(kind, name) for name in names[start : start + self.page]]
        # The last full page has a token too; the page after it is empty.
        return {kind: page, "next_page_token": str(start + self.page) if page else None}

    def _info(self, kind: str, name: str) -> Json:
        if kind == "catalogs":
            return {"name": name}
        catalog, *_, last = name.split(".")
        if kind == "schemas":
            return {"name": last, "catalog_name": catalog, "full_name": name}
        table = self.tables[name]
        return {
            "name": last,
            "catalog_name": catalog,
            "schema_name": name.split(".")[1],
            "table_type": "EXTERNAL",
            "data_source_format": table.format,
            "columns": [
                _column(position, field_)
                for position, field_ in enumerate(json.loads(print_schema(table.columns))["fields"])
            ][::-1],
            "storage_location": table.location,
            "properties": table.properties,
            "table_id": table.table_id,
        }

    def _by_id(self, table_id: str) -> Table:
        return next(table for table in self.tables.values() if table.table_id == table_id)

    def _commits(self, body: Json) -> Json:
        table = self._by_id(body["table_id"])
        commits = [commit for commit in table.staged if commit["version"] >= body["start_version"]]
        return {"commits": commits[: self.page], "latest_table_version": table.latest}


@contextmanager
def serving(state: UnityServer) -> Iterator[UnityServer]:
    """Run the server on a free port for the duration of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.uri = f"http://127.0.0.1:{server.server_port}{BASE}"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(state: UnityServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            parts = urlsplit(self.path)
            request = Request(
                self.command,
                unquote(parts.path).removeprefix(BASE),
                dict(parse_qsl(parts.query)),
                json.loads(self.rfile.read(length)) if length else None,
                self.headers.get("Authorization"),
            )
            state.requests.append(request)
            raw_answer = state.fault(request.path)
            if raw_answer is not None:
                self._send(*raw_answer)
                return
            status, body = state.answer(request)
            self._send(status, {"Content-Type": "application/json"}, json.dumps(body).encode())

        do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET  # noqa: N815

        def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    return Handler


_NO_CREDENTIALS: Json = {
    "aws_temp_credentials": None,
    "azure_user_delegation_sas": None,
    "gcp_oauth_token": None,
    "expiration_time": None,
}


def _example(method: str, path: str) -> Json:
    described = operation(method, path)
    assert described is not None
    return described.example


def _error(request: Request, status: int, word: str, type_: str, message: str) -> Answer:
    if request.path.startswith("/delta/v1/"):
        return status, {"error": {"message": message, "type": type_, "code": status}}
    return status, {"error_code": word, "details": [], "message": message}


def _column(position: int, field_: Json) -> Json:
    return {
        "name": field_["name"],
        "type_json": json.dumps(field_),
        "position": position,
        "nullable": field_["nullable"],
    }


_WORDS = {
    "elementType": "element-type",
    "containsNull": "contains-null",
    "keyType": "key-type",
    "valueType": "value-type",
    "valueContainsNull": "value-contains-null",
}


def _kebab(value: object) -> object:
    """Write the keys of a schema as the Delta API does."""
    return _with_keys(value, _WORDS)


def _spark(value: object) -> object:
    """Write the keys of a schema as Spark does."""
    return _with_keys(value, {api: spark for spark, api in _WORDS.items()})


def _with_keys(value: object, words: Mapping[str, str]) -> object:
    match value:
        case dict():
            return {words.get(key, key): _with_keys(item, words) for key, item in value.items()}
        case list():
            return [_with_keys(item, words) for item in value]
        case _:
            return value
