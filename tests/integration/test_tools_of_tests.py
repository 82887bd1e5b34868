"""A tool that tests need is installed once, and one that cannot be installed is tried once in a run."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from support import installing, npm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = "azurite@3.35.0"
SKIPS = (pytest.skip.Exception, pytest.fail.Exception)
"""Without a tool tests skip, or fail where every test is asked for."""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of programs that are before all others, and let npm install into an empty cache."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setattr(npm, "CACHE", tmp_path / "cache")
    return folder


def stand_in(folder: Path, name: str, script: str) -> None:
    """Make a program that notes each of its starts."""
    program = folder / name
    program.write_text(f'#!/bin/sh\necho started >>"{folder}/{name}.starts"\n{script}\n', "utf-8")
    program.chmod(0o755)


def starts(folder: Path, name: str) -> int:
    """Return how often a program was started."""
    file = folder / f"{name}.starts"
    return len(file.read_text("utf-8").splitlines()) if file.exists() else 0


def test_npm_that_cannot_install_is_started_once_in_a_run(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(programs, "node", "")
    stand_in(programs, "npm", "echo no proxy >&2; exit 1")
    for _ in range(3):
        with pytest.raises(SKIPS, match=f"npm could not install {PACKAGE}: no proxy"):
            npm.installed(PACKAGE, "tests")
    assert starts(programs, "npm") == 1
    monkeypatch.setattr(installing, "_RUN", "the next run")
    with pytest.raises(SKIPS):
        npm.installed(PACKAGE, "tests")
    assert starts(programs, "npm") == 2


def test_what_is_installed_is_installed_once(programs: Path) -> None:
    stand_in(programs, "node", "")
    stand_in(programs, "npm", 'while [ "$1" != --prefix ]; do shift; done; mkdir -p "$2/node_modules"')
    for _ in range(2):
        assert npm.installed(PACKAGE, "tests").is_dir()
    assert starts(programs, "npm") == 1


@pytest.fixture
def silent_registry() -> Iterator[str]:
    """Yield the address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


@pytest.mark.usefixtures("programs")
def test_npm_does_not_wait_for_a_registry_that_never_answers(
    silent_registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", silent_registry)
    monkeypatch.setattr(npm, "_NO_ANSWER_SECONDS", 1)
    with pytest.raises(SKIPS, match=r"npm could not install|need Node\.js"):
        npm.installed(PACKAGE, "tests")
