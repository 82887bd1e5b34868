"""The files that are the same on both sides: git searches them, so that few of them are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from schemalint.base.values import frozen, grouped
from schemalint.project.git.blobs import File, read_blobs, within_limit
from schemalint.project.git.sides import Index, Revision, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from schemalint.project.git.repository import Repository


@frozen
class Unchanged:
    """The files that have the same path and the same blob on both sides.

    Attributes:
        repo: The repository.
        side: The new side.
        blobs: Blob id by path.
        pathspecs: Pathspecs of git for all these files, and perhaps others.
        is_candidate: Whether a file with this path and content is a candidate.
    """

    repo: Repository
    side: Side
    blobs: Mapping[str, str]
    pathspecs: Sequence[str]
    is_candidate: Callable[[str, bytes], bool]

    def read(self, texts: Collection[str] | None = None) -> Iterator[File]:
        """Yield the candidates; with texts, only those that have one of them in a line (two git processes).

        One over `MAX_SIZE` is left out: it is reported when it changes.

        Args:
            texts: Texts without line breaks; the case of ASCII letters is ignored.

        Raises:
            GitError: git failed, or a blob is missing.
        """
        paths = grouped((blob, path) for path, blob in self._with(texts).items())
        held = 0
        for blob, content in read_blobs(self.repo, paths):
            held = within_limit(held + len(content or b""))
            for path in paths[blob]:
                if content is not None and self.is_candidate(path, content):
                    yield File(path, content, blob)

    def _with(self, texts: Collection[str] | None) -> Mapping[str, str]:
        if texts is None or not self.blobs:
            return self.blobs
        repo = self.repo.with_index() if isinstance(self.side, Index) else self.repo
        tree = self.side.commit if isinstance(self.side, Revision) else ""
        arguments = [argument for text in texts for argument in ("-e", text)]
        searched = tree or "--cached"
        output = repo.run(*_GREP, *arguments, searched, "--", *self.pathspecs, statuses=(0, _NO_MATCH))
        if output.stderr:
            return self.blobs  # git goes on without an object that it cannot read: whoever reads all finds it
        names = (name[len(tree) + 1 :] if tree else name for name in os.fsdecode(output.stdout).split("\0"))
        return {path: self.blobs[path] for path in names if path in self.blobs}


_NO_MATCH = 1
# One thread: several wait for each other, which doubles the CPU.
_GREP = (
    "grep",
    *("--files-with-matches", "-z", "--fixed-strings", "--ignore-case"),
    *("--no-color", "--no-recurse-submodules", "--threads=1"),
)
