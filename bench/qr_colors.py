"""python -m bench.qr_colors [--trials N] [--seed S]: which pairs of colours an independent reader can tell apart.

Each trial draws a code in two random colours, in either order, with a random format, size and style. zxing reads the
image as it is, and a simulated photo of it: smaller, turned, blurred, unevenly lit and noisy. The figures are the
shares that were read, by the difference of the grey values. `qrcodes.design` has the bounds that follow.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Mapping
from io import BytesIO
from typing import NamedTuple

import resvg_py
import zxingcpp
from PIL import Image, ImageChops, ImageFilter

from bench.harness.results import record
from qrcodes.design import (
    MIN_GREYS,
    RECOMMENDED_CONTRAST,
    RECOMMENDED_GREYS,
    Design,
    ImageFormat,
    Style,
    contrast,
    grey,
    grey_levels,
)
from qrcodes.drawing import render

CONTENT = "https://go.example.com/db8xua6?qr=1"
# Exclusive upper ends of the bands of grey levels.
BANDS = (MIN_GREYS, 24, 32, RECOMMENDED_GREYS, 80, 256)
SIZES = (100, 200, 300, 500, 800)
# The sensor noise of a photo in moderate light, as a standard deviation in grey levels.
NOISE = 6


class Trial(NamedTuple):
    greys: int
    ratio: float
    is_inverted: bool
    was_read: bool
    was_read_in_photo: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)  # a sample, not a secret
    trials = [_trial(rng) for _ in range(options.trials)]
    clean, photo = _shares(trials, "was_read"), _shares(trials, "was_read_in_photo")
    for band in clean:
        print(f"{band:>8} levels of grey: read {clean[band]}, in a photo {photo[band]}")
    lowest = min((trial.greys for trial in trials if trial.was_read), default=None)
    inverted = [trial for trial in trials if trial.is_inverted and trial.greys >= RECOMMENDED_GREYS]
    inverted_share = _percent([trial.was_read for trial in inverted])
    recommended = [
        trial.was_read_in_photo
        for trial in trials
        if trial.greys >= RECOMMENDED_GREYS and trial.ratio >= RECOMMENDED_CONTRAST
    ]
    print(f"fewest levels of grey that were read: {lowest}; inverted codes: {inverted_share}")
    bands = "; ".join(f"{band} levels {clean[band]}, photo {photo[band]}" for band in clean)
    record(
        "qr-colors",
        f"{len(trials):,} codes: {bands}. Fewest levels read: {lowest}. Recommended pairs in a photo "
        f"{_percent(recommended)}; inverted codes {inverted_share}",
    )


def _trial(rng: random.Random) -> Trial:
    foreground, background = _pair(rng)
    design = Design(
        size=rng.choice(SIZES),
        format=rng.choice(ImageFormat.values),
        style=rng.choice(Style.values),
        foreground=foreground,
        background=background,
    )
    image = _opened(render(CONTENT, design), design.format)
    return Trial(
        grey_levels(foreground, background),
        contrast(foreground, background),
        grey(foreground) > grey(background),
        _is_read(image),
        _is_read(_photo(image, rng)),
    )


def _pair(rng: random.Random) -> tuple[str, str]:
    """Two colours. Half of the pairs are close to each other, where the bounds lie."""
    first = [rng.randrange(256) for _ in range(3)]
    if rng.random() < 0.5:  # half
        second = [min(255, max(0, channel + rng.randint(-60, 60))) for channel in first]
    else:
        second = [rng.randrange(256) for _ in range(3)]
    return _hex(first), _hex(second)


def _hex(channels: list[int]) -> str:
    return "#" + bytes(channels).hex().upper()


def _opened(picture: bytes, image_format: str) -> Image.Image:
    if image_format == ImageFormat.SVG:
        picture = resvg_py.svg_to_bytes(svg_string=picture.decode(), skip_system_fonts=True)
    return Image.open(BytesIO(picture)).convert("L")


def _photo(image: Image.Image, rng: random.Random) -> Image.Image:
    """The image as a camera may see it: 250 pixels wide, up to 5 degrees turned, with a shadow, blur and noise."""
    edge = image.getpixel((0, 0))
    small = image.resize((250, 250), Image.Resampling.BILINEAR)
    turned = small.rotate(rng.uniform(-5, 5), Image.Resampling.BILINEAR, expand=True, fillcolor=edge)
    shadow = Image.linear_gradient("L").resize(turned.size).point(lambda value: 190 + value // 4)
    blurred = ImageChops.multiply(turned, shadow).filter(ImageFilter.GaussianBlur(1))
    # `effect_noise` is centred on 128.
    return ImageChops.add(blurred, Image.effect_noise(blurred.size, NOISE), offset=-128)


def _is_read(image: Image.Image) -> bool:
    return [code.text for code in zxingcpp.read_barcodes(image, formats=zxingcpp.BarcodeFormat.QRCode)] == [
        CONTENT
    ]


def _shares(trials: list[Trial], attribute: str) -> Mapping[str, str]:
    by_band: dict[int, list[bool]] = defaultdict(list)
    for trial in trials:
        by_band[next(end for end in BANDS if trial.greys < end)].append(getattr(trial, attribute))
    starts = dict(zip(BANDS, (0, *BANDS), strict=False))
    return {f"{starts[end]} to {end - 1}": _percent(by_band[end]) for end in BANDS}


def _percent(results: list[bool]) -> str:
    return f"{100 * sum(results) / len(results):.1f} %" if results else "-"


if __name__ == "__main__":
    main()
