"""The JSON Schemas of the native format, for editors."""

from __future__ import annotations

from typing import Any, Final

from schemalint.base.document.editor_schema import Examples, editor_schema
from schemalint.contract.dialects.native import format as native


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a contract; it does not check the syntax of types, dates and paths."""
    schema, overlay = (
        editor_schema(
            format_,
            name="contract",
            version=native.VERSION,
            title="schemalint contract",
            description="The declared schema of one Delta table.",
            texts={
                ("TypeChange", "from"): "The type before the change.",
                ("OverlayChange", "from"): "The type before the change.",
                ("Backfill", "from"): "Path of the column that has the values so far.",
                ("Backfill", "with"): "SQL expression of the value, from columns of the same row.",
                ("ColumnRewrite", "from"): "The type that the column has before.",
                ("ColumnRewrite", "with"): "SQL expression of the value, from columns of the same row.",
                ("TableRewrite", "from"): "The layout that the table has before.",
                ("RuleException", "from"): _OLD,
            },
            examples=_EXAMPLES,
        )
        for format_ in (native.Contract, native.Overlay)
    )
    own = [key for key in overlay["properties"] if key not in schema["properties"]]
    only_in_contracts = [key for key in schema["properties"] if key not in overlay["properties"]]
    return {
        **schema,
        "definitions": {**overlay["definitions"], **schema["definitions"]},
        "properties": {**schema["properties"], **{key: overlay["properties"][key] for key in own}},
        "required": [key for key in schema["required"] if key != "columns"],
        "anyOf": [
            {"required": ["columns"], "not": {"anyOf": [{"required": [key]} for key in own]}},
            {"required": ["extends"], "not": {"anyOf": [{"required": [key]} for key in only_in_contracts]}},
        ],
    }


def exceptions_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``exceptions.yaml``."""
    of_exception = json_schema()["definitions"]["RuleException"]["properties"]
    return editor_schema(
        native.ExceptionsFile,
        name="exceptions",
        version=native.VERSION,
        title="schemalint exceptions",
        description="Approved findings, outside of the contracts.",
        texts={("ExceptionEntry", key): body["description"] for key, body in of_exception.items()},
        examples={("ExceptionEntry", "table"): ["sales.orders"], **_EXAMPLES},
    )


_OLD: Final = "The old value in the finding; required where the finding has one."
_TYPES: Final = ["bigint", "string", "decimal(12,2)", "timestamp", "array<string>", "struct<zip: string>"]
_EXAMPLES: Final[Examples] = {
    ("Contract", "schemalint"): [native.VERSION],
    ("Contract", "table"): ["sales.orders"],
    ("Contract", "owner"): ["@data-platform"],
    ("Contract", "location"): ["sales/orders", "s3://bucket/lake/sales/orders"],
    ("Contract", "dropped"): [["old_name", "shipping.zip"]],
    ("Contract", "partitioned_by"): [["day"]],
    ("Contract", "clustered_by"): [["customer_id"]],
    ("Contract", "constraints"): [{"positive": "amount > 0"}],
    ("Contract", "properties"): [{"delta.enableTypeWidening": True}],
    ("Contract", "features"): [["deletionVectors"]],
    ("Contract", "drop_features"): [["typeWidening"]],
    ("Contract", "targets"): [{"dev": {"location": "sales/orders_dev"}}],
    ("Contract", "consumers"): [[{"name": "dashboards", "client": "trino", "version": "476"}]],
    ("Column", "name"): ["order_id"],
    ("Column", "type"): _TYPES,
    ("Column", "default"): ["0", "current_timestamp()"],
    ("Column", "generated"): ["CAST(created_at AS DATE)"],
    ("Column", "renamed_from"): ["amount"],
    ("Part", "type"): _TYPES,
    ("TypeChange", "from"): ["int"],
    ("Backfill", "from"): ["amount_text"],
    ("Backfill", "with"): ["cast(amount_text as decimal(12,2))"],
    ("ColumnRewrite", "from"): ["string"],
    ("ColumnRewrite", "with"): ["cast(amount as decimal(12,2))"],
    ("Layout", "partitioned_by"): [["day"]],
    ("TypeChange", "to"): ["bigint"],
    ("TypeChange", "at"): ["element", "value"],
    ("RuleException", "rule"): ["TW001", "illegal-narrowing"],
    ("RuleException", "expires"): ["2026-12-31"],
    ("ExceptionEntry", "rule"): ["TW001", "illegal-narrowing"],
    ("ExceptionEntry", "expires"): ["2026-12-31"],
    ("Consumer", "client"): ["trino", "deltalake"],
    ("Consumer", "version"): ["476", ">=1.6,<2"],
    ("Stream", "checkpoint"): ["s3://bucket/checkpoints/orders"],
}
