"""Print a table as the statements that declare it: `read` reads them back to the same table."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Field, Identity, items_of, walk_fields
from schemalint.delta.path import Path, format_path, path_key, split_path
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.sql_text import quote_identifier, quote_literal
from schemalint.delta.type_text import print_type
from schemalint.model.contract import Contract


def print_table(contract: Contract) -> str:
    """Return the statements that create a table, with a comment for each thing that SQL cannot say."""
    state = contract.state
    name = ".".join(map(quote_identifier, split_path(contract.table)))
    lines = [f"-- not in this file: {what}" for what in left_out(contract)]
    columns = ",\n".join(f"  {_column(column)}" for column in state.columns.fields)
    lines += [f"CREATE TABLE {name} (", columns, ")", "USING delta"]
    if state.partition_columns:
        lines.append(f"PARTITIONED BY ({', '.join(map(quote_identifier, state.partition_columns))})")
    if state.clustering_columns:
        spelled = {path_key(path): path for path, _field in walk_fields(state.columns)}
        paths = (spelled.get(path_key(path), path) for path in state.clustering_columns)
        lines.append(f"CLUSTER BY ({', '.join(map(_path, paths))})")
    if isinstance(state.description, str):
        lines.append(f"COMMENT {quote_literal(state.description)}")
    if contract.location is not None:
        lines.append(f"LOCATION {quote_literal(contract.location)}")
    properties = {
        **state.set_properties,
        **{f"{FEATURE_PREFIX}{name}": "supported" for name in state.features},
    }
    if properties:
        entries = (
            f"  {quote_literal(key)} = {quote_literal(value)}" for key, value in sorted(properties.items())
        )
        lines += ["TBLPROPERTIES (", ",\n".join(entries), ")"]
    lines[-1] += ";"
    for constraint, text in sorted(state.constraints.items()):
        if text is not None:
            lines.append(f"ALTER TABLE {name} ADD CONSTRAINT {quote_identifier(constraint)} CHECK ({text});")
    return "\n".join(lines) + "\n"


def left_out(contract: Contract) -> Iterator[str]:
    """Yield what a contract says and no statement can: a line for each, in the words of contracts."""
    for path, field in walk_fields(contract.state.columns):
        where = format_path(path)
        if items_of(field.type_changes):
            yield f"type_changes of {where}"
        if len(path) > 1:
            inner = {"default": field.default, "generated": field.generated, "identity": field.identity}
            yield from (
                f"{key} of {where}" for key, value in inner.items() if isinstance(value, str | Identity)
            )
    if contract.drop_features:
        yield f"drop_features: {', '.join(sorted(contract.drop_features))}"
    if contract.consumers or contract.named_consumers:
        yield "consumers"


def _column(field: Field) -> str:
    parts = [quote_identifier(field.name), print_type(field.type)]
    if not field.nullable:
        parts.append("NOT NULL")
    if isinstance(field.default, str):
        parts.append(f"DEFAULT {field.default}")
    if isinstance(field.generated, str):
        parts.append(f"GENERATED ALWAYS AS ({field.generated})")
    if isinstance(field.identity, Identity):
        parts.append(field.identity.clause)
    if isinstance(field.comment, str):
        parts.append(f"COMMENT {quote_literal(field.comment)}")
    return " ".join(parts)


def _path(path: Path) -> str:
    return ".".join(quote_identifier(str(getattr(step, "value", step))) for step in path)
