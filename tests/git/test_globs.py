"""Globs match what git's own pathspecs match, and take time linear in glob and path."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from schemalint.base import limits
from schemalint.base.errors import ConfigError
from schemalint.project.git import Index, list_files, open_repository, unmatched_globs
from schemalint.project.git.globs import parse_glob
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

FILES = (
    "c/x.yml", "c/X2.YML", "c/a/y.yml", "c/a/b/z.yml", "c/a/b/a/b/z.yml", "d/w.yml", "top.yml", "c/[q].yml",
    "c/a*b.yml", "c/aXbXb.yml", "c/1.yml", "c/ .yml", "c/-.yml", "e/c/a/y.txt", "c/].yml",
)  # fmt: skip
GLOBS = [
    "c", "c/", "c/*", "c/a*", "c/**", "c/**/", "**/", "**", "*", "*.yml", "**/*.yml", "c/**/*.yml",
    "c/a**", "c/**z.yml", "a/**", "**/a/**", "**/a", "**/b/z.yml", "**/**/z.yml", "c/[q].yml",
    "c/[[]q].yml", r"c/\[q\].yml", "c/[a-z].yml", "C/X.yml", "c/?.yml", "c/[x", "c/x.yml/", "./c/x.yml",
    "c//x.yml", "c/[[:alpha:]].yml", "c/[[:digit:]].yml", "c/[^a-z].yml", "c/[!0-9].yml", r"c/a\*b.yml",
    "c/*/", "c/*/**", "c/a/../x.yml", "c/**/**", "c\\", "c/[]].yml", "c/[a-].yml", "c/[z-a].yml", "***",
    "c/***/z.yml", "**x.yml", "c/?/y.yml", "c?x.yml", "c[/]x.yml", "**/a/**/b/**/z.yml",
    "**/a/b/**/*.yml", "c/*a*b*.yml", "c/**/a/**/b/*", "**/c/*/y.*", "c/a*b*", "*/*/*", "**/a/*/*",
    "c/[[:nothing:]].yml", "**/[a-c]/[x-z].yml",
]  # fmt: skip
BROKEN = [
    ("/c/x.yml", "leads out"), ("../c", "leads out"), ("a\0b", "NUL"), ("a" * 5_000, "longer than 4096"),
]  # fmt: skip


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    created = Repo(tmp_path_factory.mktemp("globs") / "repo")
    for name in FILES:
        created.write(name, name)
    created.git("add", "--all")
    return created


@pytest.mark.parametrize("glob", GLOBS)
def test_glob_matches_what_git_matches(repo: Repo, glob: str) -> None:
    by_git = repo.git("ls-files", "-z", "--", f":(glob,icase){glob}").split("\0")
    assert {*list_files(open_repository(repo.path, repo.env), Index(), [glob]).blobs} == {*by_git} - {""}


def test_excluding_globs_and_globs_that_match_nothing(repo: Repo) -> None:
    opened = open_repository(repo.path, repo.env)
    assert {*list_files(opened, Index(), ["c/**", "!**/a/**", "!c/*[.x]*"]).blobs} == set()
    assert {*list_files(opened, Index(), ["!c/**"]).blobs} == {"d/w.yml", "top.yml"}
    assert unmatched_globs(opened, [Index()], ["d/*", "c/*", "x/**", "!c"]) == ("c/*", "x/**")


def test_character_of_several_bytes_is_one_character() -> None:
    assert parse_glob("c/?.yml").matches("c/É.yml")


@pytest.mark.parametrize(("glob", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_glob_that_cannot_match_is_refused(glob: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_glob(glob)


LONG = {
    "folders": ("**/" * 10 + "x", "a/" * 2_000 + "y"),
    "names": ("**/a/" * 800 + "b", "a/" * 2_000 + "y"),
    "ends of names": ("**/*a/" * 600 + "b", "a/" * 2_000 + "y"),
    "one name": ("*a" * 2_000 + "b", "a" * 4_000),
    "parts of names": ("**/" + "*a" * 1_000 + "b", "/".join(["a" * 60] * 60)),
    "no wildcard": ("a" * limits.MAX_GLOB, "a" * 4_096),
}


@pytest.mark.parametrize(("glob", "path"), LONG.values(), ids=LONG)
def test_glob_takes_little_time_whatever_it_is(glob: str, path: str) -> None:
    started = time.process_time()
    parse_glob(glob).matches(path)
    # Less than a second on any machine; hours where a match is tried in every combination.
    assert time.process_time() - started < 20


def test_ten_double_stars_do_not_reach_git(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.write("a/" * 100 + "x.yml", "")
    repo.git("add", "--all")
    assert not list_files(open_repository(repo.path, repo.env), Index(), ["**/" * 10 + "b*/*.yml"]).blobs
