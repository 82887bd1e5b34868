"""The text of the new configuration."""

from __future__ import annotations

import json
from typing import Final

from schemalint.base.values import frozen
from schemalint.contract.contract_files import ContractFiles
from schemalint.project.git import EmptyTree, Repository, Worktree, changes, list_files

CONFIGURATION: Final = "schemalint.toml"
CONTRACTS: Final = "contracts"
BASELINE: Final = "schemalint-baseline.json"
_YAML: Final = (".yml", ".yaml")
EXCEPTIONS: Final = "schemalint_exceptions: 1\nexceptions: []\n"

_CREDENTIALS: Final = {
    "s3": (
        "AWS_*",
        ('region = "eu-central-1"', 'access_key_id = "${LAKE_KEY}"', 'secret_access_key = "${LAKE_SECRET}"'),
    ),
    "gs": ("GOOGLE_*", ('service_account_key = "${LAKE_KEY}"',)),
    "az": ("AZURE_*", ('account_name = "lake"', 'account_key = "${LAKE_KEY}"')),
}
_STORES: Final = {"s3a": "s3", "gcs": "gs", "abfs": "az", "abfss": "az"}


@frozen
class NewTarget:
    """The target that the command line describes."""

    name: str
    root: str | None = None
    catalog: str | None = None


def is_folder_free(repository: Repository) -> bool:
    """Whether the folder of contracts can be theirs: no other YAML is in it, and no contract elsewhere."""
    chosen = ContractFiles()
    contracts = {*changes(repository, EmptyTree("one side"), Worktree(), chosen.format_of).head}
    listing = list_files(repository, Worktree(), (f"{CONTRACTS}/**",))
    return {path for path in (*listing.blobs, *listing.on_disk) if path.endswith(_YAML)} == contracts


def configuration_text(
    target: NewTarget, *, has_folder: bool, has_owners: bool, manifest: str | None = None
) -> str:
    """Return the text of a configuration with one target; it holds no credentials.

    Args:
        target: The target.
        has_folder: Whether all contracts are in their folder: then each YAML there must be one.
        has_owners: Whether the repository says who owns its files, so that owners can approve exceptions.
        manifest: The manifest of the dbt project, in which tables are declared too.
    """
    sources = [_quoted(f"{CONTRACTS}/**")] if has_folder or manifest else []
    if manifest is not None:
        sources.append(f'{{path = {_quoted(manifest)}, format = "dbt"}}')
    lines = [
        "# All keys: `schemalint schema config`",
        *([f"contracts = [{', '.join(sources)}]"] if sources else []),
        f"baseline = {_quoted(BASELINE)}  # findings of the day on which schemalint came, which fail nothing",
    ]
    if has_owners:
        lines += [
            "",
            "[exceptions]",
            'accept = ["file"]  # only in exceptions.yaml, whose owners CODEOWNERS names',
        ]
    lines += ["", f"[targets.{_key(target.name)}]"]
    if target.root is not None:
        lines += [f"root = {_quoted(target.root)}", *_storage(target)]
    if target.catalog is not None:
        lines += [f"catalog = {_quoted(target.catalog)}  # of a Spark session: --via spark"]
    return "\n".join(lines) + "\n"


def _storage(target: NewTarget) -> list[str]:
    scheme, separator, _rest = (target.root or "").partition("://")
    variables, settings = _CREDENTIALS.get(_STORES.get(scheme, scheme), ("", ())) if separator else ("", ())
    if not settings:
        return []
    return [
        "",
        f"# Without settings, those of the environment count: {variables}. Secrets are names of variables.",
        f"# [targets.{_key(target.name)}.storage]",
        *(f"# {setting}" for setting in settings),
    ]


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if is_bare else _quoted(name)


def _quoted(text: str) -> str:
    """Return a basic string of TOML, which escapes as JSON does."""
    return json.dumps(text, ensure_ascii=False)
