"""The column types in the Parquet footers of data files, and how they relate to the declared types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from heapq import nsmallest
from typing import Final, TypeVar

from schemalint.base.values import field, frozen
from schemalint.delta.datatype import DataType
from schemalint.delta.path import Path

K = TypeVar("K")

EXAMPLES: Final = 3
"""The largest number of file names in `Files`."""


@frozen
class StoredLeaf:
    """A leaf column in a Parquet footer.

    Attributes:
        path: The path of physical names and collection parts.
        ids: The Parquet field id of each step; None for a step without one.
        type: The Delta type of the leaf; `Unknown` if no Delta type corresponds to it.
    """

    path: Path
    ids: tuple[int | None, ...]
    type: DataType


@frozen
class Files:
    """A set of data files: their number, and the first `EXAMPLES` file names in sorted order."""

    count: int
    examples: tuple[str, ...]


_NO_FILES: Final = Files(0, ())


@frozen
class FooterSummary:
    """The footers of many data files in summary.

    Attributes:
        count: Number of files with a readable footer.
        leaves: The files that contain each leaf.
        damaged: The unreadable files, by reason.
    """

    count: int = 0
    leaves: Mapping[StoredLeaf, Files] = field(default_factory=dict)
    damaged: Mapping[str, Files] = field(default_factory=dict)


class Standing(Enum):
    """How the type in a file relates to the declared type."""

    CURRENT = "as declared"
    RECORDED = "an older type; recorded type changes lead to the declared type"
    """Includes the changes between INT32 integers that Delta makes without a record."""
    UNRECORDED = "a type that Delta can widen to the declared type, without a record of the change"
    UNREADABLE = "a type that Delta cannot read as the declared type"


@frozen
class StoredType:
    """A type that files contain for a column, a nested field or a collection part.

    Attributes:
        path: The logical path: column names, not physical names.
        declared: The type in the table's schema.
        stored: The type in the files.
        standing: How the stored type relates to the declared one.
        files: The files that contain the stored type.
    """

    path: Path
    declared: DataType
    stored: DataType
    standing: Standing
    files: Files


@frozen
class PhysicalTypes:
    """The column types in the data files of a snapshot.

    Attributes:
        count: Number of files with a readable footer.
        types: The stored types in the order of the table's columns; for each path the declared type first.
        damaged: The unreadable files, by reason.
        widened: The paths with recorded type changes, without partition columns: Delta reads their values
            from the log.
    """

    count: int
    types: tuple[StoredType, ...]
    damaged: Mapping[str, Files] = field(default_factory=dict)
    widened: tuple[Path, ...] = ()


def merge_summaries(summaries: Iterable[FooterSummary]) -> FooterSummary:
    """Merge the summaries of disjoint sets of files."""
    count = 0
    leaves: dict[StoredLeaf, Files] = {}
    damaged: dict[str, Files] = {}
    for summary in summaries:
        count += summary.count
        add_files(leaves, summary.leaves)
        add_files(damaged, summary.damaged)
    return FooterSummary(count, leaves, damaged)


def add_files(total: dict[K, Files], more: Mapping[K, Files]) -> None:
    """Add files to a total by key, in place; both must count different files."""
    for key, files in more.items():
        files_so_far = total.get(key, _NO_FILES)
        examples = nsmallest(EXAMPLES, {*files_so_far.examples, *files.examples})
        total[key] = Files(files_so_far.count + files.count, tuple(examples))
