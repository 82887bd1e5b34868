"""`init`: a repository with a lake and a past, protected by one command and one commit."""

from __future__ import annotations

import json
import shutil
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from schemalint.base.values import replace
from schemalint.delta.datatype import INTEGER, LONG, STRING, Field
from support.logs import commit_info, metadata, protocol, write_commit, write_log
from support.project import ORDERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.project import Project
    from support.review import Review

LOGS: Final = Path(__file__).parents[1] / "delta_log/logs"
OURS: Final = {"base": {"repo": {"id": 1}}, "head": {"repo": {"id": 1}}}
WRITTEN: Final = {
    ".pre-commit-config.yaml",
    "contracts/sales/orders.yml",
    "schemalint-baseline.json",
    "schemalint.toml",
}


def log(table: Path, *fields: Field, properties: dict[str, str] | None = None) -> Path:
    created = metadata(*(fields or (Field("id", INTEGER),)), properties=properties)
    return write_log(table, [[commit_info("CREATE TABLE"), protocol(), created]])


@pytest.fixture
def lake(project: Project) -> Path:
    """A folder of tables in the repository, which git ignores; the repository has one commit."""
    project.repo.write(".gitignore", "lake/\n")
    project.repo.commit()
    return project.repo.path / "lake"


@pytest.fixture
def pull_request(project: Project, review: Review) -> Callable[[], tuple[int, str]]:
    """Check what is in the working tree as a pull request of the same repository, as the Action does."""

    def check() -> tuple[int, str]:
        base = project.repo.head()
        project.repo.git("checkout", "--quiet", "-B", "feature")
        tip = project.repo.commit()
        sides = {
            "base": {"sha": base, "ref": "main", "repo": {"id": 1}},
            "head": {"sha": tip, "repo": {"id": 1}},
        }
        project.repo.git("update-ref", "refs/remotes/origin/main", base)
        event = {"pull_request": sides, "repository": {"default_branch": "main"}}
        run = review.run("pull_request", event)
        return run.status, run.out

    return check


def files_of(project: Project) -> set[str]:
    """Return the files that git would add."""
    return {
        line
        for line in project.repo.git("ls-files", "--others", "--exclude-standard", "-z").split("\0")
        if line
    }


def test_files_of_a_first_run(project: Project, lake: Path) -> None:
    log(lake / "sales/orders", Field("id", LONG), properties={"owner": "sales-platform"})
    run = project.run("init")
    assert run.status == 0
    assert files_of(project) == WRITTEN
    assert run.out.splitlines()[:4] == [
        "wrote 1 contract in contracts/sales/",
        "wrote schemalint.toml",
        "wrote schemalint-baseline.json: 0 findings of today, which fail nothing",
        "wrote .pre-commit-config.yaml",
    ]
    settings = tomllib.loads((project.repo.path / "schemalint.toml").read_text())
    assert settings == {
        "contracts": ["contracts/**"],
        "baseline": "schemalint-baseline.json",
        "targets": {"lake": {"root": "lake"}},
    }
    assert "owner: sales-platform" in (project.repo.path / "contracts/sales/orders.yml").read_text()
    assert project.check("--live", "--all", "--strict", "--against", "none").status == 0


def test_the_commands_that_it_names_commit_all_that_it_wrote(project: Project, lake: Path) -> None:
    log(lake / "sales/orders")
    out = project.run("init", "--ci", "github").out
    (add,) = (line.split()[2:] for line in out.splitlines() if line.startswith("  git add "))
    project.repo.git("add", *add)
    project.repo.git("commit", "--quiet", "--message", "adopt")
    assert files_of(project) == set()


def test_a_second_run_has_nothing_to_write(project: Project, lake: Path) -> None:
    log(lake / "sales/orders")
    assert project.run("init", "--root", "lake").status == 0
    before = {path: path.read_bytes() for path in project.repo.path.rglob("*") if path.is_file()}
    run = project.run("init", "--root", "lake")
    assert (run.status, run.out) == (0, "nothing to write: 1 table declared\n")
    assert {path: path.read_bytes() for path in before} == before


def test_a_later_run_adds_the_tables_that_are_new(project: Project, lake: Path) -> None:
    log(lake / "sales/orders")
    project.run("init")
    log(lake / "sales/returns")
    assert "wrote 1 contract in contracts/sales/" in project.run("init").out
    assert "contracts/sales/returns.yml" in files_of(project)


def test_dry_run_shows_everything_and_writes_nothing(project: Project, lake: Path) -> None:
    log(lake / "sales/orders")
    run = project.run("init", "--diff")
    assert (run.status, files_of(project)) == (4, set())
    assert {line.removeprefix("+++ b/") for line in run.out.splitlines() if line.startswith("+++")} == WRITTEN


def test_a_past_of_all_kinds_is_adopted_by_a_green_pull_request(
    project: Project, lake: Path, pull_request: Callable[[], tuple[int, str]]
) -> None:
    shutil.copytree(LOGS, lake)
    for name in ("Chars.v2", "CHARS", "a:b/ü tab", "a_b", "deep/x/y/z/t", "deep/x/y2/z/t"):
        shutil.copytree(LOGS / "chars", lake / name)
    write_commit(lake / "broken", 0, "{")
    log(lake / "twins", Field("a", INTEGER), Field("A", INTEGER))
    run = project.run("init", "--ci", "github")
    assert run.status == 2
    assert "broken" in run.err
    assert "cannot tell a, A apart" in run.err
    tables = len([*lake.rglob("_delta_log")])
    assert f"{tables - 2} tables declared, 2 errors above" in run.out
    status, out = pull_request()
    assert status == 0, out
    assert "approved in this change: TW012 collated" in out
    assert "CT005" not in project.check("--all").out


def test_the_first_bad_commit_after_the_adoption_is_blocked(
    project: Project, lake: Path, pull_request: Callable[[], tuple[int, str]]
) -> None:
    shutil.copytree(LOGS / "chars", lake / "chars")
    log(lake / "orders", Field("id", LONG))
    project.run("init")
    project.repo.commit()
    file = project.repo.path / "contracts/orders.yml"
    file.write_text(file.read_text().replace("bigint", "int"))
    project.repo.git("add", "--all")
    assert project.check("--head", "index", "--allow-none").codes == ["TW001"]
    status, out = pull_request()
    assert status == 1
    assert "TW001" in out


def test_an_edit_of_an_adopted_table_finds_no_unused_entry(project: Project, lake: Path) -> None:
    shutil.copytree(LOGS / "collated", lake / "collated")
    project.run("init")
    project.repo.commit()
    entries = json.loads((project.repo.path / "schemalint-baseline.json").read_text())["findings"]
    assert {entry["code"] for entry in entries} == {"TW012"}
    file = project.repo.path / "contracts/collated.yml"
    file.write_text(file.read_text().replace("table: collated", "table: collated\ndescription: words"))
    run = project.check()
    assert (run.status, run.codes) == (0, [])


def test_live_runs_after_the_adoption_find_nothing(project: Project, lake: Path) -> None:
    log(lake / "orders", properties={"delta.logRetentionDuration": "interval 1 day"})
    project.run("init")
    project.repo.commit()
    entries = json.loads((project.repo.path / "schemalint-baseline.json").read_text())["findings"]
    assert ["git"] in [entry["against"] for entry in entries]
    run = project.check("--live", "--all", "--fail-on", "warning")
    assert "CT005" not in run.out
    assert run.status == 0


def test_tables_with_one_name_or_one_file_get_numbers(project: Project, lake: Path) -> None:
    for name in ("orders", "Orders", "x/a:b", "x/a?b", "1/2/3/4/t", "1/2/3/5/t"):
        log(lake / name)
    assert project.run("init", "--root", "lake").status == 0
    texts = {
        path: (project.repo.path / path).read_text() for path in files_of(project) if "contracts" in path
    }
    tables = {path.removeprefix("contracts/"): yaml.safe_load(text)["table"] for path, text in texts.items()}
    assert tables == {
        "Orders.yml": "Orders",
        "orders_2.yml": "orders_2",
        "x/a_b.yml": "x.a:b",
        "x/a_b_2.yml": "x.a?b",
        "t.yml": "t",
        "t_2.yml": "t_2",
    }
    assert project.check("--live", "--all", "--strict", "--against", "none").status == 0


def test_no_tables(project: Project) -> None:
    run = project.run("init")
    assert run.status == 2
    assert "no tables found below the working folder" in run.err
    (project.repo.path / "empty").mkdir()
    run = project.run("init", "--root", "empty")
    assert run.status == 2
    assert "no tables found in empty" in run.err
    assert files_of(project) == set()


def test_outside_of_git(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = project.run("init")
    assert run.status == 2
    assert "make one: git init" in run.err


def test_credentials_are_never_written(project: Project) -> None:
    run = project.run("init", "--root", "s3://KEY:secret@bucket/lake")
    assert run.status == 2
    assert "credentials" in run.err
    assert "secret@" not in run.err
    run = project.run("init", "--source", "git+https://user:secret@host/schemalint@v1")
    assert run.status == 2
    assert "credentials" in run.err
    assert "secret@" not in run.err


def test_the_tables_of_a_configured_target(project: Project, lake: Path) -> None:
    log(lake / "sales/orders")
    text = '[targets.dev]\nroot = "lake"\n\n[targets.prod]\nroot = "/nowhere"\n'
    project.repo.write("schemalint.toml", text)
    run = project.run("init", "--target", "dev")
    assert run.status == 0
    assert (project.repo.path / "schemalint.toml").read_text() == text
    assert 'baseline = "schemalint-baseline.json"' in run.err  # the line to add
    assert files_of(project) == WRITTEN - {"schemalint-baseline.json"}
    run = project.run("init", "--root", "other")
    assert run.status == 2
    assert "schemalint.toml has no target with the root other" in run.err


def test_contracts_go_where_the_configuration_reads_them(project: Project, lake: Path) -> None:
    log(lake / "orders")
    project.repo.write(
        "schemalint.toml", 'contracts = ["!x/**", "schemas/**"]\n[targets.dev]\nroot = "lake"\n'
    )
    project.run("init")
    assert "schemas/orders.yml" in files_of(project)


def test_from_a_folder_of_the_repository(
    project: Project, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(lake / "orders")
    (project.repo.path / "jobs").mkdir()
    monkeypatch.chdir(project.repo.path / "jobs")
    run = project.run("init", "--root", "../lake")
    assert run.status == 0
    assert "git add ../contracts ../schemalint.toml" in run.out
    assert {"contracts/orders.yml", "schemalint.toml"} <= files_of(project)


def test_a_lake_beside_the_clone_is_named_from_it(project: Project) -> None:
    log(project.repo.path.parent / "beside/orders")
    assert project.run("init", "--root", "../beside").status == 0
    settings = tomllib.loads((project.repo.path / "schemalint.toml").read_text("utf-8"))
    assert settings["targets"] == {"lake": {"root": "../beside"}}
    assert project.run("check", "--live", "--all").status == 0


def test_code_owners_own_the_exceptions(
    project: Project, lake: Path, pull_request: Callable[[], tuple[int, str]]
) -> None:
    shutil.copytree(LOGS / "collated", lake / "collated")
    text = "*  @platform # us\r\n/contracts/ @data @lake # them\r\n/docs/ @docs"
    owners = project.repo.write(".github/CODEOWNERS", text)
    project.repo.commit()
    before = owners.read_bytes()
    run = project.run("init")
    assert owners.read_bytes() == before
    assert [line for line in run.err.splitlines() if line.startswith("    ")] == [
        "    /exceptions.yaml @data @lake",
        "    /schemalint-baseline.json @data @lake",
    ]
    settings = tomllib.loads((project.repo.path / "schemalint.toml").read_text())
    assert settings["exceptions"] == {"accept": ["file"]}
    status, out = pull_request()
    assert status == 0, out


def test_code_owners_without_an_owner_of_everything(project: Project, lake: Path) -> None:
    log(lake / "orders")
    owners = project.repo.write("CODEOWNERS", "/docs/ @docs\n")
    run = project.run("init")
    assert owners.read_text() == "/docs/ @docs\n"
    assert "    /exceptions.yaml @your-team" in run.err.splitlines()


def test_nothing_is_written_if_one_file_cannot_be(project: Project, lake: Path) -> None:
    log(lake / "orders")
    outside = project.repo.path.parent / "elsewhere"
    outside.mkdir()
    (project.repo.path / ".github").mkdir()
    (project.repo.path / ".github/workflows").symlink_to(outside)
    before = files_of(project)
    run = project.run("init")
    assert run.status == 2
    assert "leads out of the repository" in run.err
    assert (files_of(project), [*outside.iterdir()]) == (before, [])


def test_names_are_texts_in_yaml_and_toml(project: Project, tmp_path: Path) -> None:
    root = tmp_path / 'la"ke\\ é #1'
    log(root / "it's: {a} #b")
    log(root / "- y" / "no")
    run = project.run("init", "--root", str(root), "--target", "my lake")
    assert run.status == 0, run.err
    settings = tomllib.loads((project.repo.path / "schemalint.toml").read_text())
    assert settings["targets"] == {"my lake": {"root": str(root)}}
    assert (
        project.check("--live", "--all", "--strict", "--against", "none", "--target", "my lake").status == 0
    )


def test_new_contract_of_pull_has_the_owner_of_the_property(project: Project, lake: Path) -> None:
    log(lake / "orders", Field("name", STRING), properties={"Owner": "sales"})
    assert "owner: sales\n" in project.run("pull", str(lake / "orders")).out


def test_pull_refuses_a_second_table_with_the_same_name(project: Project, lake: Path) -> None:
    log(lake / "1/2/3/4/t")
    log(lake / "1/2/3/5/t")
    project.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    run = project.run("pull", "--all", "--into", "contracts/{table}.yml")
    assert run.status == 2
    assert "would be called t, as the one at" in run.err
    assert "1/2/3/4/t" in (project.repo.path / "contracts/t.yml").read_text()


@pytest.mark.parametrize("other", ["contracts/api.yaml", "schemas/returns.yml"])
def test_files_of_others_are_never_taken_for_contracts_nor_contracts_lost(
    project: Project, lake: Path, other: str
) -> None:
    log(lake / "sales/orders")
    is_contract = other.startswith("schemas")
    project.repo.write(other, ORDERS.replace("orders", "returns") if is_contract else "a: 1\n")
    project.repo.commit()
    assert project.run("init").status == 0
    assert "contracts =" not in (project.repo.path / "schemalint.toml").read_text()
    run = project.check("--all")
    assert run.status == 0
    assert f"in {2 if is_contract else 1} table" in run.out


BACKFILL: Final = '    backfill: {from: code, with: "cast(code as int)", unfilled: keep_null}\n'
CODE: Final = "  - {name: code, type: string}   # goes in spring\n"
EXPANDED: Final = f"""\
schemalint: 1
table: sales.orders
columns:
  - {{name: id, type: int}}
{CODE}  - name: number
    type: int
{BACKFILL}properties: {{delta.columnMapping.mode: name}}
"""
CONTRACTED: Final = f"{EXPANDED.replace(CODE, '')}dropped: [code]\n"
ID, OLD, NEW = Field("id", INTEGER), Field("code", STRING), Field("number", INTEGER)


@pytest.mark.parametrize(
    ("text", "live", "state"),
    [
        (EXPANDED, (ID, OLD), "number is not there yet, and code has its values"),
        (EXPANDED, (ID, OLD, NEW), "number is being filled from code"),
        (CONTRACTED, (ID, OLD, NEW), "number is being filled from code"),
        (CONTRACTED, (ID, NEW), "code is gone, and number is there"),
    ],
    ids=["before", "within", "with the drop declared", "after"],
)
def test_a_table_whose_column_is_replaced_is_adopted_as_it_is(
    project: Project,
    lake: Path,
    pull_request: Callable[[], tuple[int, str]],
    text: str,
    live: tuple[Field, ...],
    state: str,
) -> None:
    """The contract keeps each byte, and no entry hides a step of the migration: the next one is judged."""
    file = project.declare(text)
    project.repo.commit()
    mapped = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3"}
    columns = [replace(field, column_id=n, physical_name=field.name) for n, field in enumerate(live, 1)]
    created = metadata(*columns, properties=mapped)
    write_log(lake / "sales/orders", [[commit_info("CREATE TABLE"), protocol(2, 5), created]])
    log(lake / "sales/returns")
    run = project.run("init")
    assert run.status == 0, run.err
    assert files_of(project) == {*WRITTEN - {"contracts/sales/orders.yml"}, "contracts/sales/returns.yml"}
    assert file.read_text() == text
    entries = json.loads((project.repo.path / "schemalint-baseline.json").read_text())["findings"]
    assert entries == []
    status, out = pull_request()
    assert status == 0, out
    project.repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    run = project.check("--live", "--all")
    assert (run.status, {*run.codes} - {"DR001"}) == (0, {"BF006"})  # DR001 says what waits for `apply`
    assert state in run.out
    file.write_text(CONTRACTED.replace(BACKFILL, ""))
    assert project.check().codes == (["BF004", "CM015"] if text == EXPANDED else [])


def test_names_of_all_kinds(project: Project, lake: Path) -> None:
    names = (
        "- x",
        "a\nb",
        "ü" * 120,
        "x" * 255,
        " a b. ",
        "CON",
        "`q`",
        "${x}",
        "[draft]",
        "é",
        "e\u0301",
        "\u202e",
    )
    for name in names:
        log(lake / "s" / name)
    run = project.run("init", "--root", "lake")
    assert run.status == 0, run.err
    project.repo.commit()
    assert len([*(project.repo.path / "contracts").rglob("*.yml")]) == len(names)
    assert project.check("--live", "--all", "--strict").status == 0


def test_who_wrote_is_in_the_files_and_what_they_cannot_do_is_no_error_of_the_first_day(
    project: Project, lake: Path, pull_request: Callable[[], tuple[int, str]]
) -> None:
    now = int(time.time() * 1000)
    for table, engine, features in (
        ("sales/orders", "delta-rs:py-1.6.6", ()),
        ("sales/items", "Apache-Spark/3.5.1-amzn-0 Delta-Lake/3.1.0", ()),
        ("web/visits", "Apache-Spark/4.2.0 Delta-Lake/4.4.0", ("variantType",)),
    ):
        created = {"commitInfo": {"timestamp": now, "operation": "CREATE TABLE", "engineInfo": engine}}
        versions = protocol(3, 7, features, features) if features else protocol()
        write_log(lake / table, [[created, versions, metadata(Field("id", LONG))]])
    run = project.run("init", "--root", "lake", "--ci", "github")
    assert run.status == 0, run.err
    settings = tomllib.loads((project.repo.path / "schemalint.toml").read_text("utf-8"))
    assert settings["targets"]["lake"]["writers"] == ["delta-spark 3.1.0", "delta-spark 4.4.0"]
    text = (project.repo.path / "schemalint.toml").read_text("utf-8")
    beside = "".join(line[2:] for line in text.splitlines(keepends=True) if line.startswith("# "))
    declared = tomllib.loads(beside.partition("\n")[2])
    assert declared["consumers"] == {
        "deltalake": {"client": "deltalake", "version": "1.6.6", "access": "write"}
    }
    assert declared["tables"] == [{"match": "sales.orders", "consumers": ["deltalake"]}]
    assert "EN006" in (project.repo.path / "schemalint-baseline.json").read_text("utf-8")
    assert pull_request()[0] == 0
    live = project.run("check", "--all", "--live")
    assert (live.status, "no writers of it name" in live.err) == (0, False), live.out
