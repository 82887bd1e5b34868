"""Which files of a repository declare tables, and in which formats, as a configuration says."""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from schemalint.base.values import frozen
from schemalint.contract.dialects import dialect, dialects
from schemalint.model.contract import NATIVE
from schemalint.project.config import Config
from schemalint.project.config.declaration_files import Declarations
from schemalint.project.git import DEFAULT_GLOBS, Glob, including, parse_glob, selection

_YAML: Final = (".yml", ".yaml")


@frozen
class ContractFiles:
    """The files with contracts.

    Attributes:
        globs: Their globs as git takes them, ``!`` excludes; without an including one, all YAML files that
            look like contracts.
        others: Globs of files in other formats than schemalint's own, from the repository's top, each with
            its format; of several that match a file the first counts.
        folder: The folder that the globs begin in.
    """

    globs: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()
    folder: str = ""

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The globs that the configuration names, as git takes them."""
        prefix = f"{self.folder}/" if self.folder else ""
        return (*self.globs, *(glob.removeprefix(prefix) for glob, _format in self.others))

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """The globs of all files that may declare tables, as git takes them."""
        if not self.others or including(self.globs):
            return self.named
        return (*self.named, *DEFAULT_GLOBS)

    def chosen_format(self, path: str, data: bytes) -> str | None:
        """Return the format of any file of the repository; None if it is none with contracts."""
        return self.format_of(path, data) if selection(self.listed).includes(path) else None

    def format_of(self, path: str, data: bytes) -> str | None:
        """Return the format of a file that `listed` includes; None if it declares no tables.

        A file of schemalint's own format that a glob names by its suffix may be a misspelt contract, whatever
        it contains; others, such as a README, may lie beside the contracts.
        """
        for glob, name in self._formats:
            if glob.matches(path):
                return name if dialect(name).candidate(path, data) else None
        is_contract = dialect(NATIVE).candidate(path, data) or path.lower().endswith(self._suffixes)
        return NATIVE if is_contract else None

    @cached_property
    def _formats(self) -> tuple[tuple[Glob, str], ...]:
        return tuple((parse_glob(glob), name) for glob, name in self.others)

    @cached_property
    def _suffixes(self) -> tuple[str, ...]:
        globs = including(self.globs)
        suffixes = (PurePosixPath(glob).suffix.lower() for glob in globs)
        return (*_YAML, *(suffix for suffix in suffixes if suffix[1:].isalnum())) if globs else ()


def contract_files(config: Config) -> ContractFiles:
    """Return which files declare tables by a configuration, but for those that other tools make."""
    others = tuple((file.path, file.format) for file in config.declarations if file not in made_files(config))
    return ContractFiles(config.globs, others, config.folder or "")


def made_files(config: Config) -> tuple[Declarations, ...]:
    """Return the files that other tools make, and those of unknown formats."""
    if not config.declarations:
        return ()
    by_globs = dialects()
    return tuple(file for file in config.declarations if file.format not in by_globs)
