"""The judge stands alone: nothing that reads git, files, YAML or settings is loaded with it."""

from __future__ import annotations

import json
import subprocess
import sys

ROOMS = {"base", "clients", "delta", "judge", "model", "planner", "plugin"}
OF_BASE = {
    *("errors", "json_object", "limits", "pattern", "phrases", "printable", "redaction", "values", "wording"),
}
FOREIGN = {"click", "pydantic", "ruamel", "sqlglot", "subprocess", "tomllib", "yaml"}

# Judges a contract that is a value, with all modules of the judge loaded.
PROBE = """\
import importlib, json, pkgutil, sys
import schemalint.judge
for module in pkgutil.iter_modules(schemalint.judge.__path__):
    importlib.import_module(f"schemalint.judge.{module.name}")

from schemalint.delta.datatype import Field, Struct
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type
from schemalint.judge import Case, RuleSet, judge
from schemalint.judge.built_in_rules import built_in_rules
from schemalint.model.contract import Contract

def orders(type_):
    return Contract("sales.orders", TableState(Struct((Field("id", parse_type(type_)),))))

case = Case((RuleSet(built_in_rules()),), orders("bigint"), orders("int"))
print(json.dumps([[finding.code for finding in judge(case).findings], sorted(sys.modules)]))
"""


def test_the_judge_loads_no_git_no_yaml_and_no_settings() -> None:
    run = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    codes, modules = json.loads(run.stdout)
    assert codes == ["TW001"]
    own = [module.split(".") for module in modules if module.startswith("schemalint.")]
    assert {room for _, room, *_ in own} == ROOMS
    assert {rest[0] for _, room, *rest in own if room == "base" and rest} == OF_BASE
    assert FOREIGN & set(modules) == set()
