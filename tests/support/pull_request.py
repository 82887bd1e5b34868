"""A pull request on GitHub: a bare remote, its author's clone, and the clones that jobs make of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.repo import Repo

ORDERS = """\
schemalint: 1
table: sales.orders
columns:
  - {name: order_id, type: int}
  - {name: note, type: string}
"""
DATE, BIGINT = (ORDERS.replace("type: int", f"type: {type_}") for type_ in ("date", "bigint"))
"""The contract of the base, a change that Delta refuses, and one that needs type widening."""
DESCRIBED = ORDERS + "description: One row per order.\n"


@dataclass(frozen=True)
class Event:
    """What starts a workflow.

    Attributes:
        name: The name of the event.
        sha: The commit that the job checks out.
        payload: The content of the event file.
    """

    name: str
    sha: str
    payload: dict[str, Any]


class PullRequest:
    """Pull request 1, which asks to merge ``feature`` into ``main``.

    Args:
        folder: The folder of all repositories.
        base: The files of ``main``.
    """

    def __init__(self, folder: Path, base: Mapping[str, str]) -> None:
        self._folder = folder
        self.remote = Repo(folder / "acme/contracts.git", bare=True)
        self.clone = Repo(folder / "author")
        self.clone.git("remote", "add", "origin", self.remote.path.as_uri())
        self._write(base)
        self.base = self.clone.commit("base")
        self.clone.git("push", "--quiet", "origin", "main")
        self.clone.git("switch", "--quiet", "--create", "feature")
        self.head = self.base
        self._numbers = itertools.count()

    def push(self, files: Mapping[str, str | None]) -> Event:
        """Push a commit to the branch, and return the event of the pull request."""
        self._write(files)
        self.head = self.clone.commit()
        self.clone.git("push", "--quiet", "origin", "feature")
        return self.event()

    def event(self, head_repository: int | None = 1) -> Event:
        """Return the event of the pull request; another repository than 1 is a fork."""
        sha = self._merged("refs/pull/1/merge")
        head = {"ref": "feature", "sha": self.head, "repo": head_repository and {"id": head_repository}}
        base = {"ref": "main", "sha": self.base, "repo": {"id": 1}}
        return self._event("pull_request", sha, number=1, pull_request={"base": base, "head": head})

    def other_event(self, name: str) -> Event:
        """Return an event that is no pull request's: of its merge, or of a run on its branch."""
        if name == "merge_group":
            sha = self._merged("refs/heads/gh-readonly-queue/main/pr-1")
            return self._event(name, sha, merge_group={"base_sha": self.base, "head_sha": sha})
        if name == "push":
            sha = self._merged("refs/heads/main")
            return self._event(name, sha, before=self.base, after=sha)
        return self._event(name, self.head)

    def workspace(self, event: Event) -> Path:
        """Clone as actions/checkout does, with its depth of 1."""
        clone = Repo(self._folder / f"workspace-{next(self._numbers)}")
        clone.git("remote", "add", "origin", self.remote.path.as_uri())
        clone.git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", event.sha)
        clone.git("checkout", "--quiet", "--detach", event.sha)
        return clone.path

    def _merged(self, ref: str) -> str:
        """Merge the branch as GitHub does, and return the commit."""
        tree = self.remote.git("merge-tree", "--write-tree", self.base, self.head)
        parents = ("-p", self.base, "-p", self.head)
        sha = self.remote.git("commit-tree", tree, *parents, "-m", f"Merge {self.head} into {self.base}")
        self.remote.git("update-ref", ref, sha)
        return sha

    @staticmethod
    def _event(name: str, sha: str, **payload: object) -> Event:
        return Event(name, sha, {**payload, "repository": {"default_branch": "main"}})

    def _write(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            if text is None:
                (self.clone.path / name).unlink()
            else:
                self.clone.write(name, text)
