"""``docs/deploy.md`` from top to end: its commands, and the workflows of ``examples/deploy``, with Spark.

The lake is in an object store, over HTTP. Nothing but the installation and GitHub's actions is replaced.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from schemalint.delta.datatype import INTEGER, LONG, STRING, Field
from schemalint.delta.table import LiveTable
from schemalint.tables.storage import read_table
from support import jvm
from support.ci_jobs import JobRun, Machines
from support.github_workflows import GitHub
from support.gitlab_pipelines import GitLab
from support.logs import commit_info, metadata, protocol, write_log
from support.repo import Repo
from support.servers import CREDENTIALS, Bucket, s3_server, send_put, upload

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGGER: Final = logging.getLogger(__name__)
ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "examples/deploy"
WORKFLOWS: Final = Path(".github/workflows")
PIPELINE: Final = Path(".gitlab-ci.yml")
PAGE: Final = (ROOT / "docs/deploy.md").read_text(encoding="utf-8").partition("\n# Reference\n")[0]
BUCKETS: Final = {"staging": "acme-lake-staging", "prod": "acme-lake"}
TABLES: Final = ("sales/orders", "sales/items", "web/visits", "web/pages")
KEYS: Final = {f"AWS_{name.upper()}": value for name, value in CREDENTIALS.items()}


class Company:
    """A lake without contracts in two environments, a repository, and a developer who follows the guide."""

    def __init__(self, folder: Path, store: str) -> None:
        self.store = store
        settings = folder / "spark"
        settings.mkdir()
        # Spark would not start on a machine whose host name does not resolve, such as a container.
        address = "spark.driver.host 127.0.0.1\nspark.driver.bindAddress 127.0.0.1\n"
        (settings / "spark-defaults.conf").write_text(address)
        environment = {
            "AWS_ENDPOINT_URL": store,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "SPARK_CONF_DIR": str(settings),
            "JAVA_TOOL_OPTIONS": f"{os.environ.get('JAVA_TOOL_OPTIONS', '')} {jvm.OPTIONS}",
        }
        self.machines = Machines(folder / "machines", environment)
        remote = Repo(folder / "acme/contracts", bare=True)
        roles = {"reader": KEYS, "writer": KEYS}
        variables = {
            "": {"SCHEMALINT_READER": "reader", "SCHEMALINT_REGION": "us-east-1"},
            "staging": {"SCHEMALINT_WRITER": "writer"},
            "prod": {"SCHEMALINT_WRITER": "writer"},
        }
        self.github = GitHub(remote, self.machines, roles, variables)
        self.gitlab = GitLab(remote, self.machines, {"*": KEYS})
        self.clone = remote.clone(folder / "developer/contracts")
        self.clone.git("checkout", "--quiet", "-B", "main")
        self.executed: set[str] = set()
        for bucket in BUCKETS.values():
            send_put(f"{store}/{bucket}")
            write_tables(folder / bucket)
            upload(Bucket(store, bucket).client, folder / bucket, "tables")

    def guide(self, command: str, status: int = 0, **names: str) -> str:
        """Run a command of the guide as the developer, with other names; return what it prints."""
        self.executed.add(command)
        for shown, name in names.items():
            command = command.replace(shown.replace("_", "."), name)
        found, log = self.machines.run(command, self.clone.path, KEYS)
        assert found == status, log
        return log

    def on_github(self, workflow: str, event: dict[str, Any], **attempt: Any) -> dict[str, JobRun]:  # noqa: ANN401
        """Run a workflow as the working tree has it; see `GitHub.run`."""
        file = self.clone.path / WORKFLOWS / f"schemalint-{workflow}.yml"
        return self.github.run(file, event, **attempt)

    def propose(self, branch: str, **files: str) -> None:
        """Push a branch from ``main`` with these contracts."""
        self.clone.git("checkout", "--quiet", "-B", branch, "main")
        for name, text in files.items():
            self.clone.write(f"contracts/{name.replace('__', '/')}.yml", text)
        if files:
            self.push(branch)

    def push(self, branch: str) -> None:
        """Commit everything, and push a branch."""
        self.clone.commit(branch)
        self.clone.git("push", "--quiet", "origin", branch)

    def approve(self, branch: str, plan: str) -> None:
        """Commit the hashes that a plan prints."""
        self.clone.git("checkout", "--quiet", branch)
        lines = re.findall(r'^ *("2:[0-9a-f]{64}",.*)$', plan, re.MULTILINE)
        assert lines, plan
        text = (self.clone.path / "schemalint.toml").read_text()
        before = "approved-plans = [\n"
        assert before in text
        entries = "".join(f"  {line}\n" for line in lines)
        self.clone.write("schemalint.toml", text.replace(before, before + entries))
        self.push(branch)

    def merge(self, *branches: str) -> str:
        """Merge branches into ``main``; return the commit before."""
        self.clone.git("checkout", "--quiet", "main")
        before = self.clone.head()
        for branch in branches:
            self.clone.git("merge", "--quiet", "--no-ff", "--no-edit", branch)
        self.clone.git("push", "--quiet", "origin", "main")
        return before

    def table(self, target: str, table: str) -> LiveTable:
        """Read a table."""
        bucket = Bucket(self.store, BUCKETS[target])
        return read_table(f"s3://{bucket.name}/tables/{table}", storage=bucket.storage)

    def columns(self, target: str) -> dict[str, str]:
        """Return the columns of all tables."""
        return {
            table: " ".join(field.name for field in self.table(target, table).state.columns.fields)
            for table in TABLES
        }

    def alter_by_hand(self, target: str, table: str, folder: Path) -> None:
        """Add a column as another client would: a commit of its own."""
        live = self.table(target, table)
        fields = (*live.state.columns.fields, Field("by_hand", STRING))
        action = metadata(*fields, table_id=live.metadata.table_id)
        write_log(folder / table, [[commit_info("ADD COLUMNS"), action]], first=live.version + 1)
        upload(Bucket(self.store, BUCKETS[target]).client, folder, "tables")


def write_tables(folder: Path) -> None:
    """Write the tables that exist before their contracts."""
    fields = (Field("id", LONG), Field("quantity", INTEGER), Field("note", STRING))
    for table in TABLES:
        table_id = f"{folder.name}-{table}"
        write_log(
            folder / table,
            [[commit_info("CREATE TABLE"), protocol(1, 2), metadata(*fields, table_id=table_id)]],
        )


def contract(table: str, *columns: str, more: str = "") -> str:
    types = {"id": "bigint", "quantity": "int"}
    listed = "".join(f"  - {{name: {name}, type: {types.get(name, 'string')}}}\n" for name in columns)
    return f"schemalint: 1\ntable: {table}\ncolumns:\n{listed}{more}"


def statuses(runs: dict[str, JobRun]) -> dict[str, int]:
    for name, run in runs.items():  # what pytest shows of a test that fails
        LOGGER.info("%s: %s\n%s", name, run.status, run.log)
    return {name: run.status for name, run in runs.items()}


@pytest.fixture
def company(tmp_path: Path) -> Iterator[Company]:
    with s3_server() as store:
        yield Company(tmp_path, store)


MAPPED: Final = (
    "properties: {delta.columnMapping.mode: name}\nprotocol: {allow_upgrade: true}\ndropped: [note]\n"
)
KEPT: Final = ("id", "quantity", "note")


@pytest.mark.spark
@pytest.mark.kill
@pytest.mark.usefixtures("spark")  # skips or fails without an engine
def test_the_guide_leads_from_a_lake_without_contracts_to_pull_requests_that_are_applied(
    company: Company, tmp_path: Path
) -> None:
    set_up(company)
    approve_and_merge(company)
    find_a_change_by_hand(company, tmp_path / "by-hand")
    roll_back(company)
    apply_on_gitlab(company)

    scripts = " ".join(scripts_of_examples())
    shown = re.findall(r"^\$ (.*)$", PAGE, re.MULTILINE)
    assert len(shown) > 8
    assert [command for command in shown if command not in company.executed and command not in scripts] == []


def set_up(company: Company) -> None:
    """Take the files, and write the contracts of the tables as they are."""
    path = company.clone.path
    settings = (DEPLOY / "schemalint.toml").read_text("utf-8")
    alone = re.sub(r'^root = "s3a:.*$', r"\g<0>\nsingle_writer = true", settings, flags=re.MULTILINE)
    company.clone.write("schemalint.toml", alone)
    shutil.copytree(DEPLOY / "github", path / WORKFLOWS)
    shutil.copy(DEPLOY / "gitlab-ci.yml", path / PIPELINE)
    company.clone.commit("Configuration")
    company.guide("schemalint pull --all --target prod --into 'contracts/{schema}/{table}.yml'")
    company.guide("schemalint check --live --all --target prod")
    company.guide("schemalint check --live --all --target staging")
    company.push("main")
    with jvm.one_fetches_jars():
        company.guide("schemalint apply --with-packages --yes --max-tables 0 --target prod")


def approve_and_merge(company: Company) -> None:
    """Open two pull requests side by side, and deploy both; the job for production is killed, and goes on."""
    columns = (*KEPT, "channel")
    added = {name: contract(name.replace("__", "."), *columns) for name in ("sales__orders", "sales__items")}
    company.propose("more", **added, web__pages=contract("web.pages", *columns))
    company.propose("less", web__visits=contract("web.visits", "id", "quantity", more=MAPPED))
    more, less = (
        company.on_github("pull-request", company.github.pull_request(number, branch))
        for number, branch in enumerate(("more", "less"), start=1)
    )
    planned = {"check": 0, "plan (staging)": 0, "plan (prod)": 0}
    assert statuses(more) == statuses(less) == planned
    assert "web.visits" not in more["plan (prod)"].summary
    company.approve("less", less["plan (staging)"].summary)

    merged = company.github.push(company.merge("less", "more"))
    killed = company.on_github("deploy", merged, lost={"prod": "web.visits: drop columns"})
    assert statuses(killed) == {"staging": 0, "plan-prod": 0, "prod": -9}
    assert company.columns("prod") != company.columns("staging")
    again = company.on_github("deploy", merged, done=killed)
    assert statuses(again) == {"staging": 0, "plan-prod": 0, "prod": 0}
    expected = dict.fromkeys(TABLES, "id quantity note channel") | {"web/visits": "id quantity"}
    assert company.columns("prod") == company.columns("staging") == expected


def find_a_change_by_hand(company: Company, folder: Path) -> None:
    """Find the drift of a table at night, and bring its contract up to date."""
    clean = {"drift (staging)": 0, "drift (prod)": 0}
    assert statuses(company.on_github("drift", company.github.schedule())) == clean
    company.alter_by_hand("prod", "sales/orders", folder)
    assert statuses(company.on_github("drift", company.github.schedule())) == clean | {"drift (prod)": 1}
    company.propose("by-hand")
    company.guide("schemalint pull --target prod sales.orders")
    company.guide("schemalint check --live --target prod")
    company.push("by-hand")


def roll_back(company: Company) -> None:
    """Take back the pull request that dropped a column."""
    company.propose("back")
    company.guide("schemalint revert --target prod sales.orders", sales_orders="web.visits")
    company.push("back")


def apply_on_gitlab(company: Company) -> None:
    """Deploy both with GitLab's pipeline."""
    gitlab, pipeline = company.gitlab, company.clone.path / PIPELINE
    for number, branch in enumerate(("by-hand", "back"), start=1):
        runs = gitlab.run(pipeline, gitlab.merge_request(number, branch))
        assert statuses(runs) == {"check": 0, "plan: [staging]": 0, "plan: [prod]": 0}
    runs = gitlab.run(pipeline, gitlab.push(company.merge("by-hand", "back")))
    assert statuses(runs) == {"staging": 0, "prod": 0}
    expected = {
        **dict.fromkeys(TABLES, "id quantity note channel"),
        "sales/orders": "id quantity note channel by_hand",
        "web/visits": "id quantity note",
    }
    assert company.columns("prod") == company.columns("staging") == expected
    runs = gitlab.run(pipeline, gitlab.schedule())
    assert statuses(runs) == {"drift: [staging]": 0, "drift: [prod]": 0}


def scripts_of_examples() -> Iterator[str]:
    """Yield the commands of all jobs, each on one line."""
    for file in DEPLOY.rglob("*.yml"):
        content: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
        jobs = content.get("jobs", content).values()
        for job in (job for job in jobs if isinstance(job, dict)):
            for text in (*job.get("script", ()), *(step.get("run", "") for step in job.get("steps", ()))):
                yield re.sub(r"\s*\\\n\s*", " ", text)
