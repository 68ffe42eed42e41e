"""The backup archive: a tar file with a dump of the database and this host's journal segments.

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone
from django.utils.crypto import salted_hmac
from psycopg.conninfo import make_conninfo

from analytics.journal.reader import DAMAGED_SUFFIX, segments
from analytics.journal.writer import SUFFIX, sync_folder
from local_postgres import EmbeddedPostgresError
from local_postgres.binaries import find_binaries
from shortener_project import __version__
from shortener_project.running.preparation import connection_parameters


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
