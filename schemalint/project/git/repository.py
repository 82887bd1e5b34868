"""Find the repository, and set the environment of its git processes.

Whoever makes a repository writes its configuration ("SECURITY" in git(1)). Programs come only from the user's
and the system's configuration, and from the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import CompletedProcess
from types import MappingProxyType
from typing import IO

from schemalint.base.errors import GitError
from schemalint.base.printable import visible
from schemalint.base.values import field, frozen, replace
from schemalint.project.git.process import NoRepositoryError, absolute_folders, run_git, talk_to_git

_LIST = ("config", "--list", "--name-only", "--show-scope", "-z")
"""The git command that lists all settings with the scopes that they come from."""


@frozen
class Answers:
    """What git said about commits, which only a fetch changes.

    Attributes:
        commits: The commit that a full id names, None if this clone has none.
        ancestors: Whether the first commit equals the second or is its ancestor.
        shallow: Whether this is a shallow clone.
    """

    commits: dict[str, str | None] = field(default_factory=dict)
    ancestors: dict[tuple[str, str], bool] = field(default_factory=dict)
    shallow: list[bool] = field(default_factory=list)

    def forget(self) -> None:
        """Forget all answers, after a fetch."""
        for answers in (self.commits, self.ancestors, self.shallow):
            answers.clear()


@frozen
class Repository:
    """A repository on disk, and the environment in which git runs there.

    Attributes:
        root: Top level of the working tree; the git directory of a bare repository (a server's hook).
        git_dir: The git directory, absolute; in a linked worktree, the worktree's own.
        bare: Whether the repository has no working tree and no index.
        index_file: The index of the commit in progress, if git gave the hook another index file than
            ``index``, as ``git commit -a`` and ``git commit PATH`` do.
        env: The environment of every git process; with it git connects to no remote.
        allow_protocol: The transports that an administrator permits, for `fetching`; empty: git's own choice.
        answers: What git said already.
        folder: The folder that the search began in, relative to the top level with ``/``; empty for the top
            level, and outside of the working tree.
    """

    root: Path
    git_dir: Path
    bare: bool
    index_file: Path | None
    env: Mapping[str, str] = field(repr=False)
    allow_protocol: str = ""
    answers: Answers = field(default_factory=Answers, repr=False, compare=False)
    folder: str = ""

    def run(
        self, *arguments: str, stdin: bytes = b"", statuses: tuple[int, ...] = (0,)
    ) -> CompletedProcess[bytes]:
        """Run one git command; see `run_git`."""
        return run_git(*arguments, cwd=self.root, env=self.env, stdin=stdin, statuses=statuses)

    def talk(self, *arguments: str, lines: Iterable[bytes]) -> AbstractContextManager[IO[bytes]]:
        """Write lines to one git command while the caller reads its output; see `talk_to_git`."""
        return talk_to_git(*arguments, lines=lines, cwd=self.root, env=self.env)

    def with_index(self) -> Repository:
        """Return the same repository with the index of the commit in progress."""
        if self.index_file is None:
            return self
        return replace(self, env=MappingProxyType({**self.env, "GIT_INDEX_FILE": str(self.index_file)}))

    def without_filters(self) -> Repository:
        """Return the same repository without its own filters (one git process)."""
        env = _without_filters(self.run(*_LIST).stdout, self.env)
        return replace(self, env=MappingProxyType(env))

    def fetching(self) -> Repository:
        """Return the same repository, whose git processes may connect to its remotes.

        Raises:
            GitError: A fetch would obey the repository's own configuration in what it runs.
        """
        _require_harmless_fetch(self.run(*_LIST).stdout)
        env = {name: value for name, value in self.env.items() if name not in _UNCONNECTED}
        if self.allow_protocol:
            env["GIT_ALLOW_PROTOCOL"] = self.allow_protocol
        return replace(self, env=MappingProxyType(env))

    def fetching_objects(self) -> Repository:
        """Return the same repository, which in a partial clone fetches missing objects; see `fetching`."""
        if _is_partial(self.run(*_LIST).stdout):
            return self.fetching()
        return self

    def is_shallow(self) -> bool:
        """Whether this is a shallow clone."""
        if not self.answers.shallow:
            shown = self.run("rev-parse", "--is-shallow-repository").stdout.strip()
            self.answers.shallow.append(shown == b"true")
        return self.answers.shallow[0]


def open_repository(start: Path, env: Mapping[str, str]) -> Repository:
    """Return the repository that a directory belongs to (one git process).

    The search goes from the directory upwards and ignores ``GIT_DIR``: in a hook of a linked worktree or a
    submodule that variable names the hook's repository, even after ``cd`` into another repository. Only if
    the search finds nothing does ``GIT_DIR`` count (a working tree with its git directory elsewhere).

    Raises:
        GitError: There is no repository, or only one that files of another one form; it belongs to another
            user; or git is not installed.
    """
    clean = _clean(env)
    try:
        root, git_dir, bare = _discover(start, clean)
        _require_outside(start, git_dir)
    except GitError:
        if "GIT_DIR" not in env:
            raise
        variables = {name: env[name] for name in ("GIT_DIR", "GIT_WORK_TREE") if name in env}
        root, git_dir, bare = _discover(start, clean | variables)
    _require_outermost(root, env)
    # Set explicitly, so that every git process uses this repository.
    clean["GIT_DIR"] = str(git_dir)
    if not bare:
        clean["GIT_WORK_TREE"] = str(root)
    index = _hook_index(root, git_dir, env)
    return Repository(
        root,
        git_dir,
        bare,
        index,
        MappingProxyType(clean),
        env.get("GIT_ALLOW_PROTOCOL", ""),
        folder="" if bare else _folder_in(root, start),
    )


def _folder_in(root: Path, start: Path) -> str:
    folder, top = start.resolve(), root.resolve()
    if folder.is_relative_to(top):
        return "/".join(folder.relative_to(top).parts)
    return ""


def _require_outside(start: Path, git_dir: Path) -> None:
    # Files named HEAD, config and objects/… in a commit form a bare repository for a search that begins among
    # them. git 2.38 and later refuses it (safe.bareRepository).
    if start.resolve().is_relative_to(git_dir.resolve()):
        raise GitError(
            f"{start} is inside of the git directory {git_dir}",
            help="run schemalint in the working tree; a bare repository is named by GIT_DIR=DIRECTORY",
        )


def _require_outermost(root: Path, env: Mapping[str, str]) -> None:
    # A pull request can turn a folder of the workspace into a submodule, whose history it chooses.
    if not env.get("GITHUB_WORKSPACE"):
        return
    workspace = Path(env["GITHUB_WORKSPACE"]).resolve()
    for folder in root.resolve().parents:
        if folder.is_relative_to(workspace) and (folder / ".git").exists():
            raise GitError(
                f"the repository {root} lies in another one of the workspace, {folder}",
                help="check a folder of the outer repository, or check out both side by side",
            )


def find_repository(start: Path, env: Mapping[str, str]) -> Repository | None:
    """Return the repository that a directory belongs to, None if it belongs to none.

    Raises:
        GitError: git is not installed, or refuses the repository, so that nobody can tell what is in it.
    """
    try:
        return open_repository(start, env)
    except NoRepositoryError:
        return None


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
    # Run again only to raise the error.
    run_git("rev-parse", "--absolute-git-dir", cwd=start, env=env)
    raise GitError(f"git finds no repository for {start}")


_FATAL = 128
_WITHOUT_WORK_TREE = 2  # number of lines that `git rev-parse` prints before --show-toplevel fails


def _hook_index(root: Path, git_dir: Path, env: Mapping[str, str]) -> Path | None:
    # The path is relative to the top level of the working tree, where git runs hooks (githooks(5)).
    if not env.get("GIT_INDEX_FILE"):
        return None
    index = root / env["GIT_INDEX_FILE"]
    if not index.is_file():
        return None
    # The variable comes from a hook of another repository that changed into this one.
    if (index.parent / "HEAD").exists() and not index.parent.samefile(git_dir):
        return None
    return index


def _clean(env: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in env.items() if not name.startswith("GIT_") or _is_kept(name)}
    return (
        kept
        | _UNCONNECTED
        | {
            "PATH": os.pathsep.join(absolute_folders(env)),
            "GIT_TERMINAL_PROMPT": "0",  # there is no user to answer
            "GIT_NO_REPLACE_OBJECTS": "1",  # a mirror holds refs/replace/* that anybody pushed
            "GIT_OPTIONAL_LOCKS": "0",  # the commit that runs the hook holds index.lock
            "LC_ALL": "C",  # error messages are matched in English
            "LANGUAGE": "",
        }
    )


# A partial clone fetches missing objects unasked: the first variable forbids it (git 2.44.1, 2.39.4 and other
# security releases of May 2024); older versions find no transport that they may use.
_UNCONNECTED = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}


def _is_kept(name: str) -> bool:
    return name in _KEPT or name.startswith(_KEPT_PREFIXES)


# git exports variables to its hooks that redirect later processes to another directory, index or object store
# (`git rev-parse --local-env-vars`), so only these are kept; pre-commit does the same (git.no_git_env).
_KEPT_PREFIXES = (
    "GIT_CONFIG_",  # safe.directory and credentials in CI, `git -c`, and which configuration files are read
    "GIT_SSH",  # --fetch: how to reach the remote
    "GIT_SSL_",
    "GIT_HTTP_",
)
_KEPT = frozenset(
    {
        "GIT_EXEC_PATH",  # where a relocated git finds its commands
        "GIT_ASKPASS",  # --fetch: credentials without a terminal
        "GIT_CEILING_DIRECTORIES",  # where the search for a repository ends
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        # In pre-receive the pushed objects are in quarantine; the first two variables make them readable
        # (git-receive-pack(1)), and the third makes git refuse to write references meanwhile.
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_QUARANTINE_PATH",
    }
)


def _without_filters(listed: bytes, env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment of git in which the repository's own filters do nothing.

    ``git ls-files --modified`` and ``git status`` run the filters of changed files (gitattributes(5)); a pull
    request names them in .gitattributes, and the configuration says what runs.
    """
    drivers = {match[1] for key in _own_keys(listed) if (match := re.fullmatch(_FILTER, key))}
    settings = [(f"filter.{name}.{key}", value) for name in sorted(drivers) for key, value in _NO_FILTER]
    # The environment and not -c, because the name of a filter may contain "=".
    first = int(env.get("GIT_CONFIG_COUNT") or 0)
    added = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings, first):
        added |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return {**env, **added}


_FILTER = r"(?s)filter\.(.*)\.[^.]*"
_NO_FILTER = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))


def _require_harmless_fetch(listed: bytes) -> None:
    """Check that the repository's own configuration decides neither what a fetch runs nor who reads secrets.

    Raises:
        GitError: It names a program, a proxy or another place for the user's credentials.
    """
    for key in _own_keys(listed):
        if re.fullmatch(_OBEYED_BY_FETCH, key):
            raise GitError(
                f"the repository's own configuration sets {visible(key)}, which schemalint does not obey",
                help="fetch with git itself before schemalint runs, or move the setting: git config --global",
            )


# git-config(1): programs (sshCommand, gitProxy, askPass, helper, uploadpack, vcs), and what decides who reads
# the credentials on their way (proxies, certificates, cookies). actions/checkout sets http.<url>.extraheader.
_OBEYED_BY_FETCH = (
    r"(?s)core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand)"
    r"|credential\.(?:.*\.)?helper"
    r"|remote\..*\.(?:uploadpack|vcs|proxy|proxyauthmethod)"
    r"|http\.(?:.*\.)?(?!extraheader|postbuffer|version|lowspeed)[^.]*"
    r"|fetch\.bundleuri"
    r"|protocol\..*"
)


def _is_partial(listed: bytes) -> bool:
    """Whether this is a partial clone."""
    return any(re.fullmatch(_PROMISOR, key) for key in _own_keys(listed))


_PROMISOR = r"(?s)extensions\.partialclone|remote\..*\.promisor"


def _own_keys(listed: bytes) -> list[str]:
    fields = iter(listed.split(b"\0"))
    return [os.fsdecode(key) for scope, key in zip(fields, fields, strict=False) if scope in _OWN]


_OWN = frozenset({b"local", b"worktree"})
