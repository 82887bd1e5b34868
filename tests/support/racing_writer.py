"""One of two writers of tables in S3, each with a JVM of its own: prints what happened in each round."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from schemalint.base.errors import ApplyError
from schemalint.base.values import replace
from schemalint.project import git
from schemalint.project.config.trust import TrustedSpark, find_trusted
from schemalint.spark import apply
from schemalint.spark.object_stores import missing_packages, with_packages, with_store_of
from schemalint.spark.session import start
from schemalint.spark.statements import SqlSession
from support.jvm import one_fetches_jars
from support.racing_store import meet

# Delta takes 50 partitions for the snapshot of a table of one version, too.
_QUICK = {"spark.databricks.delta.snapshotPartitions": "1", "spark.sql.shuffle.partitions": "1"}


def main(repository: str, endpoint: str, writer: int, rounds: int) -> None:
    """Race the other writer: first by statements, then with `apply`."""
    settings = find_trusted(git.open_repository(Path(repository), {}), {})
    target = settings.targets["prod"]
    spark = TrustedSpark(replace(settings.spark, master="local[1]", conf=_QUICK))
    spark = with_packages(spark, missing_packages(spark, ["s3"]))
    with one_fetches_jars():
        session = start(with_store_of(spark, target))
    for number in range(rounds):
        table = f"delta.`{target.root}/raced/{number}`"
        if writer == 0:
            session.sql(f"CREATE TABLE {table} (a int) USING delta")
        meet(endpoint, f"created-{number}")
        session.sql(f"ALTER TABLE {table} SET TBLPROPERTIES (writer{writer} = 'done')")
        meet(endpoint, f"altered-{number}")
        sys.stdout.write(f"{json.dumps(_refusal(session, repository))}\n")
    session.stop()


def _refusal(session: SqlSession, repository: str) -> str | None:
    try:
        apply(session, repository)
    except ApplyError as error:
        return error.message
    return None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
