"""Text without credentials: of URIs, of signed requests, and the secrets that a configuration names.

Two places use it, so that nothing leaves without it: `SchemalintError` when it is made, and the functions of
`schemalint.printable`. Statements that an engine runs stay as they are.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

MARK: Final = "***"
"""What takes the place of a credential."""

_SHORTEST: Final = 4
"""A shorter value is no secret, and hiding it would destroy other text."""

# `abfss://container@account…`: the part before the @ is no credential unless it has a password.
_CONTAINERS: Final = re.compile(r"(?i)(?<![A-Za-z0-9+.-])(?:abfss?|wasbs?)\Z")

# Parameters with credentials: Azure's SAS, AWS (versions 2 and 4), Google, and names of others.
_PARAMETER_NAME: Final = (
    r"(?:x-(?:amz|goog)-[\w-]+"
    r"|[\w.-]*(?:sig|signature|token|secret|passw(?:or)?d|pwd|credential|access_?key_?id|accessid|api_?key))"
)

_hidden: set[str] = set()


def hide(secret: str) -> None:
    """Hide a value from now on: in the form that it has, percent-encoded, and each line of it."""
    from urllib.parse import quote  # noqa: PLC0415 (a check without secrets starts without it)

    forms = {secret, secret.strip(), *(line.strip() for line in secret.splitlines())}
    forms |= {quote(form, safe="", errors="replace") for form in forms}
    _hidden.update(form for form in forms if len(form) >= _SHORTEST)


def hide_nothing() -> None:
    """Forget the values of `hide`: each run of a command has its own."""
    _hidden.clear()


def may_hold_secrets(text: str) -> bool:
    """Whether `without_secrets` can change the text: a fast test that most texts fail."""
    return bool(_hidden) or "://" in text or "=" in text or "uthorization" in text or "UTHORIZATION" in text


def without_secrets(text: str) -> str:
    """Return the text with `MARK` in place of credentials.

    These are the user info of URIs, queries with a signature or a token, other parameters with such names,
    authorization headers, and the values of `hide`.
    """
    if not may_hold_secrets(text):
        return text
    for secret in sorted(_hidden, key=len, reverse=True):
        text = text.replace(secret, MARK)
    if "://" in text:
        text = _user_info().sub(_without_user, text)
    if "=" in text:
        text = _query().sub(_unsigned, text)
        text = _parameter().sub(rf"\1{MARK}", text)
    return _header().sub(rf"\1{MARK}", text)


def _without_user(match: re.Match[str]) -> str:
    before = match.string[max(match.start() - len("wasbs") - 1, 0) : match.start()]
    if ":" not in match[1] and _CONTAINERS.search(before):
        return match[0]
    return f"://{MARK}@"


def _unsigned(match: re.Match[str]) -> str:
    return f"?{MARK}" if _signed().search(match[0]) else match[0]


# The patterns are linear: none begins with a repetition, and what may fail late is bounded. Compiling them
# takes longer than most runs need them.
@cache
def _user_info() -> re.Pattern[str]:
    # The second form has a slash in the password, as keys of AWS may; a port is no password.
    return re.compile(
        r"""://([^\s/?\#'"<>`]*(?=@)|[^\s/?\#'"<>`:@]{0,200}:(?!\d{1,5}(?:[/?\#]|$))[^\s'"<>`]{0,300}(?=@))@"""
    )


@cache
def _query() -> re.Pattern[str]:
    return re.compile(r"""\?[^\s'"<>`]*""")


@cache
def _signed() -> re.Pattern[str]:
    return re.compile(rf"[?&;]{_PARAMETER_NAME}=[^&;]", re.IGNORECASE)


@cache
def _parameter() -> re.Pattern[str]:
    own_names = (
        "accountkey|sharedaccesskey|sharedaccesssignature|x-amz-(?:signature|credential|security-token)"
        r"|aws_secret_access_key|aws_session_token"
    )
    return re.compile(rf"""((?:[;&]{_PARAMETER_NAME}|\b(?:{own_names}))=)[^\s;&'"<>`]+""", re.IGNORECASE)


@cache
def _header() -> re.Pattern[str]:
    return re.compile(
        r"""(authorization['"]?\s{0,9}[:=]\s{0,9}['"]?(?:bearer |basic )?)[^\s'",}]+""", re.IGNORECASE
    )
