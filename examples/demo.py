"""`make demo`: two Delta tables, an impossible change, and a change that is checked, planned and applied.

The demo runs every line after a `$` unchanged, in a temporary folder. It stops at the first command with an
unexpected exit status.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from schemalint.project.config import SparkSettings
from schemalint.spark.session import start

EXAMPLES = Path(__file__).parent

# Prefixes of the variables of CI services and hooks; these variables describe another repository.
FOREIGN = (
    *("BITBUCKET_", "BUILDKITE", "CHANGE_", "CI", "GITHUB_", "JENKINS_", "SYSTEM_PULLREQUEST_", "TF_BUILD"),
    *("GIT_", "PRE_COMMIT", "SCHEMALINT_"),
)

# The tables before they have contracts, with rows.
TABLES = (
    """
    CREATE TABLE delta.`{root}/sales/customers` (
      customer_id bigint NOT NULL,
      email string,
      since date COMMENT 'Day of the first order.'
    ) USING delta COMMENT 'One row per customer.'
    """,
    """
    CREATE TABLE delta.`{root}/sales/orders` (
      order_id int NOT NULL COMMENT 'Assigned by the shop.',
      customer_id bigint,
      amount decimal(10,2),
      lines array<struct<sku: string, qty: int>>,
      order_date date
    ) USING delta COMMENT 'One row per order.' PARTITIONED BY (order_date)
    """,
    """
    INSERT INTO delta.`{root}/sales/customers` VALUES
      (1, 'ada@example.com', DATE '2026-01-05'), (2, 'grace@example.com', DATE '2026-02-11')
    """,
    """
    INSERT INTO delta.`{root}/sales/orders` VALUES
      (7, 1, 19.90, array(struct('tea', 2)), DATE '2026-01-05'),
      (8, 2, 5.00, array(struct('cup', 1)), DATE '2026-02-11')
    """,
)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="schemalint-demo-") as folder:
        home = Path(folder).resolve()
        shutil.copytree(EXAMPLES / "lakehouse", home / "lakehouse")
        shutil.copytree(EXAMPLES / "changes", home / "changes")
        shell = Shell(home / "lakehouse")

        say("Spark creates two Delta tables with rows. The first time, it downloads Delta's jars.")
        make_tables(home / "lakehouse" / "tables")

        say("Their contracts are in a git repository. The live tables match them.")
        shell.run("git init --quiet --initial-branch=main")
        shell.run("git add .")
        shell.run("git commit --quiet --message='Contracts of the sales tables'")
        shell.run("schemalint check --live --all")

        say("A change that Delta refuses: customer_id from bigint to int.")
        shell.run("git apply ../changes/narrow.patch")
        shell.run("schemalint check", status=1)
        shell.run("git checkout --quiet .")

        say("A change that Delta can make in place: a wider order_id, a new column, a comment.")
        shell.run("git apply ../changes/widen.patch")
        shell.run("git diff --unified=1")
        shell.run("schemalint check", status=1)

        say("--fix adds what the widening needs to the contract. A person must allow the protocol upgrade.")
        shell.run("schemalint check --fix", status=1)
        shell.run("git apply ../changes/allow-upgrade.patch")
        shell.run("schemalint check --live")
        shell.run("git commit --quiet --all --message='Wider order ids, and the channel of an order'")

        say("The plan shows the statements for the live tables.")
        shell.run("schemalint plan")

        say("Spark applies the plan, and schemalint verifies the result in the log.")
        shell.run("schemalint apply --yes")
        shell.run("schemalint check --live --all --strict")

        say("A second run has nothing to do.")
        shell.run("schemalint apply --yes")

        say("The readers of the orders are declared: dashboards on Trino, and two streams.")
        shell.run("git apply ../changes/consumers.patch")
        shell.run("git commit --quiet --all --message='Who reads the orders'")

        say(
            "A pull request renames a column: who breaks, who stops how often, what to set, before the merge."
        )
        shell.run("git apply ../changes/rename.patch")
        shell.run("schemalint check", status=1)
        shell.run("git checkout --quiet .")
    print("\nDone: the contracts, the commits and the live tables agree.")  # noqa: T201


def say(text: str) -> None:
    """Print a headline."""
    print(f"\n# {text}", flush=True)  # noqa: T201


def make_tables(root: Path) -> None:
    session = start(SparkSettings(conf={"spark.sql.warehouse.dir": str(root)}))
    try:
        for statement in TABLES:
            session.sql(statement.format(root=root)).collect()
    finally:
        session.stop()


class Shell:
    """A shell in the repository, with schemalint on the PATH and without the settings of the user or a CI."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)},
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONUNBUFFERED": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_EMAIL": "ada@example.com" for role in ("AUTHOR", "COMMITTER")},
        }

    def run(self, command: str, *, status: int = 0) -> None:
        """Run a command as a user types it, and stop the demo if it exits with another status."""
        print(f"\n$ {command}", flush=True)  # noqa: T201
        result = subprocess.run(  # noqa: S603
            shlex.split(command),
            cwd=self.repository,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if result.returncode != status:
            sys.exit(f"\nThe demo stops: `{command}` exited with {result.returncode} instead of {status}.")


if __name__ == "__main__":
    # Without this, Spark does not start on a machine whose own name does not resolve, such as a container.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    main()
