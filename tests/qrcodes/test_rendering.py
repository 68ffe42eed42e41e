"""An independent reader decodes every design in every format, as a browser or a printer draws it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pypdfium2
import pytest
from PIL import Image, ImageChops, ImageStat
from PIL.JpegImagePlugin import get_sampling

from common.colors import rgb
from qrcodes import lettering
from qrcodes.design import Design, FramePosition, ImageFormat, Level, Style
from qrcodes.drawing import render
from qrcodes.symbol import TooSmall, symbol
from testing.pictures import decoded, file_of, logo, opened, read

pytestmark = pytest.mark.slow

CONTENT = "https://go.example.com/db8xua6?qr=1"
LOGO = file_of(logo())
GLYPHS = Path(lettering.__file__).parent / "font/glyphs.json"
SIZES = [100, 101, 297, 300, 512, 1999, 2000]
EVERY_LEVEL = [*((level, None) for level in Level.values), ("H", LOGO)]


def brightness(design: Design, content: str = CONTENT) -> Image.Image:
    return opened(render(content, design), design.format).convert("L")


@pytest.mark.parametrize("style", Style.values)
@pytest.mark.parametrize("size", SIZES)
def test_every_combination_is_readable_and_has_its_exact_size(size: int, style: str) -> None:
    for image_format, (level, logo_file) in product(ImageFormat.values, EVERY_LEVEL):
        design = Design(size=size, format=image_format, level=level, style=style, logo=logo_file)
        image = opened(render(CONTENT, design), image_format)
        assert image.size == (size, size), design
        assert decoded(image) == [CONTENT], (image_format, level, logo_file is not None)


FRAMES: list[dict[str, Any]] = [
    {"frame_text": "Scan me"},
    {"frame_text": "Größer: Öffne die Speisekarte!", "frame_position": "above"},
    {"frame_text": "W" * 30, "margin": 0, "foreground": "#204080", "background": "#FFEE99"},
    {"frame_text": "Í", "frame_position": "above", "foreground": "#FFFFFF", "background": "#204080"},
]


@pytest.mark.parametrize("style", Style.values)
@pytest.mark.parametrize("fields", FRAMES)
def test_every_frame_is_readable(fields: dict[str, Any], style: str) -> None:
    for size, image_format, logo_file in product([150, 331, 1200], ImageFormat.values, [None, LOGO]):
        design = Design(size=size, format=image_format, style=style, logo=logo_file, **fields)
        image = opened(render(CONTENT, design), image_format)
        assert image.size == (size, size + round(0.16 * size)), design
        assert decoded(image, inverts=True) == [CONTENT], design


@pytest.mark.parametrize("position", FramePosition.values)
def test_a_frame_looks_the_same_in_every_format(position: str) -> None:
    images = [
        opened(
            render(
                CONTENT,
                Design(size=500, format=image_format, frame_text="Öffne mich", frame_position=position),
            ),
            image_format,
        ).convert("L")
        for image_format in ImageFormat.values
    ]
    for image in images[1:]:
        difference = ImageChops.difference(images[0], image)
        assert ImageStat.Stat(difference).mean[0] < 1


@pytest.mark.parametrize("position", FramePosition.values)
def test_the_text_is_in_the_band_in_the_colour_of_the_background(position: str) -> None:
    design = Design(size=500, frame_text="Scan me", frame_position=position, background="#FFEE99")
    frame = symbol(CONTENT, design).frame
    assert frame is not None
    band = (50, frame.band_top + 2, 450, frame.band_top + frame.band_height - 2)
    image = opened(render(CONTENT, design), "png").convert("RGB").crop(band)
    colors = {color: count for count, color in image.getcolors() or []}
    assert colors[rgb("#000000")] > colors[rgb("#FFEE99")] > 1000
    # Mixtures of both at the edges of letters.
    assert 2 < len(colors) <= 16


def test_every_letter_has_an_outline_within_its_line() -> None:
    characters = json.loads(GLYPHS.read_text())
    assert len(characters) > 600
    for character, (advance, _) in characters.items():
        [outline] = lettering.outlines(character)
        assert (outline == []) == (character == " "), character
        assert [name for name, _ in outline].count("M") == [name for name, _ in outline].count("Z")
        ends = [at[-2:] for name, at in outline if name != "Z"]
        assert all(-150 <= x <= advance + 150 and -1200 <= y <= 350 for x, y in ends), character


@pytest.mark.parametrize(
    ("size", "width_mm", "resolution"), [(591, 50, 300), (2000, 100, 508), (300, 2000, 4)]
)
def test_pictures_know_their_printed_width(size: int, width_mm: int, resolution: int) -> None:
    for image_format in ("png", "jpeg"):
        image = opened(
            render(CONTENT, Design(size=size, format=image_format, width_mm=width_mm)), image_format
        )
        assert image.info["dpi"] == pytest.approx((resolution, resolution), abs=0.6)
        assert decoded(image) == [CONTENT]
        assert "dpi" not in opened(render(CONTENT, Design(size=size)), "png").info


def test_vectors_have_their_printed_width() -> None:
    design = Design(size=500, width_mm=50, frame_text="Scan me")
    svg = render(CONTENT, replace(design, format="svg")).decode()
    assert 'width="50mm" height="58mm" viewBox="0 0 500 580"' in svg
    with pypdfium2.PdfDocument(render(CONTENT, replace(design, format="pdf"))) as document:
        [page] = document
        assert [length / 72 * 25.4 for length in page.get_size()] == pytest.approx([50, 58], abs=0.001)
        assert document.get_metadata_dict()["Title"] == f"QR code of {CONTENT}"


def test_a_pdf_has_shapes_only() -> None:
    """No font that a printer may lack, and no pixels that it would enlarge."""
    file = render(CONTENT, Design(format="pdf", frame_text="Scan me", style="dots"))
    with pypdfium2.PdfDocument(file) as document:
        kinds = {entry.type for entry in document[0].get_objects()}
    assert kinds == {pypdfium2.raw.FPDF_PAGEOBJ_PATH}
    assert b"/Font" not in file


@pytest.mark.parametrize("style", Style.values)
@pytest.mark.parametrize("length", [60, 120, 312])
def test_codes_of_long_urls_are_readable(length: int, style: str) -> None:
    content = "https://" + "x" * (length - 13) + "?qr=1"
    for level, logo_file in EVERY_LEVEL:
        picture = render(content, Design(size=600, level=level, style=style, logo=logo_file))
        assert read(picture, "png") == [content], level


@pytest.mark.parametrize("margin", range(11))
def test_codes_with_every_margin_are_readable(margin: int) -> None:
    for size in (300, 331):
        design = Design(size=size, margin=margin)
        image = opened(render(CONTENT, design), "png")
        assert decoded(image) == [CONTENT]
        drawn = symbol(CONTENT, design)
        box = Image.eval(image.convert("L"), lambda value: 255 - value).getbbox()
        right = drawn.left + drawn.width * drawn.scale
        assert box == (drawn.left, drawn.top, right, right)
        assert min(drawn.left, size - right) >= margin * drawn.scale
        # The largest size in whole pixels.
        assert (drawn.scale + 1) * (drawn.width + 2 * margin) > size


@pytest.mark.parametrize("image_format", ["png", "svg"])
@pytest.mark.parametrize("size", [100, 101, 297, 512])
def test_modules_have_whole_pixels_and_two_colours(size: int, image_format: str) -> None:
    design = Design(size=size, format=image_format, foreground="#1A2B3C", background="#FFEE99")
    image = opened(render(CONTENT, design), image_format).convert("RGB")
    drawn = symbol(CONTENT, design)
    colors = {True: rgb("#1A2B3C"), False: rgb("#FFEE99")}
    expected = Image.new("RGB", (size, size), colors[False])
    for row, column in product(range(drawn.width), repeat=2):
        left, upper = (drawn.left + number * drawn.scale for number in (column, row))
        module = (left, upper, left + drawn.scale, upper + drawn.scale)
        expected.paste(colors[bool(drawn.matrix[row][column])], module)
    # The box of the pixels that differ.
    assert ImageChops.difference(image, expected).getbbox() is None


@pytest.mark.parametrize("style", Style.values)
def test_png_has_one_bit_per_pixel(style: str) -> None:
    picture = render(CONTENT, Design(size=2000, style=style))
    # The width, height, bit depth and palette flag of the header.
    assert picture[16:26] == (2000).to_bytes(4) + (2000).to_bytes(4) + b"\x01\x03"
    assert opened(picture, "png").getcolors() is not None
    assert len(picture) < 25_000


@pytest.mark.parametrize("logo_file", [None, LOGO])
def test_jpeg_keeps_colours_at_every_pixel(logo_file: bytes | None) -> None:
    image = opened(render(CONTENT, Design(format="jpeg", level="H", logo=logo_file)), "jpeg")
    assert (image.format, image.mode, get_sampling(image)) == ("JPEG", "RGB", 0)


@pytest.mark.parametrize("style", Style.values)
def test_svg_is_one_path_with_a_title_for_screen_readers(style: str) -> None:
    document = render("https://go.example.com/a?b=<&'\"", Design(size=300, format="svg", style=style))
    svg = ElementTree.fromstring(document)  # noqa: S314 # an image that the service drew
    name = "{http://www.w3.org/2000/svg}"
    assert [child.tag for child in svg] == [f"{name}title", f"{name}rect", f"{name}path"]
    assert svg[0].text == "QR code of https://go.example.com/a?b=<&'\""
    assert (svg.get("role"), svg.get("width"), svg.get("height")) == ("img", "300", "300")
    assert re.fullmatch(r"[MhvazM0-9 .-]+", svg[2].get("d") or "")


def test_svg_embeds_the_logo() -> None:
    svg = ElementTree.fromstring(render(CONTENT, Design(format="svg", level="H", logo=LOGO)))  # noqa: S314 # an image that the service drew
    assert [child.tag.rpartition("}")[2] for child in svg] == ["title", "rect", "path", "image"]
    assert (svg[3].get("href") or "").startswith("data:image/png;base64,")


@pytest.mark.parametrize("image_format", ImageFormat.values)
def test_a_logo_is_in_the_middle_and_at_most_a_fifth_of_the_width(image_format: str) -> None:
    design = Design(
        size=500, format=image_format, level="H", logo=file_of(Image.new("RGB", (90, 90), "#FF0000"))
    )
    image = opened(render(CONTENT, design), image_format).convert("RGB")
    red = [
        divmod(number, 500)
        for number, (r, g, _) in enumerate(image.get_flattened_data())
        if r > 180 and g < 80
    ]
    for axis in (0, 1):
        first, last = min(pixel[axis] for pixel in red), max(pixel[axis] for pixel in red)
        assert 40 < last - first + 1 <= 100
        assert abs((first + last + 1) / 2 - 250) <= 2


@pytest.mark.parametrize(("size", "shape"), [((400, 100), "wide"), ((100, 400), "high"), ((1, 1), "tiny")])
def test_a_logo_keeps_its_shape(size: tuple[int, int], shape: str) -> None:
    image = opened(
        render(CONTENT, Design(size=1000, level="H", logo=file_of(Image.new("RGB", size, "#FF0000")))), "png"
    ).convert("RGB")
    mask = image.point(lambda value: value > 100 and 255)
    red, green, _ = mask.split()
    left, upper, right, lower = Image.composite(Image.new("L", image.size), red, green).getbbox() or (
        0,
        0,
        0,
        0,
    )
    assert (right - left) / (lower - upper) == pytest.approx(size[0] / size[1], rel=0.1)


def test_a_transparent_logo_shows_the_background() -> None:
    design = Design(size=512, level="H", background="#FFEE99", logo=file_of(logo("RGBA", (64, 64))))
    drawn = symbol(CONTENT, design)
    first, _, side = drawn.logo_box
    image = opened(render(CONTENT, design), "png").convert("RGB")
    assert image.getpixel((first, first)) == rgb("#FFEE99")
    assert image.getpixel((first + side // 2, first + side // 2))[0] > 180


def test_a_module_has_at_least_one_pixel() -> None:
    content = "https://" + "x" * 299 + "?qr=1"
    with pytest.raises(TooSmall) as refused:
        symbol(content, Design(size=100, level="H"))
    needed = refused.value.needed
    assert needed > 100
    assert symbol(content, Design(size=needed, level="H")).scale == 1
    assert read(render(content, Design(size=needed, level="H")), "png") == [content]
    with pytest.raises(TooSmall):
        symbol(content, Design(size=needed - 1, level="H"))


def test_the_same_design_gives_the_same_bytes() -> None:
    for image_format in ImageFormat.values:
        design = Design(format=image_format, style="rounded", level="H", logo=LOGO)
        assert render(CONTENT, design) == render(CONTENT, design)
