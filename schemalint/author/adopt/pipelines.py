"""The jobs that check changes, the hook of pre-commit, and where both get schemalint.

That is where this one was installed from, so that no line needs an edit.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import schemalint
from schemalint.author.adopt.file_changes import FileChange, UnchangedFile, new_file, read_existing
from schemalint.base.document.edit_review import composed
from schemalint.base.errors import UsageError
from schemalint.base.project_home import home_of
from schemalint.base.redaction import without_secrets
from schemalint.base.values import frozen
from schemalint.project.git import Repository

_ON_GITHUB: Final = ".github/workflows/schemalint.yml"
_ON_GITLAB: Final = ".gitlab-ci.yml"
_JOB: Final = "schemalint"
_PYTHON: Final = "3.13"
_REMOTES: Final = r"^remote\..*\.url$"

# The same commits as in .github/workflows/ci.yml of this project.
_CHECKOUT: Final = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
_SETUP_PYTHON: Final = "actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0"
FILE: Final = ".pre-commit-config.yaml"
_HOOK: Final = "schemalint-check"
NAME: Final = "schemalint"

_FROM_GIT: Final = re.compile(
    rf"(?:{NAME}\s*@\s*)?git\+(?P<url>[^@\s]+(?:@[^@\s/]+[:/][^@\s]*)?)@(?P<revision>[^@\s#]+)"
)
# Neither a shell nor a pipeline replaces anything in these.
_REQUIREMENT: Final = re.compile(r"(?!.*(?:: | #))[\w.+@:/=~<>!,;\[\]#%&? -]+", re.ASCII)
_GITHUB_ADDRESS: Final = re.compile(
    r"(?:https://|(?:ssh://)?git@)github\.com[/:](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?"
)


class Service(Enum):
    """A CI service."""

    GITHUB = "github"
    GITLAB = "gitlab"
    NONE = "none"


def service_of(repository: Repository) -> Service:
    """Return the service that runs the repository's jobs, by its files, else by its remotes."""
    places = {
        Service.GITLAB: repository.root / _ON_GITLAB,
        Service.GITHUB: repository.root / ".github",
    }
    services = [service for service, place in places.items() if place.exists()]
    if len(services) == 1:
        return services[0]
    remotes = repository.run("config", "--get-regexp", _REMOTES, statuses=(0, 1)).stdout.decode(
        errors="replace"
    )
    for service in (Service.GITHUB, Service.GITLAB):
        if re.search(rf"[@/.]{service.value}\.|/{service.value}/", remotes):
            return service
    if services:
        return Service.GITHUB
    return Service.NONE


def job_change(root: Path, service: Service, source: Source) -> FileChange | UnchangedFile | None:
    """Return what to do to the service's files; None without a service.

    Raises:
        UsageError: One of them cannot be read.
    """
    make = _CHANGES.get(service)
    return make(root, source) if make else None


def _github(root: Path, source: Source) -> FileChange | UnchangedFile:
    if source.action is not None:
        permissions = "      contents: read\n      pull-requests: write # one comment\n"
        steps = f"      - uses: {source.action}\n"
    else:
        permissions = "      contents: read\n"
        steps = (
            f"      - run: pip install {shlex.quote(source.requirement)}\n"
            "      - run: schemalint check --output-format github\n"
        )
    text = f"""\
name: schemalint
on: [pull_request, merge_group]
permissions: {{}}
concurrency:
  group: ${{{{ github.workflow }}}}-${{{{ github.ref }}}}
  cancel-in-progress: true
jobs:
  check:
    name: schemalint
    runs-on: ubuntu-24.04
    timeout-minutes: 15
    permissions:
{permissions}\
    steps:
      - uses: {_CHECKOUT}
        with:
          persist-credentials: false
          fetch-depth: 0 # the base of the pull request too
      - uses: {_SETUP_PYTHON}
        with:
          python-version: "{_PYTHON}"
{steps}"""
    return new_file(root / _ON_GITHUB, text)


def _gitlab(root: Path, source: Source) -> FileChange | UnchangedFile:
    file = root / _ON_GITLAB
    text = read_existing(file)
    entries = composed(text or "")
    jobs = entries if isinstance(entries, dict) else {}
    if _JOB in jobs:
        return UnchangedFile(file, f"it has a job {_JOB} already")
    stages = jobs.get("stages")
    is_without_tests = isinstance(stages, list) and "test" not in stages and stages
    job = f"""\
{_JOB}:
  image: python:{_PYTHON}
{f"  stage: {stages[0]}{chr(10)}" if is_without_tests and isinstance(stages, list) else ""}\
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  variables:
    GIT_DEPTH: 0 # the base of the merge request too
  script:
    - pip install {shlex.quote(source.requirement)}
    - schemalint check --output-format full --output-format gitlab:gl-code-quality-report.json
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
"""
    if text is None:
        return FileChange(file, job)
    return UnchangedFile(file, "add this job", job)


_CHANGES: Final[Mapping[Service, Callable[[Path, Source], FileChange | UnchangedFile]]] = {
    Service.GITHUB: _github,
    Service.GITLAB: _gitlab,
}


def hook_change(root: Path, source: Source) -> FileChange | UnchangedFile:
    """Return pre-commit's configuration, or the item to add to the one that is there.

    Raises:
        UsageError: It cannot be read.
    """
    file, item = root / FILE, _item(source)
    text = read_existing(file)
    if text is None:
        indented = "".join(f"  {line}\n" for line in item.splitlines())
        return FileChange(file, f"repos:\n{indented}")
    if _HOOK in text:
        return UnchangedFile(file, f"it has {_HOOK} already")
    return UnchangedFile(file, "add this to its list `repos`", item)


def _item(source: Source) -> str:
    if source.repository is not None:
        return (
            f"- repo: {source.repository}\n"
            f"  rev: {json.dumps(source.revision)}\n"
            "  hooks:\n"
            f"    - id: {_HOOK}\n"
        )
    # The same as in .pre-commit-hooks.yaml, which only the git repository has.
    return f"""\
- repo: local
  hooks:
    - id: {_HOOK}
      name: schemalint (check contracts)
      entry: schemalint check --head index --allow-none
      language: python
      additional_dependencies: [{json.dumps(source.requirement)}]
      always_run: true
      pass_filenames: false
      stages: [pre-commit, pre-push]
      minimum_pre_commit_version: 3.2.0
"""


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
        match = _GITHUB_ADDRESS.fullmatch(self.repository or "")
        if match:
            return f"{match['name']}@{self.revision}"
        return None


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
    if home is None:
        return from_index
    return Source(from_index.requirement, home, f"v{schemalint.__version__}")


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
