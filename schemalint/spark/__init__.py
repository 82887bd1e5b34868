"""Spark: the only part that imports pyspark and delta.

In a notebook or a job, where a session is there already:

    import schemalint.spark
    schemalint.spark.apply(spark, "path/to/repository", target="prod")
"""

from __future__ import annotations

from schemalint.spark.catalog import SessionCatalog
from schemalint.spark.outcome import Applied, DoneStep, Outcome
from schemalint.spark.runner import Manner, apply, apply_plan, without_work
from schemalint.spark.session import SqlSession, start

__all__ = [
    "Applied",
    "DoneStep",
    "Manner",
    "Outcome",
    "SessionCatalog",
    "SqlSession",
    "apply",
    "apply_plan",
    "start",
    "without_work",
]
