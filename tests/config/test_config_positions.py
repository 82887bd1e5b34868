"""The line of a setting, in every notation of TOML."""

from __future__ import annotations

import pytest

from schemalint.project.config.toml_text import Positions, locate

TEXT = """\
fail-on = "never"
ignore = [
  "CM",
  "TW001",
]
severity.TW = "info"

[[tables]]
match = "sales.orders"
ignore = ["TW"]

[[tables]]
match = "sales.returns"
ignore = ["TW"]

[targets."prod eu"]
create = true
storage = {region = "eu"}
[options.ACME001]
most = 3
"""


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("fail-on",), "", "1:1"),
        (("ignore",), "TW001", "4:4"),
        (("ignore",), "no such entry", "2:1"),
        (("severity", "TW"), "", "6:1"),
        (("tables", "match"), "sales.returns", "13:10"),
        (("targets", "prod eu", "create"), "", "17:1"),
        (("targets", "prod eu", "storage", "region"), "", "18:1"),
        (("targets", "prod eu", "root"), "", "16:2"),
        (("options", "ACME001", "most"), "", "20:1"),
        (("select",), "", "1:1"),
    ],
)
def test_the_line_of_a_setting_is_found(path: tuple[str, ...], value: str, expected: str) -> None:
    assert str(Positions("a.toml", TEXT).locate(path, value)) == f"a.toml:{expected}"


def test_settings_of_pyproject_are_below_its_table() -> None:
    text = '[project]\nignore = 1\n[tool.schemalint]\nignore = ["TW"]\n[tool.schemalint.targets.prod]\n'
    assert str(Positions("a.toml", text).locate(("ignore",), "TW")) == "a.toml:4:12"
    assert str(locate("a.toml", text, ("targets", "prod", "root"))) == "a.toml:5:2"


def test_a_file_without_settings_has_its_first_line() -> None:
    assert str(locate("a.toml", "", ("ignore",))) == "a.toml:1:1"
