"""Spark sessions that fail or run other code between the statements of `apply`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from unittest import mock

from schemalint.spark.transaction_identifier import commit_identifier

if TYPE_CHECKING:
    from schemalint.spark.statements import SqlSession

T = TypeVar("T")


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
        statements: The writing statements that were run, the append of the marker among them; within
            `counting_commits` also its commit by Delta's classes.
    """

    session: SqlSession
    before: Callable[[int], None] = field(default=lambda _number: None)
    after: Callable[[int], None] = field(default=lambda _number: None)
    statements: list[str] = field(default_factory=list)

    @property
    def conf(self) -> Any:  # noqa: ANN401 (pyspark's)
        return self.session.conf

    def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 (pyspark's)
        if not sqlQuery.startswith(("ALTER", "CREATE", "INSERT", "UPDATE")):
            return self.session.sql(sqlQuery)
        return self.carry_out(sqlQuery, lambda: self.session.sql(sqlQuery))

    def carry_out(self, statement: str, write: Callable[[], T]) -> T:
        """Write, and call the functions before and after."""
        number = len(self.statements) + 1
        self.before(number)
        result = write()
        self.statements.append(statement)
        self.after(number)
        return result


def counting_commits() -> AbstractContextManager[object]:
    """Let interrupted sessions commit markers as the session inside them does, as a statement of its own."""
    return mock.patch("schemalint.spark.table_run.commit_identifier", _counted_commit)


def _counted_commit(session: SqlSession, *identifier: Any, **options: Any) -> bool:  # noqa: ANN401
    if not isinstance(session, Interrupted):
        return commit_identifier(session, *identifier, **options)

    def commit() -> None:
        if not commit_identifier(session.session, *identifier, **options):
            raise _NotCommittedError

    try:
        session.carry_out("COMMIT", commit)
    except (_NotCommittedError, AnswerLostError):  # `commit_identifier` leaves every failure to the append
        return False
    return True


class _NotCommittedError(Exception):
    pass


def killed_after(session: SqlSession, number: int) -> Interrupted:
    """Return a session that raises `Killed` after this number of statements."""

    def kill(current: int) -> None:
        if current == number:
            raise Killed

    return (
        Interrupted(session, after=kill) if number else Interrupted(session, before=lambda _number: kill(0))
    )
