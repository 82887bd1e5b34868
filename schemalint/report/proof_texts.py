"""What `plan --prove` counted, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.base.phrases import counted
from schemalint.deploy.deploy_input import Deployment, RewriteProof
from schemalint.report.text_helpers import duration_text

_TAKES: Final = 4
"""How many times one read of all rows a rewrite may take until its commit: an estimate, not measured."""


def proof_lines(deployment: Deployment) -> Iterator[str]:
    """Yield what fills and drops would find, and what rewrites would meet, a line each."""
    for table, proofs in deployment.proofs.items():
        for proof in proofs:
            counts = proof.text if proof.problem is None else f"not counted: {proof.problem}"
            what = proof.column
            if proof.source != proof.column:
                what = f"{what} from {proof.source}"
            yield f"{table}: {what}: {counts}"
    for table, rewrite_proof in deployment.rewrite_proofs.items():
        yield from (f"{table}: {line}" for line in rewrite_lines(rewrite_proof))


def rewrite_lines(proof: RewriteProof) -> Iterator[str]:
    """Yield what a rewrite would meet, as it was counted."""
    if refused := {name: rows for name, rows in proof.refused.items() if rows}:
        texts = ", ".join(f"{counted(rows, 'row')} by {name}" for name, rows in refused.items())
        yield f"the rewrite would be refused: {texts}"
    elif proof.refused:
        yield f"no row is refused by {', '.join(proof.refused)}"
    if proof.problem is not None:
        yield f"not all is known: {proof.problem}"
    if proof.longest_pause is None or proof.reads_in is None:
        return
    needed = _TAKES * proof.reads_in
    pause = f"the longest pause between commits of the last 14 days was {duration_text(proof.longest_pause)}"
    takes = f"the rewrite may take {duration_text(needed)}, {_TAKES} times what a read of its rows took"
    if proof.longest_pause >= needed:
        yield f"{takes}; {pause}"
        return
    writers = ", ".join(f"{name} ({counted(number, 'commit')})" for name, number in proof.writers.items())
    yield f"{takes}, and {pause}: pause {writers}"
