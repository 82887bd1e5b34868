"""The settings of base and head: what a change loosens, and what decides its check."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schemalint.base.values import replace
from schemalint.model.consumer import Consumer
from schemalint.model.exception import SOURCES
from schemalint.model.finding import Severity
from schemalint.project.config import Config, TableSettings, Target, parse
from schemalint.project.config.nested_settings import with_nested
from schemalint.project.git import Beside, EmptyTree, Repository, Worktree
from schemalint.review.loosened_settings import (
    MOST_LOOSENINGS,
    SETTINGS,
    deciding_between,
    loosenings_of,
)
from schemalint.review.sides import Sides

PROD = "[targets.prod]\n"
EXCEPTIONS = "exceptions.accept"
A_PLAN, ANOTHER_PLAN = "1:aa", "1:bb"

# The setting in `Config`, the texts at the base and in the head, and the loosenings: key, old and new.
LOOSER: list[tuple[str, str, str, list[tuple[str, str | None, str | None]]]] = [
    ("contracts", "", 'contracts = ["a/**"]', [("contracts", None, "a/**")]),
    ("contracts", 'contracts = ["a/**", "b/**"]', 'contracts = ["b/**"]', [("contracts", "a/**", None)]),
    ("contracts", 'contracts = ["a/*.odcs"]', "", [("contracts", "a/*.odcs", None)]),
    ("contracts", 'contracts = ["a/**"]', 'contracts = ["a/**", "!a/b"]', [("contracts", None, "!a/b")]),
    (
        "format_entries",
        'contracts = ["a/**", {path = "a.json", format = "dbt"}]',
        'contracts = ["a/**"]',
        [("contracts", "a.json", None)],
    ),
    (
        "format_entries",
        'contracts = [{path = "a.json", format = "dbt", models = ["path:marts", "path:core"]}]',
        'contracts = [{path = "a.json", format = "dbt", models = ["path:core"]}]',
        [("contracts.models", "path:marts", None)],
    ),
    (
        "format_entries",
        'contracts = [{path = "a/*.sql", format = "sql", variables = {c = "main"}}]',
        'contracts = [{path = "a/*.sql", format = "sql", variables = {c = "dev"}}]',
        [("contracts.variables", "c = main", "c = dev")],
    ),
    (
        "format_entries",
        'contracts = [{path = "a/*.sql", format = "sql"}]',
        'contracts = [{path = "a/*.sql", format = "sql", managed_by = {tool = "job", how = "create"}}]',
        [("contracts.managed_by", None, "job"), ("contracts.how", None, "create")],
    ),
    ("select", "", 'select = ["TW"]', [("select", None, "TW")]),
    ("select", 'select = ["TW", "CM"]', 'select = ["TW"]', [("select", "CM", None)]),
    ("select", 'select = ["ALL"]', 'select = ["TW"]', [("select", "ALL", None)]),
    ("select", 'select = ["TW"]', 'select = ["TW001"]', [("select", "TW", None)]),
    ("extend_select", 'extend-select = ["AC1"]', "", [("extend-select", "AC1", None)]),
    ("ignore", 'ignore = ["TW001"]', 'ignore = ["TW001", "TW"]', [("ignore", None, "TW")]),
    ("ignore", "", 'ignore = ["illegal-narrowing"]', [("ignore", None, "illegal-narrowing")]),
    ("ignore", 'ignore = ["a-rule"]', 'ignore = ["a-rule-b"]', [("ignore", None, "a-rule-b")]),
    ("severity", "", 'severity = {TW001 = "warning"}', [("severity.TW001", None, "warning")]),
    ("severity", 'severity = {TW = "warning"}', "", [("severity.TW", "warning", None)]),
    (
        "severity",
        'severity = {TW = "error"}',
        'severity = {TW = "error", TW001 = "info"}',
        [("severity.TW001", "error", "info")],
    ),
    (
        "severity",
        'severity = {TW = "warning", TW001 = "error"}',
        'severity = {TW = "warning"}',
        [("severity.TW001", "error", "warning")],
    ),
    ("fail_on", 'fail-on = "info"', 'fail-on = "warning"', [("fail-on", "info", "warning")]),
    ("fail_on", "", 'fail-on = "never"', [("fail-on", "error", "never")]),
    (
        "approved_plans",
        f'approved-plans = ["{A_PLAN}"]',
        f'approved-plans = ["{A_PLAN}", "{ANOTHER_PLAN}"]',
        [("approved-plans", None, ANOTHER_PLAN)],
    ),
    ("accepted", "exceptions = {accept = []}", "", [(EXCEPTIONS, None, each) for each in SOURCES]),
    (
        "accepted",
        'exceptions = {accept = ["file"]}',
        'exceptions = {accept = ["contract", "file"]}',
        [(EXCEPTIONS, None, "contract")],
    ),
    (
        "tables",
        '[[tables]]\nmatch = "a.*"\nignore = ["TW"]',
        '[[tables]]\nmatch = "a.*"\nignore = ["TW001", "CM"]',
        [("tables.a.*.ignore", None, "CM")],
    ),
    (
        "tables",
        '[[tables]]\nmatch = "a.*"\nignore = ["TW"]',
        '[[tables]]\nmatch = "*"\nignore = ["TW"]',
        [("tables.*.ignore", None, "TW")],
    ),
    (
        "tables",
        '[[tables]]\nmatch = "a.*"\nconsumers = ["x"]\n[consumers.x]',
        '[[tables]]\nmatch = "a.b"\nconsumers = ["x"]\n[consumers.x]',
        [("tables.a.*.consumers", "x", None)],
    ),
    ("consumers", "[consumers.x]\n[consumers.y]", "[consumers.y]", [("consumers", "x", None)]),
    (
        "consumers",
        '[consumers.x]\nclient = "trino"\nversion = "440"',
        '[consumers.x]\nclient = "trino"\nversion = "476"',
        [("consumers.x.version", "440", "476")],
    ),
    (
        "consumers",
        '[consumers.x.stream]\ncheckpoint = "a"',
        '[consumers.x.stream]\ncheckpoint = "a"\nunblock = {rename = "always"}',
        [("consumers.x.stream.unblock", None, None)],
    ),
    ("options", "", "[options.AC1]\nmost = 3", [("options.AC1.most", None, "3")]),
    (
        "options",
        "[options.AC1]\nstrict = true",
        "[options.AC1]\nstrict = false",
        [("options.AC1.strict", "true", "false")],
    ),
    ("plugins", 'plugins = ["a.py", "b.py"]', 'plugins = ["b.py"]', [("plugins", "a.py", None)]),
    ("locked", 'locked = ["TW", "CM001"]', 'locked = ["TW001", "CM"]', [("locked", "TW", None)]),
    ("baseline", "", 'baseline = "b.json"', [("baseline", None, "b.json")]),
    ("baseline", 'baseline = "a.json"', 'baseline = "b.json"', [("baseline", "a.json", "b.json")]),
    ("nested", "", '# a\nignore = ["TW"]', [("ignore for a/**", None, "TW")]),
    ("nested", '# a\nseverity = {TW = "error"}', "", [("severity.TW for a/**", "error", None)]),
    (
        "nested",
        '# a\nextend-select = ["AC1"]',
        '# b\nextend-select = ["AC1"]',
        [("extend-select for a/**", "AC1", None)],
    ),
    (
        "nested",
        '# a\nignore = ["TW"]\n',
        '# a/b\nignore = ["TW"]\n# c\nignore = ["TW"]',
        [("ignore for c/**", None, "TW")],
    ),
    (
        "nested",
        'ignore = ["TW"]\n# a\nextend-select = ["TW"]',
        'ignore = ["TW"]',
        [("extend-select for a/**", "TW", None), ("ignore for a/**", None, "TW")],
    ),
    ("nested", "# a\n[consumers.x]", "# a\n[consumers.y]", [("consumers for a/**", "x", None)]),
    (
        "nested",
        "",
        '# a\n[[tables]]\nmatch = "*"\nignore = ["TW"]',
        [("tables.*.ignore for a/**", None, "TW")],
    ),
    ("targets", PROD, "", [("targets", "prod", None)]),
    ("targets", PROD + "create = false", PROD, [("targets.prod.create", "false", "true")]),
    (
        "targets",
        PROD,
        PROD + "single_writer = true",
        [("targets.prod.single_writer", "false", "true")],
    ),
    ("targets", PROD, PROD + "unmasked = true", [("targets.prod.unmasked", "false", "true")]),
    (
        "targets",
        PROD + 'engine = "delta-spark 4.4.0"',
        PROD + 'engine = "databricks 17.3"',
        [("targets.prod.engine", "delta-spark 4.4.0", "databricks 17.3")],
    ),
    (
        "targets",
        PROD + 'writers = ["databricks 16.4", "delta-spark 3.3.2"]\napply_with = "databricks 16.4"',
        PROD + 'writers = ["databricks 16.4"]',
        [("targets.prod.writers", "databricks 16.4, delta-spark 3.3.2", "databricks 16.4")],
    ),
    (
        "tables",
        '[[tables]]\nmatch = "a.*"\nwriters = ["databricks 16.4", "delta-spark 3.3.2"]',
        '[[tables]]\nmatch = "a.*"\nwriters = ["databricks 16.4"]',
        [("tables.a.*.writers", "delta-spark 3.3.2", None)],
    ),
    ("targets", PROD, PROD + 'allowed_locations = ["/a"]', [("targets.prod.allowed_locations", None, None)]),
    ("targets", PROD + 'root = "/a"', PROD + 'root = "/b"', [("targets.prod.root", None, None)]),
    (
        "targets",
        PROD + 'variables = {catalog = "main"}',
        PROD + 'variables = {catalog = "dev"}',
        [("targets.prod.variables.catalog", None, None)],
    ),
]

STRICTER_OR_EQUAL = [
    (
        PROD + 'engine = "databricks 16.4"',
        PROD + 'writers = ["databricks 16.4", "delta-spark 3.3.2"]\napply_with = "databricks 16.4"',
    ),
    ('contracts = ["a/**"]', 'contracts = ["a/**", "b/**"]'),
    ('contracts = ["a/**", "!a/b"]', 'contracts = ["a/**"]'),
    ('contracts = ["a/*.yml"]', ""),
    ('select = ["TW001"]', 'select = ["TW"]'),
    ('select = ["TW"]', ""),
    ("", 'select = ["ALL"]'),
    ("", 'extend-select = ["AC1"]'),
    ('ignore = ["TW"]', 'ignore = ["TW001"]'),
    ('ignore = ["ALL"]', ""),
    ('severity = {TW = "warning"}', 'severity = {TW = "error"}'),
    ("", 'severity = {TW001 = "error"}'),
    ('severity = {TW = "info"}', ""),
    ('severity = {TW = "warning"}', 'severity = {TW = "warning", TW001 = "warning"}'),
    ('fail-on = "never"', 'fail-on = "error"'),
    (f'approved-plans = ["{A_PLAN}"]', ""),
    ("", 'exceptions = {accept = ["file"]}'),
    ('[[tables]]\nmatch = "*"\nignore = ["TW"]', '[[tables]]\nmatch = "a.*"\nignore = ["TW001"]'),
    ("", 'plugins = ["a.py"]'),
    ("", PROD),
    (PROD, PROD + "create = false"),
    (PROD + "single_writer = true", PROD),
    (PROD + "unmasked = true", PROD),
    (PROD + 'allowed_locations = ["/a"]', PROD),
    ("", 'against = "none"'),
    ("", '[spark]\nmaster = "local"'),
    ("", 'cosmetic = "ride-along"'),
    ('locked = ["TW001"]', 'locked = ["TW"]'),
    ('baseline = "a.json"', ""),
    ('# a\nignore = ["TW"]', ""),
    ('# a\nignore = ["TW"]', '# a/b\nignore = ["TW001"]'),
    ("", '# a\nextend-select = ["AC1"]'),
    ("", "# a\n[consumers.x]"),
]


def _config(text: str) -> Config:
    """Parse a configuration, and the nested files that follow it, each after a line ``# FOLDER``."""
    root, *parts = re.split(r"^# (.+)\n", text, flags=re.MULTILINE)
    texts = zip(parts[::2], parts[1::2], strict=True)
    nested = {f"{folder}/schemalint.toml": part.encode() for folder, part in texts}
    return with_nested(parse("schemalint.toml", root.encode()), Beside(nested))


@pytest.mark.parametrize(("_setting", "base", "head", "expected"), LOOSER)
def test_a_looser_setting_is_named_with_both_values(
    _setting: str, base: str, head: str, expected: list[tuple[str, str | None, str | None]]
) -> None:
    found = loosenings_of(_config(base), _config(head))
    assert [(loosening.key, loosening.old, loosening.new) for loosening in found] == expected


@pytest.mark.parametrize(("base", "head"), STRICTER_OR_EQUAL)
def test_a_setting_that_is_as_strict_is_no_loosening(base: str, head: str) -> None:
    assert loosenings_of(_config(base), _config(head)) == ()


@pytest.mark.parametrize(("_setting", "base", "head", "_expected"), LOOSER)
def test_both_configurations_decide_where_a_setting_differs(
    _setting: str, base: str, head: str, _expected: object
) -> None:
    assert deciding_between(_config(base), _config(head)) == (_config(base), _config(head))
    assert deciding_between(_config(base), _config(base)) == (_config(base),)


def test_every_setting_is_compared_or_has_a_reason() -> None:
    """A new key needs its row, and each comparison a case."""
    compared = {name.partition(".")[0] for name, row in SETTINGS.items() if not isinstance(row, str)}
    assert {name.partition(".")[0] for name in SETTINGS} == {*Config.__match_args__}
    assert _rows("targets") == {*Target.__match_args__} - {"name"}
    assert _rows("consumers") == {*Consumer.__match_args__} - {"name", "removed"}
    assert _rows("tables") == {*TableSettings.__match_args__} - {"match"}
    assert {setting for setting, *_ in LOOSER} == compared


def _rows(section: str) -> set[str]:
    return {key for name in SETTINGS for top, _, key in [name.partition(".")] if top == section and key}


def test_the_strictest_settings_decide() -> None:
    base = _config('fail-on = "warning"\n')
    head = _config('fail-on = "never"\n')
    repository = Repository(Path(), Path(".git"), bare=False, index_file=None, env={})
    sides = Sides(repository, EmptyTree("none"), Worktree(), head, base)
    assert sides.fail_on is Severity.WARNING
    assert replace(sides, at_base=head).fail_on is None


def test_a_setting_with_many_entries_has_a_limited_number_of_loosenings() -> None:
    many = [f'"TW{number:03}"' for number in range(MOST_LOOSENINGS + 7)]
    found = loosenings_of(Config(), _config(f"ignore = [{', '.join(many)}]"))
    assert len(found) == MOST_LOOSENINGS + 1
    assert found[-1].new == "7 more entries"


def test_what_is_looser_everywhere_is_not_repeated_for_each_folder() -> None:
    found = loosenings_of(_config("# a\n"), _config('ignore = ["TW"]\n# a\n# a/b\n'))
    assert [loosening.key for loosening in found] == ["ignore"]


def test_a_configuration_of_a_part_of_the_repository_is_narrower() -> None:
    part = parse("team/schemalint.toml", b"root = true")
    assert [(each.key, each.new) for each in loosenings_of(_config(""), part)] == [("contracts", "team/**")]
    assert loosenings_of(part, _config("")) == ()
    assert loosenings_of(part, part) == ()
