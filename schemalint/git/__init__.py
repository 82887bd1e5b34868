"""git: the two sides of a comparison and their files. Only this package starts git processes.

A check in a hook starts seven: one finds the repository, up to three find the base, three read the contents.
Globs of the configuration take one more per side, and so does each listing of the working tree.
"""

from __future__ import annotations

from schemalint.git.base import find_base, find_head
from schemalint.git.contents import MAX_SIZE, Contents, File, changes, dirty, file_at, files_at, read_blobs
from schemalint.git.events import is_ci
from schemalint.git.listing import DEFAULT_GLOBS, Listing, list_files, unmatched_globs
from schemalint.git.repository import Repository, find_repository, open_repository
from schemalint.git.revisions import (
    MissingHistoryError,
    first_parents,
    is_ancestor,
    is_known,
    resolve,
    try_resolve,
)
from schemalint.git.sides import EmptyTree, Index, Revision, Side, Worktree
from schemalint.git.trusted import trusted_commit

__all__ = [
    "DEFAULT_GLOBS",
    "MAX_SIZE",
    "Contents",
    "EmptyTree",
    "File",
    "Index",
    "Listing",
    "MissingHistoryError",
    "Repository",
    "Revision",
    "Side",
    "Worktree",
    "changes",
    "dirty",
    "file_at",
    "files_at",
    "find_base",
    "find_head",
    "find_repository",
    "first_parents",
    "is_ancestor",
    "is_ci",
    "is_known",
    "list_files",
    "open_repository",
    "read_blobs",
    "resolve",
    "trusted_commit",
    "try_resolve",
    "unmatched_globs",
]
