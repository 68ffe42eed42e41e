"""A host loses all its processes and the disk of its journal. The mirror has every answered click."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.service.frozen import follow
from testing.service.hosts import make_folder, one_host, stopped
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import clicks_of, eventually

pytestmark = pytest.mark.slow

CLICKS = 20


def test_every_answered_click_is_counted_once_after_the_journal_is_lost(
    make_database: Callable[[], str], tmp_path: Path
) -> None:
    mirror = tmp_path / "mirror"
    settings = {"CLICK_MIRROR": str(mirror), "CLICK_SYNC": "strict", **LONG_TIMEOUTS}
    with one_host(make_database(), **settings) as host:
        key = host.owner.api_key
        link, rescue = host.create_link(key), make_folder()
        for clicks in CLICKS, 2 * CLICKS:
            with stopped([host.child("drain_clicks")]):
                follow(host, link, CLICKS)
                host.kill_everything()
            shutil.rmtree(host.var_dir / "clicks")
            if clicks == CLICKS:
                # Another host counts them, with nothing but the mirror.
                done = host.manage("drain_clicks", "--once", VAR_DIR=str(rescue))
                assert done.returncode == 0, done.stderr
                assert list(mirror.iterdir()) == []
            host.start()
            eventually(host.is_ready)
            eventually(lambda clicks=clicks: clicks_of(host, key, link) == clicks)
            assert host.manage("audit_counters").stdout == "0 differences.\n"
        shutil.rmtree(rescue)
