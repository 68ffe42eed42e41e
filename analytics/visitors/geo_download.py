"""Downloads the month's city database, verifies it and replaces the current file atomically."""

import fcntl
import gzip
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from time import monotonic
from typing import BinaryIO
from urllib import request
from urllib.error import HTTPError, URLError

from analytics.visitors.geo import Content, UnreadableFile, read

MAX_BYTES = 1 << 30
READ_TIMEOUT_SECONDS = 30
DOWNLOAD_SECONDS = 3600
CHUNK_BYTES = 1 << 16
_REDIRECTS = range(300, 400)
GZIP = b"\x1f\x8b"


# Called with the number of further bytes, and with the number of all bytes if the server sends it.
Report = Callable[[int, int | None], None]


class GeodataError(Exception):
    """A one-line reason why the update failed and the current file stays."""


def candidate_urls(template: str, today: date) -> list[str]:
    """Return this month's URL, then last month's: early in a month the new file may be missing."""
    last_month = today.replace(day=1) - timedelta(days=1)
    months = (template.format(year=day.year, month=day.month) for day in (today, last_month))
    return list(dict.fromkeys(months))


def update(file: Path, urls: Sequence[str], report: Report = lambda *_: None) -> Content:
    """Replace the file with the content of the first URL that exists. On any error the file stays unchanged.

    Calls ``report`` during the download.
    """
    draft = file.with_name(f".{file.name}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _exclusive_access(file.parent) as directory, tempfile.TemporaryFile(dir=file.parent) as download:
            try:
                with _open(urls) as response:
                    _copy(_response_chunks(response, report), download)
                with draft.open("wb") as unpacked:
                    _copy(_decompressed_chunks(download), unpacked)
                    unpacked.flush()
                    os.fchmod(unpacked.fileno(), 0o644)
                    os.fsync(unpacked.fileno())
                content = read(draft)
                if not content.has_cities:
                    raise GeodataError(f"The file at {response.url} contains no cities.")
                draft.replace(file)
                os.fsync(directory)
            finally:
                draft.unlink(missing_ok=True)
    except UnreadableFile as error:
        raise GeodataError(f"The file at {response.url} is not a city database: {error}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise GeodataError(f"The file at {response.url} cannot be decompressed: {error}") from None
    except (OSError, ValueError, HTTPException) as error:
        reason = str(error.reason if isinstance(error, URLError) else error) or type(error).__name__
        raise GeodataError(f"The city database cannot be downloaded: {' '.join(reason.split())}") from None
    return content


@contextmanager
def _exclusive_access(directory: Path) -> Iterator[int]:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GeodataError(f"Another update is running in {directory}.") from None
        yield descriptor
    finally:
        os.close(descriptor)


def _open(urls: Sequence[str]) -> HTTPResponse:
    # The default opener also supports file: and ftp:.
    opener = request.OpenerDirector()
    for handler in (
        *(request.ProxyHandler, request.HTTPHandler, request.HTTPSHandler, request.UnknownHandler),
        # Without a handler of redirects.
        *(request.HTTPErrorProcessor, request.HTTPDefaultErrorHandler),
    ):
        opener.add_handler(handler())
    # Some CDNs refuse the default User-Agent of a library.
    opener.addheaders = [("User-Agent", "url-shortener-update-geodata/1")]
    for url in urls:
        try:
            response: HTTPResponse = opener.open(url, timeout=READ_TIMEOUT_SECONDS)
        except HTTPError as error:
            error.close()
            if error.code in _REDIRECTS:
                raise GeodataError(
                    f"{url} redirects, which is not followed. Set GEODATA_URL to the address of the file itself."
                ) from None
            if error.code != 404:
                raise GeodataError(f"{url} returned status {error.code}.") from None
        else:
            return response
    raise GeodataError(f"No file at {' or '.join(urls)} (404).")


def _response_chunks(response: HTTPResponse, report: Report) -> Iterator[bytes]:
    deadline, total = monotonic() + DOWNLOAD_SECONDS, response.length
    # read would block until the chunk is complete, however slowly bytes arrive; read1 returns what is available.
    while chunk := response.read1(CHUNK_BYTES):
        yield chunk
        report(len(chunk), total)
        if monotonic() > deadline:
            raise GeodataError(f"The download of {response.url} took longer than {DOWNLOAD_SECONDS} seconds.")


def _decompressed_chunks(download: BinaryIO) -> Iterator[bytes]:
    download.seek(0)
    is_compressed = download.read(len(GZIP)) == GZIP
    download.seek(0)
    source = gzip.GzipFile(fileobj=download) if is_compressed else download
    while chunk := source.read(CHUNK_BYTES):
        yield chunk


def _copy(chunks: Iterator[bytes], target: BinaryIO) -> None:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > MAX_BYTES:
            raise GeodataError(f"The city database is larger than {MAX_BYTES} bytes.")
        target.write(chunk)
