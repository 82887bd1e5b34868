"""The JSON Schemas of the configuration, and of a nested file of it, for editors."""

from __future__ import annotations

from typing import Any, Final

from schemalint.base.document.editor_schema import Examples, editor_schema
from schemalint.project.config import config_keys, consumer_keys, nested_settings

VERSION: Final = 1


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``schemalint.toml``, and of ``[tool.schemalint]``."""
    return editor_schema(
        config_keys.ConfigKeys,
        name="config",
        version=VERSION,
        title="schemalint configuration",
        description="Settings of schemalint, for schemalint.toml and [tool.schemalint] of pyproject.toml.",
        texts={**_TEXTS, **{("UserRowKeys", key): text for key, text in _texts_of_rows().items()}},
        examples=_EXAMPLES,
    )


def nested_json_schema() -> dict[str, Any]:
    """Return that of ``schemalint.toml`` in a folder below the configuration."""
    schema = json_schema()
    kept = {name: schema["properties"][name] for name in nested_settings.KEYS}
    used = ("ConsumerKeys", "StreamKeys", "TableKeys", "UnblockKeys")
    return {
        **schema,
        "$id": f"urn:schemalint:nested-config:{VERSION}",
        "title": "schemalint settings of a folder",
        "description": "Settings for the contracts in a folder below the configuration.",
        "properties": kept,
        "definitions": {name: schema["definitions"][name] for name in used},
    }


def _texts_of_rows() -> dict[str, str]:
    """Return the descriptions of the keys that a row inherits; a TypedDict has only its own docstrings."""
    rows = editor_schema(
        consumer_keys.RowKeys, name="", version=VERSION, title="", description="", texts={}, examples={}
    )
    return {key: body["description"] for key, body in rows["properties"].items()}


_TEXTS: Final = {
    ("ConfigKeys", key): text
    for key, text in {
        "root": "Whether this file is a configuration of its own, not one of a configuration further up.",
        "locked": "Rules that files in folders below cannot loosen: codes, prefixes or names.",
        "baseline": "File with the findings that fail no run.",
        "contracts": "Globs of the contract files, `!` excludes, all by default; and files of other tools.",
        "select": "Rules to run: codes, prefixes or names; all that are on by default.",
        "extend-select": "Rules to run in addition.",
        "ignore": "Rules to skip: codes, prefixes or names.",
        "severity": "Severities by rule: code, prefix or name.",
        "fail-on": "Lowest severity that fails the run; `error` by default.",
        "against": "Base of the comparison, as for `check --against`.",
        "approved-plans": "Hashes of plans whose upgrades and destructive steps are approved.",
        "tables": "Settings for some of the tables.",
        "clients": "Rows that precede those of the client table.",
        "consumers": "Readers and writers of tables, by name.",
        "options": "Options of rules, by the rule's code.",
        "plugins": "Rule files of the repository, which run only with --allow-local-plugins.",
        "targets": "Environments to which the contracts are applied, by name.",
        "spark": "Settings with which a Spark session is started.",
        "cosmetic": "When comments and column order reach tables with tracked streams; `now` by default.",
        "exceptions": "Settings of exceptions.",
    }.items()
} | {("UserRowKeys", "client"): "Name of the client."}

_EXAMPLES: Final[Examples] = {
    ("ConfigKeys", "contracts"): [["contracts/**"]],
    ("ContractsEntryKeys", "path"): ["target/manifest.json"],
    ("ContractsEntryKeys", "format"): ["dbt"],
    ("ContractsEntryKeys", "models"): [["path:models/marts"]],
    ("ConfigKeys", "select"): [["ALL"], ["TW", "TH"]],
    ("ConfigKeys", "ignore"): [["TP007", "client-unknown"]],
    ("ConfigKeys", "severity"): [{"CM016": "error"}],
    ("ConfigKeys", "against"): ["origin/main", "merge-base:origin/main"],
    ("ConfigKeys", "baseline"): ["schemalint-baseline.json"],
    ("ConfigKeys", "targets"): [{"prod": {"root": "s3://bucket/lake"}}],
    ("TargetKeys", "root"): ["s3://bucket/lake", "lake"],
    ("TargetKeys", "catalog"): ["main"],
    ("TargetKeys", "catalog_uri"): ["https://host/api/2.1/unity-catalog"],
    ("TargetKeys", "catalog_token"): ["${UC_TOKEN}"],
    ("TargetKeys", "engine"): ["delta-spark 4.4.0", "databricks 16.4"],
    ("TargetKeys", "writers"): [["databricks 16.4", "delta-spark 3.3.2"]],
    ("TargetKeys", "apply_with"): ["databricks 16.4"],
    ("TargetKeys", "storage"): [{"region": "eu-central-1", "secret_access_key": "${AWS_SECRET_ACCESS_KEY}"}],
    ("SparkKeys", "master"): ["local[*]"],
    ("SparkKeys", "remote"): ["sc://host:15002"],
    ("TableKeys", "match"): ["sales.*"],
    ("ConsumerKeys", "client"): ["trino", "deltalake"],
    ("ConsumerKeys", "version"): ["476", ">=1.6,<2"],
}
