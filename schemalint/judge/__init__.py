"""Judge a table: a case to facts, to rules, to findings.

Pure: no file, configuration, environment or git is read, so that whoever has a contract has a verdict.
"""

from __future__ import annotations

from schemalint.judge.case import Case, Purpose
from schemalint.judge.rule_set import RuleSet
from schemalint.judge.verdict import Verdict, judge

__all__ = ["Case", "Purpose", "RuleSet", "Verdict", "judge"]
