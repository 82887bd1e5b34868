"""A repository of several teams: settings of folders, and several configurations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.project.git import process
from support.project import ORDERS

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from support.project import Project, Run
    from support.review import Review

FILE = "schemalint.toml"
NARROWED = ORDERS.replace("bigint", "int")
TEAM, OTHER = "team/orders.yml", "other/orders.yml"
IGNORING = 'ignore = ["TW001"]\n'
Files = dict[str, str | None]
# Without it the repository has a contract at another place, of a table of the same name.
AWAY: Files = {"contracts/orders.yml": None}


def _of_other(text: str) -> str:
    return text.replace("sales.orders", "other.orders")


def _commit(project: Project, files: Files) -> None:
    for name, text in files.items():
        if text is None:
            (project.repo.path / name).unlink()
        else:
            project.repo.write(name, text)
    project.repo.commit()


def _run_in(project: Project, folder: str, *options: str) -> Run:
    return project.run("-C", str(project.repo.path / folder), "check", *options)


def test_settings_of_a_folder_count_for_its_contracts_only(project: Project) -> None:
    _commit(project, {TEAM: ORDERS, OTHER: _of_other(ORDERS), FILE: "", f"team/{FILE}": IGNORING})
    project.declare(NARROWED, TEAM)
    assert project.check().codes == []
    project.declare(_of_other(NARROWED), OTHER)
    run = project.check()
    assert (run.status, run.codes) == (1, ["TW001"])
    assert run.out.startswith(f"{OTHER}:4:")
    # Options of the command line count everywhere.
    assert project.check("--select", "TW001", "--ignore", "CF").codes == ["TW001"]
    assert project.check("--ignore", "TW001").codes == []
    assert project.check("--isolated").codes == ["TW001", "TW001"]


def test_each_setting_of_a_folder_counts(project: Project) -> None:
    _commit(project, {TEAM: ORDERS, FILE: 'select = ["CM"]'})
    project.declare(NARROWED, TEAM)
    nested = project.repo.path / f"team/{FILE}"
    for text, status, codes in (
        ('select = ["TW"]', 1, ["TW001"]),
        ('extend-select = ["TW001"]\n[severity]\nTW = "warning"', 0, ["TW001"]),
        ('extend-select = ["TW"]\n[[tables]]\nmatch = "sales.*"\nignore = ["TW"]', 0, []),
        ("", 0, []),
    ):
        nested.write_text(text, encoding="utf-8")
        run = project.check()
        assert (run.status, [code for code in run.codes if code != "CF001"]) == (status, codes), text


def test_consumers_of_a_folder_count_for_its_tables(project: Project) -> None:
    consumer = '[consumers.ml]\nclient = "deltalake"\nversion = "1.6.6"\nread_path = "pyarrow"\n'
    for_all = '[[tables]]\nmatch = "*"\nconsumers = ["ml"]\n'
    _commit(project, {TEAM: ORDERS, OTHER: _of_other(ORDERS), f"team/{FILE}": consumer + for_all})
    upgraded = "features: [deletionVectors]\nprotocol: {allow_upgrade: true}\n"
    project.declare(ORDERS + upgraded, TEAM)
    project.declare(_of_other(ORDERS) + upgraded, OTHER)
    run = project.check()
    assert [line.split(":")[0] for line in run.out.splitlines() if "RD001" in line] == [TEAM]
    project.repo.write(f"team/{FILE}", consumer.replace("deltalake", "deltalak"))
    run = project.check()
    assert run.status == 2
    assert f"team/{FILE}:2:" in run.out


@pytest.mark.parametrize("head", ["worktree", "index", "HEAD"])
def test_a_setting_of_the_configuration_in_a_folder_is_an_error(project: Project, head: str) -> None:
    _commit(project, {TEAM: ORDERS, FILE: ""})
    _commit(project, {f"team/{FILE}": 'ignore = []\nfail-on = "never"\n'})
    run = project.check("--head", head, "--against", "HEAD")
    assert run.status == 2
    assert f"team/{FILE}:2:1" in run.out
    assert "move it to schemalint.toml" in project.run("check", "--head", head, "--against", "HEAD").out


def test_an_unknown_rule_in_a_folder_is_an_error_that_names_the_file(project: Project) -> None:
    _commit(project, {TEAM: ORDERS, f"team/{FILE}": 'ignore = ["TW9"]'})
    run = project.check()
    assert run.status == 2
    assert f"team/{FILE}" in run.out
    assert "there is no rule 'TW9'" in run.out


def test_a_file_in_a_folder_without_contracts_does_not_count(project: Project) -> None:
    broken = {f"docs/{FILE}": "fail-on = 3", f"drafts/{FILE}": "fail-on = 3", "drafts/x.yml": "a: 1"}
    _commit(project, {TEAM: ORDERS, FILE: 'contracts = ["!drafts/**"]', **broken})
    assert project.check().status == 0
    project.repo.write(FILE, 'contracts = ["team"]')
    assert project.check("--ignore", "CF001").status == 0
    project.repo.write(FILE, "")
    assert project.check().status == 2


LOOSENED_BY_A_LOCKED_RULE = [
    ('ignore = ["TW"]', "ignore names TW, and TW001 is locked", 1),
    ('[[tables]]\nmatch = "*"\nignore = ["illegal-narrowing"]', "tables.ignore names illegal-narrowing", 3),
    ('[severity]\nTW = "warning"', "severity names TW, and TW001 is locked", 2),
]


@pytest.mark.parametrize(("text", "message", "line"), LOOSENED_BY_A_LOCKED_RULE)
@pytest.mark.parametrize("locked", ["TW001", "illegal-narrowing", "TW", "ALL"])
def test_a_folder_cannot_loosen_a_locked_rule(
    project: Project, text: str, message: str, line: int, locked: str
) -> None:
    _commit(project, {TEAM: ORDERS, FILE: f'locked = ["{locked}"]', f"team/{FILE}": text})
    project.declare(NARROWED, TEAM)
    run = project.check()
    assert (run.status, run.codes.count("TW001")) == (2, 1)
    assert f"team/{FILE}:{line}:" in run.out
    assert message in run.out


def test_a_locked_rule_is_selected_in_all_folders(project: Project) -> None:
    nested = {f"team/{FILE}": 'select = ["CM"]', f"team/a/{FILE}": 'severity = {TW001 = "error"}'}
    _commit(project, {"team/a/orders.yml": ORDERS, FILE: 'locked = ["TW001"]', **nested})
    project.declare(NARROWED, "team/a/orders.yml")
    assert project.check().codes == ["TW001"]
    project.repo.write(FILE, 'locked = ["TW001"]\nseverity = {TW001 = "info"}')
    run = project.check("--ignore", "CF")
    assert (run.status, run.codes) == (1, ["TW001"])  # a folder may be stricter
    project.repo.write(FILE, 'locked = ["TW9"]')
    assert project.check().status == 2


WEAKENED: dict[str, tuple[Files, Files, list[str]]] = {
    "a new file in the folder": (
        {TEAM: ORDERS},
        {TEAM: NARROWED, f"team/{FILE}": IGNORING},
        ["TW001", "CF001"],
    ),
    "a new file two folders up": (
        {"team/a/b/orders.yml": ORDERS},
        {"team/a/b/orders.yml": NARROWED, f"team/{FILE}": IGNORING},
        ["TW001", "CF001"],
    ),
    "a removed file that was strict": (
        {TEAM: ORDERS, FILE: 'select = ["CM"]', f"team/{FILE}": 'select = ["TW"]'},
        {TEAM: NARROWED, f"team/{FILE}": None},
        ["CF001", "TW001"],
    ),
    "a file that becomes a configuration of its own": (
        {TEAM: ORDERS, FILE: 'select = ["CM"]', f"team/{FILE}": 'select = ["TW"]'},
        {TEAM: NARROWED, f"team/{FILE}": 'root = true\nselect = ["TW"]'},
        ["CF001", "TW001"],
    ),
    "a strict file that moves away": (
        {TEAM: ORDERS, f"team/{FILE}": '[severity]\nTW001 = "error"', FILE: '[severity]\nTW001 = "info"'},
        {
            TEAM: NARROWED,
            f"team/{FILE}": None,
            f"other/{FILE}": '[severity]\nTW001 = "error"',
            OTHER: _of_other(ORDERS),
        },
        ["CF001", "TW001"],
    ),
    "a lax file that moves to the contract": (
        {TEAM: ORDERS, OTHER: _of_other(ORDERS), f"other/{FILE}": IGNORING},
        {TEAM: NARROWED, f"other/{FILE}": None, f"team/{FILE}": IGNORING},
        ["TW001", "CF001"],
    ),
    "a contract that moves to a lax folder": (
        {TEAM: ORDERS, OTHER: _of_other(ORDERS), f"other/{FILE}": IGNORING},
        {TEAM: None, "other/sales.yml": NARROWED},
        ["CF001", "TW001"],
    ),
    "a contract that moves out of a strict folder": (
        {TEAM: ORDERS, FILE: 'select = ["CM"]', f"team/{FILE}": 'select = ["TW"]'},
        {TEAM: None, OTHER: NARROWED},
        ["CF001", "TW001"],
    ),
    "a rule that is unlocked and ignored": (
        {TEAM: ORDERS, FILE: 'locked = ["TW"]'},
        {TEAM: NARROWED, FILE: "", f"team/{FILE}": IGNORING},
        ["CF001", "TW001", "CF001"],
    ),
    "a lax folder for a new contract": (
        {OTHER: _of_other(ORDERS)},
        {"lax/a.yml": ORDERS.replace("decimal(10,2)", "decimal(39,2)"), f"lax/{FILE}": 'ignore = ["TW004"]'},
        ["TW004", "CF001"],
    ),
}


@pytest.mark.parametrize(("base", "head", "codes"), WEAKENED.values(), ids=WEAKENED)
def test_a_change_cannot_weaken_its_check_by_a_folder(
    review: Review, base: Files, head: Files, codes: list[str]
) -> None:
    run = review.check({**AWAY, **base}, head)
    assert (run.status, sorted(run.codes)) == (1, sorted(codes)), run.out


def test_a_looser_setting_is_shown_where_it_stands(review: Review) -> None:
    run = review.check({TEAM: ORDERS, **AWAY}, {f"team/{FILE}": f"# lax\n{IGNORING}", TEAM: ORDERS + "\n"})
    assert (
        f"team/{FILE}:2:12: CF001 warning ignore for team/** gets TW001, effective after the merge" in run.out
    )


def test_contracts_that_move_to_a_lax_folder_are_named_once(review: Review) -> None:
    lax = {OTHER: _of_other(ORDERS), f"other/{FILE}": IGNORING}
    items = ORDERS.replace("orders", "items")
    base = {TEAM: ORDERS, "team/items.yml": items, "team/stays.yml": ORDERS.replace("orders", "stays"), **lax}
    head = {TEAM: None, "team/items.yml": None, "other/o.yml": ORDERS, "other/i.yml": items}
    run = review.check({**AWAY, **base}, head)
    assert (run.status, run.codes) == (0, ["CF001"]), run.out
    text = "ignore for sales.items and 1 more, moved here from team, gets TW001, effective after the merge"
    assert f"other/i.yml:2:8: CF001 warning {text}" in run.out


def test_a_change_can_repair_a_file_of_the_base(review: Review) -> None:
    run = review.check(
        {TEAM: ORDERS, f"team/{FILE}": "ignore = 3", **AWAY}, {f"team/{FILE}": None, TEAM: NARROWED}
    )
    assert (run.status, run.codes) == (1, ["TW001"])


def test_plan_obeys_the_settings_of_folders(project: Project) -> None:
    target = f'[targets.dev]\nroot = "{project.repo.path.parent.as_posix()}"\n'
    strict = target + '[severity]\nNC009 = "error"\n'
    _commit(project, {TEAM: ORDERS + "  - {name: n, type: void}\n", FILE: strict})
    assert "NC009" in project.run("plan").out
    _commit(project, {f"team/{FILE}": '[severity]\nNC009 = "warning"\n'})
    run = project.run("plan")
    assert run.status == 0
    assert "CREATE TABLE" in run.out
    _commit(project, {FILE: f'locked = ["NC009"]\n{strict}'})
    run = project.run("plan")
    assert run.status == 2
    assert "NC009 is locked" in run.err


ROOTS: Files = {
    f"a/{FILE}": 'root = true\ncontracts = ["c/**"]\nselect = ["TW"]\n',
    "a/c/orders.yml": ORDERS,
    f"b/{FILE}": 'root = true\nselect = ["CM"]\n',
    "b/orders.yml": _of_other(ORDERS),
}


def test_two_configurations_in_one_repository_do_not_disturb_each_other(project: Project) -> None:
    _commit(project, ROOTS)
    project.declare(NARROWED, "a/c/orders.yml")
    project.declare(_of_other(NARROWED), "b/orders.yml")
    of_a, of_b = (_run_in(project, folder, "--output-format=json") for folder in "ab")
    found_a, found_b = json.loads(of_a.out), json.loads(of_b.out)
    assert [(each["code"], each["location"]["file"]) for each in found_a["findings"]] == [
        ("TW001", "a/c/orders.yml")
    ]
    assert (found_b["findings"], of_b.status) == ([], 0)
    assert (found_a["run"]["compared"], found_b["run"]["compared"]) == (["sales.orders"], ["other.orders"])
    # An invalid file of the other project is none of this one's business.
    project.repo.write(f"b/{FILE}", "root = true\nselect = 3")
    project.declare("schemalint: 1\n", "b/orders.yml")
    assert _run_in(project, "a").status == 1
    assert _run_in(project, "b").status == 2


def test_an_annotation_of_github_names_the_path_in_the_repository(project: Project) -> None:
    _commit(project, ROOTS)
    project.declare(NARROWED, "a/c/orders.yml")
    assert "file=a/c/orders.yml,line=4" in _run_in(project, "a", "--output-format=github").out


def test_a_folder_without_a_configuration_of_its_own_has_that_of_the_repository(project: Project) -> None:
    _commit(project, {TEAM: ORDERS, OTHER: _of_other(ORDERS), FILE: "", f"team/{FILE}": IGNORING})
    project.declare(_of_other(NARROWED), OTHER)
    project.declare(NARROWED, TEAM)
    for folder in (".", "team", "other"):
        assert _run_in(project, folder, "--output-format=concise").codes == ["TW001"], folder


def test_the_configuration_of_a_folder_is_that_of_its_base_too(
    review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrowed: Files = {
        "a/c/orders.yml": NARROWED,
        f"a/{FILE}": 'root = true\ncontracts = ["c/**"]\nselect = ["CM"]\n',
    }
    monkeypatch.chdir(review.project.repo.write("a/README", "").parent)
    run = review.check({**AWAY, **ROOTS}, narrowed)
    assert (run.status, sorted(run.codes)) == (1, ["CF001", "TW001"])


def test_a_change_cannot_take_contracts_out_by_a_configuration_of_a_part(
    review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    base: Files = {**AWAY, "a/x.yml": ORDERS, "b.yml": _of_other(ORDERS), FILE: ""}
    head: Files = {f"a/{FILE}": "root = true\n", "b.yml": _of_other(NARROWED)}
    monkeypatch.chdir(review.project.repo.write("a/README", "").parent)
    run = review.check(base, head)
    assert (run.status, sorted(run.codes)) == (1, ["CF001", "TW001"])


@pytest.mark.parametrize("name", ["[x]", "a*b", "é ü", "a\\b", "-x"])
def test_a_configuration_in_a_folder_with_an_unusual_name(project: Project, name: str) -> None:
    _commit(
        project, {f"{name}/{FILE}": "root = true\n", f"{name}/o.yml": ORDERS, "x/o.yml": _of_other(ORDERS)}
    )
    project.declare(NARROWED, f"{name}/o.yml")
    project.declare(_of_other(NARROWED), "x/o.yml")
    found = json.loads(_run_in(project, name, "--output-format=json").out)["findings"]
    assert [(each["code"], each["location"]["file"]) for each in found] == [("TW001", f"{name}/o.yml")]
    _commit(project, {f"{name}/{FILE}": IGNORING})
    project.declare(NARROWED.replace("int}", "smallint}"), f"{name}/o.yml")
    project.declare(_of_other(ORDERS), "x/o.yml")
    assert project.check("--ignore", "CF").codes == []


def _processes(project: Project, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    """Return how many git processes a check starts."""
    started: list[object] = []
    running = process._running  # noqa: SLF001 (starts every process)

    def counted(*arguments: Any, **keywords: Any) -> AbstractContextManager[Any]:  # noqa: ANN401
        started.append(arguments)
        return running(*arguments, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(process, "_running", counted)
        assert project.check(*options).status == 0
    return len(started)


@pytest.mark.parametrize("options", [(), ("--head", "index"), ("--head", "HEAD", "--against", "HEAD~1")])
def test_git_is_asked_as_often_whatever_the_number_of_folders_is(
    project: Project, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    contracts = {f"t{number}/o.yml": ORDERS.replace("orders", f"o_{number:02}") for number in range(12)}
    _commit(project, {**contracts})
    _commit(project, {"t1/o.yml": contracts["t1/o.yml"] + "\n"})
    without = _processes(project, monkeypatch, *options)
    _commit(project, {f"t1/{FILE}": IGNORING})
    _commit(project, {"t1/o.yml": contracts["t1/o.yml"]})
    with_one = _processes(project, monkeypatch, *options)
    assert with_one <= without + 1  # without changed contracts, only these files are printed
    _commit(project, {f"t{number}/{FILE}": IGNORING for number in range(12)})
    _commit(project, {"t2/o.yml": contracts["t2/o.yml"] + "\n"})
    assert _processes(project, monkeypatch, *options) == with_one


def test_a_nested_link_is_an_error(project: Project) -> None:
    _commit(project, {TEAM: ORDERS, "lax.toml": IGNORING})
    (project.repo.path / f"team/{FILE}").symlink_to("../lax.toml")
    for head in ("worktree", "index", "HEAD"):
        run = project.check("--head", head, "--against", "HEAD")
        assert run.status == 2, head
        assert f"team/{FILE} cannot be read: it is no regular file" in run.out, head
        project.repo.commit()


def test_a_nested_file_that_is_too_large_or_no_text_is_an_error(project: Project) -> None:
    _commit(project, {TEAM: ORDERS})
    for data, reason in ((b"#" * ((1 << 20) + 1), "more than 1 MiB"), (b"\xff\xfe", "not valid TOML")):
        (project.repo.path / f"team/{FILE}").write_bytes(data)
        project.repo.git("add", ".")
        for head in ("worktree", "index"):
            run = project.check("--head", head, "--against", "HEAD")
            assert run.status == 2, head
            assert reason in run.out, head
