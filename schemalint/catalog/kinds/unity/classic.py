"""Unity Catalog's classic API (``api/2.1/unity-catalog``): every server has it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from schemalint.catalog import CATALOG_MANAGED, ManagedCommits, Name, StagedCommit
from schemalint.catalog.kinds.unity.http import Client
from schemalint.catalog.kinds.unity.json import Json
from schemalint.delta.datatype import Struct
from schemalint.delta.path import format_path
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.schema_json import SchemaError, parse_schema
from schemalint.delta.table import CatalogTable
from schemalint.errors import LiveError
from schemalint.values import frozen

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
    """The questions that this API answers."""

    client: Client

    def find(self, name: Name) -> CatalogTable:
        """What the catalog says of a table."""
        answer = self.client.get(("tables", ".".join(name)))
        location = answer.text("storage_location")
        if not is_delta(answer) or not location:
            kind = answer.text("data_source_format") or answer.text("table_type") or "something else"
            raise LiveError(f"{self.client.host}: {format_path(name)} is no Delta table, but {kind}")
        properties = answer.text_by_key("properties")
        return CatalogTable(
            name=format_path(name),
            catalog=self.client.host,
            location=location,
            columns=_columns(answer.objects("columns")),
            properties=properties,
            table_id=answer.text("table_id"),
            managed_commits=f"{FEATURE_PREFIX}{CATALOG_MANAGED}" in properties,
        )

    def storage(self, table: CatalogTable) -> Mapping[str, str]:
        """Credentials for the table, to read."""
        body = {"table_id": self._id(table), "operation": "READ"}
        answer = self.client.post(("temporary-table-credentials",), body)
        found = [(key, answer.object(outer).text(inner)) for outer, inner, key in _STORAGE]
        return {key: value for key, value in found if value is not None}

    def commits(self, table: CatalogTable) -> ManagedCommits:
        """By the preview of what the Delta API has: it takes a body, and may answer in parts."""
        staged: dict[int, StagedCommit] = {}
        start = 0
        for _page in range(_MOST_PAGES):
            body = {"table_id": self._id(table), "table_uri": table.location, "start_version": start}
            answer = self.client.get(("delta", "preview", "commits"), body=body)
            latest = answer.number("latest_table_version")
            page = [one for commit in answer.objects("commits") if (one := _staged(commit))]
            staged.update({one.version: one for one in page if one.version >= start})
            reached = max(staged, default=-1)
            if reached < start or latest is None or reached >= latest:
                return ManagedCommits(latest, tuple(staged[version] for version in sorted(staged)))
            start = reached + 1
        raise LiveError(f"{self.client.host}: {table.name} has more staged commits than can be right")

    def _id(self, table: CatalogTable) -> str:
        if table.table_id is None:
            raise LiveError(f"{self.client.host}: {table.name} has no id")
        return table.table_id


def is_delta(table: Json) -> bool:
    """Whether it is a table, and of Delta as far as the catalog says."""
    format_, type_ = table.text("data_source_format"), table.text("table_type")
    return format_ in {None, "DELTA"} and (type_ is None or type_ in _TABLE_TYPES)


def _staged(commit: Json) -> StagedCommit | None:
    version, file = commit.number("version"), commit.text("file_name")
    if version is None or file is None:
        return None
    return StagedCommit(
        version, file, commit.number("file_size") or 0, commit.number("file_modification_timestamp")
    )


def _columns(columns: Sequence[Json]) -> Struct | None:
    """None if there are none, or none that make sense: the catalog keeps what clients sent."""
    try:
        ordered = sorted(columns, key=lambda one: one.number("position") or 0)
        fields = [_field(one) for one in ordered]
        found = parse_schema(json.dumps({"type": "struct", "fields": fields}))
    except (ValueError, RecursionError, SchemaError):
        return None
    return found if found.fields else None


def _field(column: Json) -> object:
    """``type_json`` is a field of Spark's schema JSON, or of some clients the type alone."""
    found = json.loads(column.text("type_json") or "null")
    if isinstance(found, dict) and "name" in found:
        return found
    return {
        "name": column.text("name"),
        "type": found,
        "nullable": column.value.get("nullable") is not False,
        "metadata": {},
    }
