"""The two sides of a comparison: what a tree of files is taken from."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from schemalint.values import frozen


@frozen
class Worktree:
    """The files on disk: tracked ones, and untracked ones that are not ignored."""

    why: str = "the working tree"
    spec: ClassVar[str] = "worktree"
    commit: ClassVar[None] = None


@frozen
class Index:
    """What the next commit will hold."""

    why: str = "what will be committed"
    spec: ClassVar[str] = "index"
    commit: ClassVar[None] = None


@frozen
class Revision:
    """A commit.

    Attributes:
        spec: How it was asked for.
        commit: Its full id.
        why: Where the choice comes from, for the run line.
    """

    spec: str
    commit: str
    why: str


@frozen
class EmptyTree:
    """No files at all."""

    why: str
    spec: ClassVar[str] = "none"
    commit: ClassVar[None] = None


Side: TypeAlias = Worktree | Index | Revision | EmptyTree
