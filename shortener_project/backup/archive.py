"""The backup archive: a tar file with a dump of the database and this host's journal segments.

The segments are copied before the dump is made. A click that was answered before the backup is then in a copied
segment or in the dump, and the stored offsets of the dump tell which copied records it contains: each is counted once.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import salted_hmac

from analytics.journal.reader import DAMAGED_SUFFIX, segments
from analytics.journal.writer import SUFFIX, sync_folder
from shortener_project import __version__
from shortener_project.backup.postgres_programs import connection_arguments, run_program

DUMP = "database.dump"
MANIFEST = "manifest.json"
JOURNAL = "clicks/"
_OWNER_ONLY = 0o600


class Backup(NamedTuple):
    bytes: int
    segments: int


def write_backup(file: Path) -> Backup:
    """Replaces ``file`` in one step once the backup is complete and on disk. Safe while the service runs.

    Raises OSError, and CommandError if the database cannot be dumped.
    """
    with _draft(file) as draft, tarfile.open(draft, "w") as archive:
        number = _add_segments(archive)
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}-") as folder:
            dump = Path(folder, DUMP)
            run_program("pg_dump", *connection_arguments(), "--format=custom", f"--file={dump}")
            archive.add(dump, DUMP, filter=_for_owner)
        manifest = {
            "version": __version__,
            "createdAt": timezone.now().isoformat(),
            "secretKeyDigest": secret_digest(settings.SECRET_KEY),
        }
        _add(archive, MANIFEST, json.dumps(manifest).encode())
    return Backup(file.stat().st_size, number)


def secret_digest(secret: str) -> str:
    """Identifies the secret that sealed the API keys in a backup, and does not reveal it."""
    return salted_hmac("backup", "secret key", secret=secret, algorithm="sha256").hexdigest()


def _add_segments(archive: tarfile.TarFile) -> int:
    number = 0
    # Segments that are set aside meanwhile are listed last.
    for suffix in (SUFFIX, DAMAGED_SUFFIX):
        for segment in segments(settings.CLICKS_DIR, suffix):
            # Counted completely since the folder was listed.
            with suppress(FileNotFoundError):
                # Mostly zeros: counted records are overwritten.
                content = gzip.compress(segment.path.read_bytes(), 1)
                _add(archive, f"{JOURNAL}{segment.id}{SUFFIX}", content)
                number += 1
    return number


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
