"""Settings of folders: files below the configuration, and how they are merged."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from schemalint.base import limits
from schemalint.base.errors import ConfigError
from schemalint.model.finding import Severity
from schemalint.project.config import Config, config_keys, load, parse
from schemalint.project.config.config_schema import json_schema, nested_json_schema
from schemalint.project.config.nested_settings import with_nested
from schemalint.project.git import Beside

FILE = "schemalint.toml"


def _config(root: str, **nested: str) -> Config:
    """Return a configuration with nested files; ``a__b`` is the folder ``a/b``."""
    files = {f"{folder.replace('__', '/')}/{FILE}": text.encode() for folder, text in nested.items()}
    return with_nested(parse(FILE, root.encode()), Beside(files))


def test_the_nearest_file_wins_and_lists_add_up() -> None:
    config = _config(
        'ignore = ["TW001"]\nseverity = {CM = "error", TW = "info"}\n'
        '[consumers.x]\n[[tables]]\nmatch = "r.*"',
        a='ignore = ["TW002"]\nseverity = {TW = "warning"}\n'
        '[consumers.y]\n[[tables]]\nmatch = "*"\nconsumers = ["x", "y"]',
        a__b='extend-select = ["TW002", "AC1"]',
    )
    assert config.at("c/t.yml") is config
    in_a, in_b = config.at("a/t.yml"), config.at("a/b/c/t.yml")
    assert (in_a.ignore, in_b.ignore) == (("TW001", "TW002"), ("TW001",))
    assert in_b.extend_select == ("TW002", "AC1")
    assert in_b.severity == {"CM": Severity.ERROR, "TW": Severity.WARNING}
    assert [*in_b.consumers] == ["x", "y"]
    assert [entry.match for entry in in_b.tables] == ["r.*", "*"]


def test_select_begins_anew() -> None:
    config = _config(
        'select = ["TW"]\nextend-select = ["AC1"]\nignore = ["TW002"]', a='select = ["ALL"]\nignore = ["CM"]'
    )
    found = config.at("a/t.yml")
    assert (found.select, found.extend_select, found.ignore) == (("ALL",), (), ("CM",))


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (
            'ignore = []\nfail-on = "never"',
            "fail-on is no setting of a nested file, and a/b/schemalint.toml",
            2,
        ),
        ("[targets.prod]", "targets is no setting of a nested file", 1),
        ('locked = ["TW"]', "locked is no setting of a nested file", 1),
        ("[consumers.x]", "consumers.x is declared already, further up", 1),
        ("slect = []", "unknown key slect", 1),
        ('select = "TW"', "select must be a list", 1),
        ("select = [", "not valid TOML", 1),
        (
            '[[tables]]\nmatch = "*"\nconsumers = ["z"]',
            "tables.consumers names 'z', which is not declared",
            3,
        ),
    ],
)
def test_an_invalid_nested_file_is_an_error_with_its_line(text: str, message: str, line: int) -> None:
    with pytest.raises(ConfigError) as caught:
        _config("[consumers.x]", a__b=text)
    assert caught.value.message.startswith(message)
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == ("a/b/schemalint.toml", line)


def test_the_help_names_the_two_places_for_other_settings() -> None:
    with pytest.raises(ConfigError) as caught:
        _config("", a='fail-on = "never"')
    assert caught.value.help.startswith("move it to schemalint.toml; or write `root = true`")


def test_a_configuration_of_its_own_is_not_nested() -> None:
    assert not _config('ignore = ["TW"]', a='root = true\nfail-on = "never"').nested


def test_an_invalid_file_of_the_base_does_not_count() -> None:
    files = Beside(
        {"a/schemalint.toml": b"=", "b/schemalint.toml": b"ignore = ['TW']"}, {"c/schemalint.toml": "no"}
    )
    assert [*with_nested(Config(), files, lenient=True).nested] == ["b"]
    with pytest.raises(ConfigError):
        with_nested(Config(), files)


def test_many_or_large_nested_files_are_an_error() -> None:
    many = Beside({f"{number}/{FILE}": b"" for number in range(limits.MAX_NESTED + 1)})
    large = Beside({f"a/{FILE}": b"#" * (limits.MAX_NESTED_BYTES + 1)})
    for files in (many, large):
        with pytest.raises(ConfigError, match="a limit of schemalint"):
            with_nested(Config(), files)
    entry = '[[tables]]\nmatch = "*"\n'
    with pytest.raises(ConfigError, match="tables has more than 1,000 entries with those further up"):
        _config(entry * limits.MAX_GLOBS, a=entry)


@pytest.mark.parametrize(
    ("files", "folder", "expected"),
    [
        ({FILE: ""}, "a/b", FILE),
        ({FILE: "", f"a/{FILE}": ""}, "a/b", FILE),
        ({FILE: "", f"a/{FILE}": "root = true"}, "a/b", f"a/{FILE}"),
        ({FILE: "", f"a/{FILE}": "root = true"}, "", FILE),
        ({f"a/{FILE}": "", f"a/b/{FILE}": ""}, "a/b", f"a/{FILE}"),
        ({FILE: "", "a/pyproject.toml": "[tool.schemalint]"}, "a", "a/pyproject.toml"),
        ({FILE: "", "a/pyproject.toml": "tool = {schemalint = {}}"}, "a", "a/pyproject.toml"),
        ({FILE: "", "a/pyproject.toml": "[project]\ndependencies = ['schemalint']"}, "a", FILE),
        ({FILE: "", "a/pyproject.toml": "tool = 3  # schemalint"}, "a", FILE),
        ({FILE: "", "a/pyproject.toml": "tool = ['schemalint']"}, "a", FILE),
        ({"pyproject.toml": "[tool.schemalint]", f"a/{FILE}": ""}, "a", "pyproject.toml"),
        ({f"a/{FILE}": "", "a/pyproject.toml": "[tool.schemalint]"}, "a", f"a/{FILE}"),
        ({f"b/{FILE}": ""}, "a", None),
    ],
)
def test_the_configuration_is_found_from_the_working_folder(
    files: dict[str, str], folder: str, expected: str | None
) -> None:
    assert load(lambda name: files[name].encode() if name in files else None, folder).file == expected


def test_relative_paths_begin_in_the_folder_of_the_configuration() -> None:
    text = """
    contracts = ["c/**", "!c/old/**"]
    plugins = ["rules.py"]
    [targets.a]
    root = "lake"
    allowed_locations = ["old", "/mnt", "s3://b/x", "C:/x"]
    """
    config = parse(f"team/{FILE}", text.encode())
    assert config.globs == ("/team", "c/**", "!c/old/**")
    assert config.plugins == ("team/rules.py",)
    target = config.targets["a"]
    assert (target.root, target.allowed_locations) == ("team/lake", ("team/old", "/mnt", "s3://b/x", "C:/x"))
    assert parse(FILE, text.encode()).targets["a"].root == "lake"
    with pytest.raises(ConfigError, match="leads out of the repository"):
        parse(FILE, b'contracts = ["/team"]')


def test_the_json_schemas_accept_what_is_read() -> None:
    documented = re.search(
        r"```toml\n(contracts = .*?)```", Path("docs/configuration.md").read_text("utf-8"), re.DOTALL
    )
    assert documented
    whole, nested = tomllib.loads(documented[1]), {"select": ["TW"], "consumers": {"x": {"client": "trino"}}}
    jsonschema.validate(whole, json_schema())
    jsonschema.validate(nested, nested_json_schema())
    assert {*json_schema()["properties"]} == {*config_keys.ConfigKeys.__annotations__}
    for invalid in ({"locked": ["TW"]}, {"select": "TW"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(invalid, nested_json_schema())
