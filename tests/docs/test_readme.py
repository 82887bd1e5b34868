"""The README's contracts are valid, and its commands print the output that it shows.

Commands that need tables are compared with the output of the demo; the tests run all other commands.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from schemalint import config, contract
from schemalint.cli import cli
from support.repo import Repo

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(path.name for path in ROOT.glob("*.md"))
NEEDS_TABLES = re.compile(r"schemalint (plan|apply)\b|--live\b")
# These differ on every run: a commit's id, a plan's hash.
VARIES = (
    (re.compile(r"\bbase [0-9a-f]{7}\b"), "base 0000000"),
    (re.compile(r"\b2:[0-9a-f]{64}\b"), "2:0"),
)


@dataclass(frozen=True)
class ShellCommand:
    """A command and its output."""

    command: str
    output: str


def code_blocks(language: str) -> list[str]:
    """Return the README's fenced code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands_in(text: str) -> Iterator[ShellCommand]:
    """Return the commands of a console text, without the demo's own remarks."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield ShellCommand(command, re.split(r"^(?:# |Done: )", output, flags=re.MULTILINE)[0].strip())


def readme_commands() -> list[ShellCommand]:
    """Return the commands of the README."""
    return [command for block in code_blocks("console") for command in commands_in(block)]


def normalized(text: str, home: Path | None = None) -> str:
    """Replace everything that differs on every run."""
    if home is not None:
        text = text.replace(str(home), "/home/ada")
    for pattern, replacement in VARIES:
        text = pattern.sub(replacement, text)
    return text


def outputs_match(expected: str, actual: str) -> bool:
    """Return whether a command printed the README's output; a line of three dots matches any lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n"
        for line in normalized(expected).splitlines()
    )
    return re.fullmatch(pattern, f"{actual}\n" if actual else "") is not None


@pytest.mark.parametrize("text", [text for text in code_blocks("yaml") if text.startswith("schemalint:")])
def test_contracts_are_valid(text: str) -> None:
    result = contract.read("README.md", text.encode())
    assert not result.errors
    assert len(result.contracts) == 1


def test_readme_has_contracts_and_both_kinds_of_commands() -> None:
    assert sum(text.startswith("schemalint:") for text in code_blocks("yaml")) > 1
    commands = readme_commands()
    assert any(NEEDS_TABLES.search(shell.command) for shell in commands)
    assert any("schemalint check" in shell.command and "error[" in shell.output for shell in commands)


def test_configuration_is_valid() -> None:
    (text,) = code_blocks("toml")
    assert config.parse("schemalint.toml", text.encode()).targets


def test_commands_without_tables_print_the_output_shown(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "lakehouse")
    shutil.copytree(ROOT / "examples/lakehouse", repo.path, dirs_exist_ok=True)
    shutil.copytree(ROOT / "examples/changes", tmp_path / "changes")
    repo.commit()
    for shell in readme_commands():
        if NEEDS_TABLES.search(shell.command):
            continue
        process = subprocess.run(
            shlex.split(shell.command),
            cwd=repo.path,
            env={**repo.env, "PATH": _path(), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        output = normalized(process.stdout.strip(), tmp_path)
        assert outputs_match(shell.output, output), f"$ {shell.command}\n{output}"


@pytest.mark.spark
@pytest.mark.usefixtures("spark")  # skips or fails without an engine
def test_the_demo_succeeds_and_prints_the_output_shown(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, ROOT / "examples/demo.py"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stdout.splitlines()[-1].startswith("Done: ")
    home = re.search(rf"{re.escape(str(tmp_path))}/schemalint-demo-\w+", process.stdout)
    assert home is not None
    demo_outputs = [
        (shell.command, normalized(shell.output, Path(home[0]))) for shell in commands_in(process.stdout)
    ]
    for shell in readme_commands():
        if NEEDS_TABLES.search(shell.command):
            outputs = [output for command, output in demo_outputs if command == shell.command]
            assert any(outputs_match(shell.output, output) for output in outputs), (
                f"$ {shell.command}\n{outputs}"
            )


def test_all_commands_and_all_exit_statuses_are_listed() -> None:
    listed = re.findall(r"^\| `schemalint (\w+)` \|", README, re.MULTILINE)
    assert sorted(listed) == cli.list_commands(click.Context(cli))
    assert re.findall(r"^\| (\d+) \|", README, re.MULTILINE) == ["0", "1", "2", "3", "4", "130", "143"]


def test_make_commands_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    mentioned = set(re.findall(r"`make ([a-z]+)`", README))
    assert {"demo", "test"} <= mentioned <= targets


@pytest.mark.parametrize(
    ("file", "checker"),
    [
        (".pre-commit-config.yaml", ["-m", "pre_commit", "validate-config"]),
        (
            ".github/workflows/schemalint.yml",
            ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"],
        ),
    ],
)
def test_files_to_copy_are_valid(tmp_path: Path, file: str, checker: list[str]) -> None:
    (text,) = (text for text in code_blocks("yaml") if text.startswith(f"# {file}\n"))
    (tmp_path / "copied.yml").write_text(text)
    process = subprocess.run(
        [sys.executable, *checker, tmp_path / "copied.yml"], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_hooks_and_action_inputs_match_their_manifests() -> None:
    manifest: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    hooks = {hook["id"] for hook in manifest}
    assert set(re.findall(r"schemalint-(?:check|fix)\b", README)) == hooks
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    sentence = re.search(r"The inputs are\s+(.*?);", README, re.DOTALL)
    assert sentence is not None
    assert set(re.findall(r"`([\w-]+)`", sentence[1])) == set(action["inputs"])


def test_the_example_rule_runs(tmp_path: Path) -> None:
    (text,) = code_blocks("python")
    packages = tmp_path / "packages"
    information = packages / "acme-1.dist-info"
    information.mkdir(parents=True)
    (packages / "acme_rules.py").write_text(text)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[schemalint.rules]\nacme = acme_rules\n")
    repo = Repo(tmp_path / "lakehouse")
    repo.write("t.yml", "schemalint: 1\ntable: t\ncolumns: [{name: a, type: int}]\n")
    repo.commit()
    repo.write(
        "t.yml", "schemalint: 1\ntable: t\ncolumns: [{name: a, type: int}, {name: totalB, type: int}]\n"
    )
    process = subprocess.run(
        ["schemalint", "check", "--output-format=concise"],
        cwd=repo.path,
        env={**repo.env, "PATH": _path(), "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ACME001 warning totalB has capital letters" in process.stdout, process.stdout + process.stderr


@pytest.mark.parametrize("document", DOCUMENTS)
def test_relative_links_lead_to_existing_files(document: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / document).read_text(encoding="utf-8"))
    assert not [link for link in links if not (ROOT / link).exists()]


def _path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
