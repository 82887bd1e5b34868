"""Limits on what commands read: each ends with status 2 and says which limit, in little time and memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint import limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.project import Project

CONFIGURATIONS = {
    "large": (f"# {'x' * limits.MAX_CONFIG}\n", "more than 1 MiB"),
    "deep array": (f"ignore = {'[' * 100_000}", "nested too deeply"),
    "deep key": (f"options{'.a' * 30} = 1\n", "more than 16 levels of nesting"),
    "long key": (f"a{'.a' * 400_000} = 1\n", "line 1: a key has more than 100 parts"),
    "long quoted key": ("x = 1\n[a" + ' . "b" ' * 50_000 + "]\n", "line 2: a key has more than 100 parts"),
    "decimal digits": (f"preview = {'9' * 5_000}\n", "Exceeds the limit"),
    "hexadecimal digits": (f"preview = 0x{'f' * 5_000}\n", "more than 64 bits"),
    "not UTF-8": (b"\xff", "not valid TOML"),
    "globs": ("contracts = [" + '"a",' * 1_001 + "]\n", "contracts has more than 1,000 entries"),
    "tables": ('[[tables]]\nmatch = "a"\n' * 1_001, "tables has more than 1,000 entries"),
    "NUL in a glob": ('contracts = ["a\\u0000b"]\n', "has a NUL character"),
    "glob out": ('contracts = ["../**"]\n', "leads out of the repository"),
    "NUL": ('contracts = "a\0"', "not valid TOML"),
}


@pytest.mark.parametrize(("content", "message"), CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_configuration_beyond_a_limit(committed: Project, content: str | bytes, message: str) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    (committed.repo.path / "schemalint.toml").write_bytes(data)
    for arguments in ((), ("--config", "schemalint.toml")):
        run = committed.check(*arguments)
        assert (run.status, message in run.out) == (2, True), run.out


def _link(target: str) -> Callable[[Path], None]:
    return lambda file: file.symlink_to(target)


PLACES = {
    "device": (_link("/dev/zero"), "symbolic link"),
    "link out": (_link("../elsewhere.toml"), "symbolic link"),
    "loop": (_link("schemalint.toml"), "symbolic link"),
    "pipe": (os.mkfifo, "not a regular file"),
    "folder": (Path.mkdir, "not a regular file"),
}


@pytest.mark.parametrize(("make", "message"), PLACES.values(), ids=PLACES)
def test_configuration_that_is_no_plain_file(
    committed: Project, make: Callable[[Path], None], message: str
) -> None:
    make(committed.repo.path / "schemalint.toml")
    run = committed.check()
    assert (run.status, message in run.out) == (2, True), run.out


def test_configuration_of_the_base_that_is_no_plain_file_never_counts_as_missing(
    committed: Project,
) -> None:
    file = committed.repo.path / "schemalint.toml"
    committed.repo.write("real.toml", 'contracts = ["contracts/*"]\n')
    file.symlink_to("real.toml")
    committed.repo.commit()
    file.unlink()
    file.write_text('contracts = ["contracts/*"]\n')
    assert "schemalint.toml in the last commit" in committed.check().out
    file.write_text(f"# {'x' * limits.MAX_CONFIG}\n")
    committed.repo.commit()
    file.write_text('contracts = ["contracts/*"]\n')
    assert "more than 1 MiB" in committed.check().out


def test_pattern_of_a_tag_has_few_wildcards(committed: Project) -> None:
    run = committed.check("--against", "tag:**/**/v*")
    assert (run.status, "** once at most" in run.out) == (2, True)
