"""Text without credentials: of URIs, of signed requests, and the secrets that a configuration names.

Two places use it, so that nothing leaves without it: `SchemalintError` when it is made, and the functions of
`schemalint.base.printable`. Statements that an engine runs stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

MARK: Final = "***"
"""What takes the place of a credential."""

_SHORTEST: Final = 4
_NO_SECRETS: Final = frozenset({"true", "false", "none", "null", "default"})
"""Values that are no secrets, as shorter ones are none: hiding them would destroy other text."""

# The patterns are texts, because compiling them takes longer than most runs need them; `re` keeps what it has
# compiled. Each has three groups: before a credential, the credential, after it. They are linear: none begins
# with a repetition, and what may fail late is bounded.

# The second form has a slash in the password, as keys of AWS may; a port is no password. Paths that were URIs
# have one slash.
_USER_INFO: Final = (
    r"(?i)(?<=[a-z0-9+.-]{2})(://?)"
    r"""([^\s/?\#'"<>`]*(?=@)|"""
    r"""[^\s/?\#'"<>`:@]{0,200}:(?!\d{1,5}(?:[/?\#]|$))[^\s'"<>`]{0,300}(?=@))(@)"""
)
# `abfss://container@account…`, `file:/table@v12`, `dbfs:/me@example.com/…`: the part before the @ is no
# credential.
_NO_CREDENTIAL: Final = r"(?i)(?<![A-Za-z0-9+.-])(?:abfss?|wasbs?|dbfs|file)\Z"

# What patterns have before an @: `LIKE 'http://%@%'`, `RLIKE 'https://[^@]+@'`. Classes hold no words.
_OF_PATTERN: Final = (
    r"(?:[%.:()|*+?]|\\{1,4}[wWdDsS]|\{\d{0,4}(?:,\d{0,4})?\}"
    r"|\[(?:[^\w\s\]]|_|[a-zA-Z\d]-[a-zA-Z\d]|\\{1,4}[wWdDsS])*\])*"
)

# Parameters with credentials: Azure's SAS, AWS (versions 2 and 4), Google, and names of others.
_PARAMETER_NAME: Final = (
    r"(?:x-(?:amz|goog)-[\w-]+"
    r"|[\w.-]*(?:sig|signature|token|secret|passw(?:or)?d|pwd|credential|access_?key_?id|accessid|api_?key))"
)
_OWN_NAME: Final = (
    "(?:accountkey|sharedaccesskey|sharedaccesssignature|x-amz-(?:signature|credential|security-token)"
    "|aws_secret_access_key|aws_session_token)"
)
_QUERY: Final = r"""(\?)([^\s'"<>`]*)()"""
_SIGNED: Final = rf"(?i)[?&;]{_PARAMETER_NAME}=[^&;]"
_PARAMETER: Final = rf"""(?i)((?:[;&#]{_PARAMETER_NAME}|\b{_OWN_NAME})=)([^\s;&'"<>`]+)()"""
_HEADER: Final = (
    r"""(?i)(authorization\\{0,8}['"]?\s{0,9}[:=]\s{0,9}\\{0,8}['"]?(?:(?:bearer|basic|token)\s{1,9})?)"""
    r"""(aws4-hmac-sha256\s[^'"}\\\n]{0,2000}?signature=[^\s'",}\\]+|[^\s'",}\\]+)()"""
)

_hidden: set[str] = set()


def hide(secret: str) -> None:
    """Hide a value from now on: in the form that it has, percent-encoded, and each line of it."""
    forms = {secret, secret.strip(), *(line.strip() for line in secret.splitlines())}
    forms |= {quote(form, safe="", errors="replace") for form in forms}
    _hidden.update(form for form in forms if len(form) >= _SHORTEST and form.lower() not in _NO_SECRETS)


def hide_nothing() -> None:
    """Forget the values of `hide`: each run of a command has its own."""
    _hidden.clear()


def may_hold_secrets(text: str) -> bool:
    """Whether `without_secrets` can change the text: a fast test that most texts fail."""
    return bool(_hidden) or ":/" in text or "=" in text or "uthorization" in text or "UTHORIZATION" in text


def without_secrets(text: str) -> str:
    """Return the text with `MARK` in place of credentials.

    These are the user info of URIs, queries with a signature or a token, other parameters with such names,
    authorization headers, and the values of `hide`. A text must be cut only after this: the rest of a
    credential no longer shows what it is.
    """
    return _replaced(text, lambda _credential: MARK)


def without_uri_secrets(text: str) -> str:
    """Return the text like `without_secrets`, but leave the values of `hide`: equal in every run."""
    return _without_written(text, lambda _credential: MARK)


def masked(text: str) -> str:
    """Return the text with asterisks in place of credentials, so that all positions in it stay."""
    return _replaced(text, lambda credential: "*" * len(credential))


def _replaced(text: str, mark: Callable[[str], str]) -> str:
    for secret in sorted(_hidden, key=len, reverse=True):
        text = text.replace(secret, mark(secret))
    return _without_written(text, mark)


def _without_written(text: str, mark: Callable[[str], str]) -> str:
    def marked(match: re.Match[str]) -> str:
        before, credential, after = match.groups()
        if not credential.strip("*%") or (before.startswith(":/") and _is_no_credential(match, credential)):
            return match[0]
        return before + mark(credential) + after

    if not may_hold_secrets(text):
        return text
    if ":/" in text:
        text = re.sub(_USER_INFO, marked, text)
    if "=" in text:
        text = re.sub(_QUERY, lambda query: marked(query) if re.search(_SIGNED, query[0]) else query[0], text)
        text = re.sub(_PARAMETER, marked, text)
    return re.sub(_HEADER, marked, text)


def _is_no_credential(match: re.Match[str], user: str) -> bool:
    if re.fullmatch(_OF_PATTERN, user):
        return True
    start = match.start()
    return ":" not in user and re.search(_NO_CREDENTIAL, match.string[max(start - 6, 0) : start]) is not None
