"""Connections to a catalog that fail, told as what they are."""

from __future__ import annotations

from socket import gaierror
from ssl import SSLCertVerificationError, SSLError
from typing import Final

from schemalint.base.encryption import trust_help
from schemalint.base.errors import LiveError

_UNTRUSTED: Final = frozenset({18, 19, 20, 21})
"""OpenSSL's codes of certificates without a trusted authority (X509_V_ERR_*)."""


class ConnectionBroken(LiveError):  # noqa: N818 (what happened)
    """The connection ended before the answer was complete: another one may go better."""


def connection_error(host: str, error: object) -> LiveError:
    """Return the error for an exception of the connection, which is not about time."""
    match error:
        case SSLCertVerificationError(verify_code=code) if code in _UNTRUSTED:
            return LiveError(f"{host}: the catalog's certificate is not trusted", help=trust_help())
        case SSLCertVerificationError(verify_message=reason):
            return LiveError(
                f"{host}: the catalog's certificate is not valid: {reason.rstrip('.')}",
                help="Check catalog_uri, and this machine's clock.",
            )
        case SSLError(reason="WRONG_VERSION_NUMBER" | "HTTP_REQUEST"):
            return LiveError(
                f"{host}: the catalog answers without TLS", help="Check the port in catalog_uri."
            )
        case gaierror():
            return LiveError(
                f"{host}: the catalog cannot be reached: the name of its host is unknown",
                help="Check the spelling of catalog_uri, and this machine's DNS.",
            )
        case ConnectionRefusedError():
            return LiveError(
                f"{host}: the catalog cannot be reached: its host refuses the connection",
                help="Check the host and the port in catalog_uri, and whether the catalog runs.",
            )
        case ConnectionError() | SSLError():
            return _broken(host, error)
        case OSError():
            return LiveError(
                f"{host}: the catalog cannot be reached: {error}",
                help="Check catalog_uri, the network and the proxy.",
            )
    return _broken(host, error)


def _broken(host: str, error: object) -> ConnectionBroken:
    return ConnectionBroken(
        f"{host}: the connection to the catalog broke off: {type(error).__name__}",
        help="Try again later; look at the proxy if it happens again.",
    )
