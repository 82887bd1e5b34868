from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.column_names import invalid_characters
from schemalint.delta.datatype import field_at, walk_fields
from schemalint.delta.path import Path, format_path, path_key
from schemalint.delta.properties import COLUMN_MAPPING_MODE, ICEBERG_COMPAT_KEYS, is_true
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule(
    "CM006",
    on=Contract,
    severity=Severity.ERROR,
    live=True,
    delta_errors=("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", "DELTA_INVALID_PARTITION_COLUMN_NAME"),
    verdict="impossible",
)
def invalid_column_name(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column name needs column mapping, and the table has none.

    ## What it does

    Finds spaces, tabs, line breaks and the characters `,;{}()=` in the names of columns and fields at any
    depth, if `delta.columnMapping.mode` is `none`. With column mapping any name is valid. Dots, dashes,
    quotes and letters of any language are valid without it too. If the edit switches column mapping off,
    CM004 reports the columns.

    ## Why is this bad?

    Without column mapping the column name is also the name in the Parquet files, whose schema text cannot
    hold those characters. Delta refuses the column with `DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES`, "Found
    invalid character(s) … in the column names of your schema", and a partition column of a new table with
    `DELTA_INVALID_PARTITION_COLUMN_NAME`.

    ## What to do

    Choose another name, or set `delta.columnMapping.mode: name`, which locks out clients that do not support
    column mapping (PF004).

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order id, type: bigint}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```
    """
    if _is_mapped(ctx):
        return
    was_mapped = ctx.before.column_mapping != "none"
    for path, field in walk_fields(contract.state.columns):
        characters = invalid_characters(field.name)
        if characters and not (was_mapped and field_at(ctx.before.columns, path)):
            yield Problem(
                f"{format_path(path)} has {_describe(characters)} in its name, which needs column mapping",
                help=ctx.wording.either(
                    "choose another name",
                    ctx.wording.setting("delta.columnMapping.mode", "name"),
                ),
                path=path,
                remedy=lambda: contract.state.with_property(COLUMN_MAPPING_MODE, "name"),
                delta_error=_refusal(path, ctx),
            )


def _is_mapped(ctx: RuleContext) -> bool:
    """Return whether names are mapped; Iceberg compatibility adds mapping or fails without it (RD008)."""
    compatible = any(is_true(ctx.after.properties.get(key)) for key in ICEBERG_COMPAT_KEYS)
    return compatible or ctx.column_mapping != "none"


def _refusal(path: Path, ctx: RuleContext) -> str:
    is_stored = ctx.is_new_table or ctx.before == ctx.after
    if is_stored and len(path) == 1 and path_key(path)[0] in ctx.after.partition_keys:
        return "DELTA_INVALID_PARTITION_COLUMN_NAME"
    return "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"


def _describe(characters: str) -> str:
    nouns = {" ": "a space", "\n": "a line break", "\t": "a tab"}
    return " and ".join(nouns.get(character, f"'{character}'") for character in characters)
