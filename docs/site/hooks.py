"""The pages are also shown by the host of the repository: links to files outside of docs/ lead there."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

_LINK: Final = re.compile(r"\]\((\.\./[^)#\s]+)")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:  # noqa: ANN401
    """Replace relative links to files outside of docs/ by those of the repository."""
    folder = posixpath.dirname(posixpath.join("docs", page.file.src_uri))

    def target(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, match[1]))
        return match[0] if path.startswith("docs/") else f"]({config.extra['repository']}/blob/main/{path}"

    return _LINK.sub(target, markdown)
