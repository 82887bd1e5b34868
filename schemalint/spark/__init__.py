"""Spark: the only part that imports pyspark and delta.

In a notebook or a job, where a session is there already:

    import schemalint.spark
    schemalint.spark.apply(spark, "path/to/repository", target="prod")
"""

from __future__ import annotations

from schemalint.spark.outcome import Applied, DoneStep, Outcome
from schemalint.spark.place import location_of
from schemalint.spark.runner import Manner, apply, apply_plan, without_work
from schemalint.spark.session import SqlSession, start

__all__ = [
    "Applied",
    "DoneStep",
    "Manner",
    "Outcome",
    "SqlSession",
    "apply",
    "apply_plan",
    "location_of",
    "start",
    "without_work",
]
