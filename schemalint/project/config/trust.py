"""The configuration that counts, which a change under review cannot choose.

What opens a connection, starts Spark, reads credentials, runs rule files or decides what a deployment may
do takes a `Trusted`, a `TrustedTarget`, `TrustedSpark` or `RuleFiles`. Only this module makes them, so that
mypy refuses the settings of a checkout there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NewType, TypeVar
from urllib.parse import urlsplit

from schemalint.base.credentials import StoreSettings, has_credentials, is_loopback
from schemalint.base.errors import ConfigError, GitError
from schemalint.base.files import write_bytes
from schemalint.base.values import frozen, replace
from schemalint.delta.engine import Engine, Engines
from schemalint.project import git
from schemalint.project.config import Config, SparkSettings, Target, parse
from schemalint.project.config.repository_config import (
    config_at,
    found_config,
    given_config,
    require_file,
    with_nested_at,
)
from schemalint.project.config.storage_settings import resolve_variables
from schemalint.project.config.target_engines import without_writers
from schemalint.project.git import Repository, Revision, Worktree

TrustedTarget = NewType("TrustedTarget", Target)
"""A target that may be connected to, with the runner's credentials."""

TrustedSpark = NewType("TrustedSpark", SparkSettings)
"""Settings with which a session may start."""

RuleFiles = NewType("RuleFiles", tuple[Path, ...])
"""Rule files that may run."""

NO_RULE_FILES: Final = RuleFiles(())
"""None of the configured ones runs: what they are is left out."""

SESSION_CATALOG: Final = "spark_catalog"
"""Spark's name for its built-in session catalog: a Hive metastore or an in-memory catalog."""

T = TypeVar("T", bound=Target)


@frozen
class ConfigOptions:
    """The options of the command line that choose the configuration.

    Attributes:
        file: The value of ``--config``.
        isolated: Whether no configuration counts.
        trusted_refs: Branches of ``origin``, or full references, that are trusted like the default branch.
        fetch: Whether to fetch history that decides which configuration counts.
    """

    file: str | None = None
    isolated: bool = False
    trusted_refs: tuple[str, ...] = ()
    fetch: bool = False


@frozen
class Trusted:
    """The configuration that counts; `find_trusted` makes it.

    Attributes:
        config: All its settings.
        source: The file, and in CI the commit that it was read from, for messages.
        commit: That commit, None for a file that no change under review can contain.
    """

    config: Config
    source: str
    commit: Revision | None = None

    @property
    def targets(self) -> Mapping[str, TrustedTarget]:
        """The configured targets by name."""
        return {name: TrustedTarget(target) for name, target in self.config.targets.items()}

    @property
    def spark(self) -> TrustedSpark:
        """The settings of Spark sessions."""
        return TrustedSpark(self.config.spark)

    def rule_files(self, repository: Repository) -> RuleFiles:
        """Return the configured rule files, in CI with their text at the commit that counts.

        Raises:
            ConfigError: A file is not in that commit.
        """
        files = [repository.root / name for name in self.config.plugins]
        commit = self.commit
        if commit is None:
            return RuleFiles(tuple(files))
        return RuleFiles(
            tuple(
                _copy_at(repository, commit, file) if file.is_relative_to(repository.root) else file
                for file in files
            )
        )

    def without_writers(self) -> Trusted:
        """Return the configuration without the writers of ``[[tables]]``."""
        return replace(self, config=without_writers(self.config))

    def with_nested(self, repository: Repository | None) -> Trusted:
        """Return the configuration with the nested files of the same commit, or of the working tree.

        Raises:
            ConfigError: One of them is invalid.
        """
        if repository is None:
            return self
        side = self.commit or Worktree()
        return replace(self, config=with_nested_at(repository, side, self.config))

    def by_session(self) -> Trusted:
        """Return the configuration with targets that the Spark session resolves: see `by_session`."""
        targets = {name: by_session(target) for name, target in self.config.targets.items()}
        return replace(self, config=replace(self.config, targets=targets))


def find_trusted(
    repository: Repository | None, env: Mapping[str, str], options: ConfigOptions | None = None
) -> Trusted:
    """Return the configuration that counts.

    Outside of CI it is the file that is found, or the one that ``--config`` names. In CI it is the file in
    the commit of `schemalint.project.git.trusted_commit`; ``--config`` names another file there, or a file
    outside of all checkouts. Without a repository only ``--config`` counts.

    Args:
        repository: The repository around the working folder, None if there is none.
        env: The environment with the CI variables.
        options: The options of the command line.

    Raises:
        GitError: This clone cannot tell which commit is trusted.
        ConfigError: The configuration is invalid, or the given file is in a checkout that is not trusted.
    """
    chosen = options or ConfigOptions()
    if chosen.isolated:
        return Trusted(Config(folder=None), "no configuration")
    if git.is_ci(env):
        if chosen.file is not None and not _is_in(chosen.file, repository):
            return _given(chosen.file)
        if repository is not None:
            return _at_trusted_commit(repository, env, chosen)
    if chosen.file is not None:
        return _given(chosen.file)
    config = Config(folder=None) if repository is None else found_config(repository)
    return Trusted(config, config.file or "no configuration")


def is_overridden(settings: Trusted, repository: Repository) -> bool:
    """Whether the working tree has another configuration than the one that counts instead."""
    if settings.commit is None or settings.config.folder is None:
        return False
    try:
        return found_config(repository) != settings.config
    except ConfigError:
        return True


def find_repository(env: Mapping[str, str]) -> Repository | None:
    """Return the repository around the working folder, None if there is none.

    Raises:
        GitError: In CI, git cannot tell: it is not installed, or refuses the repository.
    """
    try:
        return git.find_repository(Path.cwd(), env)
    except GitError:
        if git.is_ci(env):
            raise
        return None


def proposed(file: str, text: str) -> Trusted:
    """Return a configuration that the command line describes, and that is about to be written.

    Raises:
        ConfigError: It would be invalid.
    """
    return Trusted(parse(file, text.encode()), file)


def with_writers(settings: Trusted, target: str, file: str, text: str) -> Trusted:
    """Return settings with who writes the tables of a target, of a configuration that is about to be written.

    Raises:
        ConfigError: It would be invalid.
    """
    found, config = parse(file, text.encode()), settings.config
    engines = found.targets[target].engines
    targets = {**config.targets, target: replace(config.targets[target], engines=engines)}
    return replace(
        settings, config=replace(config, targets=targets, consumers=found.consumers, tables=found.tables)
    )


def given_target(
    name: str, *, catalog: str | None = None, allowed_locations: tuple[str, ...] = ()
) -> TrustedTarget:
    """Return a target for what the command line names; it has no address and no credentials."""
    return TrustedTarget(Target(name, catalog=catalog, allowed_locations=allowed_locations))


def by_session(target: T) -> T:
    """Return the target without its catalog's URI, so that the Spark session resolves its tables.

    A target without a catalog and a root gets Spark's session catalog.
    """
    catalog = SESSION_CATALOG if target.catalog is None and target.root is None else target.catalog
    return replace(target, catalog=catalog, catalog_uri=None, catalog_token=None)


def run_by(target: TrustedTarget, engine: Engine) -> TrustedTarget:
    """Return the target with another engine for its statements."""
    return replace(target, engines=Engines(engine, (*target.engines.others, engine)))


def written_by(target: TrustedTarget, engine: Engine) -> TrustedTarget:
    """Return the target with one engine, in place of all that the configuration names."""
    return replace(target, engines=Engines(engine, (engine,)))


def unencrypted_hosts(target: TrustedTarget) -> list[str]:
    """Return the hosts on this machine that get the target's secrets over http; others are refused."""
    endpoints = [value for value in target.storage.values() if is_loopback(value)]
    if (
        target.catalog_uri is not None
        and target.catalog_token is not None
        and is_loopback(target.catalog_uri)
    ):
        endpoints.append(target.catalog_uri)
    return sorted({urlsplit(url).netloc.rpartition("@")[2] for url in endpoints})


def resolve_storage(target: TrustedTarget) -> StoreSettings:
    """Return the settings of a target's object store with secrets filled in; never print them.

    Raises:
        ConfigError: A variable that the target names is not set.
    """
    settings = resolve_variables(target, os.environ)
    block = f"targets.{target.name}.storage" if target.name else "a target's storage block"
    if has_credentials(settings):
        return StoreSettings(settings, f"the settings of {block}", f"Check the credentials in {block}.")
    return StoreSettings(
        settings,
        "the credentials of the environment",
        f"Credentials come from the environment (AWS_*, AZURE_*, GOOGLE_*) or from {block}; "
        'for public data: anonymous = "true".',
    )


def _given(file: str) -> Trusted:
    return Trusted(given_config(file), file)


def _at_trusted_commit(repository: Repository, env: Mapping[str, str], options: ConfigOptions) -> Trusted:
    commit = git.trusted_commit(repository, env, options.trusted_refs, fetch=options.fetch)
    if options.file is None:
        config = config_at(repository, commit)
    else:
        path = _path_in(options.file, repository)
        data = git.file_at(repository, commit, path)
        if data is None:
            raise ConfigError(
                f"{options.file} is not in the {commit.why}: only the configuration there counts",
                help="merge it first, or give a file outside of the checkout",
            )
        config = parse(path, data, is_given=True)
    return Trusted(config, f"{config.file or 'no configuration'} in the {commit.why}", commit)


def _copy_at(repository: Repository, commit: Revision, file: Path) -> Path:
    """Write the text that a file has at a commit to a folder of this process, and return its path."""
    import atexit  # noqa: PLC0415 (only with local rules)
    import shutil  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    name = file.relative_to(repository.root).as_posix()
    data = git.file_at(repository, commit, name)
    if data is None:
        raise ConfigError(
            f"{name} of `plugins` is not in the {commit.why}", help="only the rules there run in CI"
        )
    folder = Path(tempfile.mkdtemp(prefix="schemalint-rules-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / file.name
    write_bytes(copy, data)
    return copy


def _is_in(file: str, repository: Repository | None) -> bool:
    """Whether a file is in the checkout, by its name or by its links.

    Raises:
        ConfigError: It is in another checkout, of which the CI's variables say nothing.
    """
    paths = (Path(os.path.abspath(file)), require_file(file).resolve())  # noqa: PTH100 (follows no link)
    if repository is not None and any(path.is_relative_to(repository.root) for path in paths):
        return True
    if any((parent / ".git").exists() for path in paths for parent in path.parents):
        raise ConfigError(
            f"{file} is in a checkout that this command does not run in, so it does not count",
            help="run the command in that checkout, or give a file outside of all checkouts",
        )
    return False


def _path_in(file: str, repository: Repository) -> str:
    path = Path(os.path.abspath(file))  # noqa: PTH100 (follows no link: git stores the link)
    if not path.is_relative_to(repository.root):
        path = path.resolve()
    return path.relative_to(repository.root).as_posix()
