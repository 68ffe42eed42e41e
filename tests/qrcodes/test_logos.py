"""Hostile logos, and logos of another format than they declare."""

from __future__ import annotations

import base64
import io
import resource
import struct
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from PIL import Image
from rest_framework.test import APIClient

from qrcodes.design import MAX_ACROSS, MAX_BYTES, BadLogo, clean_logo
from testing.pictures import data_uri, file_of, logo, opened, read
from tests.qrcodes.conftest import GetImage, MakeQrCode


def chunk(name: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + checksum


def png(width: int, height: int, *chunks: bytes) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + chunk(b"IEND", b"")


def pixels(width: int, height: int) -> bytes:
    return chunk(b"IDAT", zlib.compress(b"\0" * (width + 1) * height, 9))


def of_exactly(length: int) -> bytes:
    """A valid PNG, padded with a chunk that readers ignore."""
    head = png(8, 8, pixels(8, 8))
    end = len(chunk(b"IEND", b""))
    return head[:-end] + chunk(b"prVt", bytes(length - len(head) - 12)) + head[-end:]


def many_scans() -> bytes:
    file = file_of(Image.new("L", (1024, 1024)), "JPEG", progressive=True)
    head, *scans = file.split(b"\xff\xda")
    return b"\xff\xda".join([head, scans[0], *[scans[1]] * 2500, *scans[2:]])


def animated() -> bytes:
    frames = [Image.new("RGB", (9, 9), color) for color in ("red", "blue")]
    return file_of(frames[0], "PNG", save_all=True, append_images=frames[1:])


def several_in_one() -> bytes:
    frames = [Image.new("RGB", (9, 9), color) for color in ("red", "blue")]
    return file_of(frames[0], "MPO", save_all=True, append_images=frames[1:])


WHOLE = file_of(logo(), "PNG")
WHOLE_JPEG = file_of(logo("RGB"), "JPEG")

# Name, data URI (compressing some of them takes long), and the error code.
HOSTILE: list[tuple[str, Callable[[], str], str]] = [
    ("huge, and black", lambda: data_uri(png(9000, 9000, pixels(9000, 9000))), "max_size"),
    ("huge, and nothing in it", lambda: data_uri(png(2**31 - 1, 2**31 - 1)), "max_size"),
    ("too wide", lambda: data_uri(png(MAX_ACROSS + 1, 1, pixels(MAX_ACROSS + 1, 1))), "max_size"),
    ("too high", lambda: data_uri(png(1, MAX_ACROSS + 1, pixels(1, MAX_ACROSS + 1))), "max_size"),
    ("no pixels wide", lambda: data_uri(png(0, 10, pixels(0, 10))), "unreadable"),
    ("more pixels packed than said", lambda: data_uri(png(8, 8, pixels(8, 5_000_000))), ""),
    (
        "comments of 60 MB",
        lambda: data_uri(png(8, 8, *[chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(10**6), 9))] * 60, pixels(8, 8))),
        "unreadable",
    ),
    (
        "a profile of 50 MB",
        lambda: data_uri(png(8, 8, chunk(b"iCCP", b"k\0\0" + zlib.compress(bytes(5 * 10**7), 9)), pixels(8, 8))),
        "unreadable",
    ),
    ("thousands of scans", lambda: data_uri(many_scans(), "jpeg"), "unreadable"),
    ("animated", lambda: data_uri(animated()), "animated"),
    ("several in one", lambda: data_uri(several_in_one(), "jpeg"), "animated"),
    ("cut short", lambda: data_uri(WHOLE[: len(WHOLE) // 2]), "unreadable"),
    ("cut short", lambda: data_uri(WHOLE_JPEG[: len(WHOLE_JPEG) // 2], "jpeg"), "unreadable"),
    ("a header alone", lambda: data_uri(WHOLE[:8]), "unreadable"),
    ("a wrong checksum", lambda: data_uri(WHOLE[:40] + bytes([WHOLE[40] ^ 1]) + WHOLE[41:]), "unreadable"),
    ("PNG said to be JPEG", lambda: data_uri(WHOLE, "jpeg"), "unreadable"),
    ("JPEG said to be PNG", lambda: data_uri(WHOLE_JPEG), "unreadable"),
    ("GIF said to be PNG", lambda: data_uri(file_of(logo("P"), "GIF")), "unreadable"),
    ("WebP said to be PNG", lambda: data_uri(file_of(logo(), "WEBP")), "unreadable"),
    ("SVG said to be PNG", lambda: data_uri(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "unreadable"),
    ("text said to be PNG", lambda: data_uri(b"text"), "unreadable"),
    ("of a printer's colours", lambda: data_uri(file_of(logo("RGB").convert("CMYK"), "JPEG"), "jpeg"), "mode"),
    ("of 16 bits of grey", lambda: data_uri(file_of(Image.new("I;16", (9, 9)))), "mode"),
    ("SVG", lambda: data_uri(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "svg+xml"), "invalid"),
    ("GIF", lambda: data_uri(file_of(logo("P"), "GIF"), "gif"), "invalid"),
    ("jpg", lambda: data_uri(WHOLE_JPEG, "jpg"), "invalid"),
    ("an address", lambda: "https://example.com/logo.png", "invalid"),
    ("a file", lambda: "file:///etc/passwd", "invalid"),
    ("no kind", lambda: "data:;base64," + base64.b64encode(WHOLE).decode(), "invalid"),
    ("not in base64", lambda: "data:image/png,abc", "invalid"),
    ("nothing", lambda: "data:image/png;base64,", "invalid"),
    ("base64 for addresses", lambda: "data:image/png;base64,ab-_", "invalid"),
    ("base64 of a wrong length", lambda: "data:image/png;base64,abcde", "invalid"),
    ("base64 with a space", lambda: data_uri(WHOLE).replace(",", ", "), "invalid"),
    ("base64 with an end of line", lambda: data_uri(WHOLE) + "\n", "invalid"),
    ("base64 in other scripts", lambda: "data:image/png;base64,\uff41\uff41\uff41\uff41", "invalid"),
    ("a byte too long", lambda: data_uri(of_exactly(MAX_BYTES + 1)), "max_length"),
    ("longer than any", lambda: data_uri(bytes(MAX_BYTES + 1000)), "max_length"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "make_uri", "rule"), HOSTILE, ids=[name for name, _, _ in HOSTILE])
def test_a_hostile_logo_is_refused_cheaply(name: str, make_uri: Callable[[], str], rule: str) -> None:
    uri = make_uri()
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.thread_time()
    code = ""
    try:
        clean_logo(uri)
    except BadLogo as refusal:
        code = refusal.code
    assert code == rule
    assert time.thread_time() - started < 0.5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


def test_a_refused_logo_returns_an_error_in_the_envelope(
    api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    url_id = make_link()["_id"]

    def refused(uri: str) -> HttpResponse:
        return api.post("/api/qr-codes", {"urlId": url_id, "logo": uri})

    for name, make_uri, rule in HOSTILE:
        uri = make_uri()
        if rule and len(uri) < 200_000:
            response = refused(uri)
            assert (response.status_code, response.json()["code"]) == (400, "validation_error"), name
            assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [
                ("logo", rule)
            ]
    assert refused("x" * 210_000).status_code == 413


def test_a_logo_of_the_maximum_size_is_accepted(make_qr_code: MakeQrCode, get_image: GetImage) -> None:
    code = make_qr_code(logo=data_uri(of_exactly(MAX_BYTES)))
    assert code["hasLogo"] is True
    assert get_image(code).status_code == 200
    make_qr_code(logo=data_uri(png(MAX_ACROSS, MAX_ACROSS, pixels(MAX_ACROSS, MAX_ACROSS))))


@pytest.mark.parametrize("image_format", ["png", "jpeg", "svg"])
@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "transparent P", "jpeg L", "jpeg RGB"])
def test_every_common_kind_of_logo_is_drawn_and_readable(
    make_qr_code: MakeQrCode, get_image: GetImage, mode: str, image_format: str
) -> None:
    if mode.startswith("jpeg"):
        uri = data_uri(file_of(logo(mode.removeprefix("jpeg ")), "JPEG", progressive=True), "jpeg")
    elif mode == "transparent P":
        uri = data_uri(file_of(logo("RGB").quantize(8), transparency=0))
    else:
        uri = data_uri(file_of(logo(mode)))
    code = make_qr_code(logo=uri, format=image_format, size=400)
    [text] = read(get_image(code).content, image_format)
    assert text.endswith("?qr=1")


def test_a_logo_is_re_encoded_without_metadata() -> None:
    secret = b"taken at 52.5, 13.4"
    file = png(8, 8, chunk(b"tEXt", b"Comment\0" + secret), pixels(8, 8))
    cleaned = clean_logo(data_uri(file))
    assert secret in file
    assert secret not in cleaned
    image = opened(cleaned, "png")
    assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (8, 8))
    assert opened(clean_logo(data_uri(file_of(logo(size=(800, 400))))), "png").size == (400, 200)


def test_pillow_decodes_only_the_declared_format() -> None:
    for kind in ("GIF", "BMP", "TIFF", "WEBP", "PPM", "ICO"):
        buffer = io.BytesIO()
        logo("RGB").save(buffer, kind)
        for declared in ("png", "jpeg"):
            with pytest.raises(BadLogo):
                clean_logo(data_uri(buffer.getvalue(), declared))
