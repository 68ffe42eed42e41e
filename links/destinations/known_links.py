"""A persistent per-host cache of followed links, which serves redirects during database outages.

All processes of the host share one SQLite file. If a process is killed or frozen at any point, the file stays
readable, and a damaged file raises an error that this module handles.

The entries reveal nothing without ``SECRET_KEY``: the name of an entry is a keyed digest of its site and code, and its
content is encrypted and bound to that name. The threads that read links pass them through a queue to one that writes.
"""

from __future__ import annotations

import logging
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import cache, partial
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from time import sleep
from typing import NamedTuple, TypeVar

import orjson
from django.conf import settings

from common import secrets
from common.host import state
from common.host.state import Revisions

_RETRY_SECONDS = 0.05

_Result = TypeVar("_Result")

log = logging.getLogger(__name__)


def when_unlocked(work: Callable[[], _Result], *, is_closing: Callable[[], bool]) -> _Result:
    """Repeat ``work`` while another process holds the lock, unless ``is_closing``.

    A process can be stopped while it writes, for longer than SQLite waits: on a busy machine, or by SIGSTOP. One
    attempt begins after the closing, so it fails only if the file is still locked then. Raises SQLite's errors.
    """
    has_failed = False
    while True:
        is_last = is_closing()
        try:
            return work()
        except sqlite3.OperationalError as error:
            # The lowest byte of an extended code is the code.
            is_locked = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not is_locked or is_last:
                raise
            if not has_failed:
                has_failed = True
                log.info("Another process holds the lock of the file of known links. Waiting for it.")
        sleep(_RETRY_SECONDS)


_PURPOSE = "known-links"
# Change numbers, time, site and code.
_FIELDS = 6


class Entry(NamedTuple):
    """``numbers`` and ``read_at``: see `links.destinations.known_links`, `KnownLinks.remember`."""

    numbers: Revisions
    read_at: int
    site: str
    code: str
    packed: bytes


class Sealing:
    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._key = secrets.derive_key(secret, f"{_PURPOSE} names")

    def name(self, site: str, code: str) -> bytes:
        return blake2b(f"{site}/{code}".encode(), key=self._key, digest_size=16).digest()

    def seal(self, name: bytes, entry: Entry) -> bytes:
        content = orjson.dumps([*entry.numbers, *entry[1:-1]]) + b"\n" + entry.packed
        return secrets.seal(content, purpose=_PURPOSE, context=name, secret=self._secret)

    def open(self, name: bytes, sealed: bytes) -> Entry | None:
        """Return None if the entry was sealed with another key, or by a release that stored other fields."""
        content = secrets.unseal(sealed, purpose=_PURPOSE, context=name, secrets=[self._secret])
        if content is None:
            return None
        head, _, packed = content.partition(b"\n")
        fields = orjson.loads(head)
        if len(fields) != _FIELDS:
            return None
        *numbers, read_at, site, code = fields
        return Entry(Revisions(*numbers), read_at, site, code, packed)


_BATCH_SIZE = 1_000
_QUEUE_SIZE = 20_000


class Update(NamedTuple):
    """``entry`` is None to delete it."""

    name: bytes
    entry: Entry | None


class UpdateQueue:
    """Bounded by the number of updates. One item has those of one call of `put`."""

    def __init__(self) -> None:
        self._items: queue.Queue[list[Update] | None] = queue.Queue()
        self._size, self._lock = 0, threading.Lock()

    def put(self, updates: list[Update]) -> None:
        """Add the updates, or drop them if the writer cannot keep up."""
        with self._lock:
            if self._size + len(updates) > _QUEUE_SIZE:
                return
            self._size += len(updates)
        self._items.put(updates)

    def end(self) -> None:
        self._items.put(None)

    def take(self) -> tuple[list[Update], int, bool]:
        """Wait for a batch. Return it, the number of its items, and whether it is the last one."""
        updates: list[Update] = []
        items, is_last = 0, False
        with suppress(queue.Empty):
            while len(updates) < _BATCH_SIZE and not is_last:
                item = self._items.get(block=not items)
                items, is_last = items + 1, item is None
                updates += item or ()
        with self._lock:
            self._size -= len(updates)
        return updates, items, is_last

    def mark_written(self, items: int) -> None:
        for _ in range(items):
            self._items.task_done()

    def wait_until_written(self) -> None:
        self._items.join()


_TABLE = """
    CREATE TABLE IF NOT EXISTS link (number INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, sealed BLOB NOT NULL)
"""
_PREPARE = (
    "PRAGMA journal_mode = WAL",
    # The file must survive a process crash, but not a system crash.
    "PRAGMA synchronous = OFF",
    "PRAGMA journal_size_limit = 16777216",
    _TABLE,
)
_LATEST = "SELECT name, sealed FROM link ORDER BY number DESC LIMIT ?"
_PAGE_BYTES = 4096
BUSY_TIMEOUT_SECONDS = 0.5
# The file is trimmed after so many updates.
TRIM_EVERY = 10_000

# Site, code, the numbers from before the link was read, and the packed link, which is None to delete the entry.
Read = tuple[str, str, Revisions, bytes | None]


class KnownLinks:
    """Thread-safe and bounded by entries and bytes; evicts the oldest entries first. Never raises."""

    def __init__(self, path: Path, *, entries: int, size: int, secret: str) -> None:
        self._path, self._entries, self._pages = path, entries, max(64, size // _PAGE_BYTES)
        self._sealing = Sealing(secret)
        self._updates = UpdateQueue()
        self._lock = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._writer: threading.Thread | None = None
        self._has_logged_error = False

    def remember(
        self, site: str, code: str, numbers: Revisions, packed: bytes | None, *, read_at: int
    ) -> None:
        """Remember one link, as `remember_all` does with several."""
        self.remember_all([(site, code, numbers, packed)], read_at=read_at)

    def remember_all(self, links: Iterable[Read], *, read_at: int) -> None:
        """Queue a write for the background thread, without waiting for the file.

        ``read_at`` (`common.host.state.microseconds`) is from before the links were read.
        """
        updates = [
            Update(
                self._sealing.name(site, code),
                None if packed is None else Entry(numbers, read_at, site, code, packed),
            )
            for site, code, numbers, packed in links
        ]
        self._updates.put(updates)
        if self._writer is None:
            with self._lock:
                if self._writer is None:
                    self._writer = threading.Thread(target=self._write, name="known links", daemon=True)
                    self._writer.start()

    def recall(self, site: str, code: str) -> bytes | None:
        """Return the packed link, or None if it is unknown.

        Also None if a change that reached this host has invalidated it, or if this host may have missed such a change
        more than STALE_SECONDS ago.
        """
        name = self._sealing.name(site, code)
        try:
            sealed = self._read(name)
        except sqlite3.Error as error:
            self._log_first_error(error)
            return None
        if sealed is None:
            return None
        if (entry := self._sealing.open(name, sealed)) is None:
            return None
        is_unchanged = entry.numbers == state.revisions_of(site, code)
        return entry.packed if is_unchanged and state.is_usable(entry.read_at) else None

    def keys(self, limit: int) -> list[tuple[str, str]]:
        """Return site and code of at most ``limit`` entries, the latest first. The links may have changed since."""
        try:
            with closing(self._open()) as database:
                rows = database.execute(_LATEST, [max(0, limit)])
                entries = (self._sealing.open(name, sealed) for name, sealed in rows)
                return [(entry.site, entry.code) for entry in entries if entry is not None]
        except (sqlite3.Error, OSError) as error:
            self._log_first_error(error)
            return []

    def flush(self) -> None:
        """Wait until all queued updates are written."""
        self._updates.wait_until_written()

    def close(self) -> None:
        """Write what is queued, and close the file."""
        with self._lock:
            writer, self._writer = self._writer, None
            if self._reader is not None:
                self._reader.close()
                self._reader = None
        if writer is not None:
            self._updates.end()
            writer.join()

    def _is_closing(self) -> bool:
        return self._writer is None

    def _read(self, name: bytes) -> bytes | None:
        with self._lock:
            row = (
                self._connected_reader().execute("SELECT sealed FROM link WHERE name = ?", [name]).fetchone()
            )
            return None if row is None else row[0]

    def _connected_reader(self) -> sqlite3.Connection:
        """Return the connection for reads. The caller holds the lock."""
        if self._reader is None:
            self._reader = self._open()
        return self._reader

    def _write(self) -> None:
        database, written, is_last = None, 0, False
        while not is_last:
            updates, items, is_last = self._updates.take()
            try:
                database = database or when_unlocked(self._open, is_closing=self._is_closing)
                when_unlocked(partial(self._store, database, updates), is_closing=self._is_closing)
                written += len(updates)
                if written >= TRIM_EVERY:
                    written = 0
                    self._trim(database, self._entries)
            except (sqlite3.Error, OSError) as error:
                self._log_first_error(error)
                database = self._recover(database, error)
            finally:
                self._updates.mark_written(items)
        if database is not None:
            database.close()

    def _store(self, database: sqlite3.Connection, updates: list[Update]) -> None:
        with database:
            database.execute("BEGIN IMMEDIATE")
            for is_deleted, group in groupby(updates, lambda update: update.entry is None):
                if is_deleted:
                    database.executemany("DELETE FROM link WHERE name = ?", ([name] for name, _ in group))
                else:
                    database.executemany(
                        "INSERT OR REPLACE INTO link (name, sealed) VALUES (?, ?)",
                        ([name, self._sealing.seal(name, entry)] for name, entry in group if entry),
                    )

    def _trim(self, database: sqlite3.Connection, entries: int) -> None:
        with database:
            database.execute(
                "DELETE FROM link WHERE number IN (SELECT number FROM link ORDER BY number"
                " LIMIT max(0, (SELECT count(*) FROM link) - ?))",
                [entries],
            )

    def _recover(self, database: sqlite3.Connection | None, error: Exception) -> sqlite3.Connection | None:
        """Trim a full file or delete a damaged one; the failed batch is lost. Returns a usable connection or None."""
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_FULL and database is not None:
            with suppress(sqlite3.Error):
                (entries,) = database.execute("SELECT count(*) FROM link").fetchone()
                self._trim(database, entries * 3 // 4)
                return database
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            with self._lock:
                self._reader = None
        if database is not None:
            database.close()
        return None

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # SQLite gives the -wal and -shm files the mode of the main file.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        database = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            for statement in _PREPARE:
                database.execute(statement)
            database.execute(f"PRAGMA max_page_count = {self._pages}")
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _log_first_error(self, error: Exception) -> None:
        """Log only the first error. Redirects still work, so repeated errors must not fill the log."""
        if not self._has_logged_error:
            self._has_logged_error = True
            log.error("Cannot cache links for a database outage: %s", error)


@cache
def known_links() -> KnownLinks:
    """Return this process's handle on the host's cache."""
    return KnownLinks(
        settings.VERSIONS_FILE.with_name("links"),
        entries=settings.DESTINATIONS_KEPT,
        size=settings.DESTINATIONS_MB * 1024 * 1024,
        secret=settings.SECRET_KEY,
    )


os.register_at_fork(after_in_child=known_links.cache_clear)
