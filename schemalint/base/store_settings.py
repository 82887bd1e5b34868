"""The settings that open a store, and whose credentials they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_PROVIDER: Final = r"^(aws|azure_storage|azure|google)_"
_CREDENTIAL: Final = (
    # Keys and tokens, then what finds or replaces them; `token` and `key` also end other names.
    r"(access|account|master|storage_account|storage_sas|sas|private|service_account)_key(_id)?|sas_token"
    r"|secret_access_key|((session|bearer)_)?token|service_account(_path)?|application_credentials"
    r"|client_(id|secret)|(tenant|authority|msi_resource|object)_id|federated_token_file|username|password"
    r"|(assume_)?role_(arn|session_name)|web_identity_token_file|container_credentials_.*|.*_(token|secret)"
    r"|anonymous|skip_signature|use_azure_cli|(metadata|identity|msi)_endpoint|profile"
)


class StoreSettings(dict[str, str]):
    """Settings by obstore's names; see `schemalint.project.config.trust.resolve_storage`.

    Attributes:
        origin: Whose credentials they contain, for messages, as ``the settings of targets.prod.storage``.
        remedy: What to do if the store does not accept these.
    """

    origin: str
    remedy: str

    def __init__(self, settings: Mapping[str, str], origin: str, remedy: str) -> None:
        super().__init__(settings)
        self.origin = origin
        self.remedy = remedy


def has_credentials(settings: Mapping[str, str]) -> bool:
    """Whether settings contain credentials, or say where they come from or that requests have none."""
    return any(re.fullmatch(_CREDENTIAL, re.sub(_PROVIDER, "", name.lower())) for name in settings)
