"""Everything that needs Spark: the only package that imports pyspark and delta.

Use it in a notebook or a job with a running session:

    from schemalint.spark import ApplyOptions, apply
    apply(spark, "path/to/repository", ApplyOptions(target="prod"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schemalint.spark.apply_options import ApplyOptions
    from schemalint.spark.runner import apply

__all__ = ["ApplyOptions", "apply"]


def __getattr__(name: str) -> object:
    """Load what runs plans on first use: executors import this package too, and do not need it."""
    if name not in __all__:
        raise AttributeError(name)
    from schemalint.spark import runner  # noqa: PLC0415

    return getattr(runner, name)
