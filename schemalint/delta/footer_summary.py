"""What the data files of a table hold: the types in their Parquet footers, beside the declared ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from heapq import nsmallest
from typing import Final, TypeVar

from schemalint.delta.datatype import DataType
from schemalint.delta.path import Path
from schemalint.values import field, frozen

K = TypeVar("K")

EXAMPLES: Final = 3
"""Files that are named, of all that hold the same."""


@frozen
class StoredLeaf:
    """A column without an inside, as a Parquet footer has it.

    Attributes:
        path: Physical names, and parts of collections.
        ids: The field id of each step, None where it has none.
        type: As Delta names it; `Unknown` if Delta has no such type.
    """

    path: Path
    ids: tuple[int | None, ...]
    type: DataType


@frozen
class Files:
    """Some data files: how many, and the first by name, at most `EXAMPLES` of them."""

    count: int
    examples: tuple[str, ...]


_NO_FILES: Final = Files(0, ())


@frozen
class FooterSummary:
    """The footers of data files together.

    Attributes:
        count: The files whose footers were read.
        leaves: Which files hold each leaf.
        damaged: Files that cannot be read, by the reason.
    """

    count: int = 0
    leaves: Mapping[StoredLeaf, Files] = field(default_factory=dict)
    damaged: Mapping[str, Files] = field(default_factory=dict)


class Standing(Enum):
    """How a type in a file stands to the declared one."""

    CURRENT = "as declared"
    RECORDED = "an older type, from which recorded changes lead to the declared one"
    """Or those that Delta does not record: between the integers that are stored as INT32."""
    UNRECORDED = "a type that could be widened to the declared one, and nobody recorded that it was"
    UNREADABLE = "a type from which nothing leads to the declared one"


@frozen
class StoredType:
    """A type that files hold for a column, or for what is inside of it, by the names that people use."""

    path: Path
    declared: DataType
    stored: DataType
    standing: Standing
    files: Files


@frozen
class PhysicalTypes:
    """What the live data files of a table hold.

    Attributes:
        count: The files whose footers were read.
        types: By column in the table's order, for each the declared type first.
        damaged: Live files that cannot be read, by the reason.
        widened: The types of which a change is recorded, by path; without partition columns, which have
            their values in the log.
    """

    count: int
    types: tuple[StoredType, ...]
    damaged: Mapping[str, Files] = field(default_factory=dict)
    widened: tuple[Path, ...] = ()


def merge_summaries(tallies: Iterable[FooterSummary]) -> FooterSummary:
    """Several tallies of different files as one."""
    count = 0
    leaves: dict[StoredLeaf, Files] = {}
    damaged: dict[str, Files] = {}
    for one in tallies:
        count += one.count
        add_files(leaves, one.leaves)
        add_files(damaged, one.damaged)
    return FooterSummary(count, leaves, damaged)


def add_files(into: dict[K, Files], more: Mapping[K, Files]) -> None:
    """Count files that hold the same together, by what they hold."""
    for key, files in more.items():
        known = into.get(key, _NO_FILES)
        examples = nsmallest(EXAMPLES, {*known.examples, *files.examples})
        into[key] = Files(known.count + files.count, tuple(examples))
