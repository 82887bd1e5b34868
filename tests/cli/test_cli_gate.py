"""A change under review cannot weaken its own check: the settings of the base decide too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.project import ORDERS, Project
from support.review import CONTRACT, Review

if TYPE_CHECKING:
    from pathlib import Path

FILE = "schemalint.toml"
NARROWED = ORDERS.replace("bigint", "int")
OF_DATABRICKS = ORDERS + 'properties: {delta.targetFileSize: "1gb"}\n'
ABSENT = NARROWED + "targets: {prod: {absent: true}}\n"
RULES = "tools/rules.py"
LOCAL_RULE = '''
from schemalint.delta.change import TypeChanged
from schemalint.plugin import Problem, Severity, rule

@rule("LOC001", on=TypeChanged, severity=Severity.ERROR, default={default}, options={{"strict": True}})
def no_change(change, ctx):
    """A type changes."""
    if ctx.options["strict"]:
        yield Problem("no type may change")
'''
PLUGIN = f'plugins = ["{RULES}"]\nselect = ["LOC"]\n'


@pytest.fixture
def review(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Review:
    return Review(project, monkeypatch, tmp_path)


def _config(text: str, contract: str | None = None) -> dict[str, str | None]:
    return {FILE: text, **({CONTRACT: contract} if contract else {})}


LOCKED_OUT = ORDERS + "features: [deletionVectors]\nprotocol: {allow_upgrade: true}\n"
ML = "{name: ml, client: deltalake, version: 1.6.6, read_path: pyarrow}"
ML_OF_TABLES = '[[tables]]\nmatch = "*"\nconsumers = ["ml"]\n'
ML_OF_CONFIG = '[consumers.ml]\nclient = "deltalake"\nversion = "1.6.6"\nread_path = "pyarrow"\n'

WEAKENED: dict[str, tuple[dict[str, str | None], dict[str, str | None], list[str]]] = {
    "select": (_config('select = ["TW", "CM"]'), _config('select = ["CM"]', NARROWED), ["CF001", "TW001"]),
    "extend-select": (
        _config('select = ["CM"]\nextend-select = ["TW"]'),
        _config('select = ["CM"]', NARROWED),
        ["CF001", "TW001"],
    ),
    "ignore": (_config("root = false"), _config('ignore = ["ALL"]', NARROWED), ["CF001", "TW001"]),
    "severity": (
        _config("root = false"),
        _config('severity = {illegal-narrowing = "info"}', NARROWED),
        ["CF001", "TW001"],
    ),
    "fail-on": (_config('fail-on = "error"'), _config('fail-on = "never"', NARROWED), ["CF001", "TW001"]),
    "contracts": (
        _config('contracts = ["**/*.yml"]'),
        {
            **_config('contracts = ["other/*.yml"]', NARROWED),
            "other/a.yml": ORDERS.replace("sales.orders", "a.b"),
        },
        ["CF001", "TW001"],
    ),
    "new contract outside of the globs": (
        _config('contracts = ["**/*.yml"]'),
        {
            **_config('contracts = ["contracts/*.yml"]'),
            "other/a.yml": ORDERS.replace("sales.orders", "a.b").replace("decimal(10,2)", "decimal(39,2)"),
        },
        ["CF001", "TW004"],
    ),
    "base in a file outside of the globs": (
        {**_config('contracts = ["contracts/*.yml"]'), "archive/orders.yml": NARROWED},
        {
            **_config('contracts = ["contracts/*.yml", "archive/*.yml"]', NARROWED),
            "archive/orders.yml": None,
            "archive/a.yml": ORDERS.replace("sales.orders", "a.b"),
        },
        ["TW001"],
    ),
    "base in a copy that is deleted": (
        {"archive/orders.yml": NARROWED},
        {"archive/orders.yml": None, CONTRACT: NARROWED},
        ["TW001"],
    ),
    "excluded contract": (
        _config('contracts = ["**/*.yml"]'),
        {
            **_config('contracts = ["**/*.yml", "!contracts/**"]', NARROWED),
            "other/a.yml": ORDERS.replace("sales.orders", "a.b"),
        },
        ["CF001", "TW001"],
    ),
    "tables": (
        _config("root = false"),
        _config('[[tables]]\nmatch = "*"\nignore = ["TW"]', NARROWED),
        ["CF001", "TW001"],
    ),
    "consumer of the contract": (
        {CONTRACT: f"{ORDERS}consumers: [{ML}]\n"},
        {CONTRACT: LOCKED_OUT},
        ["PF004", "RD001"],
    ),
    "read path of a consumer of the contract": (
        {CONTRACT: f"{ORDERS}consumers: [{ML}]\n"},
        {CONTRACT: f"{LOCKED_OUT}consumers: [{ML.replace('pyarrow', 'query-builder')}]\n"},
        ["PF004", "RD001"],
    ),
    "consumer of the configuration": (
        _config(ML_OF_TABLES + ML_OF_CONFIG),
        _config("root = false", LOCKED_OUT),
        ["CF001", "CF001", "PF004", "RD001"],
    ),
    "consumer that tables lose": (
        _config(ML_OF_TABLES + ML_OF_CONFIG),
        _config(ML_OF_CONFIG, LOCKED_OUT),
        ["CF001", "PF004", "RD001"],
    ),
    "read path of a consumer": (
        _config(ML_OF_TABLES + ML_OF_CONFIG),
        _config(ML_OF_TABLES + ML_OF_CONFIG.replace("pyarrow", "query-builder"), LOCKED_OUT),
        ["CF001", "PF004", "RD001"],
    ),
    "target": (
        _config('fail-on = "warning"\n[targets.prod]\nengine = "delta-spark 4.4.0"'),
        _config('fail-on = "warning"\n[targets.prod]\nengine = "databricks 17.3"', OF_DATABRICKS),
        ["CF001", "TP008"],
    ),
    "target that is removed": (
        _config('fail-on = "warning"\n[targets.prod]\nengine = "delta-spark 4.4.0"'),
        _config('fail-on = "warning"\n[targets.dev]\nengine = "databricks 17.3"', OF_DATABRICKS),
        ["CF001", "TP008"],
    ),
    "file that is removed": (
        _config('fail-on = "warning"\n[targets.prod]\nengine = "delta-spark 4.4.0"'),
        {FILE: None, CONTRACT: OF_DATABRICKS},
        ["CF001", "CF001", "TP008"],
    ),
    "file that hides the other one": (
        {"pyproject.toml": "[tool.schemalint]\nroot = false\n"},
        _config('ignore = ["TW"]', NARROWED),
        ["CF001", "TW001"],
    ),
    "defaults": ({}, _config('ignore = ["TW"]', NARROWED), ["CF001", "CF002", "TW001"]),
    "against": (_config("root = false"), _config('against = "HEAD"', NARROWED), ["TW001"]),
    "several at once": (
        _config("root = false"),
        _config(
            'ignore = ["TW"]\nfail-on = "never"\n[[tables]]\nmatch = "sales.*"\nignore = ["TW"]', NARROWED
        ),
        ["CF001", "CF001", "CF001", "TW001"],
    ),
}

WEAKENED_PLUGINS: dict[str, tuple[dict[str, str | None], dict[str, str | None], list[str]]] = {
    "file that is not listed": (_config(PLUGIN), _config('select = ["CM"]'), ["CF001", "CF001"]),
    "file that is emptied": (_config(PLUGIN), {RULES: ""}, ["CF001"]),
    "file that is removed": (_config(PLUGIN), {**_config(""), RULES: None}, ["CF001", "TW001"]),
    "option": (
        _config(PLUGIN),
        _config(PLUGIN + "[options.LOC001]\nstrict = false"),
        ["CF001"],
    ),
    "rule that is off by default": (
        _config(PLUGIN.replace("select", "extend-select")),
        _config(PLUGIN.replace('select = ["LOC"]', "")),
        ["CF001", "TW001"],
    ),
}


@pytest.mark.parametrize("name", WEAKENED)
def test_a_change_that_weakens_its_own_check_stays_red(review: Review, name: str) -> None:
    base, head, expected = WEAKENED[name]
    run = review.check(base, head)
    assert (run.status, sorted(run.codes)) == (1, expected), run.out


@pytest.mark.parametrize("name", WEAKENED_PLUGINS)
def test_the_rule_files_of_the_base_run_with_their_text_and_options(review: Review, name: str) -> None:
    base, head, expected = WEAKENED_PLUGINS[name]
    rules = LOCAL_RULE.format(default=name != "rule that is off by default")
    run = review.check({**base, RULES: rules}, {CONTRACT: NARROWED, **head}, "--allow-local-plugins")
    assert (run.status, sorted(run.codes)) == (1, sorted([*expected, "LOC001"])), run.out


def test_a_table_that_the_change_takes_from_the_live_target_is_checked_offline(
    review: Review, tmp_path: Path
) -> None:
    settings = _config(f'[targets.prod]\nroot = "{tmp_path}"')
    run = review.check(settings, {CONTRACT: ABSENT}, "--live")
    assert (run.status, run.codes) == (1, ["TW001"])
    assert "absent from target prod" in run.out


def test_stricter_settings_of_the_change_decide_at_once(review: Review) -> None:
    run = review.check(_config('ignore = ["TW"]\nfail-on = "never"'), _config("", NARROWED))
    assert (run.status, run.codes) == (1, ["TW001"])


def test_a_looser_configuration_by_itself_passes_and_is_named_with_its_line(review: Review) -> None:
    """Else nobody could ever loosen it, whatever fails the run."""
    head = 'fail-on = "warning"\nignore = [\n  "TW001",\n]\n'
    run = review.check(_config('fail-on = "warning"'), _config(head))
    assert run.status == 0
    assert "schemalint.toml:3:4: CF001 warning ignore gets TW001, effective after the merge" in run.out


def test_a_looser_configuration_can_be_made_an_error_but_not_be_hidden(review: Review) -> None:
    strict = 'severity = {CF001 = "error"}\n'
    run = review.check(_config(strict), _config('ignore = ["CF"]'))
    assert (run.status, run.codes) == (1, ["CF001", "CF001"]), run.out


def test_the_base_may_ignore_the_rule(review: Review) -> None:
    run = review.check(_config('ignore = ["CF001"]'), _config('ignore = ["CF001", "TW"]', NARROWED))
    assert (run.status, run.codes) == (1, ["TW001"])


def test_adopting_passes_by_the_first_configuration_and_opens_no_connection(review: Review) -> None:
    target = '[targets.prod]\ncatalog = "main"\ncatalog_uri = "https://schemalint.invalid"\n'
    base = {CONTRACT: None, "README.md": "text"}
    void = ORDERS + "  - {name: later, type: void}\n"
    run = review.check(base, _config('ignore = ["NC", "CM"]\n' + target, void), "--live")
    assert (run.status, run.codes) == (0, ["CF002"]), run.out
    assert "that of the change decides this check" in run.out


def test_the_first_configuration_after_contracts_passes_by_itself(review: Review) -> None:
    run = review.check({}, _config('contracts = ["contracts/*.yml"]\nfail-on = "info"'))
    assert (run.status, run.codes) == (0, ["CF002", "CF001"])
    assert "decides with the default settings" in run.out


def test_after_the_merge_the_new_settings_decide(
    review: Review, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The default branch contains the commit, so its own configuration counts."""
    review.check(_config("root = false"), _config('ignore = ["TW"]', NARROWED))
    repo = review.project.repo
    before = repo.git("rev-parse", "main")
    repo.git("update-ref", "refs/remotes/origin/main", repo.head())
    event = {"before": before, "repository": {"default_branch": "main"}}
    (tmp_path / "push.json").write_text(json.dumps(event))
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "push.json"))
    run = review.project.check()
    assert (run.status, run.codes) == (0, []), run.out


def test_a_local_run_obeys_the_working_tree_and_tells_what_ci_obeys(committed: Project) -> None:
    committed.repo.write(FILE, "root = false")
    committed.repo.commit()
    committed.repo.write(FILE, 'fail-on = "info"\nignore = ["TW"]')
    committed.declare(NARROWED)
    run = committed.check()
    assert (run.status, run.codes) == (0, ["CF001"])
    assert "schemalint.toml:2:12: CF001 info ignore gets TW, but CI obeys it after the merge only" in run.out


def test_the_hook_reads_the_configuration_of_the_index(committed: Project) -> None:
    committed.declare(NARROWED)
    committed.repo.git("add", "--all")
    committed.repo.write(FILE, 'ignore = ["TW"]')
    assert committed.check("--head", "index").codes == ["TW001"], "an untracked file"
    committed.repo.git("add", FILE)
    assert committed.check("--head", "index").codes == []
    committed.repo.write(FILE, 'ignore = ["CM"]')
    assert committed.check("--head", "index").codes == [], "a change that is not staged"


def test_a_revision_is_checked_with_its_own_configuration(committed: Project) -> None:
    committed.declare(NARROWED)
    committed.repo.commit()
    committed.repo.write(FILE, 'ignore = ["TW"]')
    assert committed.check("--head", "HEAD", "--against", "HEAD^").codes == ["TW001"]


def test_a_change_can_repair_the_configuration_of_the_base(review: Review) -> None:
    run = review.check(_config("ignored = 3"), _config('ignore = ["CM"]'))
    assert (run.status, run.codes) == (0, ["CF002", "CF001"])
    narrowed = review.project
    narrowed.declare(NARROWED)
    assert narrowed.check().codes == ["TW001", "CF002", "CF001"]


def test_a_broken_configuration_of_the_last_commit_can_be_repaired_locally(committed: Project) -> None:
    committed.repo.write(FILE, "ignored = 3")
    committed.repo.commit()
    committed.repo.write(FILE, 'ignore = ["CM"]')
    assert committed.check().status == 0


def test_rule_files_of_the_change_wait_for_the_merge(review: Review) -> None:
    """Their code does not run, and settings of their rules are no error."""
    plugin = {
        FILE: PLUGIN.replace("LOC", "ALL")
        + "[severity]\nLOC001 = 'warning'\n[options.LOC001]\nstrict = true",
        RULES: "raise SystemExit(5)",
    }
    run = review.check(_config(""), {**plugin, CONTRACT: NARROWED}, "--allow-local-plugins")
    assert (run.status, run.codes) == (1, ["TW001", "CF001", "CF001"]), run.out


def test_first_rule_files_wait_for_the_merge(review: Review) -> None:
    plugin = {
        FILE: PLUGIN.replace("LOC", "LOC001") + "[severity]\nLOC001 = 'warning'\n",
        RULES: "raise SystemExit(5)",
    }
    base: dict[str, str | None] = {CONTRACT: None, "README.md": "text"}
    run = review.check(base, {**plugin, CONTRACT: ORDERS}, "--allow-local-plugins")
    assert (run.status, run.codes) == (0, ["CF002"]), run.out


def test_a_given_configuration_is_compared_with_that_of_the_base(review: Review) -> None:
    file = "ci/checks.toml"
    run = review.check({file: ""}, {file: 'ignore = ["TW"]', CONTRACT: NARROWED}, "--config", file)
    assert (run.status, run.codes) == (1, ["CF001", "TW001"])
    assert f"{file}:1:12: CF001" in run.out


def test_without_a_default_branch_the_configuration_of_a_named_base_decides(
    committed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed.repo.write(FILE, "")
    committed.repo.commit()
    committed.repo.write(FILE, 'ignore = ["TW"]')
    committed.declare(NARROWED)
    committed.repo.commit()
    monkeypatch.setenv("CI", "true")
    assert committed.check().status == 2
    run = committed.check("--against", "HEAD^")
    assert (run.status, run.codes) == (1, ["TW001", "CF001"])


@pytest.mark.parametrize(
    ("owners", "unowned"),
    [
        ("* @all\n/schemalint.toml\n", "schemalint.toml"),
        ("/docs/ @docs\n", "exceptions.yaml, schemalint.toml"),
        ("* @all\n", None),
        (None, None),
    ],
)
def test_files_that_approve_findings_without_an_owner_are_named(
    review: Review, owners: str | None, unowned: str | None
) -> None:
    files = {**_config("root = false", ORDERS), "exceptions.yaml": "exceptions: []\n", "CODEOWNERS": owners}
    run = review.check(files, {CONTRACT: ORDERS + "description: all\n"})
    warning = f"warning: CODEOWNERS names no owner of {unowned}: whoever may merge approves findings"
    assert (warning in run.err.splitlines()) == (unowned is not None)
    assert ("CODEOWNERS" in run.err) == (unowned is not None)
