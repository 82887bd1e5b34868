"""The contract at the writer: what a write would do to its table, said before it happens.

    from schemalint.guard import guard

    guard(df, "sales.orders", contracts="contracts.json", options={"mergeSchema": "true"})
    df.write.format("delta").option("mergeSchema", "true").mode("append").saveAsTable("sales.orders")

It loads neither git nor YAML, runs nothing on data, and never fails a job by a fault of its own.
"""

from __future__ import annotations

from schemalint.guard.action import Action, act, guard
from schemalint.guard.check import check_arrow, check_sql, check_write
from schemalint.guard.contracts import Contracts
from schemalint.guard.result import CODES, GuardFinding, GuardResult, Outcome, WriteRefused

__all__ = [
    "CODES",
    "Action",
    "Contracts",
    "GuardFinding",
    "GuardResult",
    "Outcome",
    "WriteRefused",
    "act",
    "check_arrow",
    "check_sql",
    "check_write",
    "guard",
]
