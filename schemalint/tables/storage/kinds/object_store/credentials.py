"""Credentials in settings are a group: the client must not complete them from the environment.

Measured on obstore 0.12.1: the client adds AWS_SESSION_TOKEN, which belongs to other keys, to the keys in its
configuration; AWS_SKIP_SIGNATURE turns them off; and Azure's keys in the environment win over a shared access
signature. A credential provider wins over all of these.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from schemalint.base.store_settings import has_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemalint.tables.storage.kinds.object_store.address import Provider

_PREFIX: Final = re.compile(r"^(aws|azure(_storage)?)_", re.IGNORECASE)
_UNSIGNED: Final = "skip_signature"
_S3: Final = {
    "access_key_id": "access_key_id",
    "secret_access_key": "secret_access_key",
    "session_token": "token",
    "token": "token",
    _UNSIGNED: _UNSIGNED,
}
_AZURE: Final = {"sas_token": "sas_token", "sas_key": "sas_token", _UNSIGNED: _UNSIGNED}
_GROUPS: Final[Mapping[Provider, tuple[Mapping[str, str], frozenset[str]]]] = {
    "s3": (_S3, frozenset({"access_key_id", "secret_access_key"})),
    "azure": (_AZURE, frozenset({"sas_token"})),
    "gcs": ({}, frozenset({""})),
}
"""The names of settings with the names in obstore's credential, and what of these makes it complete."""


def options(provider: Provider, settings: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of obstore's client: ``config``, and for complete groups a provider."""
    names, needed = _GROUPS[provider]
    key_of = {name: names.get(_PREFIX.sub("", name.lower())) for name in settings}
    group = {key: settings[name] for name, key in key_of.items() if key is not None and settings[name]}
    others = {name: value for name, value in settings.items() if key_of[name] is None}
    if not needed <= group.keys() or has_credentials(others):
        return {"config": settings}
    config = {**others, _UNSIGNED: group.pop(_UNSIGNED, "false")}
    optional = {"token": None} if provider == "s3" else {}
    credential = {**optional, **group, "expires_at": None}
    return {"config": config, "credential_provider": lambda: credential}
