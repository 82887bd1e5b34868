"""The site: it builds without a warning, loads nothing from elsewhere, and a broken link fails its build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.wide  # the site is built

ROOT = Path(__file__).parents[2]
# What a browser loads without being asked; `<a href>` is followed by people.
LOADED = re.compile(r"<(?:script|img|iframe|link|source|object)\b[^>]*?\b(?:src|href|data)=\"?([^\"\s>]+)")
BROKEN = ("[gone](gone.md)", "[gone](#gone)", "[gone](other.md#gone)", "[gone](/gone)", "![gone](gone.svg)")
CONFIG = """\
INHERIT: {root}/mkdocs.yml
docs_dir: docs
hooks: []
not_in_nav: ''
nav: [index.md, other.md]
extra_css: []
"""


def build(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Build a site as `make docs` does."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *arguments],
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    process = build(ROOT, "--site-dir", folder)
    assert process.returncode == 0, process.stderr
    return folder


def test_the_site_has_every_page(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    built = {page if page.name == "index" else page / "index" for page in pages}
    assert len(built) > 100
    assert [page for page in built if not (site / f"{page}.html").is_file()] == []


def test_a_page_loads_only_files_of_the_site(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]  # its links begin with a slash
    loaded = {(page, source) for page in pages for source in LOADED.findall(page.read_text("utf-8"))}
    assert {Path(source).suffix for _, source in loaded} >= {".js", ".css", ".svg", ".html"}
    assert {source for page, source in loaded if not (page.parent / source).exists()} == set()
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"url\(['\"]?(?:https?:)?//", styles)


def test_links_to_files_outside_of_the_docs_lead_to_the_repository(site: Path) -> None:
    found = {
        file
        for page in site.rglob("*.html")
        for file in re.findall(r'href="https://[^"]*/schemalint/blob/main/([^"#]+)', page.read_text("utf-8"))
    }
    assert "examples/deploy" in found
    assert [file for file in found if not (ROOT / file).exists()] == []


def test_a_broken_link_or_a_page_without_a_place_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    pages = {"index.md": "# Start\n\n" + "\n\n".join(BROKEN), "other.md": "# Other\n", "lost.md": "# Lost\n"}
    for name, text in pages.items():
        (tmp_path / "docs" / name).write_text(text)
    (tmp_path / "mkdocs.yml").write_text(CONFIG.format(root=ROOT))
    process = build(tmp_path)
    assert process.returncode == 1
    warnings = "\n".join(re.findall("^WARNING .*", process.stderr, re.MULTILINE))
    assert [link for link in BROKEN if f"'{link.partition('(')[2][:-1]}'" not in warnings] == []
    assert 'not included in the "nav"' in warnings
    assert "lost.md" in process.stderr
