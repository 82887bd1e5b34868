"""The configurations of a check: that of the head, and in CI that of the base, which decides too."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.base import limits
from schemalint.base.errors import ConfigError, Location
from schemalint.base.reading import read_given
from schemalint.base.values import field, frozen, replace
from schemalint.delta.table import TableState
from schemalint.lint.context import git_context
from schemalint.lint.gate import Gate, Loosening, gate_between, loosenings_of
from schemalint.lint.judge import Judge
from schemalint.lint.moved_contracts import moves_to_looser_settings
from schemalint.lint.selection import rules_about_configuration
from schemalint.lint.sides import Globs, has_contracts
from schemalint.model.contract import Contract
from schemalint.model.exception import SOURCES
from schemalint.model.fact import ConfigurationChanged
from schemalint.model.finding import Finding
from schemalint.project import git
from schemalint.project.config import Config, read_file
from schemalint.project.config.nested import NAME as NESTED
from schemalint.project.config.nested import with_nested
from schemalint.project.config.positions import Positions
from schemalint.project.config.project import config_at, found_config, given_config
from schemalint.project.git import Contents, Repository, Revision, Side, Worktree

if TYPE_CHECKING:
    from schemalint.project.config.trust import RuleFiles


@frozen
class HeadConfig:
    """The configuration of the head.

    Attributes:
        given: The file that ``--config`` names; it is the same for every side.
    """

    repository: Repository
    side: Side
    config: Config
    given: str | None = None

    def read(self, name: str) -> bytes | None:
        """Return the content of a file of the head, None if it does not exist."""
        if isinstance(self.side, Worktree):
            return read_file(self.repository.root / name)
        return git.file_at(self.repository, self.side, name)

    @property
    def name(self) -> str | None:
        """The path of the configuration in the repository; None if there is none."""
        if self.given is None:
            return self.config.file
        path = Path(os.path.abspath(self.given))  # noqa: PTH100 (as git, which does not follow links)
        is_inside = path.is_relative_to(self.repository.root)
        return path.relative_to(self.repository.root).as_posix() if is_inside else self.given

    @property
    def text(self) -> str:
        """The text of the configuration; empty if there is none."""
        if self.config.file is None:
            return ""
        data = (
            self.read(self.config.file)
            if self.given is None
            else read_given(Path(self.given), limits.MAX_CONFIG)
        )
        return (data or b"").decode("utf-8", "replace")


@frozen
class _Compared:
    """What the settings of a check are made of.

    Attributes:
        head: The configuration of the head.
        at_base: That of the base, or the one that counts.
        commit: The commit that has it, None if it is in no commit.
        is_local: Whether the run is none in CI, so that the head decides.
        is_alone: Whether the head decides alone in CI too.
        edited: The rule files that the head changes.
    """

    head: HeadConfig
    at_base: Config
    commit: Revision | None = None
    is_local: bool = False
    is_alone: bool = False
    edited: tuple[Loosening, ...] = ()


@frozen
class CheckSettings:
    """The settings of a check.

    Attributes:
        compared: What they are made of.
        gate: The configurations that decide.
        base_globs: The globs of contract files at the base; other files do not say what tables were.
        head_globs: Those of the head, of each configuration that decides.
        changes: What the head changes, for the rules about the configuration.
        texts: The texts of the head's configuration, by the file's name.
        is_first: Whether the base has no configuration, so that no target is trusted yet.
        is_merged: Whether a CI run checks what a trusted branch contains already.
    """

    compared: _Compared
    gate: Gate
    base_globs: Globs
    head_globs: Sequence[Globs]
    changes: tuple[ConfigurationChanged, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    is_first: bool = False
    is_merged: bool = False

    def accepted(self, foreign: str | None) -> tuple[tuple[str, ...], str | None]:
        """Return which kinds of exceptions count at once, and why none of the change does.

        Args:
            foreign: Why the change may be a stranger's; what is merged is nobody's change.
        """
        return (SOURCES, None) if self.is_merged else (self.gate.deciding[0].accepted, foreign)

    def with_nested(self, base: Side, contents: Contents) -> CheckSettings:
        """Return the settings with the nested files of both sides.

        Args:
            base: The old side of the contents.
            contents: The files of both sides.

        Raises:
            ConfigError: A nested file of the head is invalid.
        """
        compared, of_base = self.compared, contents.beside_base
        repository = compared.head.repository
        if compared.commit is not None and compared.commit.commit != base.commit:
            of_base = git.beside_files(repository, compared.commit, self.base_globs, NESTED)
        if not of_base and not contents.beside_head:
            return self
        head = compared.head
        nested = with_nested(head.config, contents.beside_head)
        at_base = with_nested(compared.at_base, of_base, lenient=True)
        head = HeadConfig(head.repository, head.side, nested, head.given)
        settings = _settings(replace(compared, head=head, at_base=at_base))
        return replace(settings, changes=(*settings.changes, *moves_to_looser_settings(nested, contents)))

    def findings(self, local: RuleFiles | None, ignore: tuple[str, ...]) -> tuple[Finding, ...]:
        """Judge the changes: see `rules_about_configuration`."""
        if not self.changes:
            return ()
        rules = rules_about_configuration(self.gate.deciding[0], local, ignore)
        context = git_context(None, Contract("", TableState()))
        return tuple(
            finding for change in self.changes for finding in Judge(rules)(change, context, ("git",))
        )


def head_config(repository: Repository, head: Side, file: str | None, *, isolated: bool) -> HeadConfig:
    """Return the configuration of the head: for the index and a revision not what is in the working tree.

    Args:
        repository: The repository.
        head: The side under review.
        file: The file that ``--config`` names.
        isolated: Whether no configuration counts.
    """
    if isolated:
        return HeadConfig(repository, head, Config(folder=None))
    if file is not None:
        return HeadConfig(repository, head, given_config(file), file)
    is_on_disk = isinstance(head, Worktree)
    return HeadConfig(
        repository, head, found_config(repository) if is_on_disk else config_at(repository, head)
    )


def local_settings(head: HeadConfig, base: Side) -> CheckSettings:
    """Return the settings of a run outside of CI: the head decides, and findings tell what CI will obey."""
    config, at_base = head.config, head.config
    if head.given is None and (config.file is not None or config.folder) and isinstance(base, Revision):
        with suppress(ConfigError):  # the edit may repair it
            at_base = config_at(head.repository, base)
    return _settings(_Compared(head, at_base, is_local=True))


def review_settings(head: HeadConfig, base: Side, trusted: Config, commit: Revision | None) -> CheckSettings:
    """Return the settings of a run in CI.

    The configuration that counts decides, and the head's too. If there is none that can be read, the default
    settings decide for the contracts of the base; without such contracts the head decides alone.

    Args:
        head: The configuration of the head.
        base: The old side.
        trusted: The configuration that counts.
        commit: The commit that has it, None if it is in no commit.
    """
    is_first = _is_first(trusted, head.config)
    return _settings(
        _Compared(
            head,
            trusted,
            commit,
            is_alone=is_first and not has_contracts(head.repository, base),
            edited=() if commit is None else tuple(_edited_rule_files(head, trusted, commit)),
        )
    )


def _settings(compared: _Compared) -> CheckSettings:
    config, at_base = compared.head.config, compared.at_base
    if compared.is_local:
        known = at_base.file is not None or at_base.nested
        settings = CheckSettings(
            compared,
            Gate((config,), loosenings_of(at_base, config) if known else ()),
            base_globs=at_base.globs if config.contracts else git.within(at_base.folder or "", ()),
            head_globs=(config.globs,),
        )
        return _with_changes(settings, compared.head, takes_effect_now=True)
    gate = Gate((config,)) if compared.is_alone else gate_between(at_base, config)
    gate = replace(gate, loosenings=(*gate.loosenings, *compared.edited))
    settings = CheckSettings(
        compared,
        gate,
        base_globs=gate.globs[0],
        head_globs=gate.globs,
        is_first=_is_first(at_base, config),
        is_merged=compared.commit is not None and compared.commit.spec == "HEAD",
    )
    return _with_changes(settings, compared.head, takes_effect_now=False)


def _is_first(trusted: Config, head: Config) -> bool:
    return trusted.file is None and head.file is not None


def _edited_rule_files(head: HeadConfig, trusted: Config, commit: Revision) -> Iterator[Loosening]:
    for name in trusted.plugins:
        if name not in head.config.plugins:
            continue
        texts = (head.read(name), git.file_at(head.repository, commit, name))
        # git may have converted the line ends of the working tree.
        old, new = (None if text is None else text.replace(b"\r\n", b"\n") for text in texts)
        if old != new:
            yield Loosening(f"plugins.{name}", None, None, ("plugins",), name)


def _with_changes(settings: CheckSettings, head: HeadConfig, *, takes_effect_now: bool) -> CheckSettings:
    """Add the changes of the configuration with their lines."""
    loosenings = settings.gate.loosenings
    if not loosenings and not settings.is_first:
        return settings
    text = head.text
    name = head.name or next((config.file for config in settings.gate.deciding if config.file), "")
    texts = {name: text} | {
        loosening.nested.file: loosening.nested.text for loosening in loosenings if loosening.nested
    }
    lines = {file: Positions(file, text) for file, text in texts.items()}
    changes = [
        ConfigurationChanged(
            lines[loosening.nested.file if loosening.nested else name].locate(
                loosening.path, loosening.entry
            ),
            takes_effect_now,
            loosening.key,
            loosening.old,
            loosening.new,
        )
        for loosening in loosenings
    ]
    if settings.is_first:
        changes.insert(0, ConfigurationChanged(Location(name), len(settings.gate.deciding) == 1))
    return replace(
        settings, changes=tuple(changes), texts={file: text for file, text in texts.items() if text}
    )
