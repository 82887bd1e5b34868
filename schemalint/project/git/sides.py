"""The sides of a comparison: where a tree of files comes from."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from schemalint.base.values import frozen


@frozen
class Worktree:
    """The files on disk: tracked files, and untracked files that are not ignored."""

    why: str = "the working tree"
    spec: ClassVar[str] = "worktree"
    commit: ClassVar[None] = None


@frozen
class Index:
    """The content of the next commit."""

    why: str = "the next commit"
    spec: ClassVar[str] = "index"
    commit: ClassVar[None] = None


@frozen
class Revision:
    """A commit.

    Attributes:
        spec: The text by which the user or a CI variable named it.
        commit: The full id.
        why: The source of the choice, for the run line.
    """

    spec: str
    commit: str
    why: str

    @property
    def is_head(self) -> bool:
        """Whether it is the commit of the checkout: a run on a trusted branch, where all of it is merged."""
        return self.spec == "HEAD"


@frozen
class EmptyTree:
    """No files at all."""

    why: str
    spec: ClassVar[str] = "none"
    commit: ClassVar[None] = None


Side: TypeAlias = Worktree | Index | Revision | EmptyTree
