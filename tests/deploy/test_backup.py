"""manage.py backup and restore: a backup under load, then another host that starts from it."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import stat
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Thread
from types import MappingProxyType
from typing import Any

import pytest

from testing.background import running
from testing.service.hosts import SECRET_KEY
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, clicks_of, eventually

pytestmark = pytest.mark.slow

MakeService = Callable[..., Service]
CHANGED = "The backup was changed: its contents are not those that were signed."
UNSIGNED = (
    "The backup has no valid signature: it was changed, or made before backups were signed. "
    "In the second case, restore it with the version that made it, and then upgrade."
)


def follow(service: Service, code: str, times: int) -> None:
    assert [service.call("GET", f"/{code}").status for _ in range(times)] == [302] * times


@pytest.mark.parametrize("embedded", [True, False], ids=["embedded database", "another database"])
def test_backup_under_load_has_every_earlier_redirect_and_nothing_twice(
    embedded: bool, make_empty_database: Callable[[], str], make_service: MakeService, tmp_path: Path
) -> None:
    file = tmp_path / "shortener.backup"
    databases = [{} if embedded else {"DATABASE_URL": make_empty_database()} for _ in range(2)]
    lost, restored = (
        make_service(SECRET_KEY=SECRET_KEY, **database, **LONG_TIMEOUTS) for database in databases
    )
    lost.start()
    owner = lost.owner
    quiet, busy, capped = (
        lost.create_link(owner.api_key, customCode=code, restrictions=restrictions)
        for code, restrictions in (("quiet", {}), ("busy", {}), ("capped", {"maxClicks": 5}))
    )
    follow(lost, "quiet", 20)
    follow(lost, "capped", 2)
    eventually(lambda: clicks_of(lost, owner.api_key, quiet) == 20)
    # These clicks are in the journal only when the backup begins.
    drainer = lost.child("drain_clicks")
    os.kill(drainer, signal.SIGSTOP)
    follow(lost, "quiet", 30)
    stop = Event()
    accepted: list[None] = []

    def visit() -> None:
        # Without a pause, they would take the processor that the backup needs.
        while not stop.wait(0.01):
            follow(lost, "busy", 1)
            accepted.append(None)

    visitors = [Thread(target=visit) for _ in range(2)]
    with running(visitors, stop):
        eventually(lambda: len(accepted) > 50)
        before = len(accepted)
        os.kill(drainer, signal.SIGCONT)
        done = lost.manage("backup", file)
        assert done.returncode == 0, done.stderr
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        follow(lost, "quiet", 7)
    total = len(accepted)
    lost.kill_everything()
    shutil.rmtree(lost.var_dir)

    done = restored.manage("restore", file)
    assert done.returncode == 0, done.stderr
    restored.start()
    assert "e-mail" not in restored.stdout
    eventually(lambda: clicks_of(restored, owner.api_key, quiet) == 50)
    eventually(lambda: clicks_of(restored, owner.api_key, busy) >= before)
    eventually(lambda: not list((restored.var_dir / "clicks").glob("*.segment")))
    assert before <= clicks_of(restored, owner.api_key, busy) <= total
    assert clicks_of(restored, owner.api_key, quiet) == 50
    assert clicks_of(restored, owner.api_key, capped) == 2
    assert [restored.call("GET", "/capped").status for _ in range(4)] == [302, 302, 302, 410]
    audited = restored.manage("audit_counters")
    assert (audited.returncode, audited.stdout) == (0, "0 differences.\n")


def test_restore_replaces_a_database_and_keeps_the_clicks_of_this_hosts_journal(
    make_service: MakeService, tmp_path: Path
) -> None:
    file = tmp_path / "shortener.backup"
    service = make_service(**LONG_TIMEOUTS)
    service.start()
    owner = service.owner
    link = service.create_link(owner.api_key, customCode="printed")
    os.kill(service.child("drain_clicks"), signal.SIGSTOP)
    follow(service, "printed", 10)
    assert service.manage("backup", file).returncode == 0
    follow(service, "printed", 5)
    service.create_link(owner.api_key, customCode="later")
    in_use = service.manage("restore", file)
    service.kill_everything()

    not_empty = service.manage("restore", file)
    replaced = service.manage("restore", file, "--replace")

    assert (in_use.returncode, in_use.stderr) == (
        1,
        "CommandError: The database is in use. Stop the service on every host first.\n",
    )
    assert (not_empty.returncode, not_empty.stderr) == (
        1,
        "CommandError: The database is not empty. --replace deletes what it contains.\n",
    )
    assert replaced.returncode == 0, replaced.stderr
    service.start()
    eventually(lambda: clicks_of(service, owner.api_key, link) == 15)
    assert service.call("GET", "/later").status == 404
    assert service.manage("audit_counters").stdout == "0 differences.\n"


def test_clicks_of_a_backup_count_although_this_host_counted_and_deleted_their_segment(
    make_service: MakeService, tmp_path: Path
) -> None:
    file = tmp_path / "shortener.backup"
    service = make_service(**LONG_TIMEOUTS)
    service.start()
    owner = service.owner
    link = service.create_link(owner.api_key, customCode="printed")
    drainer = service.child("drain_clicks")
    os.kill(drainer, signal.SIGSTOP)
    follow(service, "printed", 10)
    assert service.manage("backup", file).returncode == 0
    os.kill(drainer, signal.SIGCONT)
    service.stop()
    # A worker's segment is finished once the worker has ended.
    service.start()
    eventually(lambda: clicks_of(service, owner.api_key, link) == 10)
    eventually(lambda: list((service.var_dir / "clicks").glob("finished-*")))
    service.stop()

    # The server is restored to an earlier timeline than this host has used.
    later = "from common.host import primary; primary.admit(primary.current() + 1)"
    assert service.manage("shell", "--command", later).returncode == 0
    refused = service.manage("audit_counters")
    assert "is on timeline 1, but this host has used timeline 2" in refused.stderr
    assert service.manage("restore", file, "--replace").returncode == 0
    service.start()
    eventually(lambda: clicks_of(service, owner.api_key, link) == 10)
    assert service.manage("audit_counters").stdout == "0 differences.\n"


def test_a_backup_has_each_segment_that_was_set_aside_once(
    make_service: MakeService, make_database: Callable[[], str], tmp_path: Path
) -> None:
    file = tmp_path / "shortener.backup"
    service = make_service(DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS)
    service.start()
    service.stop()
    before, meanwhile = (f"01890000-0000-7000-8000-00000000000{number}" for number in range(2))
    clicks = service.var_dir / "clicks"
    for name in (f"{before}.damaged", f"{meanwhile}.segment", f"{meanwhile}.damaged"):
        (clicks / name).write_bytes(b"damaged")
    assert service.manage("backup", file).returncode == 0
    with tarfile.open(file) as archive:
        names = [name for name in archive.getnames() if before in name or meanwhile in name]
    assert sorted(names) == [f"clicks/{before}.segment", f"clicks/{meanwhile}.segment"]
    (clicks / f"{meanwhile}.damaged").unlink()
    with (clicks / f"{before}.damaged").open("ab") as later:
        later.write(b" and more")
    assert service.manage("restore", file, "--replace").returncode == 0
    assert {path.name: path.read_bytes() for path in clicks.glob("01890000-*")} == {
        f"{before}.segment": b"damaged and more",
        f"{meanwhile}.segment": b"damaged",
    }


def test_restore_refuses_other_secrets_and_damaged_files(
    make_service: MakeService, make_database: Callable[[], str], tmp_path: Path
) -> None:
    file, cut, text = tmp_path / "shortener.backup", tmp_path / "cut.backup", tmp_path / "text.backup"
    flipped = tmp_path / "flipped.backup"
    service = make_service(DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS)
    service.start()
    assert service.manage("backup", file).returncode == 0
    cut.write_bytes(file.read_bytes()[:20_000])
    text.write_text("This is no archive.")
    content = bytearray(file.read_bytes())
    middle = content.index(b"PGDMP") + 20_000
    content[middle : middle + 64] = bytes(byte ^ 0xFF for byte in content[middle : middle + 64])
    flipped.write_bytes(content)
    service.stop()

    other = service.manage("restore", file, "--replace", SECRET_KEY=SECRET_KEY[::-1])
    assert other.returncode == 1
    assert "CommandError: The backup was made with another SECRET_KEY" in other.stderr
    for damaged in (cut, text):
        done = service.manage("restore", damaged, "--replace")
        assert done.returncode == 1
        assert f"CommandError: {damaged} is not a complete backup: " in done.stderr
    for changed, message in (
        (flipped, CHANGED),
        (rewritten(file, "unsigned", manifest=lambda manifest: manifest.pop("signature")), UNSIGNED),
        (rewritten(file, "later", manifest=lambda manifest: manifest.update(createdAt="2100")), UNSIGNED),
        (rewritten(file, "replaced", dump=b"-- any statement"), CHANGED),
        (rewritten(file, "added", added={"clicks/another.segment": b""}), CHANGED),
        (rewritten(file, "twice", added={"database.dump": b"-- any statement"}), CHANGED),
    ):
        done = service.manage("restore", changed, "--replace")
        assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"CommandError: {message}"), changed
    missing = service.manage("restore", tmp_path / "missing", "--replace")
    assert f"CommandError: Cannot restore {tmp_path / 'missing'}: No such file" in missing.stderr
    # Nothing was changed.
    service.start()
    assert service.call("GET", "/api/urls", X_API_Key=service.owner.api_key).status == 200


def rewritten(
    file: Path,
    name: str,
    *,
    manifest: Callable[[dict[str, Any]], object] = lambda manifest: None,
    dump: bytes | None = None,
    added: Mapping[str, bytes] = MappingProxyType({}),
) -> Path:
    """A copy of a backup, changed by somebody who can write to its folder."""
    with tarfile.open(file) as source:
        members = [(member.name, source.extractfile(member)) for member in source]
        contents = [(name, content.read()) for name, content in members if content is not None]
    copy = file.with_name(f"{name}.backup")
    with tarfile.open(copy, "w") as target:
        for member, former in (*contents, *added.items()):
            content = former
            if member == "manifest.json":
                fields = json.loads(former)
                manifest(fields)
                content = json.dumps(fields).encode()
            elif member == "database.dump" and former.startswith(b"PGDMP") and dump is not None:
                content = dump
            information = tarfile.TarInfo(member)
            information.size = len(content)
            target.addfile(information, io.BytesIO(content))
    return copy


def test_backup_that_fails_keeps_the_former_file(make_service: MakeService, tmp_path: Path) -> None:
    file = tmp_path / "shortener.backup"
    file.write_text("former")
    service = make_service(DATABASE_URL="postgres://nobody@127.0.0.1:1/none", SECRET_KEY=SECRET_KEY)
    done = service.manage("backup", file)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert file.read_text() == "former"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
