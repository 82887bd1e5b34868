"""Spark: the only part that imports pyspark and delta.

In a notebook or a job, where a session is there already:

    import schemalint.spark
    schemalint.spark.apply(spark, "path/to/repository", target="prod")
"""

from __future__ import annotations

from schemalint.spark.runner import Applied, Outcome, apply, apply_plan
from schemalint.spark.session import SqlSession, start

__all__ = ["Applied", "Outcome", "SqlSession", "apply", "apply_plan", "start"]
