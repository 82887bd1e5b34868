"""`make demo`: two Delta tables, an impossible change, and a change that is checked, planned and applied.

The demo runs every line after a `$` unchanged, in a temporary folder. It stops at the first command with an
unexpected exit status.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
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
    """
    CREATE TABLE delta.`{root}/sales/payments` (payment_id bigint, amount_text string) USING delta
    """,
    """
    INSERT INTO delta.`{root}/sales/payments` VALUES (1, '19.90'), (2, '5'), (3, NULL)
    """,
)

# What a loader writes that knows both columns of the amount.
PAYMENT = "INSERT INTO delta.`{root}/sales/payments` VALUES (4, '7.25', 7.25)"

NEW_COLUMNS = "DELTA_STREAMING_METADATA_EVOLUTION"

# The declared streams of the payments, and whether each skips changes.
STREAMS = {"to_totals": False, "to_mirror": True}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="schemalint-demo-") as folder:
        home = Path(folder).resolve()
        shutil.copytree(EXAMPLES / "lakehouse", home / "lakehouse")
        shutil.copytree(EXAMPLES / "changes", home / "changes")
        shell = Shell(home / "lakehouse")

        say("Spark creates two Delta tables with rows. The first time, it downloads Delta's jars.")
        tables = Tables(home / "lakehouse" / "tables")

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

        migrate_a_column(shell, tables)
        tables.close()
    print("\nDone: the contracts, the commits and the live tables agree.")  # noqa: T201


def say(text: str) -> None:
    """Print a headline."""
    print(f"\n# {text}", flush=True)  # noqa: T201


def migrate_a_column(shell: Shell, tables: Tables) -> None:
    """A text becomes a number over four pull requests."""
    say("Payments keep their amount as text. It cannot become a number in place: the finding names the ways.")
    shell.run("git apply --index ../changes/amount-as-text.patch")
    shell.run("git commit --quiet --message='A contract for the payments'")
    shell.run("git apply ../changes/amount-in-place.patch")
    shell.run("schemalint check", status=1)
    shell.run("git checkout --quiet .")
    tables.read_streams()

    say("First pull request: a column beside the old one, filled from it. The check names the streams.")
    shell.run("git apply ../changes/amount-beside-text.patch")
    shell.run("schemalint check")
    shell.run("git commit --quiet --all --message='A column for the amount as a number'")
    shell.run("schemalint apply --yes --allow data sales.payments")

    say("Second and third: the loader writes both columns, and readers move. What do the streams see?")
    tables.pay()
    tables.read_streams()

    say("Fourth: the old column goes. apply first counts the rows that would lose a value.")
    shell.run("git apply ../changes/amount-text-dropped.patch")
    shell.run("schemalint check")
    shell.run("git commit --quiet --all --message='The amount is a number'")
    shell.run("schemalint apply --yes --allow data --allow destructive sales.payments")

    say("The line `backfill` means nothing any more.")
    shell.run("git apply ../changes/backfill-over.patch")
    shell.run("schemalint check")
    shell.run("git commit --quiet --all --message='The migration is over'")
    shell.run("schemalint show --no-history tables/sales/payments")


class Tables:
    """The tables below a folder, and a session that writes and reads them beside schemalint."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # Delta starts 50 tasks for each snapshot unless told otherwise, and a stream reads several.
        conf = {"spark.sql.warehouse.dir": str(root), "spark.databricks.delta.snapshotPartitions": "2"}
        self.session = start(SparkSettings(conf=conf))
        for statement in TABLES:
            self._run(statement)

    def close(self) -> None:
        self.session.stop()

    def pay(self) -> None:
        self._run(PAYMENT)

    def read_streams(self) -> None:
        """Let the streams read what is new, and print how each start of them ends."""
        for name, skips in STREAMS.items():
            how = "with" if skips else "without"
            print(f"\nstream {name}, {how} skipChangeCommits:", flush=True)  # noqa: T201
            for end in self._ends(name, skips=skips):
                print(f"  {end}", flush=True)  # noqa: T201

    def _ends(self, name: str, *, skips: bool) -> Iterator[str]:
        """Start a stream, and once more if it only stops to learn of other columns."""
        end = self._end(name, skips=skips)
        yield end
        if end == f"stops: {NEW_COLUMNS}":
            yield self._end(name, skips=skips)

    def _end(self, name: str, *, skips: bool) -> str:
        checkpoint = f"{self.root.parent.parent}/streams/{name}"
        reader = self.session.readStream.format("delta").option(
            "schemaTrackingLocation", f"{checkpoint}/schema"
        )
        rows = reader.option("skipChangeCommits", skips).load(f"{self.root}/sales/payments")
        read: list[str] = []
        writer = rows.writeStream.foreachBatch(
            lambda batch, _number: read.extend(str(tuple(row)) for row in batch.collect())
        )
        try:
            query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
            query.awaitTermination()
        except Exception as error:  # noqa: BLE001 (Spark has several classes)
            return f"stops: {re.findall('DELTA_[A-Z_]+', str(error))[0]}"
        return f"reads {', '.join(read) or 'nothing'}"

    def _run(self, statement: str) -> None:
        self.session.sql(statement.format(root=self.root)).collect()


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
