"""`qr`: the code of a link, drawn in the terminal or as an image of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import segno
import typer

from .api import Api
from .client.exchange import Call
from .exits import USAGE, Failed
from .fields import Json
from .files import whole_file
from .links import Named
from .output import json_text, line, note

# The service's own codes contain it, too: it tells scans from clicks.
_MARKER = "?qr=1"
_FORMATS = {".png": "png", ".svg": "svg", ".jpg": "jpeg", ".jpeg": "jpeg", ".pdf": "pdf"}
_QUIET_ZONE = 4
# By the upper and the lower module of a character; True is dark. The colours of the terminal are turned: its
# foreground is light, as in most, and the code must be dark on light.
_BLOCKS = {(True, True): " ", (True, False): "▄", (False, True): "▀", (False, False): "█"}


def qr(
    link: Named,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new file: .png, .svg, .jpg or .pdf.")
    ] = None,
    size: Annotated[int, typer.Option(min=100, max=2000, help="Pixels of an image.")] = 600,
    invert: Annotated[bool, typer.Option(help="For terminals with dark text on light ground.")] = False,
    json: Json = False,
) -> None:
    """Draw the QR code of a link, or store an image that the service draws and proves readable."""
    api = Api()
    found = api.link(link)
    if output is None:
        content = found["shortUrl"] + _MARKER
        if json:
            json_text({"content": content, "rows": drawn(content, invert=invert)})
            return
        for row in drawn(content, invert=invert):
            line(row)
        return
    kind = _FORMATS.get(output.suffix.lower())
    if kind is None:
        raise Failed(f"{output}: the name must end with one of {', '.join(_FORMATS)}.", USAGE)
    with whole_file(output) as file:
        body = {"urlId": found["_id"], "size": size, "format": kind}
        code = api.send("POST", "/api/qr-codes", body, creates=True)["data"]["qrCode"]
        api.transport.file(Call("GET", f"/api/qr-codes/{code['_id']}/file"), file)
    if json:
        json_text(code)
    else:
        note(f"Wrote {output}.")


def drawn(content: str, *, invert: bool = False) -> list[str]:
    """Two rows of modules in each line, with the quiet zone that readers need."""
    matrix = [[bool(module) for module in row] for row in segno.make(content, error="m", micro=False).matrix]
    width = len(matrix) + 2 * _QUIET_ZONE
    margin = [[False] * width] * _QUIET_ZONE
    side = [False] * _QUIET_ZONE
    framed = [*margin, *(side + row + side for row in matrix), *margin]
    if len(framed) % 2:
        framed.append([False] * width)
    return [
        "".join(_BLOCKS[up ^ invert, down ^ invert] for up, down in zip(upper, lower, strict=True))
        for upper, lower in zip(framed[::2], framed[1::2], strict=True)
    ]
