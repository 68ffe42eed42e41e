"""Backs up the database and this host's journal segments in a tar file, and restores them into empty ones.

The segments are copied before the dump is made. A click that was answered before the backup is then in a copied
segment or in the dump, and the stored offsets of the dump tell which copied records it contains: each is counted once.

The manifest, its last member, names the digest of every other one and is signed: a restore runs the dump's statements.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from psycopg.conninfo import make_conninfo

from analytics.journal.mirror import Mirror
from analytics.journal.reader import DAMAGED_SUFFIX, segments
from analytics.journal.writer import SUFFIX, sync_folder
from common.host import primary
from local_postgres import EmbeddedPostgresError
from local_postgres.binaries import find_binaries
from shortener_project import __version__
from shortener_project.running.preparation import PREPARATION_LOCK, connection_parameters


def connection_arguments() -> list[str]:
    """Options that connect a program to the service's database. `run_program` adds the password."""
    connection.ensure_connection()
    info = connection.connection.info
    # Of several servers the one that this host uses. The programs would also take a former primary.
    parameters = connection_parameters() | {"host": info.host, "port": str(info.port)}
    parameters.pop("password", None)
    return [f"--dbname={make_conninfo(**parameters)}", "--no-password"]


def run_program(name: str, *arguments: str | Path) -> None:
    """Raises CommandError with the program's first line of errors.

    The password is in the environment and not in the command line, which other users can read.
    """
    password = str(connection_parameters().get("password", ""))
    done = subprocess.run(
        [_path(name), *arguments],
        env=os.environ | ({"PGPASSWORD": password} if password else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CommandError((done.stderr.strip() or f"{name} exited with {done.returncode}").splitlines()[0])


def _path(name: str) -> str:
    try:
        path = find_binaries().folder / name
        if path.exists():
            return str(path)
    except EmbeddedPostgresError:
        pass  # A host with a database elsewhere may have the client programs only.
    if installed := shutil.which(name):
        return installed
    raise CommandError(f"{name} was not found: install PostgreSQL's client programs.")


DUMP = "database.dump"
MANIFEST = "manifest.json"
JOURNAL = "clicks/"
DIGEST = "sha256"
_OWNER_ONLY = 0o600


class Backup(NamedTuple):
    bytes: int
    segments: int


def write_backup(file: Path) -> Backup:
    """Replaces ``file`` in one step once the backup is complete and on disk. Safe while the service runs.

    Raises OSError, and CommandError if the database cannot be dumped.
    """
    with _draft(file) as draft, tarfile.open(draft, "w") as archive:
        contents = _add_segments(archive)
        number = len(contents)
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}-") as folder:
            dump = Path(folder, DUMP)
            run_program("pg_dump", *connection_arguments(), "--format=custom", f"--file={dump}")
            with dump.open("rb") as file_of_dump:
                contents[DUMP] = hashlib.file_digest(file_of_dump, DIGEST).hexdigest()
            archive.add(dump, DUMP, filter=_for_owner)
        manifest: dict[str, Any] = {
            "version": __version__,
            "createdAt": timezone.now().isoformat(),
            "secretKeyDigest": secret_digest(settings.SECRET_KEY),
            "contents": contents,
        }
        manifest["signature"] = signature(manifest, settings.SECRET_KEY)
        _add(archive, MANIFEST, json.dumps(manifest).encode())
    return Backup(file.stat().st_size, number)


def secret_digest(secret: str) -> str:
    """Identifies the secret that sealed the API keys in a backup, and does not reveal it."""
    return salted_hmac("backup", "secret key", secret=secret, algorithm=DIGEST).hexdigest()


def signature(manifest: Mapping[str, Any], secret: str) -> str:
    """An HMAC over all fields, with a key that is derived from the secret."""
    signed = {name: manifest[name] for name in manifest.keys() - {"signature"}}
    text = json.dumps(signed, sort_keys=True)
    return salted_hmac("backup contents", text, secret=secret, algorithm=DIGEST).hexdigest()


def _add_segments(archive: tarfile.TarFile) -> dict[str, str]:
    """Returns the digest of each member."""
    contents: dict[str, str] = {}
    # Segments that are set aside meanwhile are listed last.
    for suffix in (SUFFIX, DAMAGED_SUFFIX):
        for segment in segments(settings.CLICKS_DIR, suffix):
            name = f"{JOURNAL}{segment.id}{SUFFIX}"
            # Set aside since it was copied. A restore refuses a second member of the same name.
            if name in contents:
                continue
            # Counted completely since the folder was listed.
            with suppress(FileNotFoundError):
                # Mostly zeros: counted records are overwritten.
                content = gzip.compress(segment.path.read_bytes(), 1)
                _add(archive, name, content)
                contents[name] = hashlib.new(DIGEST, content).hexdigest()
    return contents


def _for_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mode = _OWNER_ONLY
    return member


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), _OWNER_ONLY
    archive.addfile(member, io.BytesIO(content))


@contextmanager
def _draft(file: Path) -> Iterator[Path]:
    """A file that takes the name of ``file`` at the end of the block, and disappears after an error.

    Only its owner can read it: the journal contains visitors' addresses.
    """
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    draft = Path(name)
    try:
        yield draft
        os.fsync(descriptor)
        draft.replace(file)
        sync_folder(file.parent)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


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
            write_segments(segments)
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


def write_segments(segments: Sequence[Path]) -> None:
    """Write the beginnings of segments and keep what existing files have after them.

    A segment only ever grows, and counted records become zeros. So a copy has every record that the file has in this
    part, and also the records counted since the backup.
    """
    folder = settings.CLICKS_DIR
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if settings.CLICK_MIRROR:
        # Before the beginnings hide what the first disk has lost.
        Mirror(settings.CLICK_MIRROR).recover(folder)
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
