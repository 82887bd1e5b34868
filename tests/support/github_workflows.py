"""Run workflows of GitHub Actions: the scripts as they are, and a stand-in for each action that they use."""

from __future__ import annotations

import itertools
import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import yaml

from support.ci_jobs import JobRun, Machines
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

REPOSITORY = "acme/contracts"
_EXPRESSION = re.compile(r"\$\{\{ *(.+?) *\}\}")


class GitHub:
    """A repository on GitHub, and the runners of its workflows.

    Args:
        remote: The bare repository.
        machines: The runners.
        roles: The variables that each role gives, by its name.
        variables: The variables of the repository (``vars``), and by environment those of an environment.
    """

    def __init__(
        self,
        remote: Repo,
        machines: Machines,
        roles: Mapping[str, Mapping[str, str]],
        variables: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.remote, self.machines, self._roles, self._variables = remote, machines, roles, variables

    def pull_request(self, number: int, branch: str) -> dict[str, Any]:
        """Return the event of a pull request whose merge commit GitHub has made."""
        base, head = (self.remote.git("rev-parse", f"refs/heads/{name}") for name in ("main", branch))
        tree = self.remote.git("merge-tree", "--write-tree", base, head)
        merged = self.remote.git(
            "commit-tree", tree, "-p", base, "-p", head, "-m", f"Merge {head} into {base}"
        )
        self.remote.git("update-ref", f"refs/pull/{number}/merge", merged)
        return {
            "name": "pull_request",
            "sha": merged,
            "ref": f"refs/pull/{number}/merge",
            "payload": {
                "number": number,
                "pull_request": {
                    "number": number,
                    "base": {"ref": "main", "sha": base},
                    "head": {"ref": branch, "sha": head, "repo": {"full_name": REPOSITORY}},
                },
                "repository": {"default_branch": "main", "full_name": REPOSITORY},
            },
        }

    def push(self, before: str) -> dict[str, Any]:
        """Return the event of a push to the branch ``main``."""
        after = self.remote.git("rev-parse", "refs/heads/main")
        repository = {"default_branch": "main", "full_name": REPOSITORY}
        payload = {"ref": "refs/heads/main", "before": before, "after": after, "repository": repository}
        return {"name": "push", "sha": after, "ref": "refs/heads/main", "payload": payload}

    def schedule(self) -> dict[str, Any]:
        """Return the event of a schedule."""
        sha = self.remote.git("rev-parse", "refs/heads/main")
        return {
            "name": "schedule",
            "sha": sha,
            "ref": "refs/heads/main",
            "payload": {"schedule": "17 3 * * *"},
        }

    def run(
        self,
        workflow: Path,
        event: dict[str, Any],
        *,
        lost: Mapping[str, str] = MappingProxyType({}),
        done: Mapping[str, JobRun] | None = None,
    ) -> dict[str, JobRun]:
        """Run the jobs of a workflow in order; a job whose needs failed does not run.

        Args:
            workflow: The file of the workflow.
            event: The event.
            lost: The jobs whose runner is lost, each with the text of the line at which it is.
            done: The jobs of an earlier attempt; those that failed run again.
        """
        jobs: dict[str, dict[str, Any]] = yaml.safe_load(workflow.read_text())["jobs"]
        runs = {name: run for name, run in (done or {}).items() if run.status == 0}
        for name, job in jobs.items():  # the files list a job after those that it needs
            needs = [job["needs"]] if "needs" in job else []
            if name in runs or any(need not in runs or runs[need].status for need in needs):
                continue
            for label, matrix in _matrix(name, job):
                contexts = {
                    "github": {
                        "event": event["payload"],
                        "repository": REPOSITORY,
                        "sha": event["sha"],
                    },
                    "matrix": matrix,
                    "vars": {**self._variables[""], **self._variables.get(job.get("environment", ""), {})},
                    "needs": {need: {"outputs": runs[need].outputs} for need in needs},
                    "steps": {},
                }
                if "if" not in job or _value(job["if"], contexts):
                    runs[label] = _Job(self, event, contexts, lost.get(name)).run(job)
        return runs

    def credentials(self, role: str) -> Mapping[str, str]:
        """Return the variables that a role gives."""
        return self._roles[role]


class _Job:
    """One job on a runner of its own."""

    def __init__(
        self,
        github: GitHub,
        event: dict[str, Any],
        contexts: dict[str, Any],
        lost_at: str | None,
    ) -> None:
        self._github, self._event, self._contexts, self._lost_at = github, event, contexts, lost_at
        self._machine = github.machines.new()
        self._workspace = self._machine / "workspace"
        self._workspace.mkdir()
        self._env: dict[str, str] = {}

    def run(self, job: Mapping[str, Any]) -> JobRun:
        result = JobRun()
        for step in job["steps"]:
            if result.status and step.get("if") != "${{ !cancelled() }}":
                continue
            action, _, _version = step.get("uses", "").partition("@")
            if action:
                inputs = {key: self._evaluated(value) for key, value in step.get("with", {}).items()}
                _ACTIONS[action](self, inputs)
                continue
            status = self._script(step, result)
            if status < 0:  # the runner is lost
                result.status = status
                return result
            result.status = result.status or status
        result.outputs = {name: self._evaluated(text) for name, text in job.get("outputs", {}).items()}
        return result

    def _script(self, step: Mapping[str, Any], result: JobRun) -> int:
        files = {
            name: self._machine / name.lower()
            for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_PATH")
        }
        for file in files.values():
            file.write_text("")
        files["GITHUB_EVENT_PATH"].write_text(json.dumps(self._event["payload"]))
        assert "${{" not in step["run"], "expressions in scripts execute what others wrote"
        env = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": self._event["name"],
            "GITHUB_REF": self._event["ref"],
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": self._event["sha"],
            "GITHUB_WORKSPACE": str(self._workspace),
            "RUNNER_TEMP": str(self._machine),
            **{name: str(file) for name, file in files.items()},
            **self._env,
            **{name: self._evaluated(value) for name, value in step.get("env", {}).items()},
        }
        status, log = self._github.machines.run(step["run"], self._workspace, env, self._lost_at)
        result.log += log
        result.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        self._contexts["steps"][step.get("id")] = {"outputs": outputs}
        return status

    def _evaluated(self, value: object) -> str:
        return _EXPRESSION.sub(lambda match: str(_value(match[1], self._contexts)), str(value))

    def _checkout(self, inputs: Mapping[str, str]) -> None:
        """Fetch as actions/checkout does, without the credentials for later."""
        clone, sha, ref = Repo(self._workspace), self._event["sha"], self._event["ref"]
        clone.git("init", "--quiet", ".")
        clone.git("remote", "add", "origin", self._github.remote.path.as_uri())
        everything = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"]
        if ref.startswith("refs/pull/"):
            local = ref.replace("refs/", "refs/remotes/", 1)
            everything.append(f"+{sha}:{local}")
        depth = [] if inputs.get("fetch-depth") == "0" else ["--depth=1"]
        clone.git("fetch", "--quiet", "--no-tags", *depth, "origin", *(everything if not depth else [sha]))
        if ref.startswith("refs/heads/"):
            clone.git("checkout", "--quiet", "-B", ref.removeprefix("refs/heads/"), sha)
        else:
            clone.git("checkout", "--quiet", "--detach", sha)

    def _take_role(self, inputs: Mapping[str, str]) -> None:
        self._env |= {
            **self._github.credentials(inputs["role-to-assume"]),
            "AWS_REGION": inputs["aws-region"],
        }

    def _upload(self, inputs: Mapping[str, str]) -> None:
        file = self._workspace / inputs["path"]
        if file.exists():  # the action only warns of a missing file
            self._github.machines.artifacts[inputs["name"]] = file.read_bytes()
            self._github.machines.artifacts[f"{inputs['name']}/name"] = inputs["path"].encode()

    def _download(self, inputs: Mapping[str, str]) -> None:
        artifacts = self._github.machines.artifacts
        name = artifacts[f"{inputs['name']}/name"].decode()
        (self._workspace / name).write_bytes(artifacts[inputs["name"]])

    def _nothing(self, inputs: Mapping[str, str]) -> None:
        """Python and Java are those of the tests."""


_ACTIONS = {
    "actions/checkout": _Job._checkout,  # noqa: SLF001 (its own)
    "actions/setup-java": _Job._nothing,  # noqa: SLF001
    "actions/setup-python": _Job._nothing,  # noqa: SLF001
    "actions/upload-artifact": _Job._upload,  # noqa: SLF001
    "actions/download-artifact": _Job._download,  # noqa: SLF001
    "aws-actions/configure-aws-credentials": _Job._take_role,  # noqa: SLF001
}


def _matrix(name: str, job: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of a job and its values, for each combination of its matrix."""
    values: dict[str, list[str]] = job.get("strategy", {}).get("matrix", {})
    for chosen in itertools.product(*values.values()):
        label = f"{name} ({', '.join(chosen)})" if chosen else name
        yield label, dict(zip(values, chosen, strict=True))


def _value(expression: str, contexts: Mapping[str, Any]) -> Any:  # noqa: ANN401 (any value of a context)
    """Return the value of an expression: one context, a text, or whether two of these are equal."""
    left, equals, right = expression.partition(" == ")
    if equals:
        return _value(left, contexts) == _value(right, contexts)
    if expression.startswith("'"):
        return expression.strip("'")
    value: Any = contexts
    for key in expression.split("."):
        value = value[key]
    return value
