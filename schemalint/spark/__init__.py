"""Spark: the only part that imports pyspark and delta.

In a notebook or a job, where a session is there already:

    import schemalint.spark
    schemalint.spark.apply(spark, "path/to/repository", target="prod")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schemalint.spark.runner import apply

__all__ = ["apply"]


def __getattr__(name: str) -> object:
    """Load `apply` when it is asked for: an executor imports this package too, and needs none of it."""
    if name != "apply":
        raise AttributeError(name)
    from schemalint.spark.runner import apply  # noqa: PLC0415

    return apply
