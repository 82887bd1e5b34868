"""Pairs the tables, finds the facts, lets the rules judge them."""

from __future__ import annotations

from schemalint.engine.check import CheckInput, check
from schemalint.engine.judge import judge_pair
from schemalint.engine.live import judge_live
from schemalint.engine.rulebook import Selection, load_rules

__all__ = ["CheckInput", "Selection", "check", "judge_live", "judge_pair", "load_rules"]
