"""git: the two sides of a comparison and their files. Only this package starts git processes.

A check in a hook starts eight: one finds the repository, up to three find the base, three read the contents,
one looks for ``exceptions.yaml``.
Globs of the configuration take one more per side, and so does each listing of the working tree.
"""

from __future__ import annotations

from schemalint.project.git.blobs import MAX_SIZE, File, large_file_at, read_blobs
from schemalint.project.git.branch_commits import changed_files, relate, sources_changed_at, sources_differ
from schemalint.project.git.comparison_base import find_base, find_head
from schemalint.project.git.contents import (
    Beside,
    Contents,
    FormatOf,
    beside_files,
    changes,
    dirty,
    file_at,
)
from schemalint.project.git.events import foreign_head, is_ci, is_review
from schemalint.project.git.globs import Glob, escape_glob, parse_glob
from schemalint.project.git.listing import (
    DEFAULT_GLOBS,
    Listing,
    including,
    list_files,
    selection,
    unmatched_globs,
    within,
)
from schemalint.project.git.repository import Repository, find_repository, open_repository
from schemalint.project.git.revisions import (
    MissingHistoryError,
    fetch_command,
    fetch_missing,
    first_parents,
    is_ancestor,
    is_known,
    resolve,
    retry_with_fetch,
    shallow_ends,
    try_resolve,
)
from schemalint.project.git.sides import EmptyTree, Index, Revision, Side, Worktree
from schemalint.project.git.trusted_commit import trusted_commit

__all__ = [
    "DEFAULT_GLOBS",
    "MAX_SIZE",
    "Beside",
    "Contents",
    "EmptyTree",
    "File",
    "FormatOf",
    "Glob",
    "Index",
    "Listing",
    "MissingHistoryError",
    "Repository",
    "Revision",
    "Side",
    "Worktree",
    "beside_files",
    "changed_files",
    "changes",
    "dirty",
    "escape_glob",
    "fetch_command",
    "fetch_missing",
    "file_at",
    "find_base",
    "find_head",
    "find_repository",
    "first_parents",
    "foreign_head",
    "including",
    "is_ancestor",
    "is_ci",
    "is_known",
    "is_review",
    "large_file_at",
    "list_files",
    "open_repository",
    "parse_glob",
    "read_blobs",
    "relate",
    "resolve",
    "retry_with_fetch",
    "selection",
    "shallow_ends",
    "sources_changed_at",
    "sources_differ",
    "trusted_commit",
    "try_resolve",
    "unmatched_globs",
    "within",
]
