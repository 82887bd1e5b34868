"""Parse references to object stores into provider, bucket and prefix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from posixpath import normpath
from typing import Final, Literal

from schemalint.base.errors import LiveError
from schemalint.base.redaction import without_uri_secrets
from schemalint.base.values import field, frozen

Provider = Literal["s3", "gcs", "azure"]

PROVIDERS: Final[Mapping[str, Provider]] = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gcs",
    "gcs": "gcs",
    "az": "azure",
    "abfs": "azure",
    "abfss": "azure",
}
_REFERENCE: Final = re.compile(r"(?P<scheme>[A-Za-z0-9]+)://(?P<authority>[^/]*)(?P<path>.*)", re.DOTALL)
_BUCKET: Final = re.compile(r"[A-Za-z0-9$][A-Za-z0-9._$-]*")
_AZURE_HOST: Final = re.compile(
    r"(?P<account>[a-z0-9]+)\.(?:dfs|blob)\."
    r"(?P<cloud>core\.windows\.net|core\.chinacloudapi\.cn|core\.usgovcloudapi\.net|fabric\.microsoft\.com)",
    re.IGNORECASE,
)
_AZURE_PREFIX: Final = re.compile(r"^azure_(?:storage_)?")
_DEFAULT_CLOUD: Final = "core.windows.net"


@frozen
class Address:
    """The location of a table in an object store.

    Attributes:
        uri: The reference, without the segments that Hadoop drops: empty ones and ``.``.
        bucket: The bucket or container.
        prefix: The table's folder in the bucket, without slashes around it; empty for the bucket itself.
        config: Settings of the store that the reference contains.
    """

    provider: Provider
    uri: str
    bucket: str
    prefix: str
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def bucket_label(self) -> str:
        """The bucket as messages name it, such as ``bucket lake``."""
        return f"{'container' if self.provider == 'azure' else 'bucket'} {self.bucket}"

    def uri_of(self, key: str) -> str:
        """Return the reference of a key in the same bucket."""
        scheme, _, rest = self.uri.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}/{key}".rstrip("/")


def address_key(reference: str, storage: Mapping[str, str]) -> str:
    """Return a text that is equal for the addresses of one folder: provider, account, bucket and prefix.

    Args:
        reference: The reference of a table.
        storage: Settings of the store; they may name Azure's account.
    """
    scheme, _, rest = reference.partition("://")
    authority, _, path = rest.partition("/")
    try:  # Hadoop resolves `..` within the bucket
        address = parse_address(f"{scheme}://{authority}{normpath(f'/{path}')}")
    except LiveError:  # whoever opens the table reports it
        return reference.rstrip("/")
    bucket = address.bucket
    if address.provider == "azure":
        settings = {_AZURE_PREFIX.sub("", key.lower()): value for key, value in storage.items()}
        settings.update(address.config)
        host = (settings.get("endpoint", ""), settings.get("account_name", "").lower())
        bucket = "@".join(part for part in (bucket.lower(), *host) if part)
    return f"{address.provider}://{bucket}/{address.prefix}"


def is_address(reference: str) -> bool:
    """Whether the reference has the scheme of an object store."""
    match = _REFERENCE.fullmatch(reference)
    return match is not None and match["scheme"].lower() in PROVIDERS


def parse_address(reference: str) -> Address:
    """Parse the reference of a table in an object store.

    The path is literal, as in Spark: percent signs, question marks and all others.

    Raises:
        LiveError: The reference names no bucket, or contains ``..``, a signature or a password.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise LiveError(f"{reference} is not an object store URI", help="Write s3://bucket/path.")
    provider = PROVIDERS[match["scheme"].lower()]
    bucket, config = _parse_authority(provider, match["scheme"], match["authority"])
    root = f"{match['scheme']}://{match['authority']}"
    if "?" in match["path"] and without_uri_secrets(reference) != reference:
        raise LiveError(
            f"{root}{match['path'].partition('?')[0]}: the URI must not have a signed query",
            help="Give credentials in the environment or in the target's storage block.",
        )
    parts = [part for part in match["path"].split("/") if part not in ("", ".")]
    if ".." in parts or not all(part.isprintable() for part in parts):
        raise LiveError(f"{root}: {match['path']!r} is not a valid table path")
    return Address(provider, "/".join((root, *parts)), bucket, "/".join(parts), config)


def _parse_authority(provider: Provider, scheme: str, authority: str) -> tuple[str, Mapping[str, str]]:
    """Return the bucket, and the settings of the store that the authority contains."""
    bucket, at, host = authority.partition("@")
    if not _BUCKET.fullmatch(bucket) or (at and provider != "azure"):
        # The message hides the authority: older Hadoop allowed keys in it, s3://key:secret@bucket.
        raise LiveError(
            f"a URI {scheme}://… does not name exactly one bucket",
            help="Write scheme://bucket/path: credentials do not belong in a URI.",
        )
    return bucket, _azure_account(bucket, host) if at else {}


def _azure_account(container: str, host: str) -> Mapping[str, str]:
    """Return the settings of the account; other hosts than Azure's must not receive credentials."""
    match = _AZURE_HOST.fullmatch(host)
    if match is None:
        raise LiveError(
            f"container {container}: the host does not belong to Azure Storage",
            help="Write abfss://container@account.dfs.core.windows.net/path; set another host as the "
            "endpoint in the target's storage block.",
        )
    account = {"account_name": match["account"].lower()}
    if match["cloud"].lower() == _DEFAULT_CLOUD:
        return account
    return {**account, "endpoint": f"https://{match['account']}.blob.{match['cloud']}".lower()}
