"""A server with a certificate of a private authority: a store and a catalog both obey SSL_CERT_FILE."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from schemalint.base.errors import LiveError
from schemalint.tables.catalog.kinds.unity.http import Client
from schemalint.tables.storage import read_table
from support.servers import refusing_server

# Python 3.13 and later refuse the certificate of an authority that does not say what it signs, and those that
# do not identify the authority's key (VERIFY_X509_STRICT).
_SIGNS_CERTIFICATES = x509.KeyUsage(
    key_cert_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)
DENIED = "<Error><Code>AccessDenied</Code></Error>"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificate of an authority, and a server's certificate with its key."""
    folder = tmp_path_factory.mktemp("authority")
    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root_name = _name("An authority of tests")
    own = x509.SubjectKeyIdentifier.from_public_key(root_key.public_key())
    root = (
        _certificate(root_name, root_name, root_key.public_key(), None)
        .add_extension(own, critical=False)
        .add_extension(_SIGNS_CERTIFICATES, critical=True)
        .sign(root_key, hashes.SHA256())
    )
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key())
    server = _certificate(_name("A server"), root_name, key.public_key(), address).add_extension(
        issuer, critical=False
    )
    pem = serialization.Encoding.PEM
    (folder / "authority.pem").write_bytes(root.public_bytes(pem))
    unencrypted = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(
        key.private_bytes(pem, *unencrypted) + server.sign(root_key, hashes.SHA256()).public_bytes(pem)
    )
    return folder


@pytest.fixture(params=["store", "catalog"])
def ask(request: pytest.FixtureRequest, authority: Path) -> Iterator[Callable[[str], object]]:
    """Send a request to a server that denies everything, by an address of this machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "server.pem")
    keys = {"access_key_id": "AKIA", "secret_access_key": "s"}
    with refusing_server(403, DENIED, tls=context) as address:

        def ask_at(host: str) -> object:
            uri = address.replace("127.0.0.1", host)
            if request.param == "catalog":
                return Client(uri, wait=lambda _seconds: None).get(("catalogs",))
            return read_table("s3://lake/t", storage={"endpoint": uri, **keys})

        yield ask_at


def test_an_unknown_authority_is_an_error_that_names_the_variable(
    ask: Callable[[str], object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(LiveError, match=r"certificate (of the store's endpoint )?is not trusted") as caught:
        ask("127.0.0.1")
    assert "set SSL_CERT_FILE to a PEM file" in caught.value.help
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nowhere.pem"))
    with pytest.raises(LiveError, match="is not trusted") as caught:
        ask("127.0.0.1")
    assert "nowhere.pem, but there is no such file" in caught.value.help


def test_an_authority_in_the_file_is_trusted_for_its_hosts(
    ask: Callable[[str], object], authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority / "authority.pem"))
    with pytest.raises(LiveError, match=r"is denied|no permission"):
        ask("127.0.0.1")
    with pytest.raises(
        LiveError, match=r"certificate .*(is for another host|is not valid: Hostname mismatch)"
    ):
        ask("localhost")


def test_an_address_without_tls_is_told() -> None:
    with refusing_server(403) as plain:
        address = plain.replace("http:", "https:")
        with pytest.raises(LiveError, match="the store's endpoint answers without TLS"):
            read_table("s3://lake/t", storage={"endpoint": address, "anonymous": "true"})
        with pytest.raises(LiveError, match="the catalog answers without TLS"):
            Client(address).get(("catalogs",))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    address: x509.SubjectAlternativeName | None,
) -> x509.CertificateBuilder:
    now = dt.datetime.now(tz=dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=address is None, path_length=None), critical=True)
    )
    return builder if address is None else builder.add_extension(address, critical=False)
