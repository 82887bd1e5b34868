"""Spark sessions that fail or run other code between the statements of `apply`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemalint.spark.session import SqlSession


class Killed(BaseException):
    """Simulates a killed process: `apply` does not catch it."""


class AnswerLostError(Exception):
    """Simulates a connection that broke after the engine carried out the statement."""


@dataclass
class Interrupted:
    """A session that calls functions before and after each statement that writes.

    Attributes:
        before: Called with the number of the statement, from 1.
        after: Called with the same number when the statement has taken effect.
        statements: The writing statements that were run, the append of the marker among them.
    """

    session: SqlSession
    before: Callable[[int], None] = field(default=lambda _number: None)
    after: Callable[[int], None] = field(default=lambda _number: None)
    statements: list[str] = field(default_factory=list)
    counted: tuple[str, ...] = ("ALTER", "CREATE")

    @property
    def conf(self) -> Any:  # noqa: ANN401 (pyspark's)
        return self.session.conf

    def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 (pyspark's)
        if not sqlQuery.startswith(("ALTER", "CREATE", "INSERT")):
            return self.session.sql(sqlQuery)
        number = len(self.statements) + 1
        self.before(number)
        result = self.session.sql(sqlQuery)
        self.statements.append(sqlQuery)
        self.after(number)
        return result


def killed_after(session: SqlSession, number: int) -> Interrupted:
    """Return a session that raises `Killed` after this number of statements."""

    def kill(current: int) -> None:
        if current == number:
            raise Killed

    return (
        Interrupted(session, after=kill) if number else Interrupted(session, before=lambda _number: kill(0))
    )
