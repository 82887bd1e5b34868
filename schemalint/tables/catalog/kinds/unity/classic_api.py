"""Unity Catalog's classic API (``api/2.1/unity-catalog``), which every server has."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from schemalint.base.errors import LiveError
from schemalint.base.json_object import JsonObject
from schemalint.base.values import frozen
from schemalint.delta.datatype import Struct
from schemalint.delta.feature import CATALOG_MANAGED
from schemalint.delta.path import format_path
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.schema_json import SchemaError, parse_schema
from schemalint.delta.table import CatalogTable
from schemalint.tables.catalog import ManagedCommits, Name, StagedCommit
from schemalint.tables.catalog.kinds.unity.http import Client

_STORAGE: Final = (
    ("aws_temp_credentials", "access_key_id", "aws_access_key_id"),
    ("aws_temp_credentials", "secret_access_key", "aws_secret_access_key"),
    ("aws_temp_credentials", "session_token", "aws_session_token"),
    ("azure_user_delegation_sas", "sas_token", "azure_storage_sas_token"),
    ("gcp_oauth_token", "oauth_token", "google_bearer_token"),
)
"""Object and key of the API (``TemporaryCredentials``), and obstore's key."""

_MOST_PAGES: Final = 100

_TABLE_TYPES: Final = frozenset({"MANAGED", "EXTERNAL", "STREAMING_TABLE", "MATERIALIZED_VIEW"})


@frozen
class ClassicApi:
    """Requests to the classic API."""

    client: Client

    def find(self, name: Name) -> CatalogTable:
        """Return the catalog's entry for a table."""
        answer = self.client.get(("tables", ".".join(name)))
        location = answer.optional("storage_location", str)
        if not is_delta(answer) or not location:
            kind = (
                answer.optional("data_source_format", str)
                or answer.optional("table_type", str)
                or "something else"
            )
            raise LiveError(f"{self.client.host}: {format_path(name)} is not a Delta table but {kind}")
        properties = answer.pairs("properties")
        return CatalogTable(
            name=format_path(name),
            catalog=self.client.host,
            location=location,
            columns=_columns(answer.objects("columns")),
            properties=properties,
            table_id=answer.optional("table_id", str),
            managed_commits=f"{FEATURE_PREFIX}{CATALOG_MANAGED}" in properties,
        )

    def storage(self, table: CatalogTable) -> Mapping[str, str]:
        """Return temporary read credentials for a table."""
        body = {"table_id": self._id(table), "operation": "READ"}
        answer = self.client.post(("temporary-table-credentials",), body)
        credentials = [(key, answer.inner(outer).optional(inner, str)) for outer, inner, key in _STORAGE]
        return {key: value for key, value in credentials if value is not None}

    def commits(self, table: CatalogTable) -> ManagedCommits:
        """Return the ratified commits, from the preview endpoint: a GET with a body and several pages."""
        staged: dict[int, StagedCommit] = {}
        start = 0
        for _page in range(_MOST_PAGES):
            body = {"table_id": self._id(table), "table_uri": table.location, "start_version": start}
            answer = self.client.get(("delta", "preview", "commits"), body=body)
            latest = answer.optional("latest_table_version", int)
            page = [commit for entry in answer.objects("commits") if (commit := _staged(entry))]
            staged.update({commit.version: commit for commit in page if commit.version >= start})
            newest = max(staged, default=-1)
            if newest < start or latest is None or newest >= latest:
                return ManagedCommits(latest, tuple(staged[version] for version in sorted(staged)))
            start = newest + 1
        raise LiveError(
            f"{self.client.host}: the staged commits of {table.name} take more than {_MOST_PAGES} pages"
        )

    def _id(self, table: CatalogTable) -> str:
        if table.table_id is None:
            raise LiveError(f"{self.client.host}: {table.name} has no id")
        return table.table_id


def is_delta(table: JsonObject) -> bool:
    """Whether the entry is a table that, by the catalog's information, is in Delta format."""
    format_, type_ = table.optional("data_source_format", str), table.optional("table_type", str)
    return format_ in {None, "DELTA"} and (type_ is None or type_ in _TABLE_TYPES)


def _staged(commit: JsonObject) -> StagedCommit | None:
    version, file = commit.optional("version", int), commit.optional("file_name", str)
    if version is None or file is None:
        return None
    return StagedCommit(
        version,
        file,
        commit.optional("file_size", int) or 0,
        commit.optional("file_modification_timestamp", int),
    )


def _columns(columns: Sequence[JsonObject]) -> Struct | None:
    """Parse the columns; return None without valid ones: the catalog stores whatever clients send."""
    try:
        ordered = sorted(columns, key=lambda column: column.optional("position", int) or 0)
        fields = [_field(column) for column in ordered]
        schema = parse_schema(json.dumps({"type": "struct", "fields": fields}))
    except (ValueError, RecursionError, SchemaError):
        return None
    return schema if schema.fields else None


def _field(column: JsonObject) -> object:
    """Return a field of Spark's schema JSON; some clients send only its type as ``type_json``."""
    parsed = json.loads(column.optional("type_json", str) or "null")
    if isinstance(parsed, dict) and "name" in parsed:
        return parsed
    return {
        "name": column.optional("name", str),
        "type": parsed,
        "nullable": column.content.get("nullable") is not False,
        "metadata": {},
    }
