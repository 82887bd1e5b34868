"""What an object store's refusal means, in words of our own.

The client's messages hold what was sent and what came back: addresses with signatures, bodies with access
keys. None of their text is passed on, except the store's error code.
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
        sign: A pattern, found in the client's message or its error's name.
        message: What is said of the table; ``{place}`` is its bucket or container.
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
            "there is no {place}",
            "Check its name, and the endpoint and account that are asked.",
        ),
        (
            # Where machines in a cloud get their credentials, asked if nothing else is set.
            r"/latest/(api/token|meta-data)|metadata\.google\.internal|/computeMetadata/|/metadata/identity",
            "no credentials were found for {place}",
            _CREDENTIALS,
        ),
        (
            "<Code>(ExpiredToken|TokenRefreshRequired|RequestTimeTooSkewed)",
            "the credentials for {place} have expired, or this machine's clock is wrong",
            "Get new ones.",
        ),
        (
            "without LOCATION|<Code>(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocation)",
            "{place} lies in another region",
            "Name it: AWS_REGION, or region in the target's storage block.",
        ),
        (
            "status code: (401|403)|PermissionDenied|Unauthenticated|<Code>(Invalid(Acc|Tok)|Authentic)",
            "access to {place} is denied",
            f"The right to list and to read its files is needed. {_CREDENTIALS}",
        ),
        (
            "status code: 404",
            "there is no {place}, or it does not answer like an object store",
            "Check its name, and the endpoint and account that are asked.",
        ),
        (
            "BadScheme",
            "an endpoint without TLS is not asked",
            'Write https://, or allow it: allow_http = "true" in the storage block, or AWS_ALLOW_HTTP=true.',
        ),
        (
            "kind: Timeout|TimedOut",
            "the store does not answer in time",
            'Try again, or give it longer: timeout = "2 minutes" in the target\'s storage block.',
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
            "the credentials for {place} cannot be used: one is missing or malformed",
            _CREDENTIALS,
        ),
        (
            "UnknownConfigurationKey|failed to parse|Invalid key",
            "the store's settings are not understood",
            "The storage block takes the names and values of obstore's configuration of that store.",
        ),
        (
            r"status code: (429|5\d\d)|SlowDown",
            "the store is overloaded or fails",
            "Try again later.",
        ),
    )
)
_UNKNOWN: Final = _Failure("", "the store gives no usable answer", "Check endpoint and account.")
_CODE: Final = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")


def failure(uri: str, place: str, error: BaseException) -> LiveError:
    """A refusal, a failed connection or an unusable setting as an error.

    Args:
        uri: The table or file.
        place: What holds it, e.g. ``bucket lake``.
        error: Of obstore; nothing of its text gets out.
    """
    text = f"{type(error).__name__}: {error}"
    found = next((one for one in _FAILURES if re.search(one.sign, text)), _UNKNOWN)
    code = _CODE.search(text)
    said = f" (the store says {code[1]})" if code else ""
    return LiveError(f"{uri}: {found.message.format(place=place)}{said}", help=found.help)
