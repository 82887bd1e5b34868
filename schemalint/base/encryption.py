"""Where tokens and keys may be sent, over https or within the machine, and which certificates are trusted."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from urllib.parse import urlsplit


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
