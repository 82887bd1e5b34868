"""A pull request in a repository of contracts, as a CI run of GitHub sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from support.project import ORDERS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from support.project import Project, Run

CONTRACT: Final = "contracts/orders.yml"


class Review:
    """A pull request: a commit of the target branch, and changes of its files on a branch."""

    def __init__(self, project: Project, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.project = project
        self._monkeypatch = monkeypatch
        self._event = folder / "event.json"

    def write(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            if text is None:
                (self.project.repo.path / name).unlink(missing_ok=True)
            else:
                self.project.repo.write(name, text)

    def check(
        self,
        base: Mapping[str, str | None],
        head: Mapping[str, str | None],
        *options: str,
        repositories: Mapping[str, Any] | None = None,
    ) -> Run:
        """Check the pull request that makes these changes to a base with the contract of ``sales.orders``.

        Args:
            base: The files of the base.
            head: The files that the pull request changes.
            options: The options of the command.
            repositories: The ``repo`` of ``base`` and ``head`` in the event.
        """
        commit, tip = self.commits(base, head)
        sides = {"base": {"sha": commit, "ref": "main"}, "head": {"sha": tip}}
        for side, repository in (repositories or {}).items():
            sides[side]["repo"] = repository
        return self.run("pull_request", {"pull_request": sides}, *options)

    def commits(self, base: Mapping[str, str | None], head: Mapping[str, str | None]) -> tuple[str, str]:
        """Commit both sides, the second one on a branch."""
        self.write({CONTRACT: ORDERS, **base})
        commit = self.project.repo.commit()
        self.project.repo.git("checkout", "--quiet", "-b", "feature")
        self.write(head)
        return commit, self.project.repo.commit()

    def run(self, event: str, payload: Mapping[str, Any], *options: str) -> Run:
        """Run ``check`` with an event of GitHub."""
        self._event.write_text(json.dumps(payload))
        self._monkeypatch.setenv("GITHUB_EVENT_NAME", event)
        self._monkeypatch.setenv("GITHUB_EVENT_PATH", str(self._event))
        return self.project.check(*options)
