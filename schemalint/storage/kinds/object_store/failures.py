"""Translate errors of an object store's client into messages without secrets.

The client's messages contain the request and the response: URLs with signatures, bodies with access keys.
Only the store's error code is passed on.
"""

from __future__ import annotations

import re
from typing import Final

from schemalint.errors import LiveError
from schemalint.values import frozen


@frozen
class _Failure:
    """A kind of failure.

    Attributes:
        sign: A pattern that occurs in the client's message or in its error's name.
        message: What is wrong with the table; ``{bucket}`` is its bucket or container.
        help: What to do.
    """

    sign: str
    message: str
    help: str


_CREDENTIALS: Final = (
    "Credentials come from the environment (AWS_*, AZURE_*, GOOGLE_*) or the target's storage block; "
    'for public data: anonymous = "true".'
)
_FAILURES: Final = tuple(
    _Failure(*row)
    for row in (
        (
            "<Code>(NoSuchBucket|ContainerNotFound|FilesystemNotFound)",
            "there is no {bucket}",
            "Check its name, the endpoint and the account.",
        ),
        (
            # Machines in a cloud get credentials from these addresses; the client's last resort.
            r"/latest/(api/token|meta-data)|metadata\.google\.internal|/computeMetadata/|/metadata/identity",
            "no credentials were found for {bucket}",
            _CREDENTIALS,
        ),
        (
            "<Code>(ExpiredToken|TokenRefreshRequired|RequestTimeTooSkewed)",
            "the credentials for {bucket} have expired, or this machine's clock is wrong",
            "Get new ones.",
        ),
        (
            "without LOCATION|<Code>(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocation)",
            "{bucket} is in another region",
            "Set AWS_REGION, or region in the target's storage block.",
        ),
        (
            "status code: (401|403)|PermissionDenied|Unauthenticated|<Code>(Invalid(Acc|Tok)|Authentic)",
            "access to {bucket} is denied",
            f"Grant permission to list and to read its files. {_CREDENTIALS}",
        ),
        (
            "status code: 404",
            "there is no {bucket}, or it does not answer like an object store",
            "Check its name, the endpoint and the account.",
        ),
        (
            "BadScheme",
            "an endpoint without TLS is not allowed",
            'Write https://, or allow it: allow_http = "true" in the storage block, or AWS_ALLOW_HTTP=true.',
        ),
        (
            "kind: Interrupted",
            "the connection to the store broke off",
            "Try again later; look at the proxy if it happens again.",
        ),
        (
            "kind: Timeout|TimedOut",
            "the store does not answer in time",
            'Try again, or extend the limit: timeout = "2 minutes" in the target\'s storage block.',
        ),
        (
            "[Cc]ertificate|UnknownIssuer",
            "the certificate of the store's endpoint is not trusted",
            "Add its authority to the system's certificates.",
        ),
        (
            "kind: Connect|error sending request",
            "the store cannot be reached",
            "Check the endpoint, the network and the proxy.",
        ),
        (
            "MissingAccount",
            "no storage account is named",
            "Write abfss://container@account.dfs.core.windows.net/…, or set AZURE_STORAGE_ACCOUNT_NAME.",
        ),
        (
            "Missing(AccessKeyId|SecretAccessKey|Key)|InvalidAccessKey|GCP credential error",
            "the credentials for {bucket} are incomplete or malformed",
            _CREDENTIALS,
        ),
        (
            "UnknownConfigurationKey|failed to parse|Invalid key",
            "a setting of the store is unknown or invalid",
            "Use the names and values of obstore's configuration for this store in the storage block.",
        ),
        (
            r"status code: (429|5\d\d)|SlowDown",
            "the store is overloaded or fails",
            "Try again later.",
        ),
    )
)
_UNKNOWN: Final = _Failure("", "the store gives no usable answer", "Check the endpoint and the account.")
_CODE: Final = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")


def failure(uri: str, bucket: str, error: BaseException) -> LiveError:
    """Return the error for a refusal, a failed connection or an invalid setting.

    Args:
        uri: The table or file.
        bucket: Its bucket as messages name it, such as ``bucket lake``.
        error: The error of obstore; its text may contain secrets and is not passed on.
    """
    text = f"{type(error).__name__}: {error}"
    kind = next((failure for failure in _FAILURES if re.search(failure.sign, text)), _UNKNOWN)
    code = _CODE.search(text)
    suffix = f" (the store says {code[1]})" if code else ""
    return LiveError(f"{uri}: {kind.message.format(bucket=bucket)}{suffix}", help=kind.help)
