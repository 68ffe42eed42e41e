"""Colours of codes: every pair that a reader can tell apart is accepted, with a warning if only some readers can."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient

from qrcodes.design import (
    MIN_GREYS,
    RECOMMENDED_CONTRAST,
    RECOMMENDED_GREYS,
    Design,
    ImageFormat,
    Style,
    color_warnings,
    contrast,
    grey,
    grey_levels,
)
from qrcodes.drawing import render
from qrcodes.models import QrCode
from testing.pictures import read
from testing.refusals import broken_rules
from tests.qrcodes.conftest import GetImage

CONTENT = "https://go.example.com/db8xua6?qr=1"
# From this difference on, zxing reads every image. Below, it reads only some, mostly lossy ones.
CERTAIN_GREYS = 32


@pytest.fixture
def send(api: APIClient, link: dict[str, Any]) -> Callable[..., HttpResponse]:
    def post(foreground: str, background: str, **fields: str) -> HttpResponse:
        headers = {name: fields.pop(name) for name in ("idempotency_key",) if name in fields}
        body = {"urlId": link["_id"], "foregroundColor": foreground, "backgroundColor": background, **fields}
        return api.post(
            "/api/qr-codes", body, headers={name.replace("_", "-"): headers[name] for name in headers}
        )

    return post


def warned(response: HttpResponse) -> list[str]:
    """The codes of the warnings about the foreground."""
    assert response.status_code == 201, response.json()
    warnings = response.json().get("warnings", [])
    assert {warning["field"] for warning in warnings} <= {"foregroundColor"}
    return [warning["code"] for warning in warnings]


def grey_pair(greys: int, *, inverted: bool = False) -> tuple[str, str]:
    first, second = (f"#{value:02X}{value:02X}{value:02X}" for value in (60, 60 + greys))
    return (second, first) if inverted else (first, second)


def colored_pairs(least: int, most: int, number: int) -> Iterator[tuple[str, str]]:
    """Random pairs whose grey values differ by so many levels, in either order."""
    rng = random.Random(number)
    while number:
        first, second = (f"#{rng.randrange(1 << 24):06X}" for _ in range(2))
        if least <= grey_levels(first, second) <= most:
            yield first, second
            number -= 1


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("greys", [0, 1, MIN_GREYS - 1])
def test_colours_that_no_reader_can_tell_apart_are_refused(
    send: Callable[..., HttpResponse], greys: int, inverted: bool
) -> None:
    response = send(*grey_pair(greys, inverted=inverted))

    assert broken_rules(response) == [("foregroundColor", "contrast")]
    assert not QrCode.objects.exists()
    assert response.json()["message"] == (
        "foregroundColor: Not distinguishable from backgroundColor: "
        f"their greys differ by {greys} of 255, not {MIN_GREYS} or more."
    )


def test_colours_of_equal_brightness_are_refused_however_different_they_look(
    send: Callable[..., HttpResponse],
) -> None:
    assert broken_rules(send("#FF0000", "#0050FF")) == [("foregroundColor", "contrast")]


@pytest.mark.parametrize(
    ("foreground", "background", "message"),
    [
        ("#959595", "#FFFFFF", "Contrast with backgroundColor is 2.99:1, and 106 of 255 levels of grey."),
        ("#000000", "#595959", "Contrast with backgroundColor is 2.99:1, and 89 of 255 levels of grey."),
        ("#363636", "#FF0000", "Contrast with backgroundColor is 3.02:1, and 22 of 255 levels of grey."),
        (*grey_pair(CERTAIN_GREYS), "Contrast with backgroundColor is 1.64:1, and 32 of 255 levels of grey."),
    ],
)
def test_a_low_contrast_is_accepted_with_a_warning_and_readable(
    send: Callable[..., HttpResponse],
    link: dict[str, Any],
    get_image: GetImage,
    *,
    foreground: str,
    background: str,
    message: str,
) -> None:
    for image_format in ImageFormat.values:
        response = send(foreground, background, format=image_format)
        assert response.json()["warnings"] == [
            {
                "field": "foregroundColor",
                "code": "low_contrast",
                "message": f"{message} Many readers need 3:1 and 51 levels or more.",
            }
        ]
        picture = get_image(response.json()["data"]["qrCode"]).content
        if grey_levels(foreground, background) >= CERTAIN_GREYS:
            assert read(picture, image_format) == [f"{link['shortUrl']}?qr=1"]


@pytest.mark.parametrize(
    ("foreground", "background", "codes"),
    [
        ("#FFFFFF", "#000000", ["inverted"]),
        ("#FFFF00", "#0000FF", ["inverted"]),
        (*grey_pair(CERTAIN_GREYS, inverted=True), ["low_contrast", "inverted"]),
    ],
)
def test_an_inverted_code_is_accepted_with_a_warning_and_readable(
    send: Callable[..., HttpResponse],
    link: dict[str, Any],
    get_image: GetImage,
    *,
    foreground: str,
    background: str,
    codes: list[str],
) -> None:
    for image_format in ImageFormat.values:
        response = send(foreground, background, format=image_format)
        assert warned(response) == codes
        assert "some readers cannot read inverted codes" in response.json()["warnings"][-1]["message"]
        picture = get_image(response.json()["data"]["qrCode"]).content
        assert read(picture, image_format, inverts=True) == [f"{link['shortUrl']}?qr=1"]
        assert read(picture, image_format) == []


@pytest.mark.parametrize(
    ("foreground", "background"),
    [("#000000", "#FFFFFF"), ("#949494", "#FFFFFF"), ("#000000", "#5A5A5A"), ("#0000FF", "#FFFF00")],
)
def test_recommended_colours_have_no_warning(
    send: Callable[..., HttpResponse], foreground: str, background: str
) -> None:
    assert "warnings" not in send(foreground, background).json()


def test_an_existing_code_and_a_repeated_request_have_the_same_warnings(
    send: Callable[..., HttpResponse],
) -> None:
    responses = [
        send("#959595", "#FFFFFF", **headers) for headers in [{}, {}, *[{"idempotency_key": "qr-1"}] * 2]
    ]

    assert [warned(response) for response in responses] == [["low_contrast"]] * 4
    assert responses[3].headers["Idempotent-Replayed"] == "true"
    assert QrCode.objects.count() == 1


# Trials with an independent reader


@pytest.mark.slow
def test_readers_read_every_pair_above_the_certain_difference() -> None:
    for (foreground, background), style in product(colored_pairs(CERTAIN_GREYS, 60, 20), Style.values):
        for image_format in ImageFormat.values:
            design = Design(foreground=foreground, background=background, style=style, format=image_format)
            assert read(render(CONTENT, design), image_format, inverts=True) == [CONTENT], design


@pytest.mark.slow
def test_readers_read_no_refused_pair() -> None:
    for (foreground, background), style in product(colored_pairs(0, MIN_GREYS - 1, 20), Style.values):
        for image_format in ImageFormat.values:
            design = Design(foreground=foreground, background=background, style=style, format=image_format)
            assert read(render(CONTENT, design), image_format, inverts=True) == [], design


# Measures


def test_contrasts_of_known_colours() -> None:
    assert contrast("#000000", "#FFFFFF") == contrast("#FFFFFF", "#000000") == 21
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_greys_of_known_colours() -> None:
    colours = ("#000000", "#FF0000", "#00FF00", "#0000FF", "#FFFFFF")
    assert [grey(colour) for colour in colours] == [0, 76, 150, 29, 255]


def test_only_pairs_below_a_recommendation_are_warned_of() -> None:
    for foreground, background in colored_pairs(MIN_GREYS, 255, 300):
        codes = [code for code, _ in color_warnings(foreground, background)]
        is_low = (
            contrast(foreground, background) < RECOMMENDED_CONTRAST
            or grey_levels(foreground, background) < RECOMMENDED_GREYS
        )
        assert codes == ["low_contrast"] * is_low + ["inverted"] * (grey(foreground) > grey(background))
