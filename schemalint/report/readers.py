"""The clients of changed tables, as all reports describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schemalint.model.client import ClientSupport


def client_json(client: ClientSupport) -> dict[str, object]:
    """Return what every JSON report says of a client; ``before`` is null where there was no table."""
    return {
        "table": client.table,
        "consumer": client.consumer.name,
        "client": client.consumer.client,
        "version": client.consumer.version,
        "before": client.before.verdict.value if client.before else None,
        "after": client.after.verdict.value,
        "because": client.because,
    }


def client_text(client: ClientSupport) -> str:
    """Describe what a client does before and after: ``dashboards (trino 476): ok, then refuses: …``."""
    after = client.after.verdict.value
    before = client.before.verdict.value if client.before else after
    verdict = after if before == after else f"{before}, then {after}"
    assumed = " (assumed from an older version)" if client.after.assumed else ""
    because = f": {client.because}" if client.because else ""
    return f"{client.consumer.described}: {verdict}{assumed}{because}"
