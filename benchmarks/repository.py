"""git repositories for measurements."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_AUTHOR = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")


def commit_all(folder: Path) -> None:
    """Commit all files of a folder, which becomes a repository if it is none."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, *_AUTHOR, "commit", "--quiet", "-m", "contracts")


def git(folder: Path, *arguments: str) -> None:
    """Run git without the user's settings."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=folder, env=env, check=True)
