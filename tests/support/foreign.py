"""Variables that a CI service, a git hook or the user sets, and that would change what a test sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIXES = (
    *("BITBUCKET_", "BUILDKITE", "CHANGE_", "CI", "GITHUB_", "JENKINS_", "SYSTEM_PULLREQUEST_", "TF_BUILD"),
    *("AWS_", "AZURE_", "GIT_", "GOOGLE_", "INPUT_", "PRE_COMMIT"),
)
# Options of the command line as variables. The tests' own switches (SCHEMALINT_TEST_ALL and so on) stay.
_OPTIONS = ("SCHEMALINT_AGAINST", "SCHEMALINT_OUTPUT_FORMAT")


def without_foreign_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without them."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(_PREFIXES) and name not in _OPTIONS
    }
