"""Where tokens and keys may be sent, which certificates are trusted, and which settings are credentials."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

_PROVIDER: Final = r"^(aws|azure_storage|azure|google)_"
_CREDENTIAL: Final = (
    # Keys and tokens, then what finds or replaces them; `token` and `key` also end other names.
    r"(access|account|master|storage_account|storage_sas|sas|private|service_account)_key(_id)?|sas_token"
    r"|secret_access_key|((session|bearer)_)?token|service_account(_path)?|application_credentials"
    r"|client_(id|secret)|(tenant|authority|msi_resource|object)_id|federated_token_file|username|password"
    r"|(assume_)?role_(arn|session_name)|web_identity_token_file|container_credentials_.*|.*_(token|secret)"
    r"|anonymous|skip_signature|use_azure_cli|(metadata|identity|msi)_endpoint|profile"
)


def may_carry_secrets(url: str) -> bool:
    """Whether a request to a URL may contain a token or a key."""
    return _scheme(url) == "https" or is_loopback(url)


def is_loopback(url: str) -> bool:
    """Whether a URL is one of http, whose requests do not leave this machine."""
    if _scheme(url) != "http":
        return False
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def trust_help() -> str:
    """Return what to do if a server's certificate is not trusted; obstore and Python obey the variable."""
    file = os.environ.get("SSL_CERT_FILE")
    if file and not Path(file).is_file():
        return f"SSL_CERT_FILE is {file}, but there is no such file."
    return (
        "If its authority is one of your organization, set SSL_CERT_FILE to a PEM file with the certificates "
        "of this authority and of the system, or add it to the system's."
    )


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:  # a broken IPv6 address
        return ""


class StoreSettings(dict[str, str]):
    """Settings by obstore's names; see `schemalint.project.config.trust.resolve_storage`.

    Attributes:
        origin: Whose credentials they contain, for messages, as ``the settings of targets.prod.storage``.
        remedy: What to do if the store does not accept these.
    """

    origin: str
    remedy: str

    def __init__(self, settings: Mapping[str, str], origin: str, remedy: str) -> None:
        super().__init__(settings)
        self.origin = origin
        self.remedy = remedy


def has_credentials(settings: Mapping[str, str]) -> bool:
    """Whether settings contain credentials, or say where they come from or that requests have none."""
    return any(re.fullmatch(_CREDENTIAL, re.sub(_PROVIDER, "", name.lower())) for name in settings)
