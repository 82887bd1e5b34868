"""Delta's log stores: which one commits to a table, and which of them several writers can share.

From Delta 4.4.0's sources: ``LogStore.scala``, ``DelegatingLogStore.scala``, and ``io.delta.storage``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

S3_SCHEMES: Final = frozenset({"s3", "s3a", "s3n"})
"""The schemes for which Delta takes `SINGLE_DRIVER` unless a setting names another log store.

For others it has log stores that several writers can share: that of Azure's schemes and HDFS renames without
overwriting, and that of ``gs`` creates an object only if there is none.
"""

SINGLE_DRIVER: Final = "io.delta.storage.S3SingleDriverLogStore"
"""It asks whether the file of a commit exists, and then writes it; its lock is one of the JVM."""

DYNAMODB: Final = "io.delta.storage.S3DynamoDBLogStore"
"""It writes a commit after the conditional put of an entry in a table that all writers share."""

SHARED_ON_S3: Final = frozenset({DYNAMODB})
"""The log stores with which several JVMs lose no commits in S3. What another class does is unknown."""

_DELEGATING: Final = "org.apache.spark.sql.delta.storage.DelegatingLogStore"
_CLASS: Final = "spark.delta.logStore.class"


def log_store_key(scheme: str) -> str:
    """Return the setting that names the log store of a scheme."""
    return f"spark.delta.logStore.{scheme}.impl"


def log_store_on_s3(scheme: str, setting: Callable[[str], str | None]) -> str:
    """Return the class of the log store that commits to tables with a scheme of `S3_SCHEMES`.

    Args:
        scheme: The scheme, in lower case.
        setting: Returns the application's value of a setting. Delta reads each with ``spark.`` and without.
    """

    def value(key: str) -> str | None:
        return setting(key) or setting(key.removeprefix("spark."))

    of_all = value(_CLASS)
    if of_all not in (None, _DELEGATING):
        return of_all
    return value(log_store_key(scheme)) or SINGLE_DRIVER
