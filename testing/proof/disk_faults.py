"""F15 to F17: the journal's disk is full or fails."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testing.proof import children
from testing.proof.drainers import drain
from testing.proof.journal_faults import CLICKS, Stage, expect
from testing.proof.site import Site
from testing.proof.verdict import Log, Verdict, judge
from testing.proof.writers import write_apart, write_on_failing_disk, write_while_full, write_while_traced

# These failures are injected by strace in the kernel; the others replace the Python call.
_KERNEL = ["fdatasync in the kernel"] if shutil.which("strace") else []


def journal_full(stage: Stage, clicks: int, *, reachable: bool) -> Verdict:
    """F15, or F16 if the database is also unreachable."""
    with _small_disk(stage.site.clicks_dir) as filler:
        dropped_before = _dropped(stage.site)
        log, pending = children.result_of(
            write_while_full, stage.site, stage.links, clicks, filler=filler, reachable=reachable
        )
        dropped = _dropped(stage.site) - dropped_before
        stage.drain_all()
    where = "" if filler else " (RLIMIT_FSIZE)"
    name = f"F15 journal full{where}" if reachable else f"F16 journal full and database down{where}"
    verdict = judge(name, clicks, stage.site, log, dropped=dropped)
    # Check that the disk really was full. The last allocated page takes some more clicks.
    if (pending > 0) != reachable or (dropped > 0) == reachable:
        verdict.problems.append(f"{pending} clicks went to the database and {dropped} were dropped")
    return verdict


def disk_fails(stage: Stage, repeats: int) -> Verdict:
    """F17, in each mode that syncs to the disk."""
    log = Log()
    for _ in range(repeats):
        call = stage.random.choice(["write", "fdatasync", *_KERNEL])
        sync = stage.random.choice(["group", "strict"])
        first = stage.random.randint(1, CLICKS if sync == "strict" or call == "write" else 1)
        run_log: Log
        if call in _KERNEL:
            run_log = children.result_of(
                write_while_traced, stage.site, stage.links, CLICKS, sync=sync, first=first
            )
        else:
            run_log = children.result_of(
                write_on_failing_disk, stage.site, stage.links, CLICKS, sync=sync, call=call, first=first
            )
        log.sent |= run_log.sent
        log.redirected |= run_log.redirected
        if stage.random.random() < 0.5:
            expect(children.end_of(children.start(drain, stage.site)), 0)
    stage.drain_all()
    return judge("F17 EIO from write or fdatasync", repeats, stage.site, log)


def _dropped(site: Site) -> int:
    file = site.clicks_dir / "dropped"
    return int.from_bytes(file.read_bytes(), "big") if file.exists() else 0


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path | None]:
    """Mount a small file system for the journal and yield the path of a filler file; None if mounting is refused."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "proof", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        yield None
        return
    try:
        yield folder / "filler"
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def many_segments(stage: Stage, segments: int) -> Verdict:
    """Twice as many segments as files that the drainer may open."""
    log = children.result_of(write_apart, stage.site, stage.links, segments)
    expect(children.end_of(children.start(drain, stage.site, batch=1000, files=segments // 2)), 0)
    stage.drain_all()
    return judge("    more segments than open files", segments, stage.site, log)
