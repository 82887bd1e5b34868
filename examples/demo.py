"""`make demo`: two Delta tables, a change that cannot be made, and one that is checked, planned and applied.

Every line behind a `$` is run as it stands, in a temporary folder. The demo stops where a command does not
end as it should.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from schemalint.config import SparkSettings
from schemalint.spark.session import start

EXAMPLES = Path(__file__).parent

# What a CI service or a hook says about another repository.
FOREIGN = (
    *("BITBUCKET_", "BUILDKITE", "CHANGE_", "CI", "GITHUB_", "JENKINS_", "SYSTEM_PULLREQUEST_", "TF_BUILD"),
    *("GIT_", "PRE_COMMIT", "SCHEMALINT_"),
)

# The tables as they were before anybody wrote a contract, with rows in them.
TABLES = (
    """
    CREATE TABLE delta.`{root}/sales/customers` (
      customer_id bigint NOT NULL,
      email string,
      since date COMMENT 'Day of the first order.'
    ) USING delta COMMENT 'Everybody who ever ordered.'
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

        say("Two Delta tables with rows are made with Spark (the first time, Delta's jars are fetched).")
        make_tables(home / "lakehouse" / "tables")

        say("Their contracts stand in a git repository. The live tables are as declared.")
        shell.run("git init --quiet --initial-branch=main")
        shell.run("git add .")
        shell.run("git commit --quiet --message='Contracts of the sales tables'")
        shell.run("schemalint check --live --all")

        say("A change that no table survives: customer_id from bigint to int.")
        shell.run("git apply ../changes/narrow.patch")
        shell.run("schemalint check", status=1)
        shell.run("git checkout --quiet .")

        say("A change that Delta can make in place: a wider order_id, a new column, a comment.")
        shell.run("git apply ../changes/widen.patch")
        shell.run("git diff --unified=1")
        shell.run("schemalint check", status=1)

        say("What the widening needs is written into the contract; the upgrade is for people to allow.")
        shell.run("schemalint check --fix", status=1)
        shell.run("git apply ../changes/allow-upgrade.patch")
        shell.run("schemalint check --live")
        shell.run("git commit --quiet --all --message='Wider order ids, and the channel of an order'")

        say("What is to be done to the live tables.")
        shell.run("schemalint plan")

        say("Spark applies it, and the log is read again to prove it.")
        shell.run("schemalint apply --yes")
        shell.run("schemalint check --live --all --strict")

        say("Applied once is applied.")
        shell.run("schemalint apply --yes")
    print("\nDone: the contracts, the commits and the live tables say the same.")  # noqa: T201


def say(text: str) -> None:
    """A headline of the story."""
    print(f"\n# {text}", flush=True)  # noqa: T201


def make_tables(root: Path) -> None:
    session = start(SparkSettings(conf={"spark.sql.warehouse.dir": str(root)}))
    try:
        for statement in TABLES:
            session.sql(statement.format(root=root)).collect()
    finally:
        session.stop()


class Shell:
    """A terminal in the repository, with schemalint on the PATH, away from the user's and a CI's settings."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)},
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONUNBUFFERED": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "ada@example.com" for who in ("AUTHOR", "COMMITTER")},
        }

    def run(self, command: str, *, status: int = 0) -> None:
        """Run a command as a user types it, show what it says, and stop if it does not end with a status."""
        print(f"\n$ {command}", flush=True)  # noqa: T201
        done = subprocess.run(  # noqa: S603
            shlex.split(command),
            cwd=self.repository,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode != status:
            sys.exit(f"\nThe demo stops: `{command}` ended with status {done.returncode}, not {status}.")


if __name__ == "__main__":
    # A machine whose own name does not resolve, such as a container, could not start Spark otherwise.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    main()
