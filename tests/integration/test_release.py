"""What a release takes by hand, in a copy of the repository."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import schemalint
from support.repo import Repo

ROOT = Path(__file__).parents[2]
OLD = schemalint.__version__
COPIED = (
    *("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "mkdocs.yml", "docs", "examples", ".github"),
    *("schemalint/__init__.py", "tests/support/ci_jobs.py"),
)
OLDER = "\n\n## [0.0.1] - 2020-01-01\n\n- An older one.\n"


@pytest.fixture
def copy(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "copy")
    names = (
        "README.md",
        "CHANGELOG.md",
        "Makefile",
        "pyproject.toml",
        "mkdocs.yml",
        "docs",
        "examples",
        ".github",
    )
    for name in (*names, "schemalint/__init__.py", "tests/support/ci_jobs.py"):
        (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
        copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copied(ROOT / name, repo.path / name)
    changelog = repo.path / "CHANGELOG.md"
    changelog.write_text(
        changelog.read_text().rstrip("\n") + "\n\n## [0.0.1] - 2020-01-01\n\n- An older one.\n"
    )
    repo.commit()
    return repo


def run(repo: Repo, *command: str) -> tuple[int, str]:
    process = subprocess.run(
        command,
        cwd=repo.path,
        env=repo.env,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return process.returncode, process.stdout + process.stderr


def test_a_release_names_its_version_everywhere_and_needs_a_home(copy: Repo) -> None:
    assert run(copy, "make", "version", "VERSION=9.8.7")[0] == 0
    status, output = run(copy, ".github/release-notes", "v9.8.7")
    assert status == 1
    assert "make home OWNER=ACCOUNT" in output
    assert run(copy, "make", "home", "OWNER=acme")[0] == 0
    texts = {
        path: path.read_text() for path in copy.path.rglob("*") if path.suffix in {".md", ".yml", ".toml"}
    }
    assert not [path for path, text in texts.items() if "OWNER/schemalint" in text]
    naming = re.compile(rf"(schemalint(\[\w+\])?==|schemalint@v|rev: v|schemalint ){re.escape(OLD)}")
    assert not [path for path, text in texts.items() if naming.search(text)]
    assert "schemalint==9.8.7" in (copy.path / "examples/deploy/gitlab-ci.yml").read_text()
    status, notes = run(copy, ".github/release-notes", "v9.8.7")
    assert status == 0, notes[:300]
    assert "\n### Added\n" in notes, notes[:300]
    assert "An older one" not in notes, notes[:300]


@pytest.mark.parametrize(
    ("tag", "message"),
    [
        (f"v{OLD}", "CHANGELOG.md has no section"),
        ("v0.0.0", f"the tag is v0.0.0, and schemalint/__init__.py has version {OLD}"),
        (OLD, "the tag is"),
    ],
)
def test_a_tag_that_is_no_release(copy: Repo, tag: str, message: str) -> None:
    status, output = run(copy, ".github/release-notes", tag)
    assert status == 1, output
    assert message in output, output


def test_the_placeholder_is_only_the_account() -> None:
    """One variable in what a user copies, always before the name of the repository."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.yml")]
    pages.remove(ROOT / "docs/release.md")  # which says what the placeholder is
    found = [(page, word) for page in pages for word in re.findall(r"\bOWNER\b.{0,12}", page.read_text())]
    assert found
    assert not [
        pair for pair in found if not pair[1].startswith(("OWNER/schemalint", "OWNER` is the", "OWNER TO "))
    ]
