"""Which configuration counts in CI: to whom each command sends the runner's token, for each kind of event.

The head of the pull request names a catalog of its own. Every catalog is a real server that notes which
requests have the token.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from support.project import ORDERS, Project
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TOKEN = "a-secret-of-the-runner"  # noqa: S105

COMMANDS = (
    ("check", "--live", "--all", "--against", "none"),
    ("plan",),
    ("show", "--target", "prod", "sales.orders"),
    ("pull", "sales.orders"),
    ("audit", "--target", "prod", "sales.orders"),
    ("revert", "sales.orders"),
    ("apply", "--yes"),
)

# Commits to check out. `feature` began at `before`; `merge` is GitHub's merge of it into `main`.
MAIN, FEATURE, MERGE, RELEASE, TAG = "main", "feature", "merge", "release", "tag"


class Catalogs:
    """Three catalogs; each answers every request with 404.

    Attributes:
        with_token: The names of the catalogs that got a request with the token.
    """

    def __init__(self) -> None:
        self.with_token: set[str] = set()
        self.addresses: dict[str, str] = {}

    def configuration(self, name: str) -> str:
        return (
            f'[targets.prod]\ncatalog = "main"\ncatalog_uri = "{self.addresses[name]}"\n'
            'catalog_token = "${UC_TOKEN}"\n'
        )


@contextmanager
def serving(catalogs: Catalogs, name: str) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if TOKEN in (self.headers["Authorization"] or ""):
                catalogs.with_token.add(name)
            data = b'{"error_code": "SCHEMA_DOES_NOT_EXIST", "message": "no such schema"}'
            self.send_response(404)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815 (the name that http.server calls)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        catalogs.addresses[name] = f"http://127.0.0.1:{server.server_port}/api/2.1/unity-catalog"
        yield
        server.shutdown()


class Checkout:
    """A clone, as a CI service makes it, of a repository with a hostile feature branch."""

    def __init__(self, folder: Path, catalogs: Catalogs) -> None:
        self.catalogs = catalogs
        self.origin = origin = Repo(folder / "origin")
        origin.write("contracts/orders.yml", ORDERS)
        origin.commit()
        origin.write("contracts/orders.yml", ORDERS.replace("type: bigint", "type: bigint, comment: number"))
        self._configure("before")
        self.commits = {"before": origin.commit()}
        for branch in (FEATURE, RELEASE):
            origin.git("switch", "--quiet", "--create", branch, self.commits["before"])
            self._configure("head")
            self.commits[branch] = origin.commit(branch)
        origin.git("switch", "--quiet", "main")
        self._configure("merged")
        self.commits[MAIN] = self.commits[TAG] = origin.commit()
        origin.git("tag", "v1")
        origin.git("switch", "--quiet", "--detach")
        origin.git("merge", "--quiet", "--no-ff", "--strategy-option=theirs", "--message=merge", FEATURE)
        origin.git("update-ref", "refs/pull/1/merge", "HEAD")
        self.commits[MERGE] = origin.head()
        origin.git("switch", "--quiet", "main")
        self.clone = Repo(folder / "clone")
        self.clone.git("remote", "add", "origin", origin.path.as_uri())
        everything = ("+refs/heads/*:refs/remotes/origin/*", "+refs/pull/*:refs/pull/*")
        self.clone.git("fetch", "--quiet", "--no-tags", "origin", *everything)
        self.event_file = folder / "event.json"

    def _configure(self, name: str) -> None:
        self.origin.write("schemalint.toml", self.catalogs.configuration(name))

    def check_out(self, name: str) -> None:
        self.clone.git("switch", "--quiet", "--detach", self.commits[name])

    def github(self, event: str, payload: Mapping[str, object]) -> dict[str, str]:
        repository = {"repository": {"default_branch": "main"}} if event != "schedule" else {}
        self.event_file.write_text(json.dumps({**repository, **payload}))
        names = {"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": str(self.event_file)}
        return {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/heads/main", **names}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    catalogs = Catalogs()
    with serving(catalogs, "before"), serving(catalogs, "merged"), serving(catalogs, "head"):
        yield Checkout(tmp_path_factory.mktemp("ci"), catalogs)


@pytest.fixture
def project(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Project:
    for name, value in checkout.clone.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("UC_TOKEN", TOKEN)
    monkeypatch.chdir(checkout.clone.path)
    return Project(checkout.clone, capsys)


def pull_request(checkout: Checkout) -> dict[str, object]:
    shas = {
        "base": {"ref": "main", "sha": checkout.commits[MAIN]},
        "head": {"sha": checkout.commits[FEATURE]},
    }
    return {"pull_request": shas}


def github_event(checkout: Checkout, event: str) -> dict[str, str]:
    commits = checkout.commits
    payloads: dict[str, dict[str, object]] = {
        "pull_request": pull_request(checkout),
        "pull_request_target": pull_request(checkout),
        "push": {"before": commits["before"]},
        "merge_group": {"merge_group": {"base_sha": commits[MAIN]}},
        "release": {"release": {"tag_name": "v1"}},
        "workflow_run": {"workflow_run": {"head_sha": commits[FEATURE]}},
    }
    return checkout.github(event, payloads.get(event, {}))


# Event, checked out commit, and the catalog that each command may send the token to: `merged` is that of the
# default branch, `before` that of the merge base, `head` that of the pull request.
GITHUB = [
    ("push", MAIN, "merged"),
    ("push", FEATURE, "before"),
    ("pull_request", MERGE, "merged"),
    ("pull_request", FEATURE, "before"),
    ("pull_request_target", MAIN, "merged"),
    ("pull_request_target", FEATURE, "before"),
    ("merge_group", MERGE, "merged"),
    ("schedule", MAIN, "merged"),
    ("release", TAG, "merged"),
    ("deployment", MAIN, "merged"),
    ("deployment", FEATURE, "before"),
    ("workflow_dispatch", MAIN, "merged"),
    ("workflow_dispatch", FEATURE, "before"),
    ("workflow_run", MAIN, "merged"),
    ("workflow_run", FEATURE, "before"),
    ("issue_comment", MAIN, "merged"),
    ("issue_comment", MERGE, "merged"),
]
GITLAB = {"CI": "true", "GITLAB_CI": "true", "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_BEFORE_SHA": "0" * 40}
OTHERS: list[tuple[str, dict[str, str], str, str]] = [
    ("gitlab merge request", {"CI_MERGE_REQUEST_IID": "1", **GITLAB}, FEATURE, "before"),
    ("gitlab default branch", GITLAB, MAIN, "merged"),
    ("gitlab tag", {**GITLAB, "CI_COMMIT_TAG": "v1"}, TAG, "merged"),
    ("azure", {"TF_BUILD": "True", "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main"}, MERGE, "merged"),
    ("bitbucket", {"CI": "true", "BITBUCKET_PR_DESTINATION_BRANCH": "main"}, FEATURE, "before"),
    ("buildkite", {"CI": "true", "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main"}, FEATURE, "before"),
    ("jenkins", {"JENKINS_URL": "https://ci", "CHANGE_TARGET": "main"}, FEATURE, "before"),
    ("no CI", {}, FEATURE, "head"),
]


@pytest.mark.wide
@pytest.mark.parametrize(("event", "ref", "expected"), GITHUB, ids=str)
def test_github_event_sends_the_token_to_the_trusted_catalog_only(
    checkout: Checkout, project: Project, monkeypatch: pytest.MonkeyPatch, event: str, ref: str, expected: str
) -> None:
    for name, value in github_event(checkout, event).items():
        monkeypatch.setenv(name, value)
    assert _receivers(checkout, project, ref) == {command[0]: {expected} for command in COMMANDS}


@pytest.mark.parametrize(("_name", "env", "ref", "expected"), OTHERS, ids=[row[0] for row in OTHERS])
def test_other_services_send_the_token_to_the_trusted_catalog_only(
    checkout: Checkout,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    _name: str,
    env: dict[str, str],
    ref: str,
    expected: str,
) -> None:
    if "GITLAB_CI" in env and ref == FEATURE:
        env = {**env, "CI_MERGE_REQUEST_DIFF_BASE_SHA": checkout.commits["before"]}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert _receivers(checkout, project, ref) == {command[0]: {expected} for command in COMMANDS}


def _receivers(checkout: Checkout, project: Project, ref: str, *options: str) -> dict[str, set[str]]:
    """Return the catalogs that get the token from each command."""
    found = {}
    for command in COMMANDS:
        checkout.clone.git("reset", "--quiet", "--hard")  # `revert` writes a file
        checkout.check_out(ref)
        checkout.catalogs.with_token.clear()
        project.run(*command, *options)
        found[command[0]] = set(checkout.catalogs.with_token)
    return found


@pytest.fixture
def dispatched(checkout: Checkout, project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The clone in a run that somebody started by hand, on the release branch."""
    for name, value in github_event(checkout, "workflow_dispatch").items():
        monkeypatch.setenv(name, value)
    checkout.clone.git("reset", "--quiet", "--hard")
    checkout.check_out(RELEASE)
    checkout.catalogs.with_token.clear()
    return project


@pytest.mark.parametrize("ref", ["release", "refs/heads/release", "refs/remotes/origin/release"])
def test_the_configuration_of_a_trusted_ref_counts(checkout: Checkout, dispatched: Project, ref: str) -> None:
    dispatched.run("plan", "--trusted-ref", "refs/tags/missing", "--trusted-ref", ref)
    assert checkout.catalogs.with_token == {"head"}
    checkout.check_out(FEATURE)
    checkout.catalogs.with_token.clear()
    dispatched.run("plan", "--trusted-ref", ref)
    assert checkout.catalogs.with_token == {"before"}, "a trusted branch trusts no other one"


def test_a_configuration_of_the_working_tree_does_not_count_in_ci(
    checkout: Checkout, dispatched: Project
) -> None:
    checkout.check_out(MAIN)
    checkout.clone.write("schemalint.toml", checkout.catalogs.configuration("head"))
    run = dispatched.run("plan")
    assert checkout.catalogs.with_token == {"merged"}
    note = "of the working tree does not count, only schemalint.toml in the checked-out commit, which"
    assert note in run.err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
def test_a_given_configuration_in_an_untrusted_checkout_does_not_count(
    checkout: Checkout, dispatched: Project, tmp_path: Path, command: tuple[str, ...]
) -> None:
    inside = checkout.clone.write("ci/own.toml", checkout.catalogs.configuration("head"))
    (checkout.clone.path / "link.toml").symlink_to(tmp_path / "outside.toml")
    outside = tmp_path / "outside.toml"
    outside.write_text(checkout.catalogs.configuration("merged"))
    (tmp_path / "link.toml").symlink_to(inside)
    for file in ("ci/own.toml", str(inside), "link.toml", str(tmp_path / "link.toml")):
        run = dispatched.run(*command, "--config", file)
        assert run.status == 2
        assert "only the configuration there counts" in run.out + run.err, file
    assert checkout.catalogs.with_token == set()
    dispatched.run(*command, "--config", str(outside))
    assert checkout.catalogs.with_token == {"merged"}
    (checkout.clone.path / "link.toml").unlink()


def test_a_given_configuration_in_the_checkout_counts_as_the_trusted_commit_has_it(
    checkout: Checkout, dispatched: Project
) -> None:
    dispatched.run("plan", "--config", "schemalint.toml")
    assert checkout.catalogs.with_token == {"before"}


def test_pull_does_not_connect_to_where_an_untrusted_contract_says(
    checkout: Checkout, dispatched: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a bucket, so that the attempt is an error before it connects.
    checkout.clone.write("contracts/orders.yml", ORDERS + "location: s3:///orders\n")
    run = dispatched.run("pull", "sales.orders", "--isolated")
    assert run.status == 2
    assert "no contract declares sales.orders, and there is no target to locate it" in run.err
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_EVENT_NAME"):
        monkeypatch.delenv(name)
    assert "does not name exactly one bucket" in dispatched.run("pull", "sales.orders", "--isolated").err


def test_without_a_repository_only_a_given_configuration_counts(
    checkout: Checkout, dispatched: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "given.toml").write_text(checkout.catalogs.configuration("merged"))
    (tmp_path / "schemalint.toml").write_text(checkout.catalogs.configuration("head"))
    monkeypatch.chdir(tmp_path)
    for command in ("show", "audit"):
        run = dispatched.run(command, "--target", "prod", "sales.orders")
        assert run.status == 2
        assert "target prod is unknown" in run.out + run.err
        assert checkout.catalogs.with_token == set()
        given = checkout.clone.path / "schemalint.toml"
        run = dispatched.run(command, "--target", "prod", "sales.orders", "--config", str(given))
        assert "is in a checkout that this command does not run in" in run.out + run.err
        assert checkout.catalogs.with_token == set()
        dispatched.run(command, "--target", "prod", "sales.orders", "--config", "given.toml")
        assert checkout.catalogs.with_token == {"merged"}
        checkout.catalogs.with_token.clear()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
def test_a_clone_that_cannot_tell_connects_to_nothing(
    checkout: Checkout,
    dispatched: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    clone = Repo(tmp_path / "shallow")
    clone.git("remote", "add", "origin", checkout.origin.path.as_uri())
    clone.git("fetch", "--quiet", "--depth=1", "origin", "+refs/tags/v1:refs/tags/v1")
    clone.git("switch", "--quiet", "--detach", "v1")
    monkeypatch.chdir(clone.path)
    run = dispatched.run(*command)
    assert run.status == 2
    assert "cannot tell whether origin/main contains HEAD" in run.out + run.err
    refspec = "+refs/heads/main:refs/remotes/origin/main"
    assert f"git fetch --no-tags --unshallow origin {refspec}" in run.out + run.err
    assert checkout.catalogs.with_token == set()
    dispatched.run(*command, "--fetch")
    assert checkout.catalogs.with_token == {"merged"}


def test_a_token_goes_over_https_or_within_the_machine(
    checkout: Checkout, dispatched: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # A proxy would see the token: requests within the machine do not use one.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    local = dispatched.run("plan")
    assert checkout.catalogs.with_token == {"before"}
    address = checkout.catalogs.addresses["before"].split("/")[2]
    assert f"note: target prod sends credentials to {address} without encryption: same machine" in local.err
    for host in ("catalog.example.com", "127.0.0.1.example.com", "localhost.example.com", "10.0.0.1"):
        given = checkout.catalogs.configuration("before").replace(address, host)
        (tmp_path / "given.toml").write_text(given)
        run = dispatched.run("plan", "--config", str(tmp_path / "given.toml"))
        assert run.status == 2
        assert "catalog_uri is not https: the token would be sent without encryption" in run.err
