"""Real git repositories for tests, isolated from the user's configuration."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# Every commit would start one more process, which finds nothing to clean.
_NO_UPKEEP: Final = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")


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
            _write_empty(path if bare else path / ".git", bare=bare)

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
        self.git(*_NO_UPKEEP, "commit", "--quiet", "--allow-empty", "--message", message)
        return self.head()

    def head(self) -> str:
        """Return the id of HEAD."""
        try:  # as git writes it for a branch with a new commit, without a process
            kind, _, name = (self.path / ".git/HEAD").read_text(encoding="utf-8").strip().partition(" ")
            return (self.path / ".git" / name).read_text(encoding="utf-8").strip() if name else kind
        except OSError:
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


def _write_empty(folder: Path, *, bare: bool) -> None:
    """Write the git directory of an empty repository, as `git init` does but for the samples of hooks."""
    for name in ("hooks", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (folder / name).mkdir(parents=True)
    for name, text in _files_of_empty(bare=bare).items():
        (folder / name).write_text(text, encoding="utf-8")


@functools.cache
def _files_of_empty(*, bare: bool) -> dict[str, str]:
    """Return the files that `git init` writes, once per process."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made)
        arguments = ["git", "init", "--quiet", "--initial-branch=main", "--template=", *(["--bare"] * bare)]
        subprocess.run(arguments, cwd=path, env=isolated_env(path), check=True)
        folder = path if bare else path / ".git"
        return {name: (folder / name).read_text(encoding="utf-8") for name in ("HEAD", "config")}
