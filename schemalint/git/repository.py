"""Finding the repository, and what its git processes get to see of the environment."""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from schemalint.errors import GitError
from schemalint.git.process import run_git, talk_to_git
from schemalint.values import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager
    from subprocess import CompletedProcess
    from typing import IO


@frozen
class Repository:
    """A repository on disk, and how git is run in it.

    Attributes:
        root: Top level of the working tree; the git directory itself where there is none (a server's hook).
        git_dir: The git directory, absolute; of a linked worktree, its own.
        bare: There is no working tree and no index here.
        index_file: The index of the commit that is being made, where a hook was given another than ``index``:
            ``git commit -a`` and ``git commit PATH`` show the hook what will be committed this way.
        env: The environment of every git process.
    """

    root: Path
    git_dir: Path
    bare: bool
    index_file: Path | None
    env: Mapping[str, str] = field(repr=False)

    def run(
        self, *arguments: str, stdin: bytes = b"", statuses: tuple[int, ...] = (0,)
    ) -> CompletedProcess[bytes]:
        """Run one git command; see `run_git`."""
        return run_git(*arguments, cwd=self.root, env=self.env, stdin=stdin, statuses=statuses)

    def talk(self, *arguments: str, lines: Iterable[bytes]) -> AbstractContextManager[IO[bytes]]:
        """Feed lines to one git command while its output is read; see `talk_to_git`."""
        return talk_to_git(*arguments, lines=lines, cwd=self.root, env=self.env)

    def with_index(self) -> Repository:
        """The same, with the index of the commit that is being made."""
        if self.index_file is None:
            return self
        env = MappingProxyType({**self.env, "GIT_INDEX_FILE": str(self.index_file)})
        return Repository(self.root, self.git_dir, self.bare, self.index_file, env)

    def is_shallow(self) -> bool:
        """Whether history was cut off when this was cloned."""
        return self.run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"


def open_repository(start: Path, env: Mapping[str, str]) -> Repository:
    """The repository that a directory belongs to (one git process).

    It is looked for from the directory upwards, whatever ``GIT_DIR`` says: in a hook of a linked worktree or
    a submodule that variable names the hook's repository, even after ``cd`` into another one. It counts where
    nothing else is found (a working tree whose git directory lies elsewhere).

    Raises:
        GitError: There is none, it belongs to another user, or git is not installed.
    """
    clean = _clean(env)
    try:
        root, git_dir, bare = _discover(start, clean)
    except GitError:
        if "GIT_DIR" not in env:
            raise
        named = {name: env[name] for name in ("GIT_DIR", "GIT_WORK_TREE") if name in env}
        root, git_dir, bare = _discover(start, clean | named)
    # Said outright, so that no process finds another repository than this one.
    clean["GIT_DIR"] = str(git_dir)
    if not bare:
        clean["GIT_WORK_TREE"] = str(root)
    return Repository(root, git_dir, bare, _hook_index(root, git_dir, env), MappingProxyType(clean))


def _discover(start: Path, env: Mapping[str, str]) -> tuple[Path, Path, bool]:
    answer = run_git(
        "rev-parse",
        *("--is-inside-work-tree", "--absolute-git-dir", "--show-toplevel"),
        cwd=start,
        env=env,
        statuses=(0, _FATAL),
    )
    lines = [Path(line) for line in os.fsdecode(answer.stdout).splitlines()]
    if answer.returncode == 0:
        _, git_dir, root = lines
        return root, git_dir, False
    if len(lines) == _WITHOUT_WORK_TREE:
        return lines[1], lines[1], True
    # Once more for the error alone.
    run_git("rev-parse", "--absolute-git-dir", cwd=start, env=env)
    raise GitError(f"git finds no repository for {start}")


_FATAL = 128
_WITHOUT_WORK_TREE = 2  # lines that `git rev-parse` prints before --show-toplevel fails


def _hook_index(root: Path, git_dir: Path, env: Mapping[str, str]) -> Path | None:
    # git runs hooks at the top level of the working tree, and the path is relative to that (githooks(5)).
    if not env.get("GIT_INDEX_FILE"):
        return None
    index = root / env["GIT_INDEX_FILE"]
    if not index.is_file():
        return None
    # Set by the hook of another repository, in which somebody changed into this one.
    if (index.parent / "HEAD").exists() and not index.parent.samefile(git_dir):
        return None
    return index


def _clean(env: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in env.items() if not name.startswith("GIT_") or _is_kept(name)}
    return kept | {
        "GIT_TERMINAL_PROMPT": "0",  # nobody answers
        "GIT_OPTIONAL_LOCKS": "0",  # the commit that runs the hook holds index.lock
        "LC_ALL": "C",  # messages are matched
        "LANGUAGE": "",
    }


def _is_kept(name: str) -> bool:
    return name in _KEPT or name.startswith(_KEPT_PREFIXES)


# git exports variables to its hooks that point later processes to another directory, index or object store
# (`git rev-parse --local-env-vars`), so all are dropped but these; pre-commit does the same (git.no_git_env).
_KEPT_PREFIXES = (
    "GIT_CONFIG_",  # safe.directory and credentials in CI, `git -c`, and which configuration files are read
    "GIT_SSH",  # --fetch: how the remote is reached
    "GIT_SSL_",
    "GIT_HTTP_",
)
_KEPT = frozenset(
    {
        "GIT_EXEC_PATH",  # a git that is installed elsewhere finds its commands by it
        "GIT_ASKPASS",  # --fetch: credentials without a terminal
        "GIT_ALLOW_PROTOCOL",  # --fetch: which transports an administrator permits
        "GIT_CEILING_DIRECTORIES",  # where the search for a repository ends
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        # In pre-receive the pushed objects lie in a quarantine, and these show them (git-receive-pack(1));
        # the third makes git refuse to write references meanwhile.
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_QUARANTINE_PATH",
    }
)
