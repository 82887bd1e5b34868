"""Open the client of an object store with the settings of the target and the environment.

Measured on obstore 0.12.1: the client adds AWS_SESSION_TOKEN, which belongs to other keys, to the keys in its
configuration; AWS_SKIP_SIGNATURE turns them off; and Azure's keys in the environment win over a shared access
signature. A credential provider wins over all of these.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from schemalint.base import limits
from schemalint.base.credentials import has_credentials, may_carry_secrets, trust_help
from schemalint.base.errors import LiveError
from schemalint.tables.storage.kinds.object_store.address import Address, Provider
from schemalint.tables.storage.kinds.object_store.failures import failure, require_reachable

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

    Client: TypeAlias = S3Store | GCSStore | AzureStore

_VARIABLES: Final[Mapping[Provider, str]] = {"s3": "AWS_", "gcs": "GOOGLE_", "azure": "AZURE_"}
_ENDPOINT: Final = re.compile(
    r"((aws|azure(_storage)?|google)_)?(endpoint(_url(_s3)?)?|base_url)", re.IGNORECASE
)
_SENT_SECRET: Final = re.compile("(access_key_id|secret_access_key|token|sas_key)$", re.IGNORECASE)
_UNSIGNED: Final = re.compile(r"((aws|azure(_storage)?|google)_)?skip_signature", re.IGNORECASE)
_RENAMED: Final[Mapping[tuple[Provider, str], str]] = {
    ("s3", "anonymous"): "skip_signature",
    ("gcs", "anonymous"): "skip_signature",
    ("azure", "anonymous"): "skip_signature",
    ("gcs", "endpoint"): "base_url",
}
_ADDRESS: Final = re.compile("endpoint|base_url|account_name|allow_http", re.IGNORECASE)
_CERTIFICATE: Final = re.compile(r"(proxy_ca|root)_certificate", re.IGNORECASE)
_IMPORTING: Final = threading.Lock()
_OPENING: Final = threading.Lock()
_PREFIX: Final = re.compile(r"^(aws|azure(_storage)?)_", re.IGNORECASE)
_SKIP_SIGNATURE: Final = "skip_signature"
_S3: Final = {
    "access_key_id": "access_key_id",
    "secret_access_key": "secret_access_key",
    "session_token": "token",
    "token": "token",
    _SKIP_SIGNATURE: _SKIP_SIGNATURE,
}
_AZURE: Final = {"sas_token": "sas_token", "sas_key": "sas_token", _SKIP_SIGNATURE: _SKIP_SIGNATURE}
_GROUPS: Final[Mapping[Provider, tuple[Mapping[str, str], frozenset[str]]]] = {
    "s3": (_S3, frozenset({"access_key_id", "secret_access_key"})),
    "azure": (_AZURE, frozenset({"sas_token"})),
    "gcs": ({}, frozenset({""})),
}
"""The names of settings with the names in obstore's credential, and what of these makes it complete."""


def open_client(address: Address, storage: Mapping[str, str]) -> Client:
    """Open the client; settings of the target override the environment.

    Raises:
        LiveError: A setting is invalid, or obstore is not installed.
    """
    settings = {_RENAMED.get((address.provider, key.lower()), key): value for key, value in storage.items()}
    prefix = _VARIABLES[address.provider]
    variables = {name: value for name, value in os.environ.items() if name.startswith(prefix)}
    _require_usable({**variables, **settings})
    _require_encrypted(variables, settings)
    require_reachable(store_key(address, storage), address.uri)
    client = _client_types(address)[address.provider]
    from obstore.exceptions import BaseError  # noqa: PLC0415 (only for object stores)

    config = tuple(sorted({**settings, **address.config}.items()))
    try:
        with _OPENING:
            return _shared(client, address.provider, address.bucket, config, tuple(os.environ.items()))
    except (BaseError, OSError, ValueError) as error:
        raise failure(address.uri, address.bucket_label, error, storage) from None


@lru_cache(maxsize=16)
def _shared(
    client: Callable[..., Client],
    provider: Provider,
    bucket: str,
    config: tuple[tuple[str, str], ...],
    _environment: tuple[tuple[str, str], ...],
) -> Client:
    """Open the client of all tables of a bucket, which share its connections and credentials.

    The client reads the environment too: credentials, proxies, and where certificates are.
    """
    return client(
        bucket,
        **options(provider, dict(config)),
        retry_config={
            "max_retries": limits.STORE_RETRIES,
            "retry_timeout": timedelta(seconds=limits.STORE_RETRY_SECONDS),
        },
    )


def store_key(address: Address, storage: Mapping[str, str]) -> str:
    """Return a text that the tables share whose requests go to one bucket at one address."""
    settings = {**os.environ, **storage, **address.config}.items()
    addresses = (f"{name}={value}" for name, value in sorted(settings) if _ADDRESS.search(name))
    return " ".join((address.provider, address.bucket, *addresses))


def _client_types(address: Address) -> Mapping[Provider, Callable[..., Client]]:
    try:
        # obstore's modules import each other: a second thread would see them half initialized.
        with _IMPORTING:
            from obstore.store import AzureStore, GCSStore, S3Store  # noqa: PLC0415 (see above)
    except ImportError:
        raise LiveError(
            f"{address.uri}: reading object stores needs the package obstore",
            help="Install it: pip install 'schemalint[live]'",
        ) from None
    return {"s3": S3Store, "gcs": GCSStore, "azure": AzureStore}


def _require_usable(settings: Mapping[str, str]) -> None:
    """Refuse values that make the client, perhaps the process, abort, or that it ignores (obstore 0.12.1)."""
    for name, value in settings.items():
        if _CERTIFICATE.fullmatch(name):
            raise LiveError(f"{name} is no setting that the client obeys", help=trust_help())
        if _SENT_SECRET.search(name) and not value.isprintable():
            raise LiveError(
                f"{name} contains a line break, or another character that cannot be sent",
                help="Often it is the final line break of the file that the value was read from.",
            )
        if value and _ENDPOINT.fullmatch(name) and not re.match("https?://[^/]", value):
            raise LiveError(f"{name} is not a URL", help="Write https://host, or http://host:port.")


def _require_encrypted(variables: Mapping[str, str], settings: Mapping[str, str]) -> None:
    """Refuse an endpoint to which credentials would be sent without encryption.

    The environment may name one for its own credentials, with AWS_ALLOW_HTTP, but not for the target's.
    """
    is_unsigned = any(
        _UNSIGNED.fullmatch(name) and value.lower() in {"true", "1", "yes", "on"}
        for name, value in (*variables.items(), *settings.items())
    )
    has_secrets = any(map(_SENT_SECRET.search, settings))
    for name, value in (*settings.items(), *(variables.items() if has_secrets else ())):
        if value and not is_unsigned and _ENDPOINT.fullmatch(name) and not may_carry_secrets(value):
            raise LiveError(
                f"{name} is not https: credentials would be sent without encryption",
                help="Write https://; only a store on this machine may have http, and one that needs no "
                'credentials: anonymous = "true".',
            )


def options(provider: Provider, settings: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of obstore's client: ``config``, and for complete groups a provider."""
    names, needed = _GROUPS[provider]
    key_of = {name: names.get(_PREFIX.sub("", name.lower())) for name in settings}
    group = {key: settings[name] for name, key in key_of.items() if key is not None and settings[name]}
    others = {name: value for name, value in settings.items() if key_of[name] is None}
    if not needed <= group.keys() or has_credentials(others):
        return {"config": settings}
    config = {**others, _SKIP_SIGNATURE: group.pop(_SKIP_SIGNATURE, "false")}
    optional = {"token": None} if provider == "s3" else {}
    credential = {**optional, **group, "expires_at": None}
    return {"config": config, "credential_provider": lambda: credential}
