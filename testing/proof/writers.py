"""Child processes that record clicks as the web server's workers do."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import connection

from analytics.journal.drops import allocate_drop_counter
from analytics.journal.records import Record, encode, frame
from analytics.journal.writer import SUFFIX
from common.ids import new_public_id
from testing.proof.site import BRANCHES, Links, Site
from testing.proof.verdict import ADDRESS, Log

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


def record(link: int, identity: str, *, capped: bool = False) -> None:
    from analytics.journal import capture
    from analytics.visitors.visitor import Visitor

    address = f"198.51.100.{random.randrange(1, 255)}"
    visitor = Visitor(address, FIREFOX, ADDRESS + identity, "click", opted_out=False)
    branch = random.randrange(BRANCHES + 1)
    if capped:
        capture.record_claimed_click(visitor, link, is_shared=False, branch=branch)
    else:
        capture.record_visit(visitor, link, branch)


def write(site: Site, links: Links, path: Path, count: int, pause: float = 0.0, *, die: bool = False) -> None:
    """Log each click to ``path`` before and after it is recorded. Every tenth click claims one of a capped link."""
    site.enter()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for number in range(count):
        capped = number % 10 == 9
        link, identity = random.choice(links.capped if capped else links.free), str(uuid.uuid4())
        os.write(descriptor, f"{identity} {link}\n".encode())
        record(link, identity, capped=capped)
        os.write(descriptor, f"{identity} redirected\n".encode())
        time.sleep(pause)
    if die:
        os.kill(os.getpid(), signal.SIGKILL)


def write_while_full(
    site: Site, links: Links, count: int, *, filler: Path | None, reachable: bool
) -> tuple[Log, int]:
    """Record ``count`` clicks with free disk space, on a full disk, and with free disk space again.

    ``filler`` fills the disk; without a filler, RLIMIT_FSIZE keeps this process from growing files. Also returns the
    number of records that went to the database.
    """

    from analytics.models import PendingRecord

    site.enter()
    allocate_drop_counter()
    log = Log()
    _write(links, log, count)
    host = connection.settings_dict["HOST"]
    original_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    if filler is None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8, original_limit[1]))
    else:
        _fill(filler)
    if not reachable:
        connection.close()
        connection.settings_dict["HOST"] = "/nowhere"
    _write(links, log, count)
    if filler is None:
        resource.setrlimit(resource.RLIMIT_FSIZE, original_limit)
    else:
        filler.unlink()
    connection.settings_dict["HOST"] = host
    connection.close()
    _write(links, log, count)
    return log, PendingRecord.objects.count()


def write_on_failing_disk(site: Site, links: Links, count: int, *, sync: str, call: str, first: int) -> Log:
    """``call`` (write or fdatasync) fails with EIO the ``first``-th time and every seventh time after that."""
    from analytics.journal import writer as journal

    site.enter(sync)
    journal.os = _FailingDisk(call, first)
    log = Log()
    _write(links, log, count)
    journal.journal().sync()
    return log


def write_while_traced(site: Site, links: Links, count: int, *, sync: str, first: int) -> Log:
    """Write as on a failing disk, but strace injects the error in the kernel. Falls back if strace may not attach."""
    from analytics.journal.writer import journal

    site.enter(sync)
    inject = f"inject=fdatasync:error=EIO:when={first}+7"
    command = ["strace", "-f", "-qq", "-o", os.devnull, "-e", inject, "-p", str(os.getpid())]
    log = Log()
    with subprocess.Popen(command) as tracer:
        while "TracerPid:\t0\n" in Path("/proc/self/status").read_text():
            if tracer.poll() is not None:
                return write_on_failing_disk(site, links, count, sync=sync, call="fdatasync", first=first)
            time.sleep(0.01)
        _write(links, log, count)
        journal().sync()
        tracer.terminate()
    return log


class _FailingDisk:
    """Replaces the module ``os``."""

    def __init__(self, call: str, first: int) -> None:
        self._call = call
        self._until_failure = first

    def __getattr__(self, name: str) -> Any:
        return self._failing if name == self._call else getattr(os, name)

    def _failing(self, *arguments: Any) -> Any:
        self._until_failure -= 1
        if self._until_failure <= 0:
            self._until_failure = 7
            raise OSError(5, os.strerror(5))
        return getattr(os, self._call)(*arguments)


def _write(links: Links, log: Log, count: int, recorder: Callable[..., None] = record) -> None:
    for _ in range(count):
        link, identity = random.choice(links.free), str(uuid.uuid4())
        log.sent[identity] = link
        recorder(link, identity)
        log.redirected.add(identity)


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


def write_apart(site: Site, links: Links, count: int) -> Log:
    """Write each click to a segment of its own, as workers do that crash repeatedly."""

    def write(link: int, identity: str) -> None:
        click = Record(time.time_ns() // 1000, link, 0, 0, "198.51.100.7", "", FIREFOX, ADDRESS + identity)
        (site.clicks_dir / f"{new_public_id()}{SUFFIX}").write_bytes(frame(encode(click)))

    log = Log()
    site.clicks_dir.mkdir(parents=True, exist_ok=True)
    _write(links, log, count, write)
    return log
