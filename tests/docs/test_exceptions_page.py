"""The examples of the page about exceptions approve what the page says."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

from schemalint.contract import read, read_exceptions
from schemalint.model.contract import Contract
from schemalint.model.exception import WrittenException
from schemalint.project import config
from schemalint.review.approve import approve
from schemalint.review.exceptions import Exceptions
from support.judging import judge_pair
from support.rule_judging import built_in

PAGE = (Path(__file__).parents[2] / "docs" / "exceptions.md").read_text("utf-8")
BASE, ALLOWED, FILE, REWRITTEN = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
RULES = tuple(built_in().values())


def approved(
    before: Contract | None, after: Contract, *others: WrittenException
) -> tuple[list[str], list[str]]:
    """Return the codes that are approved, and the warnings and errors that remain."""
    exceptions = Exceptions(others).with_contracts([(before, after)])
    found = approve(judge_pair(before, after, RULES), exceptions, RULES, dt.date(2026, 6, 15))
    left = [finding.code for finding in found.remaining if finding.severity.label == "error"]
    return [approval.finding.code for approval in found.approved], left


def contract(text: str) -> Contract:
    (found,) = read("orders.yml", text).contracts
    return found


def test_each_example_approves_its_finding() -> None:
    base = contract(BASE)
    assert approved(base, contract(ALLOWED)) == (["CT003"], [])
    assert approved(base, contract(REWRITTEN)) == (["TW003"], [])


def test_the_file_approves_what_the_contract_does_not() -> None:
    without = contract(ALLOWED.partition("allow:")[0])
    entries = read_exceptions("exceptions.yaml", FILE.encode())
    assert approved(contract(BASE), without) == ([], ["CT003"])
    assert approved(contract(BASE), without, *entries) == (["CT003"], [])
    assert [entry.exception.rule for entry in entries] == ["CT001", "CT003"]


def test_the_setting_for_teams_accepts_the_file_alone() -> None:
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert config.parse("schemalint.toml", toml.encode()).accepted == ("file",)
