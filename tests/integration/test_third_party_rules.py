"""Rules from an installed package and from broken packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.repo import Repo

EXAMPLE = Path(__file__).parents[2] / "examples/acme-rules"
BEFORE = "schemalint: 1\ntable: a.b\ncolumns:\n  - {name: id, type: int}\n"
AFTER = BEFORE + "  - {name: customerName, type: string}\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example package, installed by pip."""
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", target, EXAMPLE], check=True
    )
    return target


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repository")
    repo.write("contract.yml", BEFORE)
    repo.commit()
    repo.write("contract.yml", AFTER)
    return repo


def _run(repo: Repo, site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "schemalint", *arguments],
        cwd=repo.path,
        env={**repo.env, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.wide
def test_installed_rule_is_checked_listed_and_explained(repo: Repo, site: Path) -> None:
    check = _run(repo, site, "check", "--output-format", "concise")
    assert "contract.yml:5:12: ACME001 warning customerName is not in snake_case" in check.stdout
    assert check.returncode == 0
    assert "ACME001" in _run(repo, site, "rules").stdout
    assert "the names of events" in _run(repo, site, "explain", "snake-case-column").stdout


def _distribution(site: Path, name: str, code: str) -> Path:
    """Write an installed distribution with one module of rules."""
    (site / f"{name}.py").write_text(code, encoding="utf-8")
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[schemalint.rules]\n{name} = {name}\n", encoding="utf-8")
    return site


RULE = '''
from schemalint.delta.change import FieldAdded
from schemalint.plugin import Problem, Severity, rule

@rule("{code}", on=FieldAdded, severity=Severity.ERROR)
def {name}(change, ctx):
    """A rule that means no good."""
    {body}
'''


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import nothing_of_that_name", "cannot be imported"),
        (RULE.format(code="TW001", name="taken", body="yield Problem('x')"), "TW001"),
        (RULE.format(code="EVIL001", name="raising", body="raise ValueError('boo')"), "boo"),
        pytest.param(
            RULE.format(code="EVIL001", name="endless", body="while True: yield Problem('x')"),
            "more than",
            marks=pytest.mark.wide,
        ),
    ],
    ids=["broken-import", "duplicate-code", "raising", "endless"],
)
def test_broken_package_is_an_error_with_its_name(
    repo: Repo, tmp_path: Path, code: str, message: str
) -> None:
    (tmp_path / "site").mkdir()
    site = _distribution(tmp_path / "site", "evil_rules", code)
    run = _run(repo, site, "check", "--output-format", "concise")
    assert run.returncode == 2
    assert "evil_rules" in run.stdout
    assert message in run.stdout
