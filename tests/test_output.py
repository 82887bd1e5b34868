"""All text leaves through `schemalint.base.printable` and `schemalint.cli._output`, past no module."""

from __future__ import annotations

import ast
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement

import pytest

from schemalint.base import printable
from schemalint.report import findings, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
MODULES = sorted((*ROOT.glob("schemalint/**/*.py"), *ROOT.glob("rules/**/*.py")))
ALLOWED = {
    "schemalint/base/printable.py": {"SafeText"},
    "schemalint/cli/_output.py": {"click.echo", "click.confirm", "sys.stdout", "sys.stderr"},
    # a signal handler: it writes one of two constants
    "schemalint/__main__.py": {"os.write"},
    # the deploy log, one call for each line, which is a `SafeText`
    "schemalint/base/files.py": {"os.write"},
    # the loggers of libraries that print
    "schemalint/spark/statements.py": {"logging"},
    "schemalint/delta/column_users.py": {"logging"},
    # the guard's logger, in jobs; what it logs is made by `terminal_text`
    "schemalint/guard/check.py": {"logging"},
}
"""What one module does for all."""

PRINTS = {"print", "breakpoint", "input", "SafeText"}
PRINTING_MODULES = {"logging", "warnings", "syslog", "pprint", "curses", "readline"}
ATTRIBUTES = {
    "click": {
        *("clear", "confirm", "echo", "echo_via_pager", "edit", "getchar", "launch", "pause"),
        *("progressbar", "prompt", "secho", "get_text_stream", "get_binary_stream"),
    },
    "sys": {"stdout", "stderr", "__stdout__", "__stderr__", "displayhook", "excepthook"},
    "os": {"write", "writev", "pwrite", "sendfile", "system", "popen"},
    "traceback": {"print_exc", "print_exception", "print_last", "print_stack", "print_tb"},
}


def bypasses(tree: ast.AST) -> set[str]:
    """Return what in a module prints, or makes an output."""
    return {name for node in ast.walk(tree) for name in _bypasses(node)}


def _bypasses(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in PRINTS:
            yield name
        case ast.Call(func=ast.Name(id="cast"), args=[kind, *_]) if "SafeText" in ast.unparse(kind):
            yield "cast"
        case ast.Attribute(value=ast.Name(id=module), attr=name) if name in ATTRIBUTES.get(module, ()):
            yield f"{module}.{name}"
        case ast.Import(names=names):
            yield from {alias.name.partition(".")[0] for alias in names} & PRINTING_MODULES
        case ast.ImportFrom(module=str(module), names=names):
            yield from {module.partition(".")[0]} & PRINTING_MODULES
            yield from {alias.name for alias in names} & ATTRIBUTES.get(module, set())
        case _:
            pass


@pytest.mark.parametrize(
    "text",
    [
        "print('x')",
        "import click\nclick.echo('x')",
        "from click import secho",
        "import sys\nsys.stderr.write('x')",
        "from sys import stdout",
        "import os\nos.write(1, b'x')",
        "import warnings",
        "from logging import warning",
        "import traceback\ntraceback.print_exc()",
        "SafeText('x')",
        "cast('SafeText', 'x')",
    ],
)
def test_each_way_to_print_is_found(text: str) -> None:
    assert bypasses(ast.parse(text))


def test_no_module_prints_or_makes_an_output_of_its_own() -> None:
    found = {
        str(module.relative_to(ROOT)): names
        for module in MODULES
        if (names := bypasses(ast.parse(module.read_text(encoding="utf-8"))))
    }
    assert found == ALLOWED


def test_what_prints_takes_only_text_that_is_made_for_output() -> None:
    """The callers are checked by mypy."""
    from schemalint.cli import _options, _output  # noqa: PLC0415 (only here)

    assert inspect.signature(_output.show).parameters["text"].annotation == "SafeText"
    assert inspect.signature(_options.write_report).parameters["text"].annotation == "SafeText"


@pytest.mark.parametrize("package", [findings, plan])
def test_every_format_returns_text_that_is_made_for_output(package: object) -> None:
    names = [info.name for info in pkgutil.iter_modules(package.__path__) if info.name[0] != "_"]  # type: ignore[attr-defined]
    for name in names:
        module = import_module(f"{package.__name__}.{name}")  # type: ignore[attr-defined]
        assert inspect.signature(module.render).return_annotation == "SafeText", name


def _element(text: str) -> Element:
    """Return an element with the text wherever one can have text."""
    element = Element("p", {"title": text})
    element.text = text
    SubElement(element, "b").tail = text
    return element


def test_every_function_that_makes_an_output_removes_commands_and_credentials() -> None:
    attack = "::add-mask::evil ##[error]x https://u:hunter2secret@h/ \x1b[2J"
    made = {
        "terminal_text": printable.terminal_text([attack]),
        "document_text": printable.document_text(attack),
        "json_text": printable.json_text({attack: [attack]}),
        "annotation": printable.annotation("error", {"title": attack}, [attack]),
        "sql_script": printable.sql_script([attack]),
        "xml_text": printable.xml_text(_element(attack)),
        "html_text": printable.html_text(_element(attack)),
        "status_line": printable.status_line(attack, 200).removeprefix("\r\x1b[K"),
    }
    makers = {
        name
        for name, function in inspect.getmembers(printable, inspect.isfunction)
        if inspect.signature(function).return_annotation == "SafeText"
    }
    assert makers == made.keys() | {"joined"}
    for name, text in made.items():
        assert "evil" in text, name
        assert "hunter2secret" not in text, name
        assert "##[" not in text, name
        assert "\x1b" not in text, name
