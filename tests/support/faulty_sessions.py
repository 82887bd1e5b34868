"""Sessions that fail, or let something else happen, between the statements of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemalint.spark.session import SqlSession


class Killed(BaseException):
    """The end of a process: no code of the run catches it."""


class AnswerLostError(Exception):
    """What a client sees of a statement that was carried out while the connection broke."""


@dataclass
class Interrupted:
    """A session that calls something before or after each statement that changes a table.

    Attributes:
        before: Called with the number of the statement, from 1.
        after: Likewise, once the statement has its effect.
        statements: Those that were run.
    """

    session: SqlSession
    before: Callable[[int], None] = field(default=lambda _number: None)
    after: Callable[[int], None] = field(default=lambda _number: None)
    statements: list[str] = field(default_factory=list)

    @property
    def conf(self) -> Any:  # noqa: ANN401 (pyspark's)
        return self.session.conf

    def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 (pyspark's)
        if not sqlQuery.startswith(("ALTER", "CREATE")):
            return self.session.sql(sqlQuery)
        number = len(self.statements) + 1
        self.before(number)
        answer = self.session.sql(sqlQuery)
        self.statements.append(sqlQuery)
        self.after(number)
        return answer


def killed_after(session: SqlSession, number: int) -> Interrupted:
    """A session whose process ends after so many statements."""

    def end(at: int) -> None:
        if at == number:
            raise Killed

    return Interrupted(session, after=end) if number else Interrupted(session, before=lambda _at: end(0))
