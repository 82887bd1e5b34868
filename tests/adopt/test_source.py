"""Where hook and job get schemalint."""

from __future__ import annotations

import json
from email.message import Message
from importlib import metadata
from typing import Final

import pytest

import schemalint
from schemalint.author.adopt.pipelines import Source, given_source, installed_source
from schemalint.base.errors import UsageError

VERSION: Final = schemalint.__version__
FROM_INDEX: Final = f"schemalint=={VERSION}"


class Installed:
    """What pip recorded of an installation."""

    def __init__(self, direct_url: dict[str, object] | None, urls: tuple[str, ...] = ()) -> None:
        self._direct_url = direct_url
        self.metadata = Message()
        for url in urls:
            self.metadata["Project-URL"] = url

    def read_text(self, _name: str) -> str | None:
        return None if self._direct_url is None else json.dumps(self._direct_url)


def installed(monkeypatch: pytest.MonkeyPatch, direct_url: dict[str, object] | None, *urls: str) -> Source:
    monkeypatch.setattr(metadata, "distribution", lambda _name: Installed(direct_url, urls))
    return installed_source()


def test_from_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    assert installed(monkeypatch, None) == Source(FROM_INDEX)
    assert installed(monkeypatch, None, "Source, https://github.com/OWNER/x") == Source(FROM_INDEX)
    at_home = installed(monkeypatch, None, "Changelog, https://x", "Source, https://github.com/acme/lint")
    assert at_home == Source(FROM_INDEX, "https://github.com/acme/lint", f"v{VERSION}")
    assert at_home.action == f"acme/lint@v{VERSION}"


def test_from_git(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: dict[str, object] = {
        "url": "https://github.com/a/b.git",
        "vcs_info": {"vcs": "git", "commit_id": "c0ffee"},
    }
    source = installed(monkeypatch, recorded)
    assert source.requirement == "schemalint @ git+https://github.com/a/b.git@c0ffee"
    assert (source.repository, source.action) == ("https://github.com/a/b.git", "a/b@c0ffee")
    private = installed(monkeypatch, {**recorded, "url": "ssh://git@github.com/a/b"})
    assert (private.action, private.problem) == ("a/b@c0ffee", None)


@pytest.mark.parametrize(
    "recorded",
    [
        {"url": "file:///home/ada/schemalint", "dir_info": {"editable": True}},
        {"url": "file:///tmp/schemalint.whl", "archive_info": {}},
        {"url": "file:///srv/schemalint.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
        {"url": "https://ada:secret@host/x.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
    ],
)
def test_from_a_place_that_others_cannot_reach(
    monkeypatch: pytest.MonkeyPatch, recorded: dict[str, object]
) -> None:
    source = installed(monkeypatch, recorded)
    assert (source.requirement, source.repository) == (FROM_INDEX, None)
    assert source.problem is not None
    assert "secret" not in source.problem


def test_from_a_wheel_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    source = installed(monkeypatch, {"url": "https://host/schemalint.whl", "archive_info": {}})
    assert source == Source("schemalint @ https://host/schemalint.whl")


@pytest.mark.parametrize(
    ("requirement", "source"),
    [
        ("schemalint~=0.1.0", Source("schemalint~=0.1.0")),
        (
            "git+https://github.com/a/b@v1",
            Source("schemalint @ git+https://github.com/a/b@v1", "https://github.com/a/b", "v1"),
        ),
        (
            "schemalint @ git+ssh://git@github.com/a/b@v1",
            Source("schemalint @ git+ssh://git@github.com/a/b@v1", "ssh://git@github.com/a/b", "v1"),
        ),
        ("git+https://github.com/a/b", Source("git+https://github.com/a/b")),
    ],
)
def test_a_requirement_of_the_user(requirement: str, source: Source) -> None:
    assert given_source(requirement) == source


@pytest.mark.parametrize(
    "requirement",
    [
        "",
        "--index-url=https://evil",
        "a'; rm -rf /",
        "a\nb",
        "${{ secrets.X }}",
        "a: b",
        "a #b",
        "`id`",
        "$HOME",
    ],
)
def test_a_text_that_is_no_requirement(requirement: str) -> None:
    with pytest.raises(UsageError, match="--source"):
        given_source(requirement)
