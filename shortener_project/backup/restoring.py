"""Restores a backup archive into an empty database, and its journal segments into this host's folder."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tarfile
import tempfile
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from django.utils.crypto import constant_time_compare

from analytics.journal.reader import DAMAGED_SUFFIX
from analytics.journal.writer import SUFFIX, sync_folder
from common.host import primary
from shortener_project import __version__
from shortener_project.backup.archive import (
    DIGEST,
    DUMP,
    JOURNAL,
    MANIFEST,
    connection_arguments,
    run_program,
    secret_digest,
    signature,
)
from shortener_project.running.preparation import PREPARATION_LOCK

_OTHER_CLIENTS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
_IS_EMPTY = """
SELECT NOT EXISTS (
    SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
)
"""
# As initdb creates it.
_EMPTY_SCHEMA = """
DROP SCHEMA public CASCADE;
CREATE SCHEMA public AUTHORIZATION pg_database_owner;
GRANT USAGE ON SCHEMA public TO PUBLIC;
"""
# pg_restore 17 and newer write it into the first lines of a script, and servers before 17 refuse it.
_UNKNOWN_BEFORE_17 = b"SET transaction_timeout = 0;\n"
_COMMENT = b"-" * (len(_UNKNOWN_BEFORE_17) - 1) + b"\n"
_SETTINGS_BYTES = 4096

_NOT_A_BACKUP = (tarfile.TarError, KeyError, TypeError, ValueError, EOFError, zlib.error, gzip.BadGzipFile)


def restore_backup(file: Path, *, replace: bool = False) -> int:
    """Returns the number of restored segments. ``replace``: delete what the database contains.

    One transaction replaces the content of the database. Raises CommandError, with nothing changed, if the file is not
    a complete backup of this or an older version, if it was changed or made with another SECRET_KEY, or if the
    database is in use or not empty. Checks the signature before it runs anything of the file.
    """
    settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.VAR_DIR, prefix="restore-") as name:
        folder = Path(name)
        try:
            with tarfile.open(file, "r:") as archive:
                contents = _checked_contents(json.load(_open(archive, MANIFEST)))
                segments = _extract(archive, contents, folder)
        except _NOT_A_BACKUP as error:
            raise CommandError(f"{file} is not a complete backup: {error}") from None
        script = _script(folder)
        # The operator has chosen this server, even if this host has used a later timeline.
        primary.forget()
        with _unused_database(replace=replace):
            _load(folder, script, segments, replace=replace)
            _write_segments(segments)
    return len(segments)


def _checked_contents(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """The digest of each member of the archive. Raises CommandError if the manifest is not that of this service."""
    version, digest = str(manifest["version"]), str(manifest["secretKeyDigest"])
    if _parts(version) > _parts(__version__):
        raise CommandError(f"The backup was made by version {version}, and this is {__version__}.")
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    secret = next((known for known in secrets if constant_time_compare(digest, secret_digest(known))), None)
    if secret is None:
        raise CommandError(
            "The backup was made with another SECRET_KEY, without which clicks and API keys in it cannot be read. "
            f"Set SECRET_KEY to that value, or store it in {settings.VAR_DIR / 'secret_key'}."
        )
    if not constant_time_compare(str(manifest.get("signature")), signature(manifest, secret)):
        raise CommandError(
            "The backup has no valid signature: it was changed, or made before backups were signed. "
            "In the second case, restore it with the version that made it, and then upgrade."
        )
    return dict(manifest["contents"])


def _parts(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _extract(archive: tarfile.TarFile, contents: Mapping[str, str], folder: Path) -> list[Path]:
    """Returns the segments. Raises CommandError unless the archive has exactly these members."""
    changed = CommandError("The backup was changed: its contents are not those that were signed.")
    if sorted(member.name for member in archive.getmembers()) != sorted([*contents, MANIFEST]):
        raise changed
    segments = []
    for name, digest in contents.items():
        # Not `extract` with a filter, which Python has since 3.11.4 only.
        copy = folder / Path(name).name
        with _open(archive, name) as source, copy.open("w+b") as target:
            shutil.copyfileobj(source, target)
            # Of the copy, because whoever can write to the archive could replace it meanwhile.
            target.seek(0)
            if not constant_time_compare(hashlib.file_digest(target, DIGEST).hexdigest(), digest):
                raise changed
        if name.startswith(JOURNAL):
            segments.append(_unpacked(copy))
    return segments


def _unpacked(copy: Path) -> Path:
    identifier = uuid.UUID(copy.name.removesuffix(SUFFIX))
    segment = copy.with_name(f"unpacked-{identifier}")
    with gzip.open(copy) as source, segment.open("wb") as target:
        shutil.copyfileobj(source, target)
    return segment.replace(copy.with_name(f"{identifier}{SUFFIX}"))


def _script(folder: Path) -> Path:
    """The SQL of the dump, for any supported server. Reads the whole dump, so it fails for a damaged one."""
    script = folder / "database.sql"
    run_program("pg_restore", "--no-owner", "--no-privileges", f"--file={script}", folder / DUMP)
    with script.open("r+b") as file:
        settings_of_session = file.read(_SETTINGS_BYTES)
        file.seek(0)
        file.write(settings_of_session.replace(_UNKNOWN_BEFORE_17, _COMMENT))
    return script


@contextmanager
def _unused_database(*, replace: bool) -> Iterator[None]:
    """No service can start on the database in this block, because each takes the same lock to prepare it."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SET lock_timeout = 0")
        cursor.execute("SET idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARATION_LOCK])
        cursor.execute(_OTHER_CLIENTS)
        if cursor.fetchone()[0]:
            raise CommandError("The database is in use. Stop the service on every host first.")
        cursor.execute(_IS_EMPTY)
        if not cursor.fetchone()[0] and not replace:
            raise CommandError("The database is not empty. --replace deletes what it contains.")
        yield
        cursor.execute("SELECT pg_advisory_unlock(%s)", [PREPARATION_LOCK])


def _load(folder: Path, script: Path, segments: Sequence[Path], *, replace: bool) -> None:
    first, last = folder / "first.sql", folder / "last.sql"
    first.write_text(_EMPTY_SCHEMA if replace else "")
    # Housekeeping deletes the offsets of finished segments; these exist again.
    identifiers = ", ".join(f"'{path.stem}'" for path in segments)
    reopened = f"UPDATE public.analytics_segment SET finished_at = NULL WHERE id IN ({identifiers});\n"  # noqa: S608 # UUIDs
    last.write_text((reopened if segments else "") + "ANALYZE;\n")
    run_program(
        "psql",
        *connection_arguments(),
        *("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", "--output=/dev/null"),
        *(f"--file={path}" for path in (first, script, last)),
    )


def _write_segments(segments: Sequence[Path]) -> None:
    """Write the beginnings of segments and keep what existing files have after them.

    A segment only ever grows, and counted records become zeros. So a copy has every record that the file has in this
    part, and also the records counted since the backup.
    """
    folder = settings.CLICKS_DIR
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in segments:
        with suppress(FileNotFoundError):
            # The pipeline sets it aside again, and would replace this file, which may have later records.
            (folder / path.with_suffix(DAMAGED_SUFFIX).name).rename(folder / path.name)
        descriptor = os.open(folder / path.name, os.O_WRONLY | os.O_CREAT, 0o600)
        with path.open("rb") as source, os.fdopen(descriptor, "wb") as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(descriptor)
    sync_folder(folder)


def _open(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    content = archive.extractfile(name)
    if content is None:
        raise KeyError(name)
    return content
