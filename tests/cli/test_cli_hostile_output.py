"""Every command, with attacks in every text that a stranger can write: no output obeys any of it.

Contracts, logs, configuration, file names, branches, variables and arguments contain all attacks; the outputs
are standard output and standard error, in every format.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import ApplyError
from schemalint.delta.datatype import INTEGER, LONG, STRING, Field, RecordedChange
from schemalint.delta.sql_text import always_quoted
from schemalint.deploy.deploy_input import Deployment
from schemalint.deploy.results import AppliedTable, Outcome
from schemalint.model.finding import SkippedTable
from schemalint.model.table_plan import Plan
from schemalint.report import deploy_log, findings, plan
from support.attack_texts import ATTACKS, CI, CREDENTIAL, TERMINAL, URIS, WORD, obeyed, quoted
from support.logs import add, commit_info, metadata, protocol, transaction, write_log
from support.project import Project
from support.unity_server import UnityServer, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.project import Run

# Logs are JSON, which has lone surrogates; YAML, arguments and variables have none.
TEXT = " ".join([*ATTACKS.values(), *URIS.values()])
YAML_TEXT = TEXT.encode("utf-8", "ignore").decode()
KEY = "".join((*CI.values(), "\u202e\u3164\x1b[2J", URIS["password"]))  # YAML limits the length of keys
GIVEN = YAML_TEXT.replace("\0", "") + "\udcff"
# A file name has at most 255 bytes.
FILE = "evil ::error::x\n##[error]y ##vso[task.evil]z \x1b[2J\u202e\u3164\udcff.yml"
NAME = f"a.b`{YAML_TEXT}"
CONTRACT = f"""\
schemalint: 1
table: sales.orders
description: {quoted(YAML_TEXT)}
owner: {quoted(YAML_TEXT)}
columns:
  - {{name: id, type: bigint, comment: {quoted(YAML_TEXT)}}}
  - {{name: {quoted(NAME)}, type: string, default: {quoted(YAML_TEXT)}}}
constraints: {{{quoted(KEY)}: {quoted(YAML_TEXT)}}}
properties: {{{quoted(KEY)}: {quoted(YAML_TEXT)}, team: {quoted(YAML_TEXT)}}}
features: [{quoted(YAML_TEXT)}]
consumers:
  - name: {quoted(YAML_TEXT)}
    client: {quoted(YAML_TEXT)}
    stream: {{checkpoint: {quoted(YAML_TEXT)}, schema_tracking_location: b}}
allow:
  - rule: TW001
    column: {quoted(always_quoted(NAME))}
    reason: {quoted(YAML_TEXT)}
    approved_by: x
    expires: 2020-01-01
  - {{rule: {quoted(YAML_TEXT)}, column: id, reason: x, approved_by: x, expires: 2999-01-01}}
"""
CONFIG = """\
[targets.dev]
root = "<root>"
"""


def write_hostile_log(table: Path) -> None:
    """Write a log whose every text is an attack."""
    info = commit_info("CREATE TABLE" + TEXT, userName=TEXT, userId=TEXT, engineInfo=TEXT, userMetadata=TEXT)
    fields = (
        Field("id", LONG, comment=TEXT, type_changes=(RecordedChange(INTEGER, LONG),)),
        Field(f"evil {TEXT}", STRING, comment=TEXT, default=TEXT),
        Field("dropped", STRING, generated=TEXT),
    )
    content = metadata(
        *fields,
        properties={f"evil {TEXT}": TEXT, f"delta.constraints.evil {TEXT}": TEXT},
        partitioned_by=[f"evil {TEXT}"],
        name=TEXT,
        description=TEXT,
    )
    features = ["typeWidening", f"evil {TEXT}"]
    write_log(
        table,
        [
            [info, protocol(3, 7, features, features), content],
            [commit_info(), add(f"{TEXT}.parquet")],
            [commit_info(), transaction(f"schemalint:{TEXT}", 1)],
        ],
    )


@pytest.fixture
def hostile(project: Project) -> Project:
    """A repository with attacks in its contract, its history, and the table that it declares."""
    root = project.repo.path.parent / "lake"
    write_hostile_log(root / "sales/orders")
    project.repo.write("schemalint.toml", CONFIG.replace("<root>", str(root)))
    project.declare("schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: int}\n", FILE)
    project.repo.commit(GIVEN)
    project.repo.git("branch", "evil\u202e##error")
    project.declare(CONTRACT, FILE)
    return project


CHECKS = [("check", "--all", "--output-format", name) for name in findings.names()]
PLANS = [
    ("plan", "--allow", "upgrade", "--allow", "destructive", "--repair-drift", "--output-format", name)
    for name in plan.names()
]
COMMANDS = [
    *CHECKS,
    *[(*command, "--live", "--target", "dev") for command in CHECKS],
    ("check", "--all", "--color", "always"),
    ("check", "--diff", "--unsafe-fixes"),
    *PLANS,
    ("plan", "--color", "always"),
    ("show", "../lake/sales/orders"),
    ("show", "../lake/sales/orders", "--output-format", "json"),
    ("show", f"../lake/{FILE}"),
    *[("audit", "--root", "../lake", "--output-format", name) for name in findings.names()],
    ("pull", "../lake/sales/orders"),
    ("pull", "sales.orders", "--target", "dev", "--diff"),
    ("revert", "sales.orders", "--diff"),
    ("explain", GIVEN),
]
ARGUMENTS = [
    ("check", "--against", "<text>"),
    ("check", "--against", "evil\u202e##error"),
    ("check", "--head", "<text>"),
    ("check", "--select", "<text>"),
    ("check", "--output-format", "<text>"),
    ("check", "--config", "<text>"),
    ("check", "--<text>"),
    ("check", "--live-from", "<text>"),
    ("check", "--output-format", "full:/dev/full/<text>"),
    ("check", "--live", "--target", "<text>"),
    ("plan", "--target", "<text>"),
    ("plan", "<text>"),
    ("plan", "--base", "<text>"),
    ("show", "<text>"),
    ("audit", "<text>"),
    ("audit", "--root", "<text>"),
    ("pull", "--all", "--into", "<text>"),
    ("pull", "<text>", "--target", "dev"),
    ("revert", "<text>"),
    ("revert", "sales.orders", "--to", "<text>"),
    ("explain", "<text>"),
    ("<text>",),
    ("-C", "<text>", "check"),
]


def require_safe(run: Run, arguments: tuple[str, ...], *, shows: bool = True) -> None:
    """Require that nothing obeys an output, and (by default) that it shows the attacks."""
    styled, annotations = "always" in arguments, "github" in arguments
    assert run.status in (0, 1, 2, 4), run.err
    assert obeyed(run.out, styled=styled, annotations=annotations) == []
    assert obeyed(run.err) == []
    assert TERMINAL["color"] not in run.out
    assert CREDENTIAL not in run.out + run.err
    assert not shows or WORD in run.out + run.err


@pytest.mark.parametrize(
    "arguments", COMMANDS, ids=lambda arguments: " ".join(arguments)[:60].encode("ascii", "replace").decode()
)
def test_no_command_lets_attacks_through(hostile: Project, arguments: tuple[str, ...]) -> None:
    require_safe(hostile.run(*arguments), arguments)


def test_no_argument_gets_through(hostile: Project) -> None:
    for arguments in ARGUMENTS:
        given = tuple(part.replace("<text>", GIVEN) for part in arguments)
        require_safe(hostile.run(*given), given)


VARIABLES: dict[str, Callable[[str], dict[str, str]]] = {
    "against": lambda text: {"SCHEMALINT_AGAINST": text},
    "format": lambda text: {"SCHEMALINT_OUTPUT_FORMAT": text},
    "GitHub": lambda text: {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": text, "GITHUB_BASE_REF": text},
    "GitLab": lambda text: {"GITLAB_CI": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": text},
    "Azure": lambda text: {"TF_BUILD": "True", "SYSTEM_PULLREQUEST_TARGETBRANCH": text},
    "pre-commit": lambda text: {"PRE_COMMIT_FROM_REF": text, "PRE_COMMIT_TO_REF": text},
}


@pytest.mark.parametrize("name", VARIABLES)
def test_no_variable_gets_through(hostile: Project, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for variable, value in VARIABLES[name](GIVEN).items():
        monkeypatch.setenv(variable, value)
    require_safe(hostile.run("check", "--all"), ("check",), shows=name in ("against", "format"))


CONFIGURATIONS = {
    "key": "{text} = 1",
    "target": "[targets.{text}]\nroot = 1",
    "root": "[targets.dev]\nroot = {text}",
    "uri": "[targets.dev]\nroot = {uri}",
    "signed": "[targets.dev]\nroot = {signed}",
    "catalog": "[targets.dev]\ncatalog = 'main'\ncatalog_uri = {text}",
    "catalog with a password": "[targets.dev]\ncatalog = 'main'\ncatalog_uri = {uri}",
    "rule": "select = [{text}]",
    "severity": "[severity]\nTW001 = {text}",
    "glob": "contracts = [{text}]",
    "plugin": "plugins = [{text}]",
    "no TOML": "x = {text}{text}",
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_no_configuration_gets_through(hostile: Project, name: str) -> None:
    ascii_text = quoted(YAML_TEXT)
    values = {"text": ascii_text, "uri": quoted(URIS["password"]), "signed": quoted(URIS["SAS"])}
    hostile.repo.write("schemalint.toml", CONFIGURATIONS[name].format(**values))
    for arguments in (("check", "--all"), ("plan",), ("show", "sales.orders", "--target", "dev")):
        require_safe(hostile.run(*arguments), arguments, shows=False)


@pytest.mark.wide
def test_no_broken_contract_gets_through(hostile: Project) -> None:
    for broken in (
        f"schemalint: 1\n{quoted(YAML_TEXT)}: 1\n",
        f"schemalint: 1\ntable: {quoted(YAML_TEXT)}\ncolumns: []\n",
        f"schemalint: 1\ntable: t\ncolumns:\n  - {{name: a, type: {quoted(YAML_TEXT)}}}\n",
        "schemalint: 1\n##[error]evil: &evil [::error::x\n::error::evil\n",
        f"schemalint: 1\ntable: t\nlocation: {quoted(URIS['password'])}\ncolumns: []\n",
        "schemalint: 1\ntable: t\n# evil \u202e ##[error]\n::add-mask::evil\ncolumns: []\n",
    ):
        hostile.declare(broken, FILE)
        for name in findings.names():
            arguments = ("check", "--all", "--output-format", name)
            require_safe(hostile.run(*arguments), arguments)


@pytest.mark.parametrize("status", [200, 302, 401, 403, 404, 500])
def test_no_answer_of_a_catalog_gets_through(
    hostile: Project, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("CATALOG_TOKEN", "t0ken-of-the-catalog")
    body = {"error_code": f"evil {TEXT}", "message": f"evil t0ken-of-the-catalog {TEXT}", "name": TEXT}
    with serving(UnityServer()) as server:
        server.fault = lambda _path: (status, {"X-Evil": "x"}, json.dumps(body).encode())
        hostile.repo.write(
            "schemalint.toml",
            f"[targets.dev]\ncatalog = 'main'\ncatalog_uri = '{server.uri}'\n"
            "catalog_token = '${CATALOG_TOKEN}'\n",
        )
        hostile.repo.commit()
        arguments = ("show", "main.sales.orders", "--target", "dev")
        run = hostile.run(*arguments)
        assert server.requests, run.err
        assert server.requests[0].authorization == "Bearer t0ken-of-the-catalog"
    assert "t0ken-of-the-catalog" not in run.out + run.err
    require_safe(run, arguments, shows=status in (404, 500))


def test_no_result_of_apply_gets_through() -> None:
    error = ApplyError(f"the engine refused: {TEXT}", help=TEXT)
    result = AppliedTable(TEXT, TEXT, Outcome.FAILED, 1, error=error)
    empty = Deployment(Plan(TEXT, ()), skipped=(SkippedTable(TEXT, TEXT),))
    for text in (deploy_log.text(result), deploy_log.as_json(empty, [result], 2)):
        assert obeyed(text) == []
        assert CREDENTIAL not in text
        assert WORD in text
