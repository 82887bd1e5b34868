"""Unity Catalog's Delta API (``delta/v1``): made for Delta clients, and for catalog-managed tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from schemalint.catalog import CATALOG_MANAGED, ManagedCommits, Name, StagedCommit
from schemalint.catalog.kinds.unity.http import Client, HttpError
from schemalint.catalog.kinds.unity.json import Json
from schemalint.delta.datatype import Struct
from schemalint.delta.path import format_path, split_path
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.schema_json import SchemaError, parse_schema
from schemalint.delta.table import CatalogTable
from schemalint.errors import LiveError
from schemalint.values import frozen

_ROOT: Final = ("delta", "v1")
_VERSIONS: Final = "1.0"
_LOAD_TABLE: Final = "GET /v1/catalogs/{catalog}/schemas/{schema}/tables/{table}"

_STORAGE: Final = {
    "s3.access-key-id": "aws_access_key_id",
    "s3.secret-access-key": "aws_secret_access_key",
    "s3.session-token": "aws_session_token",
    "azure.sas-token": "azure_storage_sas_token",
    "gcs.oauth-token": "google_bearer_token",
}
"""obstore's key by the API's (``DeltaStorageCredential.config``)."""

_TYPE_KEYS: Final = {
    "element-type": "elementType",
    "contains-null": "containsNull",
    "key-type": "keyType",
    "value-type": "valueType",
    "value-contains-null": "valueContainsNull",
}
"""The key in Delta's schema JSON by the API's (``DeltaArrayType``, ``DeltaMapType``)."""


@frozen
class DeltaApi:
    """The questions that this API answers."""

    client: Client

    def is_offered(self, catalog: str) -> bool:
        """Whether the server has this API; one that does not know it, or hides it, has not.

        Raises:
            HttpError: The token is not accepted, or the server fails.
        """
        query = {"catalog": catalog, "protocol-versions": _VERSIONS}
        try:
            return _LOAD_TABLE in self.client.get((*_ROOT, "config"), query).texts("endpoints")
        except HttpError as error:
            if error.status in {400, 403, 404, 405, 501}:
                return False
            raise

    def find(self, name: Name) -> CatalogTable:
        """What the catalog says of a table."""
        answer = self.client.get(_path(name))
        metadata = answer.object("metadata")
        location = metadata.text("location")
        if not location:
            raise LiveError(f"{self.client.host}: {format_path(name)} has no location")
        properties = metadata.text_by_key("properties")
        return CatalogTable(
            name=format_path(name),
            catalog=self.client.host,
            location=location,
            columns=_columns(metadata.object("columns")),
            properties=properties,
            table_id=metadata.text("table-uuid"),
            managed_commits=f"{FEATURE_PREFIX}{CATALOG_MANAGED}" in properties
            or bool(answer.objects("commits")),
        )

    def storage(self, table: CatalogTable) -> Mapping[str, str]:
        """The credentials of the longest prefix that holds the table."""
        answer = self.client.get((*_path(_parts(table)), "credentials"), {"operation": "READ"})
        fitting = [
            one
            for one in answer.objects("storage-credentials")
            if one.text("operation") == "READ" and _is_below(table.location, one.text("prefix") or "")
        ]
        if not fitting:
            return {}
        config = max(fitting, key=lambda one: len(one.text("prefix") or "")).text_by_key("config")
        return {_STORAGE[key]: value for key, value in config.items() if key in _STORAGE}

    def commits(self, table: CatalogTable) -> ManagedCommits:
        """The latest version, and the commits that are only staged so far."""
        answer = self.client.get(_path(_parts(table)))
        staged = [
            StagedCommit(
                version, file, one.number("file-size") or 0, one.number("file-modification-timestamp")
            )
            for one in answer.objects("commits")
            if (version := one.number("version")) is not None and (file := one.text("file-name"))
        ]
        return ManagedCommits(answer.number("latest-table-version"), tuple(staged))


def _path(name: Name) -> tuple[str, ...]:
    return (*_ROOT, "catalogs", name[0], "schemas", name[1], "tables", name[2])


def _parts(table: CatalogTable) -> Name:
    catalog, schema, name = split_path(table.name)
    return catalog, schema, name


def _is_below(location: str, prefix: str) -> bool:
    return f"{location.rstrip('/')}/".startswith(f"{prefix.rstrip('/')}/")


def _columns(found: Json) -> Struct | None:
    """None if there are none, or none that make sense: the catalog keeps what clients sent."""
    try:
        columns = parse_schema(json.dumps(_as_delta_writes(found.value)))
    except (SchemaError, RecursionError):
        return None
    return columns if columns.fields else None


def _as_delta_writes(found: object) -> object:
    match found:
        case dict():
            return {_TYPE_KEYS.get(key, key): _as_delta_writes(value) for key, value in found.items()}
        case list():
            return [_as_delta_writes(one) for one in found]
        case _:
            return found
