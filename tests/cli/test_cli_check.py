"""`schemalint check` as users run it, in real repositories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from schemalint.cli.schema import schema_of
from schemalint.report import findings as report
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def test_unchanged_repository_has_no_findings(committed: Project) -> None:
    run = committed.check()
    assert (run.status, run.codes) == (0, [])


def test_narrowing_fails_with_its_location(committed: Project) -> None:
    committed.declare(ORDERS.replace("bigint", "int"))
    run = committed.check()
    assert run.status == 1
    assert run.out.startswith("contracts/orders.yml:4:22: TW001 error")


def test_warnings_alone_do_not_fail(committed: Project) -> None:
    committed.declare(
        ORDERS + "properties: {delta.enableTypeWidening: true}\nprotocol: {allow_upgrade: true}\n"
    )
    committed.repo.commit()
    committed.declare(
        ORDERS.replace("decimal(10,2)", "decimal(12,2)")
        + "properties: {delta.enableTypeWidening: true}\nprotocol: {allow_upgrade: true}\n"
    )
    assert committed.check().codes == ["TH009"]
    assert committed.check().status == 0
    assert committed.check("--fail-on", "warning").status == 1
    assert committed.check("--fail-on", "never").status == 0


def test_no_contracts_is_an_error_but_not_for_hooks(project: Project) -> None:
    project.repo.write("README.md", "nothing")
    project.repo.commit()
    assert project.check().status == 2
    assert project.check("--allow-none").status == 0


@pytest.mark.parametrize("text", ["shemalint: 1\ntable: sales.lines\n", ""])
@pytest.mark.parametrize("command", [["check"], ["check", "--all"], ["check", "--allow-none"], ["plan"]])
def test_a_yaml_file_that_a_glob_includes_must_be_a_contract(
    committed: Project, text: str, command: list[str]
) -> None:
    committed.repo.write(
        "schemalint.toml", 'contracts = ["contracts/**", "!contracts/drafts/**"]\ntargets.prod.root = "."\n'
    )
    committed.repo.write("contracts/README.md", "Contracts of the sales team")
    committed.repo.write("contracts/drafts/note.yml", "later")
    committed.repo.write("elsewhere.yml", text)
    assert committed.run(*command).status == 0
    committed.repo.write("contracts/lines.yml", text)
    run = committed.run(*command)
    assert run.status == 2
    assert "contracts/lines.yml" in run.out + run.err
    assert "a contract begins with the line schemalint: 1" in run.out + run.err
    assert "README" not in run.out + run.err


def test_a_contract_that_lost_its_key_is_no_removed_contract(committed: Project) -> None:
    committed.repo.write("schemalint.toml", 'contracts = ["contracts/*.yml"]\n')
    committed.declare("s" + ORDERS.removeprefix("sc"))
    run = committed.check()
    assert run.status == 2
    assert "CT001" not in run.out
    committed.repo.commit()
    assert committed.check().status == 0, "an unchanged file fails only with --all, as any broken contract"
    assert committed.check("--all").status == 2
    committed.declare(ORDERS.replace("bigint", "int"))
    assert committed.check().codes == ["TW001"], "the fixed file is compared with its last readable revision"


@pytest.mark.parametrize("command", [["check"], ["check", "--all", "--allow-none"], ["plan"]])
def test_a_glob_that_matches_nothing_is_an_error(committed: Project, command: list[str]) -> None:
    target = '\n[targets.prod]\nroot = "."\n'
    committed.repo.write("schemalint.toml", 'contracts = ["contracts/*.yml", "!absent/**"]' + target)
    assert committed.run(*command).status == 0
    committed.repo.write("schemalint.toml", 'contracts = ["contracts/*.yml", "contrats/*.yaml"]' + target)
    run = committed.run(*command)
    assert run.status == 2
    assert "the glob 'contrats/*.yaml' of `contracts` matches no file" in run.out + run.err


def test_a_hook_passes_in_a_repository_without_contracts_yet(project: Project) -> None:
    project.repo.write("schemalint.toml", 'contracts = ["contracts/*.yml"]\n')
    project.repo.commit()
    assert project.check("--allow-none").status == 0
    assert project.check().status == 2


def test_the_last_contract_of_a_glob_can_be_removed(committed: Project) -> None:
    committed.repo.write("schemalint.toml", 'contracts = ["contracts/*.yml"]\n')
    committed.repo.commit()
    committed.repo.git("rm", "--quiet", "contracts/orders.yml")
    run = committed.check()
    assert (run.status, run.codes) == (1, ["CT001"])


def test_deleted_contract_is_a_finding(committed: Project) -> None:
    committed.repo.git("rm", "--quiet", "contracts/orders.yml")
    run = committed.check("--head", "index")
    assert (run.status, run.codes) == (1, ["CT001"])


def test_removal_can_be_approved(committed: Project) -> None:
    committed.repo.git("rm", "--quiet", "contracts/orders.yml")
    entry = "{table: Sales.Orders, rule: CT001, object: table, reason: moved to crm}"
    committed.repo.write("exceptions.yaml", f"schemalint_exceptions: 1\nexceptions:\n  - {entry}\n")
    assert committed.check().status == 0


def test_moved_contract_is_the_same_table(committed: Project) -> None:
    committed.repo.git("mv", "contracts/orders.yml", "contracts/sales_orders.yml")
    assert committed.check().codes == []


def test_two_contracts_for_one_table_are_a_finding(committed: Project) -> None:
    committed.declare(ORDERS.replace("sales.orders", "Sales.`orders`"), "copy.yml")
    run = committed.check()
    assert (run.status, run.codes) == (1, ["CT002"])


def test_broken_contract_is_one_error_and_other_findings_remain(committed: Project) -> None:
    committed.declare(ORDERS.replace("sales.orders", "sales.lines"), "contracts/lines.yml")
    committed.repo.commit()
    committed.declare(ORDERS.replace("    type:", "    typ:"))
    committed.declare(
        ORDERS.replace("sales.orders", "sales.lines").replace("bigint", "int"), "contracts/lines.yml"
    )
    run = committed.check()
    assert run.status == 2
    assert "TW001" in run.out
    assert 'did you mean "type"' in run.out
    assert "CT001" not in run.out


def test_contract_broken_only_at_the_base_is_compared_with_its_last_readable_revision(
    committed: Project,
) -> None:
    readable = committed.repo.head()
    committed.declare(ORDERS.replace("columns:", "colums:"))
    committed.repo.commit()
    committed.declare(ORDERS)
    run = committed.check()
    assert run.status == 0
    assert f"compared with {readable[:12]}" in run.out
    committed.declare(ORDERS.replace("bigint", "int"))
    run = committed.check()
    assert (run.status, run.codes) == (1, ["TW001"])


def test_globs_changed_under_review_do_not_hide_earlier_contracts(committed: Project) -> None:
    """The base's contract is broken, and the change moves the file together with the globs."""
    committed.repo.write("schemalint.toml", 'contracts = ["contracts/**"]\n')
    committed.declare(ORDERS.replace("columns:", "colums:"))
    committed.repo.commit()
    committed.repo.write("schemalint.toml", 'contracts = ["elsewhere/**"]\n')
    committed.repo.git("rm", "--quiet", "contracts/orders.yml")
    committed.declare(ORDERS.replace("bigint", "int"), "elsewhere/orders.yml")
    run = committed.check()
    assert "TW001" in run.codes, run.out


def test_contract_that_was_never_readable_is_judged_as_new(committed: Project) -> None:
    broken = ORDERS.replace("sales.orders", "sales.lines")
    committed.declare(broken.replace("columns:", "colums:"), "contracts/lines.yml")
    committed.repo.commit()
    committed.declare(broken, "contracts/lines.yml")
    run = committed.check()
    assert run.status == 0
    assert "judged as new" in run.out


def test_paths_limit_the_check(committed: Project) -> None:
    committed.declare(ORDERS.replace("sales.orders", "crm.people"), "crm/people.yml")
    committed.repo.commit()
    committed.declare(ORDERS.replace("bigint", "int"))
    committed.declare(
        ORDERS.replace("sales.orders", "crm.people").replace("bigint", "smallint"), "crm/people.yml"
    )
    assert committed.check("crm").out.count("TW001") == 1
    assert committed.check("crm/people.yml").out.count("TW001") == 1
    assert committed.check().out.count("TW001") == 2
    assert committed.check("..").status == 2


def test_fix_adds_missing_entries_and_keeps_the_rest(committed: Project) -> None:
    committed.declare(ORDERS.replace("decimal(10,2)", "decimal(12,2)  # more"))
    run = committed.check("--fix", "--ignore", "PF004")
    text = (committed.repo.path / "contracts/orders.yml").read_text()
    assert run.status == 0
    assert text == ORDERS.replace(
        "    type: decimal(10,2)\n",
        "    type: decimal(12,2)  # more\n"
        '    type_changes:\n      - {from: "decimal(10,2)", to: "decimal(12,2)"}\n'
        "properties:\n  delta.enableTypeWidening: true\n",
    )


def test_fix_leaves_no_finding_that_it_fixes(committed: Project) -> None:
    """The records of all fields of one type text are inserted at the same place, one after the other."""
    fields = ", ".join(f"f{number}: int" for number in range(9))
    text = ORDERS.replace("type: bigint", f"type: 'struct<{fields}>'")
    text += "properties: {delta.enableTypeWidening: true}\n"
    committed.declare(text)
    committed.repo.commit()
    committed.declare(text.replace(": int", ": bigint"))
    assert committed.check().codes == ["TH009"] * 9
    assert committed.check("--fix").codes == []
    assert committed.check("--all").codes == []


def test_diff_shows_the_fix_and_writes_nothing(committed: Project) -> None:
    changed = ORDERS.replace("decimal(10,2)", "decimal(12,2)")
    committed.declare(changed)
    run = committed.check("--diff")
    assert "+  delta.enableTypeWidening: true" in run.out
    assert run.status == 1, "nothing was written, so the finding remains"
    assert (committed.repo.path / "contracts/orders.yml").read_text() == changed


@pytest.mark.parametrize("format_", report.names())
def test_every_format_shows_the_finding(committed: Project, format_: str) -> None:
    committed.declare(ORDERS.replace("bigint", "int"))
    run = committed.run("check", "--output-format", format_)
    assert run.status == 1
    assert "TW001" in run.out


def _validated(out: str) -> dict[str, object]:
    content: dict[str, object] = json.loads(out)
    jsonschema.validate(content, schema_of("report"))
    return content


@pytest.mark.parametrize(
    "arguments", [[], ["--against", "nowhere"], ["--config", "missing.toml"], ["--select", "XX999"]]
)
def test_json_is_valid_with_and_without_errors(committed: Project, arguments: Sequence[str]) -> None:
    committed.declare(ORDERS.replace("bigint", "int"))
    run = committed.run("check", "--output-format", "json", *arguments)
    content = _validated(run.out)
    assert content["run"]["exit_status"] == run.status  # type: ignore[index]
    assert run.status == (2 if arguments else 1)


def test_unknown_revision_is_an_error_with_its_name(committed: Project) -> None:
    run = committed.check("--against", "nowhere")
    assert run.status == 2
    assert "nowhere" in run.out


def test_outside_of_a_repository_is_an_error(
    tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert project.check().status == 2


def test_in_ci_a_check_without_a_base_is_an_error(
    committed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    assert committed.check("--head", "HEAD").status == 2
    assert committed.check("--head", "HEAD", "--against", "none").status == 0


def test_unknown_configuration_key_is_an_error_with_a_suggestion(committed: Project) -> None:
    committed.repo.write("schemalint.toml", 'fail-on = "warning"\nselct = ["TW"]\n')
    run = committed.check()
    assert run.status == 2
    assert "selct" in run.out
    assert "select" in run.out


@pytest.mark.parametrize("name", ["schemalint.toml", "pyproject.toml"])
def test_unreadable_configuration_file_is_an_error(committed: Project, name: str) -> None:
    """Taking a folder or a broken link for "no configuration" would check less."""
    file = committed.repo.path / name
    file.mkdir()
    assert committed.check().status == 2
    file.rmdir()
    file.symlink_to("nowhere.toml")
    run = committed.check()
    assert run.status == 2
    assert "symbolic link" in run.out + run.err
    assert committed.check("--isolated").status == 0


def test_secret_in_the_configuration_is_refused(committed: Project) -> None:
    committed.repo.write("schemalint.toml", '[targets.prod.storage]\nsecret_key = "hunter2"\n')
    run = committed.check()
    assert run.status == 2
    assert "hunter2" not in run.out + run.err


def test_ignore_and_select_limit_the_rules(committed: Project) -> None:
    committed.declare(ORDERS.replace("bigint", "int"))
    committed.repo.write("schemalint.toml", 'ignore = ["TW001"]\n')
    assert committed.check().codes == []
    assert committed.check("--isolated").codes == ["TW001"]
    assert committed.check("--isolated", "--select", "CM,NC").codes == []


def test_bad_option_is_a_usage_error(committed: Project) -> None:
    assert committed.check("--nonsense").status == 2


def test_bug_in_schemalint_has_its_own_status(committed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_request: object) -> object:
        raise RuntimeError("a bug")

    monkeypatch.setattr("schemalint.review.check_session.check", broken)
    run = committed.check()
    assert run.status == 3
    assert "please report it" in run.err


def test_interrupted_check_has_status_130(committed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_request: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("schemalint.review.check_session.check", interrupted)
    assert committed.check().status == 130


def test_too_large_contract_is_an_error(committed: Project) -> None:
    committed.declare(ORDERS + "# " + "x" * (1 << 20) + "\n", "big.yml")
    run = committed.check()
    assert run.status == 2
    assert "big.yml" in run.out


def test_rules_can_be_ignored_for_tables_by_pattern(committed: Project) -> None:
    committed.declare(ORDERS.replace("bigint", "int"))
    committed.repo.write("schemalint.toml", '[[tables]]\nmatch = "Sales.*"\nignore = ["TW"]\n')
    assert committed.check().codes == []
    committed.repo.write("schemalint.toml", '[[tables]]\nmatch = "crm.*"\nignore = ["TW"]\n')
    assert committed.check().codes == ["TW001"]
    committed.repo.write("schemalint.toml", '[[tables]]\nmatch = "crm.*"\nignore = ["XX9"]\n')
    assert committed.check().status == 2


LOCAL_RULE = '''
from schemalint.delta.change import FieldAdded
from schemalint.plugin import Problem, Severity, rule

@rule("LOC001", on=FieldAdded, severity=Severity.WARNING, options={"most": 5})
def long_name(change, ctx):
    """A new column has a long name."""
    if len(change.field.name) > ctx.options["most"]:
        yield Problem(f"more than {ctx.options['most']} letters")
'''


def test_local_rules_run_only_when_they_are_allowed(committed: Project) -> None:
    committed.repo.write("tools/rules.py", LOCAL_RULE)
    committed.repo.write("schemalint.toml", 'plugins = ["tools/rules.py"]\n')
    committed.declare(ORDERS + "  - {name: customer, type: string}\n")
    assert committed.check().status == 2
    assert "--allow-local-plugins" in committed.check().out
    run = committed.check("--allow-local-plugins")
    assert (run.status, run.codes) == (0, ["LOC001"])


@pytest.mark.parametrize(
    ("options", "status", "printed"),
    [("most = 8", 0, "no findings in 1 table"), ("most = 'x'", 2, "most"), ("least = 1", 2, "least")],
    ids=["set", "wrong-type", "unknown"],
)
def test_rule_options_are_applied_and_validated(
    committed: Project, options: str, status: int, printed: str
) -> None:
    committed.repo.write("tools/rules.py", LOCAL_RULE)
    committed.repo.write("schemalint.toml", f'plugins = ["tools/rules.py"]\n[options.LOC001]\n{options}\n')
    committed.declare(ORDERS + "  - {name: customer, type: string}\n")
    run = committed.check("--allow-local-plugins")
    assert run.status == status
    assert printed in run.out + run.err


def test_contract_excluded_by_changed_globs_counts_as_removed(committed: Project) -> None:
    committed.declare(ORDERS.replace("sales.orders", "sales.lines"), "contracts/lines.yml")
    committed.repo.commit()
    committed.declare(ORDERS.replace("bigint", "int"))
    committed.repo.write("schemalint.toml", 'contracts = ["!contracts/orders.yml"]\n')
    assert (committed.check().status, committed.check().codes) == (1, ["CT001"])


@pytest.mark.parametrize("selection", ["select = []", 'ignore = [""]'])
def test_empty_selection_is_an_error(committed: Project, selection: str) -> None:
    committed.declare(ORDERS.replace("bigint", "int"))
    committed.repo.write("schemalint.toml", selection + "\n")
    assert committed.check().status == 2


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", "tool = 1\n[project]\nname = 'schemalint'\n"),
        ("pyproject.toml", "[tool]\nschemalint = 3\n"),
        ("schemalint.toml", "a = " + "[" * 5000 + "]" * 5000),
    ],
    ids=["tool-is-no-table", "section-is-no-table", "too-deep"],
)
def test_malformed_configuration_is_not_reported_as_a_bug(committed: Project, file: str, text: str) -> None:
    committed.repo.write(file, text)
    assert committed.check().status in (0, 2)


def test_pyproject_section_may_be_an_inline_table(committed: Project) -> None:
    committed.declare(ORDERS.replace("bigint", "int"))
    committed.repo.write("pyproject.toml", '[tool]\nschemalint = {ignore = ["TW001"]}\n')
    assert committed.check().codes == []


def test_missing_path_is_an_error(committed: Project) -> None:
    assert committed.check("typo.yml").status == 2


def test_a_path_without_contracts_is_not_green_but_for_hooks(committed: Project) -> None:
    committed.repo.write(".gitignore", "*.draft.yml\n")
    committed.repo.write("orders.draft.yml", ORDERS.replace("orders", "drafts"))
    for path in ("orders.draft.yml", ".gitignore"):
        run = committed.check(path)
        assert (run.status, "no contracts found in " + path in run.out) == (2, True)
        assert committed.check(path, "--allow-none").status == 0
    assert committed.check("contracts", ".gitignore").status == 0


def test_a_link_among_the_contracts_hides_no_table(committed: Project) -> None:
    """A link that stays is an error where all contracts count, as other broken files are."""
    committed.repo.write("shared/orders.yml", ORDERS)
    committed.declare(ORDERS.replace("sales.orders", "crm.people"), "contracts/people.yml")
    committed.repo.write("schemalint.toml", 'contracts = ["contracts/**"]\n')
    committed.repo.commit()
    contract = committed.repo.path / "contracts/orders.yml"
    contract.unlink()
    contract.symlink_to("../shared/orders.yml")
    for arguments in ([], ["--all"], ["--head", "index"]):
        committed.repo.git("add", "--all")
        run = committed.check(*arguments)
        assert run.status == 2
        assert "contracts/orders.yml:1:1: failure the file was not read: it is a symbolic link" in run.out
    committed.repo.commit()
    assert committed.check().status == 0
    assert committed.check("--all").status == 2


def test_unwritable_output_file_is_an_error(committed: Project) -> None:
    assert committed.check("--output-format", "full:/nonexistent/report").status == 2


def test_fix_is_refused_for_a_commit(committed: Project) -> None:
    run = committed.check("--fix", "--head", "HEAD", "--against", "none")
    assert run.status == 2
    assert "--fix and --head HEAD do not go together" in run.err


def test_unsafe_fixes_alone_are_refused(committed: Project) -> None:
    run = committed.check("--unsafe-fixes")
    assert run.status == 2
    assert "--unsafe-fixes needs --fix or --diff" in run.err


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("location: orders", "location: ./orders/"),
        ("location: s3://lake/orders", "location: s3://lake//orders/"),
        ("owner: me", "location: sales/orders"),
    ],
)
def test_two_spellings_of_one_location_are_a_finding(project: Project, first: str, second: str) -> None:
    project.declare(f"{ORDERS}{first}\n")
    project.declare(f"{ORDERS.replace('sales.orders', 'crm.people')}{second}\n", "people.yml")
    assert "CT002" in project.check().codes


@pytest.mark.parametrize("name", ["a\nb.yml", "caf\udce9.yml"], ids=["line-break", "no-utf-8"])
def test_fix_finds_files_with_odd_names(project: Project, name: str) -> None:
    project.repo.write(name, ORDERS)
    project.repo.commit()
    file = project.repo.write(name, ORDERS.replace("decimal(10,2)", "decimal(12,2)"))
    assert project.check("--fix", "--ignore", "PF004").status == 0
    assert "delta.enableTypeWidening: true" in file.read_text()
