"""The fills of the base that the contract still has, also under a new name of their column."""

from __future__ import annotations

from schemalint.delta.datatype import field_at
from schemalint.delta.path import Path, path_key
from schemalint.plugin import RuleContext


def kept_fills(ctx: RuleContext) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the keys of each declared fill: of its column, by the name in the base, and of its source."""
    return {(_key_in_base(path, ctx), path_key(fill.source)) for path, fill in ctx.contract.backfills.items()}


def _key_in_base(path: Path, ctx: RuleContext) -> tuple[str, ...]:
    field = field_at(ctx.contract.state.columns, path)
    return path_key((*path[:-1], field.renamed_from) if field and field.renamed_from else path)
