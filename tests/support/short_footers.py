"""A short YAML notation for the footers of a table's data files: one entry per file.

    - {file: part-0.parquet, columns: {qty: integer, lines.element.sku: string}}
    - {file: part-1.parquet, damaged: it is gone}

Columns have their physical names. Types are named as in Delta's schema JSON; other names are Parquet types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from schemalint.delta.datatype import DataType, Unknown
from schemalint.delta.footer_summary import Files, FooterSummary, StoredLeaf, merge_summaries
from schemalint.delta.path import Part, Step, split_path
from schemalint.delta.type_json import type_of_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_PARTS = {part.value: part for part in Part}


def summary_of_footers(text: str) -> FooterSummary:
    """Return the summary that the footer reader makes of all these files together."""
    return merge_summaries(_summary_of_file(entry) for entry in yaml.load(text, yaml.CSafeLoader))


def _summary_of_file(entry: Mapping[str, Any]) -> FooterSummary:
    file = Files(1, (entry["file"],))
    if "damaged" in entry:
        return FooterSummary(damaged={entry["damaged"]: file})
    return FooterSummary(1, {_leaf(path, type_): file for path, type_ in entry["columns"].items()})


def _leaf(path: str, type_: str) -> StoredLeaf:
    steps: tuple[Step, ...] = tuple(_PARTS.get(name, name) for name in split_path(path))
    return StoredLeaf(steps, (None,) * len(steps), _type(type_))


def _type(name: str) -> DataType:
    return type_of_name(name) or Unknown(name)
