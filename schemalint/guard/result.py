"""What the guard says of a write."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from schemalint.base.phrases import affixed
from schemalint.base.values import frozen

Outcome: TypeAlias = Literal["allowed", "refused", "unknown"]

REFUSED_BY_DELTA: Final = "WR001"
LOSES: Final = "WR002"
MAY_FAIL: Final = "WR003"
FILLED: Final = "WR004"
BY_POSITION: Final = "WR005"
TAKES_TYPE: Final = "WR006"
CREATES: Final = "WR007"
CHANGES: Final = "WR008"
NOT_SEEN: Final = "WR009"
ROUNDS: Final = "WR010"

CODES: Final = {
    REFUSED_BY_DELTA: "Delta refuses the write",
    LOSES: "the write loses values without an error",
    MAY_FAIL: "a row may be refused while the write runs",
    FILLED: "a column that the data lacks gets null, its default or its expression",
    BY_POSITION: "a value goes into a column of another name",
    TAKES_TYPE: "a void column takes its first type",
    CREATES: "the write creates the table, without what its contract declares beside columns",
    CHANGES: "the write changes the schema, which the contract allows",
    NOT_SEEN: "the guard could not see all that decides",
    ROUNDS: "digits that a column cannot hold are rounded without an error",
}
"""The guard's own codes; a schema that its contract does not allow has the code of the rule that says so."""


@frozen
class GuardFinding:
    """What a write does that somebody should know.

    Attributes:
        code: The code of a rule, or one of `CODES`.
        path: The column, such as ``lines.element.qty``; empty for the table.
        message: One sentence.
        refuses: Whether the write is refused for it.
    """

    code: str
    path: str
    message: str
    refuses: bool = False

    def __str__(self) -> str:
        return f"{self.code} {affixed('', self.path, ': ')}{self.message}"


@frozen
class GuardResult:
    """What is known of a write before it happens.

    Attributes:
        outcome: ``allowed``, ``refused`` or ``unknown``.
        findings: What it does; of an unknown write, why nobody knows.
        version: The version of the table that was looked at; None without one. Others may commit meanwhile.
        table: The table as it was named.
    """

    outcome: Outcome
    findings: tuple[GuardFinding, ...] = ()
    version: int | None = None
    table: str = ""

    def __str__(self) -> str:
        at = "" if self.version is None else f", version {self.version}"
        lines = (f"  {finding}" for finding in self.findings)
        return "\n".join((f"schemalint: a write into {self.table}{at} is {self.outcome}", *lines))


class WriteRefused(Exception):  # noqa: N818 (the name says what happened, and a stream's log shows it)
    """The guard refuses a write: to try it again changes nothing.

    Attributes:
        result: Why.
    """

    def __init__(self, result: GuardResult) -> None:
        super().__init__(f"{result}\nTo repeat the write changes nothing: change the contract or the job.")
        self.result = result

    def __reduce__(self) -> tuple[type[WriteRefused], tuple[GuardResult]]:
        return WriteRefused, (self.result,)


def unknown(reason: str, table: str = "", version: int | None = None) -> GuardResult:
    """Return that nobody knows what a write does, and why."""
    return GuardResult("unknown", (GuardFinding(NOT_SEEN, "", reason),), version, table)
