"""The options of a command as one frozen value, made from click's keyword arguments in one place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from schemalint.base.errors import UsageError
from schemalint.base.values import frozen

T = TypeVar("T")


def takes(cls: type[T]) -> Callable[[Callable[[T], int]], Callable[..., int]]:
    """Let a command take its options as a value of a class; put this below click's decorators."""

    def decorated(function: Callable[[T], int]) -> Callable[..., int]:
        @wraps(function)
        def command(**arguments: Any) -> int:  # noqa: ANN401 (click's)
            return function(typed(cls, arguments))

        return command

    return decorated


def typed(cls: type[T], arguments: Mapping[str, Any]) -> T:
    """Return the value of a class of options; a field whose class is one too gets a value of that.

    Raises:
        UsageError: The options contradict each other, as the method `require_consistent` of a class says.
    """
    scope, values = vars(sys.modules[cls.__module__]), {}
    fields: Mapping[str, object] = vars(cls)["__value_fields__"]
    for name in fields:
        part: Any = scope.get(cls.__annotations__.get(name, ""))
        if hasattr(part, "__value_fields__"):
            values[name] = typed(part, arguments)
        elif name in arguments:
            values[name] = arguments[name]
    options: Any = cls(**values)
    if hasattr(options, "require_consistent"):
        options.require_consistent()
    result: T = options
    return result


@frozen
class Connection:
    """How a command reads tables: the target, the configuration, a Spark session, the workers.

    Attributes:
        target: The name of the target.
        via: ``spark`` if a session looks up table names.
        master: The master of the session.
        remote: The address of a Spark Connect server.
        conf: Properties of the session: ``KEY=VALUE``.
        with_packages: Whether Spark downloads the packages of the target's store.
        config_file: The configuration file.
        isolated: Whether configuration files are ignored.
        trusted_ref: References whose configuration counts in CI.
        fetch: Whether to fetch missing history.
        jobs: How many tables are worked on at the same time; None for the default.
        no_progress: Whether progress is hidden.
        quiet: The same, for commands that can report findings alone.
    """

    target: str | None = None
    via: str | None = None
    master: str | None = None
    remote: str | None = None
    conf: tuple[str, ...] = ()
    with_packages: bool = False
    config_file: str | None = None
    isolated: bool = False
    trusted_ref: tuple[str, ...] = ()
    fetch: bool = False
    jobs: int | None = None
    no_progress: bool = False
    quiet: bool = False

    def require_consistent(self) -> None:
        """Refuse a property without a value, and packages for a server."""
        for pair in self.conf:
            if "=" not in pair:
                raise UsageError(f"--conf {pair}: a value is missing", help="--conf KEY=VALUE")
        if self.with_packages and self.remote:
            raise UsageError(NO_PACKAGES)

    def require_session(self, needing: str = "--via spark", *, is_used: bool = False) -> None:
        """Refuse options that choose a session if no option needs one."""
        chosen = {"--master": self.master, "--remote": self.remote, "--conf": self.conf}
        unused = [] if self.via or is_used else [name for name, value in chosen.items() if value]
        if unused:
            raise UsageError(f"{unused[0]} has no effect without Spark", help=f"add {needing}")


NO_PACKAGES = "--with-packages has no effect with Spark Connect: the server has its own packages"


@frozen
class ReportOptions:
    """When findings fail the run, and how they are reported."""

    output_formats: tuple[str, ...]
    color: str
    statistics: bool
    quiet: bool
    verbose: bool
    fail_on: str | None
