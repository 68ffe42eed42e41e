"""Fetches the month's file of cities: all of it, checked, or nothing."""

import fcntl
import gzip
import os
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from time import monotonic
from typing import BinaryIO
from urllib import request
from urllib.error import HTTPError, URLError

from analytics.geo_file import Content, UnreadableFile, read

MAX_BYTES = 1 << 30
SILENCE_SECONDS = 30
DOWNLOAD_SECONDS = 3600
CHUNK_BYTES = 1 << 16
GZIP = b"\x1f\x8b"


class GeodataError(Exception):
    """Says in one line why the file in force stays."""


def addresses(template: str, today: date) -> list[str]:
    """This month's and last month's, since early in a month the new file may be missing."""
    last_month = today.replace(day=1) - timedelta(days=1)
    months = (template.format(year=day.year, month=day.month) for day in (today, last_month))
    return list(dict.fromkeys(months))


def update(file: Path, urls: Sequence[str]) -> Content:
    """Puts what the first of the addresses that exists has in the place of the file, or leaves that alone."""
    draft = file.with_name(f".{file.name}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _alone_in(file.parent) as directory, tempfile.TemporaryFile(dir=file.parent) as download:
            try:
                with _open(urls) as response:
                    _copy(_received(response), download)
                with draft.open("wb") as unpacked:
                    _copy(_unpacked(download), unpacked)
                    unpacked.flush()
                    os.fchmod(unpacked.fileno(), 0o644)
                    os.fsync(unpacked.fileno())
                content = read(draft)
                if not content.has_cities:
                    raise GeodataError(f"What {response.url} answers knows no cities.")
                draft.replace(file)
                os.fsync(directory)
            finally:
                draft.unlink(missing_ok=True)
    except UnreadableFile as error:
        raise GeodataError(f"What {response.url} answers is no database of cities: {error}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise GeodataError(f"What {response.url} answers cannot be unpacked: {error}") from None
    except (OSError, ValueError, HTTPException) as error:
        reason = str(error.reason if isinstance(error, URLError) else error) or type(error).__name__
        raise GeodataError(f"The file of cities cannot be fetched: {' '.join(reason.split())}") from None
    return content


@contextmanager
def _alone_in(directory: Path) -> Iterator[int]:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GeodataError(f"Another update is under way in {directory}.") from None
        yield descriptor
    finally:
        os.close(descriptor)


def _open(urls: Sequence[str]) -> HTTPResponse:
    # Not the default opener, which knows file: and ftp: as well.
    opener = request.OpenerDirector()
    for handler in (
        *(request.ProxyHandler, request.HTTPHandler, request.HTTPSHandler, request.UnknownHandler),
        *(request.HTTPRedirectHandler, request.HTTPErrorProcessor, request.HTTPDefaultErrorHandler),
    ):
        opener.add_handler(handler())
    # Some networks refuse whoever names no program of its own.
    opener.addheaders = [("User-Agent", "url-shortener-update-geodata/1")]
    for url in urls:
        try:
            response: HTTPResponse = opener.open(url, timeout=SILENCE_SECONDS)
        except HTTPError as error:
            error.close()
            if error.code != 404:
                raise GeodataError(f"{url} answers {error.code}.") from None
        else:
            return response
    raise GeodataError(f"There is nothing at {' or '.join(urls)} (404).")


def _received(response: HTTPResponse) -> Iterator[bytes]:
    deadline = monotonic() + DOWNLOAD_SECONDS
    # read1, because read would wait for whole chunks, however slowly they drip.
    while chunk := response.read1(CHUNK_BYTES):
        yield chunk
        if monotonic() > deadline:
            raise GeodataError(f"{response.url} takes longer than {DOWNLOAD_SECONDS} seconds.")


def _unpacked(download: BinaryIO) -> Iterator[bytes]:
    download.seek(0)
    packed = download.read(len(GZIP)) == GZIP
    download.seek(0)
    source = gzip.GzipFile(fileobj=download) if packed else download
    while chunk := source.read(CHUNK_BYTES):
        yield chunk


def _copy(chunks: Iterator[bytes], target: BinaryIO) -> None:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > MAX_BYTES:
            raise GeodataError(f"The file of cities is larger than {MAX_BYTES} bytes.")
        target.write(chunk)
