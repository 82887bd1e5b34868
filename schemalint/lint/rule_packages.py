"""Find the installed packages with rules."""

from __future__ import annotations

import os
import re
import sys
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Final

from schemalint.base.values import frozen

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "schemalint.rules"
BUILT_IN: Final = "schemalint"
BUILT_IN_PACKAGE: Final = "schemalint_rules"
_METADATA: Final = (".dist-info", ".egg-info")
_OWN_METADATA: Final = rf"{BUILT_IN}(-\d[^-]*)?\.(dist|egg)-info"


@frozen
class RulePackage:
    """A package with rules.

    Attributes:
        distribution: The name of the distribution that provides it.
        module: The package's full name.
        value: The entry point, for messages.
    """

    distribution: str
    module: str
    value: str


def rule_packages() -> list[RulePackage]:
    """Return the packages of the entry-point group.

    The built-in ones come first, so an error about a duplicate code names the other package.
    """
    if not _others_may_have_rules():
        return [RulePackage(BUILT_IN, BUILT_IN_PACKAGE, BUILT_IN_PACKAGE)]
    from importlib.metadata import entry_points  # noqa: PLC0415 (only with other packages of rules)

    packages = [
        RulePackage(_distribution(entry), entry.module, entry.value) for entry in entry_points(group=GROUP)
    ]
    return sorted(packages, key=lambda package: package.distribution != BUILT_IN)


def _others_may_have_rules() -> bool:
    """Return whether `importlib.metadata` may find more rules than the built-in ones.

    Few environments have more, and a look at the files costs a fraction: that module imports the package
    `email`, and parses the entry points of all packages.
    """
    finders = (finder for finder in sys.meta_path if finder is not PathFinder)
    return any(hasattr(finder, "find_distributions") for finder in finders) or any(
        map(_may_have_rules, sys.path)
    )


def _may_have_rules(folder: str) -> bool:
    folder = folder or "."  # an empty one is the current one
    try:
        names = os.listdir(folder)  # noqa: PTH208 (a `Path` takes longer)
    except FileNotFoundError:
        return False
    except OSError:  # such as an archive
        return True
    if folder.lower().endswith(".egg"):
        return True
    metadata = (name for name in names if name.lower().endswith(_METADATA))
    return any(
        _mentions_rules(f"{folder}/{name}") for name in metadata if not re.fullmatch(_OWN_METADATA, name)
    )


def _mentions_rules(metadata: str) -> bool:
    try:
        # A `Path` takes longer than the file.
        with open(f"{metadata}/entry_points.txt", "rb") as file:  # noqa: PTH123
            return GROUP.encode() in file.read()
    except OSError:  # most packages have no entry points
        return False


def _distribution(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist else entry_point.name
