"""The settings of Hadoop's connectors for the target's object store, from those that obstore gets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from schemalint.base.credentials import has_credentials
from schemalint.base.values import field, frozen
from schemalint.delta.log_store import S3_SCHEMES
from schemalint.project.config.storage_settings import variable_of
from schemalint.project.config.trust import TrustedTarget

_PREFIX: Final = "spark.hadoop."
_TRUE: Final = frozenset({"true", "1", "yes", "on"})
_FLAGS: Final = frozenset(
    {"anonymous", "use_azure_cli", "use_emulator", "use_fabric_endpoint", "request_payer"}
)

# Settings beside credentials without which a session is somewhere else, or is refused.
_MATTER: Final = frozenset(
    {"endpoint", "base_url", "use_emulator", "use_fabric_endpoint", "request_payer", "authority_host"}
)
# obstore takes several names for a setting.
_SAME: Final[Mapping[str, str]] = {
    "token": "session_token",
    "default_region": "region",
    "endpoint_url": "endpoint",
    "skip_signature": "anonymous",
    "access_key": "account_key",
    "master_key": "account_key",
    "storage_account_key": "account_key",
    "sas_token": "sas_key",
    "storage_sas_key": "sas_key",
    "authority_id": "tenant_id",
    "bearer_token": "session_token",
    "service_account_path": "service_account",
}


class _Login(NamedTuple):
    """A way to log in.

    Attributes:
        needs: The settings for it, by obstore's names.
        conf: Hadoop's settings for it; ``{name}`` stands for the value of a setting.
    """

    needs: tuple[str, ...]
    conf: Mapping[str, str]


class _Setting(NamedTuple):
    """A setting of the store: its value as Hadoop reads it, and its name in messages."""

    value: str
    name: str


@frozen
class StoreConf:
    """What a session gets for the store of a target.

    Attributes:
        conf: The settings of the session.
        left_out: The settings of the store, or variables, that Hadoop has no counterpart of, by the prefix of
            the settings with which a user can do without.
    """

    conf: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


# hadoop-aws, index.md "Authentication properties" and "connecting.md".
_S3A: Final[Mapping[str, str]] = {
    "access_key_id": "access.key",
    "secret_access_key": "secret.key",
    "session_token": "session.token",
    "region": "endpoint.region",
    "endpoint": "endpoint",
}
_S3A_PREFIX: Final = "fs.s3a."
_S3A_ANONYMOUS: Final = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
# S3A's own chain of credentials reads the keys in the environment.
_S3A_VARIABLES: Final = {
    "AWS_DEFAULT_REGION": "region",
    "AWS_REGION": "region",
    "AWS_ENDPOINT_URL": "endpoint",
}

# hadoop-gcp, Configuration.md "Authentication". UNAUTHENTICATED fails in 3.5.0, with a NullPointerException.
_GOOGLE: Final = (
    _Login(
        ("service_account",),
        {
            "fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
            "fs.gs.auth.service.account.json.keyfile": "{service_account}",
        },
    ),
    _Login(("application_credentials",), {"fs.gs.auth.type": "APPLICATION_DEFAULT"}),
)
_GOOGLE_VARIABLES: Final = {
    "GOOGLE_SERVICE_ACCOUNT_PATH": "service_account",
    "GOOGLE_SERVICE_ACCOUNT": "service_account",
    "GOOGLE_SERVICE_ACCOUNT_KEY": "service_account_key",
    "GOOGLE_BEARER_TOKEN": "session_token",
    "GOOGLE_APPLICATION_CREDENTIALS": "application_credentials",
}

# hadoop-azure, abfs.md "Authentication". Each key is followed by the host of the account. Measured with
# hadoop-azure and hadoop-gcp 3.5.0: their classes take these keys, and replace variables in the values.
_TYPE: Final = "fs.azure.account.auth.type"
_OAUTH: Final = {_TYPE: "OAuth"}
_OAUTH_PROVIDER: Final = "fs.azure.account.oauth.provider.type"
_OAUTH2: Final = "fs.azure.account.oauth2."
_PROVIDERS: Final = "org.apache.hadoop.fs.azurebfs.oauth2."
_AZURE: Final = (
    _Login(("account_key",), {_TYPE: "SharedKey", "fs.azure.account.key": "{account_key}"}),
    _Login(
        ("client_id", "client_secret", "tenant_id"),
        {
            **_OAUTH,
            _OAUTH_PROVIDER: f"{_PROVIDERS}ClientCredsTokenProvider",
            f"{_OAUTH2}client.id": "{client_id}",
            f"{_OAUTH2}client.secret": "{client_secret}",
            f"{_OAUTH2}client.endpoint": "https://login.microsoftonline.com/{tenant_id}/oauth2/token",
        },
    ),
    _Login(
        ("client_id", "federated_token_file", "tenant_id"),
        {
            **_OAUTH,
            _OAUTH_PROVIDER: f"{_PROVIDERS}WorkloadIdentityTokenProvider",
            f"{_OAUTH2}client.id": "{client_id}",
            f"{_OAUTH2}msi.tenant": "{tenant_id}",
            f"{_OAUTH2}token.file": "{federated_token_file}",
        },
    ),
    _Login(("sas_key",), {_TYPE: "SAS", "fs.azure.sas.fixed.token": "{sas_key}"}),
    # An identity of the machine.
    _Login(
        ("client_id",),
        {**_OAUTH, _OAUTH_PROVIDER: f"{_PROVIDERS}MsiTokenProvider", f"{_OAUTH2}client.id": "{client_id}"},
    ),
)
_AZURE_VARIABLES: Final = {
    "AZURE_STORAGE_ACCOUNT_KEY": "account_key",
    "AZURE_STORAGE_ACCESS_KEY": "account_key",
    "AZURE_STORAGE_SAS_KEY": "sas_key",
    "AZURE_STORAGE_SAS_TOKEN": "sas_key",
    "AZURE_STORAGE_TOKEN": "session_token",
    "AZURE_CLIENT_ID": "client_id",
    "AZURE_CLIENT_SECRET": "client_secret",
    "AZURE_TENANT_ID": "tenant_id",
    "AZURE_FEDERATED_TOKEN_FILE": "federated_token_file",
}


def store_conf(target: TrustedTarget, schemes: Iterable[str]) -> StoreConf:
    """Return the settings of a local session for the stores of a target.

    Secrets stay in the environment: Hadoop replaces ``${env.NAME}`` itself, so neither a process list nor
    Spark shows them.
    """
    conf: dict[str, str] = {}
    left_out: dict[str, tuple[str, ...]] = {}
    if s3 := S3_SCHEMES.intersection(schemes):
        settings = {**_of_variables(_S3A_VARIABLES), **_of_storage(target)}
        conf |= _s3a(settings, s3)
        left_out[_S3A_PREFIX] = _left_out(settings, {*_S3A, "anonymous"})
    if "gs" in schemes:
        conf |= _logged_in(target, _GOOGLE, _GOOGLE_VARIABLES, left_out, "fs.gs.")
    if {"abfs", "abfss"}.intersection(schemes):
        of_account = _logged_in(target, _AZURE, _AZURE_VARIABLES, left_out, "fs.azure.")
        conf |= {f"{key}.{host}": value for host in _accounts(target) for key, value in of_account.items()}
    return StoreConf(
        {f"{_PREFIX}{key}": value for key, value in conf.items()},
        {f"{_PREFIX}{prefix}": names for prefix, names in left_out.items() if names},
    )


def _of_storage(target: TrustedTarget) -> dict[str, _Setting]:
    settings: dict[str, _Setting] = {}
    for key, value in target.storage.items():
        name = re.sub(r"^(aws|azure_storage|azure|google)_", "", key.lower())
        name = _SAME.get(name, name)
        variable = variable_of(value)
        if name in _FLAGS and value.lower() not in _TRUE:
            continue
        if name == "application_credentials" and variable != "GOOGLE_APPLICATION_CREDENTIALS":
            name = f"google_{name}"  # Hadoop reads that variable alone
        shown = f"targets.{target.name}.storage.{key}"
        settings[name] = _Setting(value if variable is None else _in_environment(variable), shown)
    return settings


def _of_variables(variables: Mapping[str, str]) -> dict[str, _Setting]:
    return {
        key: _Setting(_in_environment(name), name) for name, key in variables.items() if os.environ.get(name)
    }


def _in_environment(variable: str) -> str:
    return f"${{env.{variable}}}"


def _s3a(settings: Mapping[str, _Setting], schemes: Iterable[str]) -> Iterator[tuple[str, str]]:
    for scheme in schemes:
        if scheme != "s3a":  # Hadoop knows no other
            yield f"fs.{scheme}.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem"
    for name, key in _S3A.items():
        if name in settings:
            yield f"{_S3A_PREFIX}{key}", settings[name].value
    if "anonymous" in settings:
        yield f"{_S3A_PREFIX}aws.credentials.provider", _S3A_ANONYMOUS
    virtual = settings.get("virtual_hosted_style_request")
    if "endpoint" in settings and not (virtual and virtual.value.lower() in _TRUE):
        yield f"{_S3A_PREFIX}path.style.access", "true"


def _logged_in(
    target: TrustedTarget,
    logins: Sequence[_Login],
    variables: Mapping[str, str],
    left_out: dict[str, tuple[str, ...]],
    prefix: str,
) -> dict[str, str]:
    """Return the settings of the first way to log in that is possible; none if Hadoop lacks another one."""
    settings = _of_storage(target)
    if not has_credentials(target.storage):
        settings = {**_of_variables(variables), **settings}
    keys = {name for login in logins for name in login.needs}
    left_out[prefix] = _left_out(settings, keys)
    if _credentials(settings, keys):  # no other login takes the place of one that Hadoop lacks
        return {}
    conf = next((login.conf for login in logins if settings.keys() >= {*login.needs}), {})
    values = {name: setting.value for name, setting in settings.items()}
    return {key: value.format_map(values) for key, value in conf.items()}


def _credentials(settings: Iterable[str], used: Iterable[str]) -> set[str]:
    return {name for name in {*settings}.difference(used) if has_credentials({name: ""})}


def _left_out(settings: Mapping[str, _Setting], used: Iterable[str]) -> tuple[str, ...]:
    names = _credentials(settings, used) | (_MATTER.intersection(settings).difference(used))
    return tuple(sorted(settings[name].name for name in names))


def _accounts(target: TrustedTarget) -> Iterator[str]:
    """Yield the hosts of the accounts, as Hadoop's settings have them: ``account.dfs.core.windows.net``."""
    for place in dict.fromkeys((target.root or "", *target.allowed_locations)):
        if match := re.match(r"abfss?://[^@/]*@([^/]+)", place, re.IGNORECASE):
            yield match[1]
