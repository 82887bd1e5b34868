"""Where tokens and keys may be sent: over https, or over http within the machine."""

from __future__ import annotations

import ipaddress
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


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:  # a broken IPv6 address
        return ""
