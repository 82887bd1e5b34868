"""Where hooks and jobs get schemalint: from where this one was installed, so that no line needs an edit."""

from __future__ import annotations

import json
import re
from importlib import metadata
from typing import Any, Final
from urllib.parse import urlsplit

import schemalint
from schemalint.base.errors import UsageError
from schemalint.base.home import home_of
from schemalint.base.redaction import without_secrets
from schemalint.base.values import frozen

NAME: Final = "schemalint"

_FROM_GIT: Final = re.compile(
    rf"(?:{NAME}\s*@\s*)?git\+(?P<url>[^@\s]+(?:@[^@\s/]+[:/][^@\s]*)?)@(?P<revision>[^@\s#]+)"
)
# Neither a shell nor a pipeline replaces anything in these.
_REQUIREMENT: Final = re.compile(r"(?!.*(?:: | #))[\w.+@:/=~<>!,;\[\]#%&? -]+", re.ASCII)
_ON_GITHUB: Final = re.compile(
    r"(?:https://|(?:ssh://)?git@)github\.com[/:](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?"
)


@frozen
class Source:
    """Where schemalint comes from.

    Attributes:
        requirement: What pip installs.
        repository: The git repository with the hooks and the Action; None if it is unknown.
        revision: The tag or the commit there.
        problem: Why another machine may not be able to install it.
    """

    requirement: str
    repository: str | None = None
    revision: str = ""
    problem: str | None = None

    @property
    def action(self) -> str | None:
        """The Action as a workflow of GitHub names it; None if the repository is not there."""
        match = _ON_GITHUB.fullmatch(self.repository or "")
        return f"{match['name']}@{self.revision}" if match else None


def given_source(requirement: str) -> Source:
    """Return the source that a user names: a requirement of pip.

    Raises:
        UsageError: It is none that can stand in a file of the repository.
    """
    if _holds_credentials(requirement):
        raise UsageError(
            "the requirement of --source holds credentials", help="a public address, or a package index"
        )
    if not _REQUIREMENT.fullmatch(requirement) or requirement.startswith("-"):
        raise UsageError(
            f"--source {requirement!r} is no requirement of pip",
            help=f"for example {NAME}=={schemalint.__version__}, or git+https://HOST/schemalint@v{schemalint.__version__}",
        )
    if match := _FROM_GIT.fullmatch(requirement):
        return _from_git(match["url"], match["revision"])
    return Source(requirement)


def installed_source() -> Source:
    """Return what this schemalint was installed from, as pip has recorded it (PEP 610)."""
    distribution = metadata.distribution(NAME)
    recorded: dict[str, Any] = json.loads(distribution.read_text("direct_url.json") or "{}")
    url = str(recorded.get("url", ""))
    from_index = Source(f"{NAME}=={schemalint.__version__}")
    if _holds_credentials(url) or not _REQUIREMENT.fullmatch(url or "-"):
        return _with_problem(from_index, "an address with credentials")
    if "vcs_info" in recorded and urlsplit(url).scheme != "file":
        return _from_git(url, str(recorded["vcs_info"]["commit_id"]))
    if urlsplit(url).scheme == "https":
        return Source(f"{NAME} @ {url}")
    if url:
        return _with_problem(from_index, "a folder of this machine")
    home = home_of(distribution)
    return from_index if home is None else Source(from_index.requirement, home, f"v{schemalint.__version__}")


def _holds_credentials(text: str) -> bool:
    """Whether an address has more than the user that every ssh server of repositories has."""
    public = text.replace("//git@", "//")
    return without_secrets(public) != public


def _from_git(url: str, revision: str) -> Source:
    return Source(f"{NAME} @ git+{url}@{revision}", url, revision)


def _with_problem(source: Source, origin: str) -> Source:
    problem = (
        f"this schemalint was installed from {origin}; hook and pipeline install {source.requirement} "
        "from the package index: if it is not there, name what they install with --source"
    )
    return Source(source.requirement, problem=problem)
