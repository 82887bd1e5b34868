"""The home of schemalint: where its source and the pages of its rules are."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Final

_NOBODY: Final = "/OWNER/"
"""The variable for the account that hosts schemalint; as long as it stands there, there is no home."""


def home_of(distribution: metadata.Distribution) -> str | None:
    """Return the address of the source that a package's metadata names; None if it names none."""
    urls = (entry.split(", ", 1) for entry in distribution.metadata.get_all("Project-URL") or ())
    source: str | None = next((url for label, url in urls if label == "Source"), None)
    if source is None or _NOBODY in source:
        return None
    return source


@cache
def page_url(code: str) -> str | None:
    """Return the address of the page of a built-in rule, as of this version; None if there is no home."""
    try:
        distribution = metadata.distribution("schemalint")
    except metadata.PackageNotFoundError:  # run from a folder
        return None
    home = home_of(distribution)
    if home:
        return f"{home}/blob/v{distribution.version}/docs/rules/{code.lower()}.md"
    return None
