"""The memory of an installation's processes as proportional set size (PSS): a page that N processes share counts 1/N
in each of them, so the sum is what they use together. The page cache does not count, because the kernel can drop it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from testing.service import processes
from testing.service.installation import Installation

SAMPLE_SECONDS = 0.2


def pss_mib(pid: int) -> float:
    """Raises OSError if the process is gone."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    [kib] = [line.split()[1] for line in lines if line.startswith("Pss:")]
    return int(kib) / 1024


def members(installation: Installation) -> list[int]:
    """The supervisor, the embedded database server, and all processes below them."""
    postmaster = installation.postmaster()
    roots = [installation.process.pid, *([] if postmaster is None else [postmaster])]
    return [pid for root in roots for pid in (root, *processes.descendants(root))]


def total_mib(installation: Installation) -> float:
    total = 0.0
    for pid in members(installation):
        # It may end meanwhile; the kernel has freed the memory of a zombie.
        with suppress(OSError, ValueError):
            total += pss_mib(pid)
    return total


class Peak:
    """``mib``: the highest total of all samples so far."""

    mib = 0.0


@contextmanager
def peak_memory(installation: Installation) -> Iterator[Peak]:
    """Sample the total in a thread for the duration of the block, and once at its end."""
    peak, ended = Peak(), threading.Event()

    def sample() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            peak.mib = max(peak.mib, total_mib(installation))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()
        peak.mib = max(peak.mib, total_mib(installation))
