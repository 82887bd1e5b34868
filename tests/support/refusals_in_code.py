"""All refusals that the code can give, by their texts: what is filled in is ``…``."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import schemalint

ROOT = Path(schemalint.__file__).parent


class WrittenRefusal(NamedTuple):
    """A ``Refusal(…)`` in the code.

    Attributes:
        kind: The name of its `RefusalKind`.
        text: Its reason.
        module: Its module in ``schemalint/``, as a path.
        has_help: Whether it says what to do.
    """

    kind: str
    text: str
    module: str
    has_help: bool

    def matches(self, reason: str) -> bool:
        return re.fullmatch(".+".join(map(re.escape, self.text.split("…"))), reason) is not None


@cache
def refusals_in_code() -> frozenset[WrittenRefusal]:
    """Return the refusals of planner and deployment, without those that quote a rule's finding."""
    found: set[WrittenRefusal] = set()
    for path in sorted((*ROOT.glob("planner/**/*.py"), *ROOT.glob("deploy/**/*.py"))):
        tree = ast.parse(path.read_text("utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                found |= set(_of_function(tree, function, path.relative_to(ROOT).as_posix()))
    return frozenset(refusal for refusal in found if refusal.kind not in ("RULE", "REWRITE"))


def _of_function(tree: ast.Module, function: ast.FunctionDef, module: str) -> list[WrittenRefusal]:
    calls = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal"
    ]
    return [
        WrittenRefusal(kind, text, module, has_help=_has_help(call))
        for call in calls
        for kind in _kinds(tree, call.args[0])
        for text in _texts(function, call)
    ]


def _has_help(call: ast.Call) -> bool:
    _kind, _reason, *rest = call.args
    return bool(rest) or any(keyword.arg == "help" for keyword in call.keywords)


def _kinds(tree: ast.Module, node: ast.expr) -> list[str]:
    match node:
        case ast.Attribute(attr=name):
            return [name]
        case ast.IfExp(body=body, orelse=orelse):
            return [*_kinds(tree, body), *_kinds(tree, orelse)]
        case ast.Name(id=alias):
            (value,) = (
                part.value
                for part in tree.body
                if isinstance(part, ast.AnnAssign)
                and isinstance(part.target, ast.Name)
                and part.target.id == alias
            )
            assert value is not None
            return _kinds(tree, value)
        case _:
            raise AssertionError(ast.dump(node))


def _texts(function: ast.FunctionDef, call: ast.Call) -> list[str]:
    match call.args[1]:
        case ast.Name(id=name):
            # The nearest assignment before the call.
            values = [
                node.value
                for node in ast.walk(function)
                if isinstance(node, ast.Assign | ast.NamedExpr)
                and ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target) == name
                and node.lineno < call.lineno
            ]
            return [_text(max(values, key=lambda value: value.lineno))]
        case reason:
            return [_text(reason)]


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) for part in parts)
        case _:
            return "…"
