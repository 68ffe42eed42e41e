"""The QR codes of many links: on sheets of a PDF to print, with titles and short URLs, or as a ZIP of files."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.db.models import TextChoices
from django.utils import timezone

from accounts.models import Workspace
from common.colors import BLACK
from common.ids import parse_public_id
from links.codes import short_url_of
from links.errors import url_not_found
from links.models import Link, limits_of
from qrcodes.design import Design
from qrcodes.files import checked_file, file_name, require_readable
from qrcodes.lettering import Line, fitted, shortened, undrawable, width
from qrcodes.pdf import POINTS_PER_MM, Pdf, code, placed, text
from qrcodes.raster import png
from qrcodes.services import content_of, digest_of, with_default_logo
from qrcodes.symbol import symbol

MAX_LINKS = 100
MIN_COLUMNS, DEFAULT_COLUMNS, MAX_COLUMNS = 1, 3, 6
# The size in pixels at which codes are laid out and decoded: that of the longest short URL fits.
SIZE = 500
# In millimetres.
_EDGE, _GAP, _CAPTION = 12, 6, 9
# The usual and the least size in points. A title may be shortened sooner than an address, which people type.
_TITLE_SIZES, _ADDRESS_SIZES = (9, 7.5), (7.5, 4)


class Archive(TextChoices):
    """The format of the files in a ZIP."""

    PNG = "png"
    SVG = "svg"


class Paper(TextChoices):
    A4 = "a4"
    LETTER = "letter"


# Width and height in millimetres.
_PAPERS = {Paper.A4: (210, 297), Paper.LETTER: (215.9, 279.4)}


def links_of_sheet(owner: Workspace, public_ids: Sequence[str]) -> list[Link]:
    """The links with these ids, in this order. Raises NotFound if one of them is not a link of the owner."""
    identifiers = [parse_public_id(text) for text in public_ids]
    links = Link.objects.filter(owner=owner, public_id__in=filter(None, identifiers), **limits_of(owner.key))
    by_id = {link.public_id: link for link in links.select_related("domain")}
    if not by_id.keys() >= set(identifiers):
        raise url_not_found()
    return [by_id[identifier] for identifier in identifiers if identifier is not None]


# Returns what the function draws, or what is kept under the digest.
Draw = Callable[[bytes, Callable[[], bytes]], bytes]


def sheet(
    links: Sequence[Link], design: Design, default_logo: bytes | None, *, paper: str, columns: int, draw: Draw
) -> bytes:
    """The file. Each code is a drawing of its own, so that other images are drawn between them. Raises NotReadable."""
    page = _page(paper, columns)
    design = with_default_logo(content_of(links[0]), replace(design, size=SIZE), default_logo)
    file = Pdf("QR codes", design.logo)
    shape = symbol(content_of(links[0]), design).height / SIZE
    cells = list(page.cells(shape))
    for first in range(0, len(links), len(cells)):
        drawing = [
            placed(_code(link, design, draw), x, y, page.cell / SIZE)
            + _captions(link, x, y + page.cell * shape, page.cell)
            for link, (x, y) in zip(links[first:], cells, strict=False)
        ]
        file.add_page(page.width, page.height, "".join(drawing))
    return file.finished()


def archive(
    links: Sequence[Link], design: Design, default_logo: bytes | None, *, image_format: str, draw: Draw
) -> bytes:
    """A ZIP with one file for each link, in the order of the links. Raises NotReadable."""
    design = replace(design, size=SIZE, format=image_format)
    design = with_default_logo(content_of(links[0]), design, default_logo)
    at = timezone.now().timetuple()[:6]
    names = Counter[str]()
    content = BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as file:
        for link in dict.fromkeys(links):
            name = file_name(link.custom_code or link.short_code, link.title, image_format)
            # Two links may have the same code and title, and not every file system tells `a` from `A`.
            place = name.casefold()
            names[place] += 1
            unique = name if names[place] == 1 else f"{names[place]}-{name}"
            address = content_of(link)
            drawn = draw(b"file" + digest_of(address, design), partial(checked_file, address, design))
            file.writestr(ZipInfo(unique, at), drawn, ZIP_DEFLATED)
    return content.getvalue()


class _Page(NamedTuple):
    """Lengths in points."""

    width: float
    height: float
    columns: int

    @property
    def cell(self) -> float:
        """The width of a code."""
        between = (self.columns - 1) * _GAP
        return (self.width - (2 * _EDGE + between) * POINTS_PER_MM) / self.columns

    def cells(self, shape: float) -> Iterator[tuple[float, float]]:
        """The upper left corners of the codes, row by row. ``shape``: the height of a code by its width."""
        edge, gap = _EDGE * POINTS_PER_MM, _GAP * POINTS_PER_MM
        row = self.cell * shape + _CAPTION * POINTS_PER_MM
        rows = max(1, int((self.height - 2 * edge + gap) / (row + gap)))
        for number in range(rows):
            for column in range(self.columns):
                yield edge + column * (self.cell + gap), edge + number * (row + gap)


def _page(paper: str, columns: int) -> _Page:
    width, height = _PAPERS[Paper(paper)]
    return _Page(width * POINTS_PER_MM, height * POINTS_PER_MM, columns)


def _code(link: Link, design: Design, draw: Draw) -> str:
    content = content_of(link)
    return draw(b"cell" + digest_of(content, design), partial(_checked_code, content, design)).decode()


def _captions(link: Link, x: float, y: float, wide: float) -> str:
    """The title and the address, without characters that have no outline."""
    parts = []
    for line, (usual, least) in ((link.title or "", _TITLE_SIZES), (_address(link), _ADDRESS_SIZES)):
        letters = unicodedata.normalize("NFC", line)
        if shown := "".join(letter for letter in letters if not undrawable(letter)).strip():
            y += 1.3 * usual
            size = max(least, fitted(shown, within=wide, most=usual))
            shown = shortened(shown, within=wide, size=size)
            parts.append(text(Line(shown, x + (wide - width(shown) * size) / 2, y, size), BLACK))
    return "".join(parts)


def _address(link: Link) -> str:
    return short_url_of(link).partition("://")[2]


def _checked_code(content: str, design: Design) -> bytes:
    modules = symbol(content, design)
    require_readable(content, png(modules, design))
    return code(modules, design).encode()
