"""Real git repositories for tests, isolated from the user's configuration."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def isolated_env(home: Path) -> dict[str, str]:
    """Return the environment of git in the tests, without settings of the user, the system or CI."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.com",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.com",
        "GIT_ALLOW_PROTOCOL": "file",  # submodules and partial clones from a path
    }


class Repo:
    """A git repository in a directory, created if it does not exist.

    Attributes:
        path: The top level.
        env: The environment for git processes and for the code under test.
    """

    def __init__(self, path: Path, *, bare: bool = False) -> None:
        self.path = path
        self.env = isolated_env(path)
        if not path.exists():
            path.mkdir(parents=True)
            self.git("init", "--quiet", "--initial-branch=main", *(["--bare"] if bare else []))

    def git(self, *args: str | Path, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> str:
        """Run a git command, which must succeed, and return its stripped output."""
        environment = {**self.env, **(env or {})}
        process = subprocess.run(
            ["git", *args], cwd=self.path, env=environment, input=stdin, capture_output=True, check=False
        )
        assert process.returncode == 0, os.fsdecode(process.stderr)
        return os.fsdecode(process.stdout).strip()

    def write(self, path: str, text: str) -> Path:
        """Write a file and its directories; keep the line ends."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
        return file

    def commit(self, message: str = "change") -> str:
        """Commit all files and return the id of the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.head()

    def head(self) -> str:
        """Return the id of HEAD."""
        return self.git("rev-parse", "HEAD")

    def clone(self, path: Path, *options: str) -> Repo:
        """Clone through the file transport, so that ``--depth`` takes effect."""
        self.git("clone", "--quiet", *options, self.path.as_uri(), path)
        return Repo(path)

    def hook(self, name: str, script: str) -> None:
        """Install a git hook, a shell script."""
        hooks = self.path / self.git("rev-parse", "--git-path", "hooks")
        hooks.mkdir(exist_ok=True)
        file = hooks / name
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        file.chmod(0o755)
