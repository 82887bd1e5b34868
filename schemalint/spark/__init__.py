"""Everything that needs Spark: the only package that imports pyspark and delta.

Use it in a notebook or a job with a running session:

    import schemalint.spark
    schemalint.spark.apply(spark, "path/to/repository", target="prod")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schemalint.spark.runner import apply

__all__ = ["apply"]


def __getattr__(name: str) -> object:
    """Load `apply` on first use: executors import this package too, and do not need it."""
    if name != "apply":
        raise AttributeError(name)
    from schemalint.spark.runner import apply  # noqa: PLC0415

    return apply
