"""Which files of a repository declare tables, and in which formats, as a configuration says."""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from schemalint.base.errors import ConfigError, Location
from schemalint.base.phrases import affixed
from schemalint.base.printable import visible
from schemalint.base.values import field, frozen
from schemalint.contract.dialects import dialect, dialects
from schemalint.delta.engine import DATABRICKS, FABRIC
from schemalint.model.contract import NATIVE, NATIVE_FORMAT, FileFormat, Variables
from schemalint.project.config import Config, Target
from schemalint.project.config.contracts_entry import ContractsEntry
from schemalint.project.git import DEFAULT_GLOBS, Glob, including, parse_glob, selection

_YAML: Final = (".yml", ".yaml")
_DELTA: Final = "delta"
_MAKES_DELTA: Final = frozenset({DATABRICKS, FABRIC})


@frozen
class ContractFiles:
    """The files with contracts.

    Attributes:
        globs: Their globs as git takes them, ``!`` excludes; without an including one, all YAML files that
            look like contracts.
        others: Globs of files in other formats than schemalint's own, from the repository's top, each with
            its format.
        folder: The folder that the globs begin in.
        file: The configuration that names them.
    """

    globs: tuple[str, ...] = ()
    others: tuple[tuple[str, FileFormat], ...] = ()
    folder: str = ""
    file: str = field(default="", compare=False)

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The globs that the configuration names, as git takes them."""
        prefix = affixed("", self.folder, "/")
        return (*self.globs, *(glob.removeprefix(prefix) for glob, _format in self.others))

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """The globs of all files that may declare tables, as git takes them."""
        if not self.others or including(self.globs):
            return self.named
        return (*self.named, *DEFAULT_GLOBS)

    def chosen_format(self, path: str, data: bytes) -> FileFormat | None:
        """Return the format of any file of the repository; None if it is none with contracts."""
        if selection(self.listed).includes(path):
            return self.format_of(path, data)
        return None

    def format_of(self, path: str, data: bytes) -> FileFormat | None:
        """Return the format of a file that `listed` includes; None if it declares no tables.

        A file of schemalint's own format that a glob names by its suffix may be a misspelt contract, whatever
        it contains; others, such as a README, may lie beside the contracts.

        Raises:
            ConfigError: Two entries of the configuration name the file, and say different things of it.
        """
        formats = dict.fromkeys(format_ for glob, format_ in self._formats if glob.matches(path))
        if len(formats) > 1:
            raise ConfigError(
                f"{visible(path)} is in two entries of `contracts`",
                help="name each file in one of them",
                location=Location(self.file) if self.file else None,
            )
        for format_ in formats:
            return format_ if dialect(format_.name).candidate(path, data) else None
        is_contract = dialect(NATIVE).candidate(path, data) or path.lower().endswith(self._suffixes)
        return NATIVE_FORMAT if is_contract else None

    @cached_property
    def _formats(self) -> tuple[tuple[Glob, FileFormat], ...]:
        return tuple((parse_glob(glob), format_) for glob, format_ in self.others)

    @cached_property
    def _suffixes(self) -> tuple[str, ...]:
        globs = including(self.globs)
        suffixes = (PurePosixPath(glob).suffix.lower() for glob in globs)
        if globs:
            return (*_YAML, *(suffix for suffix in suffixes if suffix[1:].isalnum()))
        return ()


def contract_files(config: Config, target: str | None = None) -> ContractFiles:
    """Return which files declare tables by a configuration, but for those that other tools make.

    Args:
        config: The configuration.
        target: The target whose variables count; None for those of the entries alone.
    """
    made = made_files(config)
    by_globs = (file for file in config.format_entries if file not in made)
    others = tuple((file.path, _format(file, config, target)) for file in by_globs)
    return ContractFiles(config.globs, others, config.folder or "", config.file or "")


def _format(file: ContractsEntry, config: Config, target: str | None) -> FileFormat:
    """Return what an entry says of its files in a target.

    Databricks and Fabric make a table of Delta where no format is named; Spark asks a setting of the session.
    """
    only = config.targets.get(target) if target is not None else None
    targets = config.targets.values() if only is None else (only,)
    engines = [engine for each in targets for engine in each.engines.all]
    is_hosted = bool(engines) and all(engine.name in _MAKES_DELTA for engine in engines)
    shared = _variables(file, None)
    by_target = {name: _variables(file, each) for name, each in config.targets.items()}
    variables = shared if only is None else _variables(file, only)
    return FileFormat(
        file.format,
        variables,
        shared=shared if variables != shared else (),
        targets=tuple(each for each in by_target.items() if each[1] != shared) if only is None else (),
        using=file.using or (_DELTA if is_hosted else None),
        managed_by=file.managed_by,
        how=file.how,
    )


def _variables(file: ContractsEntry, target: Target | None) -> Variables:
    own = {} if target is None else target.variables
    return tuple(sorted((name, own.get(name, value)) for name, value in file.variables.items()))


def made_files(config: Config) -> tuple[ContractsEntry, ...]:
    """Return the files that other tools make, and those of unknown formats."""
    if not config.format_entries:
        return ()
    by_globs = dialects()
    return tuple(file for file in config.format_entries if file.format not in by_globs)
