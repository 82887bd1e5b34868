"""Translate errors of an object store's client into messages without secrets, and note broken connections.

The client's messages contain the request and the response: URLs with signatures, bodies with access keys.
Only the store's error code is passed on.

Over a network that drops packets, a request takes 20 seconds with all its attempts: a run over hundreds of
tables would take minutes to say the same of each.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from schemalint.base.credentials import StoreSettings, trust_help
from schemalint.base.errors import LiveError
from schemalint.base.values import frozen
from schemalint.tables.storage import NO_OPTIONS

SECONDS: Final = 60.0
"""How long a store counts as unreachable after a request, unless another one was answered since."""


@frozen
class _Failure:
    """A kind of failure.

    Attributes:
        sign: A pattern that occurs in the client's message or in its error's name.
        message: What is wrong with the table; ``{bucket}`` is its bucket or container, and ``{origin}`` says
            whose credentials were used.
        help: What to do; ``{remedy}`` is about the credentials, and ``{trust}`` about certificates.
        is_unreachable: Whether there was no connection, so that no table of the store can be read.
    """

    sign: str
    message: str
    help: str
    is_unreachable: bool = False


_CREDENTIALS: Final = (
    "Credentials come from the environment (AWS_*, AZURE_*, GOOGLE_*) or the target's storage block; "
    'for public data: anonymous = "true".'
)
_FAILURES: Final = (
    _Failure(
        "<Code>(NoSuchBucket|ContainerNotFound|FilesystemNotFound)",
        "there is no {bucket}",
        "Check its name, the endpoint and the account.",
    ),
    _Failure(
        # Machines in a cloud get credentials from these addresses; the client's last resort.
        r"/latest/(api/token|meta-data)|metadata\.google\.internal|/computeMetadata/|/metadata/identity",
        "access to {bucket}{origin} is not possible: no credentials were found",
        "{remedy}",
    ),
    _Failure(
        "<Code>(ExpiredToken|TokenRefreshRequired|RequestTimeTooSkewed)",
        "access to {bucket}{origin} is denied: the credentials have expired, or the clock is wrong",
        "Get new ones. {remedy}",
    ),
    _Failure(
        "without LOCATION|<Code>(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocation)",
        "{bucket} is in another region",
        "Set AWS_REGION, or region in the target's storage block.",
    ),
    _Failure(
        "status code: (401|403)|PermissionDenied|Unauthenticated|<Code>(Invalid(Acc|Tok)|Authentic)",
        "access to {bucket} is denied{origin}",
        "Grant permission to list and to read its files. {remedy}",
    ),
    _Failure(
        "status code: 404",
        "there is no {bucket}, or it does not answer like an object store",
        "Check its name, the endpoint and the account.",
    ),
    _Failure(
        "BadScheme",
        "an endpoint without TLS is not allowed",
        'Write https://, or allow it: allow_http = "true" in the storage block, or AWS_ALLOW_HTTP=true.',
    ),
    _Failure(
        "NoContentRange|NotPartial|non-partial",
        "an answer broke off, and the store gives no part of a file: it ignores the header Range",
        "Try again later; look at the proxy if it happens again.",
    ),
    _Failure(
        "kind: Interrupted|Incomplete(Message|Body)|ConnectionReset|BrokenPipe",
        "the connection to the store broke off",
        "Try again later; look at the proxy if it happens again.",
    ),
    _Failure(
        r"Error\(\s*Connect,\s*(TimedOut|ConnectError[^{}]*\{\s*kind: TimedOut)",
        "the store cannot be reached: there is no connection within the time limit",
        'Check the endpoint, the network and the firewall; the limit is connect_timeout = "5 seconds".',
        is_unreachable=True,
    ),
    _Failure(
        "kind: Timeout|TimedOut",
        "the store does not answer in time",
        'Try again, or extend the limit: timeout = "2 minutes" in the target\'s storage block.',
    ),
    _Failure(
        "NotValidForName",
        "the certificate of the store's endpoint is for another host",
        "Write the name in the certificate as endpoint.",
    ),
    _Failure(
        r"InvalidCertificate\(\s*(Expired|NotValidYet)",
        "the certificate of the store's endpoint has expired, or the clock is wrong",
        "Tell whoever runs the store.",
    ),
    _Failure(
        "[Cc]ertificate|UnknownIssuer",
        "the certificate of the store's endpoint is not trusted",
        "{trust}",
    ),
    _Failure(
        "InvalidContentType|InvalidMessage",
        "the store's endpoint answers without TLS",
        "Check its port; an endpoint without TLS begins with http://.",
    ),
    _Failure(
        "ConnectionRefused",
        "the store cannot be reached: its host refuses the connection",
        "Check the host and the port of the endpoint, and whether the store runs.",
        is_unreachable=True,
    ),
    _Failure(
        "dns error|failed to lookup",
        "the store cannot be reached: the name of its host is unknown",
        "Check the spelling of the endpoint, the region and the account, and this machine's DNS.",
        is_unreachable=True,
    ),
    _Failure(
        "kind: Connect|error sending request",
        "the store cannot be reached",
        "Check the endpoint, the network and the proxy.",
    ),
    _Failure(
        "MissingAccount",
        "no storage account is named",
        "Write abfss://container@account.dfs.core.windows.net/…, or set AZURE_STORAGE_ACCOUNT_NAME.",
    ),
    _Failure(
        "Missing(AccessKeyId|SecretAccessKey|Key)|InvalidAccessKey|GCP credential error",
        "access to {bucket}{origin} is not possible: the credentials are incomplete or malformed",
        "{remedy}",
    ),
    _Failure(
        "UnknownConfigurationKey|failed to parse|Invalid key",
        "a setting of the store is unknown or invalid",
        "Use the names and values of obstore's configuration for this store in the storage block.",
    ),
    _Failure(
        "status code: (429|503)|<Code>(SlowDown|TooManyRequests|ServerBusy)",
        "the store is overloaded, and refuses repeated requests too",
        "Try again later, or with fewer tables at a time: --jobs N.",
    ),
    _Failure(
        r"status code: 5\d\d",
        "the store fails, for repeated requests too",
        "Try again later.",
    ),
)
_UNKNOWN: Final = _Failure("", "the store gives no usable answer", "Check the endpoint and the account.")
_CODE: Final = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")
_STATUS: Final = re.compile(r"status code: (\d{3})")


def failure(
    uri: str, bucket: str, error: BaseException, storage: Mapping[str, str] = NO_OPTIONS
) -> LiveError:
    """Return the error for a refusal, a failed connection or an invalid setting.

    Args:
        uri: The table or file.
        bucket: Its bucket as messages name it, such as ``bucket lake``.
        error: The error of obstore; its text may contain secrets and is not passed on.
        storage: The settings that opened the store.
    """
    origin, remedy = "", _CREDENTIALS
    if isinstance(storage, StoreSettings):
        origin, remedy = f" with {storage.origin}", storage.remedy
    text = f"{type(error).__name__}: {error}"
    kind = next((failure for failure in _FAILURES if re.search(failure.sign, text)), _UNKNOWN)
    suffix = ""
    if code := _CODE.search(text) or _STATUS.search(text):
        suffix = f" (the store says {code[1]})"
    message = kind.message.format(bucket=bucket, origin=origin)
    help_text = kind.help.replace("{remedy}", remedy).replace("{trust}", trust_help())
    if kind.is_unreachable:
        return StoreUnreachable(uri, message, help=help_text)
    return LiveError(f"{uri}: {message}{suffix}", help=help_text)


class StoreUnreachable(LiveError):  # noqa: N818 (what happened)
    """There was no connection to a store, after all attempts.

    Attributes:
        reason: The message without the URI of the table.
    """

    def __init__(self, uri: str, reason: str, *, help: str) -> None:  # noqa: A002
        super().__init__(f"{uri}: {reason}", help=help)
        self.reason = reason


_failed: Final[dict[str, tuple[float, StoreUnreachable]]] = {}


def require_reachable(store: str, uri: str) -> None:
    """Raise the error of another table of the store, if it is recent.

    Raises:
        StoreUnreachable: No request was answered since.
    """
    at, error = _failed.get(store, (0.0, None))
    if error is not None and time.monotonic() - at < SECONDS:
        raise StoreUnreachable(uri, error.reason, help=error.help)


@contextmanager
def watched(store: str) -> Iterator[None]:
    """Remember whether the requests of the block reach the store."""
    try:
        yield
    except StoreUnreachable as error:
        _failed[store] = time.monotonic(), error
        raise
    except Exception:  # an answer too
        _failed.pop(store, None)
        raise
    _failed.pop(store, None)
