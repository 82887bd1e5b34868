"""Ask all questions of a record in one session, and write the answers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

Questions = TypeVar("Questions")
Answers = TypeVar("Answers")


def record_all(
    ask: Callable[[SparkSession, Path, Questions], Answers],
    questions: Questions,
    write: Callable[[Answers], None],
) -> None:
    """Ask all questions in a session and a folder of their own, and write the answers."""
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write(ask(session, Path(folder), questions))
        session.stop()
