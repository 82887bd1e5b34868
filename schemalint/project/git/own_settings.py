"""What a repository's own configuration names as programs; schemalint runs none of them.

Whoever makes a repository writes its configuration ("SECURITY" in git(1)). Programs come only from the user's
and the system's configuration, and from the environment. All functions take the output of `LIST`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from schemalint.base.errors import GitError
from schemalint.base.printable import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

LIST = ("config", "--list", "--name-only", "--show-scope", "-z")
"""The git command that lists all settings with the scopes that they come from."""


def without_filters(listed: bytes, env: Mapping[str, str]) -> dict[str, str]:
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


def require_harmless_fetch(listed: bytes) -> None:
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


def is_partial(listed: bytes) -> bool:
    """Whether this is a partial clone."""
    return any(re.fullmatch(_PROMISOR, key) for key in _own_keys(listed))


_PROMISOR = r"(?s)extensions\.partialclone|remote\..*\.promisor"


def _own_keys(listed: bytes) -> list[str]:
    fields = iter(listed.split(b"\0"))
    return [os.fsdecode(key) for scope, key in zip(fields, fields, strict=False) if scope in _OWN]


_OWN = frozenset({b"local", b"worktree"})
