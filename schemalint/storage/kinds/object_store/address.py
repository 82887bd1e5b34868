"""References to object stores, taken apart: which store, which bucket, which prefix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from schemalint.errors import LiveError
from schemalint.values import field, frozen

Provider = Literal["s3", "gcs", "azure"]

_PROVIDERS: Final[Mapping[str, Provider]] = {
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
_USUAL_CLOUD: Final = "core.windows.net"


@frozen
class Address:
    """A table's place.

    Attributes:
        uri: The reference, without what Hadoop drops from it: empty and idle segments.
        bucket: The bucket or container.
        prefix: The table's folder in it, without slashes around it; empty for the bucket itself.
        config: What the reference says of the store.
    """

    provider: Provider
    uri: str
    bucket: str
    prefix: str
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The bucket, for people."""
        return f"{'container' if self.provider == 'azure' else 'bucket'} {self.bucket}"

    def uri_of(self, key: str) -> str:
        """The reference of another place in the same bucket."""
        scheme, _, rest = self.uri.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}/{key}".rstrip("/")


def is_address(reference: str) -> bool:
    """Whether the scheme is that of an object store."""
    match = _REFERENCE.fullmatch(reference)
    return match is not None and match["scheme"].lower() in _PROVIDERS


def parse_address(reference: str) -> Address:
    """The place of a table.

    A path is taken as it is, percent signs and all, as Spark does.

    Raises:
        LiveError: It names no bucket, or holds what it should not: ``..``, a query, a password.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise LiveError(f"{reference} is no address of an object store", help="Write s3://bucket/path.")
    provider = _PROVIDERS[match["scheme"].lower()]
    bucket, config = _store(provider, match["scheme"], match["authority"])
    shown = f"{match['scheme']}://{match['authority']}"
    if "?" in match["path"]:
        raise LiveError(
            f"{shown}{match['path'].partition('?')[0]}: a place has no query",
            help="What opens the store comes from the environment or the target's storage block.",
        )
    parts = [part for part in match["path"].split("/") if part not in ("", ".")]
    if ".." in parts or not all(part.isprintable() for part in parts):
        raise LiveError(f"{shown}: the path {match['path']!r} is no path of a table")
    return Address(provider, "/".join((shown, *parts)), bucket, "/".join(parts), config)


def _store(provider: Provider, scheme: str, authority: str) -> tuple[str, Mapping[str, str]]:
    """The bucket, and what the authority says beside it."""
    bucket, at, host = authority.partition("@")
    if not _BUCKET.fullmatch(bucket) or (at and provider != "azure"):
        # Not shown: older Hadoop took keys there, s3://key:secret@bucket.
        raise LiveError(
            f"an address {scheme}://… names no bucket, or more than one",
            help="Write scheme://bucket/path: what opens the store does not belong into an address.",
        )
    return bucket, _azure_account(bucket, host) if at else {}


def _azure_account(container: str, host: str) -> Mapping[str, str]:
    """The account that a host stands for; credentials are sent to hosts of Azure alone."""
    match = _AZURE_HOST.fullmatch(host)
    if match is None:
        raise LiveError(
            f"container {container}: the host is none of Azure Storage",
            help="Write abfss://container@account.dfs.core.windows.net/path; another host is to be the "
            "endpoint in the target's storage block.",
        )
    account = {"account_name": match["account"].lower()}
    if match["cloud"].lower() == _USUAL_CLOUD:
        return account
    return {**account, "endpoint": f"https://{match['account']}.blob.{match['cloud']}".lower()}
