"""Unity Catalog's Delta API (``delta/v1``), for Delta clients and catalog-managed tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from schemalint.base.errors import LiveError
from schemalint.base.json_object import JsonObject
from schemalint.base.values import frozen
from schemalint.delta.catalog_entry import stale_properties
from schemalint.delta.datatype import UNMANAGED, Struct
from schemalint.delta.feature import CATALOG_MANAGED
from schemalint.delta.path import format_path, split_path
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.protocol import activated, needed_features
from schemalint.delta.schema_json import SchemaError, parse_schema, print_schema
from schemalint.delta.table import CatalogTable, LiveTable, TableState
from schemalint.tables.catalog import ManagedCommits, Name, StagedCommit
from schemalint.tables.catalog.kinds.unity.http import Client, HttpError

_ROOT: Final = ("delta", "v1")
_VERSIONS: Final = "1.0"

LOAD_TABLE: Final = "GET /v1/catalogs/{catalog}/schemas/{schema}/tables/{table}"
UPDATE_TABLE: Final = "POST /v1/catalogs/{catalog}/schemas/{schema}/tables/{table}"
STAGE_TABLE: Final = "POST /v1/catalogs/{catalog}/schemas/{schema}/staging-tables"

_STORAGE: Final = {
    "s3.access-key-id": "aws_access_key_id",
    "s3.secret-access-key": "aws_secret_access_key",
    "s3.session-token": "aws_session_token",
    "azure.sas-token": "azure_storage_sas_token",
    "gcs.oauth-token": "google_bearer_token",
}
"""Maps the API's key (``DeltaStorageCredential.config``) to obstore's key."""

_TYPE_KEYS: Final = {
    "element-type": "elementType",
    "contains-null": "containsNull",
    "key-type": "keyType",
    "value-type": "valueType",
    "value-contains-null": "valueContainsNull",
}
"""Maps the API's key (``DeltaArrayType``, ``DeltaMapType``) to the key in Delta's schema JSON."""
_API_KEYS: Final = {delta: api for api, delta in _TYPE_KEYS.items()}


@frozen
class DeltaApi:
    """Requests to the Delta API."""

    client: Client

    def endpoints(self, catalog: str) -> frozenset[str]:
        """Return the endpoints that the server offers; none if it refuses the request.

        Raises:
            HttpError: The server does not accept the token, or fails.
        """
        query = {"catalog": catalog, "protocol-versions": _VERSIONS}
        try:
            return frozenset(self.client.get((*_ROOT, "config"), query).texts("endpoints"))
        except HttpError as error:
            if error.status in {400, 403, 404, 405, 501}:
                return frozenset()
            raise

    def staged_features(self, name: Name) -> frozenset[str]:
        """Stage a table; return the features that the server requires or suggests, also by properties.

        All that stays is an entry in the server's database, and a name may have several (source:
        ``StagingTableRepository`` of Unity Catalog 0.6.0): the connector stages the table again.
        """
        answer = self.client.post((*_path(name)[:-2], "staging-tables"), {"name": name[2]})
        protocols = [answer.inner("required-protocol"), answer.inner("suggested-protocol")]
        features = frozenset(
            feature
            for protocol in protocols
            for feature in (*protocol.texts("reader-features"), *protocol.texts("writer-features"))
        )
        required, suggested = map(answer.pairs, ("required-properties", "suggested-properties"))
        return needed_features(features, activated(Struct(), {**suggested, **required}))

    def find(self, name: Name) -> CatalogTable:
        """Return the catalog's entry for a table."""
        answer = self.client.get(_path(name))
        metadata = answer.inner("metadata")
        location = metadata.optional("location", str)
        if not location:
            raise LiveError(f"{self.client.host}: {format_path(name)} has no location")
        properties = metadata.pairs("properties")
        return CatalogTable(
            name=format_path(name),
            catalog=self.client.host,
            location=location,
            columns=_columns(metadata.inner("columns")),
            properties=properties,
            table_id=metadata.optional("table-uuid", str),
            managed_commits=f"{FEATURE_PREFIX}{CATALOG_MANAGED}" in properties
            or bool(answer.objects("commits")),
        )

    def storage(self, table: CatalogTable) -> Mapping[str, str]:
        """Return the credentials with the longest prefix that contains the table."""
        answer = self.client.get((*_path(parts_of(table)), "credentials"), {"operation": "READ"})
        matching = [
            credential
            for credential in answer.objects("storage-credentials")
            if credential.optional("operation", str) == "READ"
            and _is_below(table.location, credential.optional("prefix", str) or "")
        ]
        if not matching:
            return {}
        longest = max(matching, key=lambda credential: len(credential.optional("prefix", str) or ""))
        config = longest.pairs("config")
        return {_STORAGE[key]: value for key, value in config.items() if key in _STORAGE}

    def commits(self, table: CatalogTable) -> ManagedCommits:
        """Return the latest version and the staged commits."""
        answer = self.client.get(_path(parts_of(table)))
        staged = [
            StagedCommit(
                version,
                file,
                commit.optional("file-size", int) or 0,
                commit.optional("file-modification-timestamp", int),
            )
            for commit in answer.objects("commits")
            if (version := commit.optional("version", int)) is not None
            and (file := commit.optional("file-name", str))
        ]
        return ManagedCommits(answer.optional("latest-table-version", int), tuple(staged))

    def refresh(self, name: Name, table: LiveTable) -> None:
        """Send the log's columns and properties if those of the entry contradict them.

        What the entry does not have stays so: nothing would keep it up to date.
        """
        metadata = self.client.get(_path(name)).inner("metadata")
        updates = list(_updates(metadata, table.state))
        if updates:
            requirements = [
                {"type": "assert-table-uuid", "uuid": metadata.optional("table-uuid", str)},
                {"type": "assert-etag", "etag": metadata.optional("etag", str)},
            ]
            self.client.post(_path(name), {"requirements": requirements, "updates": updates})


def _updates(metadata: JsonObject, state: TableState) -> Iterator[dict[str, object]]:
    columns = _columns(metadata.inner("columns"))
    if columns is not None and columns != state.columns:
        schema = _with_keys(json.loads(print_schema(state.columns)), _API_KEYS)
        yield {"action": "set-columns", "columns": schema}
        partitions = metadata.texts("partition-columns")
        if partitions and state.partitioned_by not in (UNMANAGED, partitions):
            yield {"action": "set-partition-columns", "partition-columns": state.partitioned_by}
    stale = stale_properties(metadata.pairs("properties"), state.set_properties)
    if changed := {key: value for key, value in stale.items() if value is not None}:
        yield {"action": "set-properties", "updates": changed}
    if removed := [key for key, value in stale.items() if value is None]:
        yield {"action": "remove-properties", "removals": removed}


def _path(name: Name) -> tuple[str, ...]:
    return (*_ROOT, "catalogs", name[0], "schemas", name[1], "tables", name[2])


def parts_of(table: CatalogTable) -> Name:
    """Return the parts of a table's full name."""
    catalog, schema, name = split_path(table.name)
    return catalog, schema, name


def _is_below(location: str, prefix: str) -> bool:
    return f"{location.rstrip('/')}/".startswith(f"{prefix.rstrip('/')}/")


def _columns(struct: JsonObject) -> Struct | None:
    """Parse the columns; return None without valid ones: the catalog stores whatever clients send."""
    try:
        columns = parse_schema(json.dumps(_with_keys(struct.content, _TYPE_KEYS)))
    except (SchemaError, RecursionError):
        return None
    return columns if columns.fields else None


def _with_keys(value: object, keys: Mapping[str, str]) -> object:
    match value:
        case dict():
            return {keys.get(key, key): _with_keys(item, keys) for key, item in value.items()}
        case list():
            return [_with_keys(item, keys) for item in value]
        case _:
            return value
