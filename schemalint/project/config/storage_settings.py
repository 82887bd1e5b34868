"""Settings of a target's object store: public ones as plain text, secrets as environment variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schemalint.base.errors import ConfigError
from schemalint.base.redaction import hide
from schemalint.project.config import Target

_VARIABLE: Final = r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}"
_PROVIDER: Final = r"^(aws|azure_storage|azure|google)_"
_PUBLIC: Final = frozenset(
    {
        "account_name",
        "allow_http",
        "anonymous",
        "base_url",
        "connect_timeout",
        "default_region",
        "endpoint",
        "endpoint_url",
        "region",
        "request_payer",
        "s3_express",
        "skip_signature",
        "timeout",
        "use_azure_cli",
        "use_emulator",
        "use_fabric_endpoint",
        "virtual_hosted_style_request",
    }
)
# User and password before the host, or the signature of a shared access URL.
_HOLDS_SECRET: Final = re.compile("[@?]")


def is_public_setting(key: str, value: str) -> bool:
    """Whether a setting may be written in plain text: addresses and request options only.

    Every setting that is not known to be harmless counts as a secret.
    """
    return re.sub(_PROVIDER, "", key.lower()) in _PUBLIC and not _HOLDS_SECRET.search(value)


def variable_of(value: str) -> str | None:
    """Return the name in a value that is exactly ``${NAME}``; None for any other value."""
    match = re.fullmatch(_VARIABLE, value)
    return match[1] if match else None


def resolve_variables(target: Target, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings of a target's store with ``${NAME}`` replaced by the variable's value.

    Raises:
        ConfigError: A variable is not set, or is empty.
    """
    return {key: _value(target, key, value, environ) for key, value in target.storage.items()}


def _value(target: Target, key: str, value: str, environ: Mapping[str, str]) -> str:
    variable = variable_of(value)
    if variable is None:
        return value
    if not environ.get(variable):
        raise ConfigError(
            f"environment variable {variable} is not set: targets.{target.name}.storage.{key} refers to it",
            help=f"export {variable}=…, or pass it to the job as a secret",
        )
    if not is_public_setting(key, ""):
        hide(environ[variable])
    return environ[variable]
