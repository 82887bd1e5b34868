"""The output of a JVM that PySpark starts."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import Any

_STARTING = Lock()


@contextmanager
def jvm_output_in_a_file() -> Iterator[str]:
    """Give a JVM that is started meanwhile a file as its standard output and standard error; yield its path.

    A JVM keeps what it inherits, and Python workers inherit from it. Spark prints some hundred lines about
    jars and logging, Delta prints ``Upgraded table at …``, and the JVM itself warnings, all for as long as it
    runs; standard output belongs to the report. The streams of this process stay as they are, because other
    threads may print. A JVM that runs already is left as it is.
    """
    descriptor, path = tempfile.mkstemp(prefix="schemalint-spark-", suffix=".log")
    try:
        with _launched_with({"stdout": descriptor, "stderr": descriptor}):
            yield path
    finally:
        os.close(descriptor)


@contextmanager
def _launched_with(streams: dict[str, int]) -> Iterator[None]:
    """Let PySpark pass these streams to `subprocess.Popen`: it has a parameter for it, but no setting."""
    context = _starter()
    if context is None:
        yield
        return
    with _STARTING:
        launch = context.launch_gateway
        context.launch_gateway = partial(launch, popen_kwargs=streams)
        try:
            yield
        finally:
            context.launch_gateway = launch


def _starter() -> Any:  # noqa: ANN401 (a module of pyspark)
    """Return the module that starts the JVM; None in a client for Connect alone."""
    for name in ("pyspark.core.context", "pyspark.context"):  # since Spark 4.0, and before
        with suppress(ImportError):
            return importlib.import_module(name)
    return None
