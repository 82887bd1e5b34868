"""Commands measured in pairs: ours and a peer's in turn, so that a busy machine disturbs both alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took.

    Attributes:
        cpu: User and system seconds, with those of its own children.
        peak: Its largest memory in MiB.
        output: What it printed.
    """

    cpu: float
    peak: float
    output: str = ""


_STATUSES = frozenset({0, 1, 100})
"""Without and with findings: 1 from schemalint, 100 from buf."""

Pairs: TypeAlias = list[tuple[Cost, Cost]]


def measured(
    ours: Sequence[str],
    peer: Sequence[str],
    runs: int,
    folder: Path | None = None,
    peer_folder: Path | None = None,
) -> Pairs:
    """Run two commands in turn, ``runs`` times after a first run for the caches, and return their costs."""
    return [(run(ours, folder), run(peer, peer_folder)) for _ in range(runs + 1)][1:]


def run(command: Sequence[str], folder: Path | None = None) -> Cost:
    """One process, to its end.

    Raises:
        RuntimeError: Its exit status is not one of `_STATUSES`.
    """
    # As where packages are installed: there Python has their bytecode.
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=messages, text=True
        )
        if process.stdout is None:
            raise RuntimeError("the process has no output")
        with process.stdout as stdout:
            output = stdout.read()
        _pid, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) not in _STATUSES:
            messages.seek(0)
            raise RuntimeError(f"{command} failed: {messages.read()}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def describe(name: str, pairs: Pairs) -> str:
    """One line: medians of the ratios pair by pair, and of our own figures."""
    cpu = statistics.median(ours.cpu / peer.cpu for ours, peer in pairs)
    memory = statistics.median(ours.peak / peer.peak for ours, peer in pairs)
    low, high = spread([ours.cpu / peer.cpu for ours, peer in pairs])
    ours_ms = statistics.median(ours.cpu for ours, _peer in pairs) * 1000
    peer_ms = statistics.median(peer.cpu for _ours, peer in pairs) * 1000
    ours_peak = statistics.median(ours.peak for ours, _peer in pairs)
    peer_peak = statistics.median(peer.peak for _ours, peer in pairs)
    return (
        f"{name}: CPU {cpu:.3f} x peer ({ours_ms:.0f} of {peer_ms:.0f} ms, ratios {low:.3f} to {high:.3f}), "
        f"memory {memory:.2f} x peer ({ours_peak:.0f} of {peer_peak:.0f} MiB), {len(pairs)} runs"
    )


def spread(values: Sequence[float]) -> tuple[float, float]:
    """The smallest and the largest."""
    return min(values), max(values)
