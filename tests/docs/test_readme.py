"""The README is executed: its contracts are read, its commands are run, and its output is theirs.

Commands that need tables are compared with what the demo prints; all others are run here.
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
# What is another one each time: a commit's id, a plan's hash.
VARIES = (
    (re.compile(r"\bbase [0-9a-f]{7}\b"), "base 0000000"),
    (re.compile(r"\(plan 1:\w{12}\)"), "(plan 1:0)"),
)


@dataclass(frozen=True)
class Typed:
    """A command and what it says."""

    command: str
    output: str


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def typed(text: str) -> Iterator[Typed]:
    """The commands of a terminal's text, without what the demo says in between."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield Typed(command, re.split(r"^(?:# |Done: )", output, flags=re.MULTILINE)[0].strip())


def shown() -> list[Typed]:
    return [one for block in fenced("console") for one in typed(block)]


def settled(text: str, home: Path | None = None) -> str:
    if home is not None:
        text = text.replace(str(home), "/home/ada")
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return text


def is_told(by_readme: str, by_command: str) -> bool:
    """Whether the output is the one shown; a line of three dots stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in settled(by_readme).splitlines()
    )
    return re.fullmatch(pattern, f"{by_command}\n" if by_command else "") is not None


@pytest.mark.parametrize("text", [text for text in fenced("yaml") if text.startswith("schemalint:")])
def test_a_contract_can_be_read(text: str) -> None:
    result = contract.read("README.md", text.encode())
    assert not result.errors
    assert len(result.contracts) == 1


def test_there_are_contracts_and_commands() -> None:
    assert sum(text.startswith("schemalint:") for text in fenced("yaml")) > 1
    assert any(NEEDS_TABLES.search(one.command) for one in shown())
    assert any("schemalint check" in one.command and "error[" in one.output for one in shown())


def test_the_configuration_can_be_read() -> None:
    (text,) = fenced("toml")
    assert config.parse("schemalint.toml", text.encode()).removed


def test_commands_say_what_is_shown(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "lakehouse")
    shutil.copytree(ROOT / "examples/lakehouse", repo.path, dirs_exist_ok=True)
    shutil.copytree(ROOT / "examples/changes", tmp_path / "changes")
    repo.commit()
    for one in shown():
        if NEEDS_TABLES.search(one.command):
            continue
        done = subprocess.run(
            shlex.split(one.command),
            cwd=repo.path,
            env={**repo.env, "PATH": _path(), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        output = settled(done.stdout.strip(), tmp_path)
        assert is_told(one.output, output), f"$ {one.command}\n{output}"


@pytest.mark.spark
@pytest.mark.usefixtures("spark")  # which knows what to do without an engine
def test_the_demo_ends_well_and_says_what_is_shown(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/demo.py"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("Done: ")
    home = re.search(rf"{re.escape(str(tmp_path))}/schemalint-demo-\w+", done.stdout)
    assert home is not None
    said = [(one.command, settled(one.output, Path(home[0]))) for one in typed(done.stdout)]
    for one in shown():
        if NEEDS_TABLES.search(one.command):
            outputs = [output for command, output in said if command == one.command]
            assert any(is_told(one.output, output) for output in outputs), f"$ {one.command}\n{outputs}"


def test_all_commands_and_all_exit_statuses_are_listed() -> None:
    listed = re.findall(r"^\| `schemalint (\w+)` \|", README, re.MULTILINE)
    assert sorted(listed) == cli.list_commands(click.Context(cli))
    assert re.findall(r"^\| (\d+) \|", README, re.MULTILINE) == ["0", "1", "2", "3", "4", "130"]


def test_what_is_typed_after_cloning_is_a_target_of_make() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)`", README))
    assert {"demo", "test"} <= named <= targets


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
def test_what_is_to_be_copied_is_valid(tmp_path: Path, file: str, checker: list[str]) -> None:
    (text,) = (text for text in fenced("yaml") if text.startswith(f"# {file}\n"))
    (tmp_path / "copied.yml").write_text(text)
    done = subprocess.run(
        [sys.executable, *checker, tmp_path / "copied.yml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_hooks_and_inputs_that_are_named_exist() -> None:
    manifest: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    hooks = {hook["id"] for hook in manifest}
    assert set(re.findall(r"schemalint-(?:check|fix)\b", README)) == hooks
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    sentence = re.search(r"The inputs are\s+(.*?);", README, re.DOTALL)
    assert sentence is not None
    assert set(re.findall(r"`([\w-]+)`", sentence[1])) == set(action["inputs"])


def test_the_rule_of_one_s_own_runs(tmp_path: Path) -> None:
    (text,) = fenced("python")
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
    done = subprocess.run(
        ["schemalint", "check", "--output-format=concise"],
        cwd=repo.path,
        env={**repo.env, "PATH": _path(), "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ACME001 warning totalB has capital letters" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / document).read_text(encoding="utf-8"))
    assert not [link for link in links if not (ROOT / link).exists()]


def _path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
