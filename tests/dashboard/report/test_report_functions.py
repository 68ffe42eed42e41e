"""The calculations of the report: its periods, steps and files. They run in Chromium, as on the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from analytics.dimensions import NOT_COUNTED
from analytics.representations import REFUSALS
from common.countries import COUNTRY_NAMES
from dashboard import files, modules
from dashboard.files import FRONT

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def evaluate(browse: Callable[[], Any], address: str) -> Callable[..., Any]:
    """Calls an exported function of a module, at 2030-03-15 23:30 UTC, a Friday, with each of the arguments."""

    def run(module: str, function: str, *arguments: str) -> list[Any]:
        url = f"/dashboard/files/{files.version()}/pages/report/{module}.js"
        calls = "".join(f"module.{function}({argument})," for argument in arguments)
        with browse() as visit:
            visit.page.clock.set_fixed_time(datetime(2030, 3, 15, 23, 30, tzinfo=UTC))
            visit.page.goto(f"{address}/dashboard/")
            result: list[Any] = visit.page.evaluate(
                f"(async () => {{ const module = await import('{url}'); return [{calls}]; }})()"
            )
            return result

    return run


def query(text: str) -> str:
    return f"new URLSearchParams('zone=UTC&compare&{text}')"


def test_periods_and_the_periods_before_them(evaluate: Callable[..., Any]) -> None:
    expected = {
        "range=today": (["2030-03-15", "2030-03-15"], ["2030-03-14", "2030-03-14"], "hour"),
        "range=7d": (["2030-03-09", "2030-03-15"], ["2030-03-02", "2030-03-08"], "day"),
        "range=30d": (["2030-02-14", "2030-03-15"], ["2030-01-15", "2030-02-13"], "day"),
        "range=90d": (["2029-12-16", "2030-03-15"], ["2029-09-17", "2029-12-15"], "day"),
        "range=12m": (["2029-04-01", "2030-03-15"], ["2028-04-01", "2029-03-31"], "month"),
        "range=all": (None, None, "day"),
        "range=custom&start=2028-02-29&end=2028-03-01": (
            ["2028-02-29", "2028-03-01"], ["2028-02-27", "2028-02-28"], "day"
        ),
        "range=custom&start=2028-02-30": (["2030-02-14", "2030-03-15"], ["2030-01-15", "2030-02-13"], "day"),
        "range=7d&interval=week": (["2030-03-09", "2030-03-15"], ["2030-03-02", "2030-03-08"], "week"),
        # The API has hours for 31 days only.
        "range=90d&interval=hour": (["2029-12-16", "2030-03-15"], ["2029-09-17", "2029-12-15"], "day"),
    }  # fmt: skip
    periods = evaluate("period", "periodOf", *map(query, expected))
    for text, period, (days, before, interval) in zip(expected, periods, expected.values(), strict=True):
        assert [period["days"], period["before"], period["interval"]] == [
            days and {"start": days[0], "end": days[1]},
            before and {"start": before[0], "end": before[1]},
            interval,
        ], text


def test_the_current_day_is_that_of_the_zone(evaluate: Callable[..., Any]) -> None:
    zones = ["'UTC'", "'Asia/Kathmandu'", "'America/Los_Angeles'", "'Pacific/Kiritimati'"]
    assert evaluate("days", "today", *zones) == ["2030-03-15", "2030-03-16", "2030-03-15", "2030-03-16"]


def test_only_periods_that_include_today_change(evaluate: Callable[..., Any]) -> None:
    queries = ["range=all", "range=7d", *(f"range=custom&end=2030-03-{day}" for day in (14, 15, 16))]
    periods = evaluate("period", "periodOf", *map(query, queries))
    assert [period["isLive"] for period in periods] == [True, True, False, True, True]


def test_weeks_begin_on_mondays_and_can_be_partial(evaluate: Callable[..., Any]) -> None:
    days = [
        {"date": f"2030-03-{day:02}", "clicks": day, "uniqueClicks": 1}
        for day in range(9, 19)  # from a Saturday to a Monday
    ]
    [weeks] = evaluate("steps", "stepsOf", f"{json.dumps(days)}, 'week'")
    assert weeks == [
        {"date": "2030-03-09", "clicks": 9 + 10, "uniqueClicks": 2},
        {"date": "2030-03-11", "clicks": sum(range(11, 18)), "uniqueClicks": 7},
        {"date": "2030-03-18", "clicks": 18, "uniqueClicks": 1},
    ]


def test_files_keep_every_text_and_run_none(evaluate: Callable[..., Any]) -> None:
    cells = [
        "plain",
        'a "quoted", text',
        "two\nlines",
        "=1+1",
        " @SUM(1)",
        "'=1",
        "-1",
        "\uff1d1",
        None,
        12,
        0.5,
    ]
    [content] = evaluate("csv", "toCsv", json.dumps([cells, ["next"]]))
    assert content == (
        'plain,"a ""quoted"", text","two\nlines",\'=1+1,\' @SUM(1),\'\'=1,\'-1,\'\uff1d1,,12,0.5\r\nnext\r\n'
    )


def test_the_map_has_the_countries_of_the_api(evaluate: Callable[..., Any]) -> None:
    source = (FRONT / "vendor/world-atlas.mjs").read_text()
    world = json.loads(source.removeprefix("export default ").removesuffix(";\n"))
    areas = [
        (area.get("id"), area["properties"]["name"]) for area in world["objects"]["countries"]["geometries"]
    ]
    calls = [f"{json.dumps(number)} ?? undefined, {json.dumps(name)}" for number, name in areas]
    codes = dict(zip((name for _, name in areas), evaluate("map_codes", "codeOf", *calls), strict=True))
    assert {name for name, code in codes.items() if not code} == {"N. Cyprus", "Somaliland"}
    named = {name: code for name, code in codes.items() if code}
    assert len(set(named.values())) == len(named) == 175
    assert set(named.values()) <= set(COUNTRY_NAMES)
    # The others have other spellings, such as "Bosnia and Herz.".
    assert sum(COUNTRY_NAMES[code] == name for name, code in named.items()) == 156


def test_every_reason_of_the_ledger_has_a_text() -> None:
    texts = (FRONT / "texts/en.js").read_text()
    assert set(re.findall(r'"report\.reason\.(\w+)":', texts)) == {*REFUSALS, *NOT_COUNTED}


def test_the_report_is_no_part_of_the_first_view() -> None:
    first = set(modules.with_imports("main.js"))
    report = set(modules.with_imports("pages/report/page.js"))
    assert not any(name.startswith("pages/report/") for name in first)
    # The chart and the map are loaded when they are shown.
    large = {f"vendor/{name}.mjs" for name in ("uplot", "d3-geo", "world-atlas", "topojson-client")}
    assert report & large == set()
    assert large <= set(files.names())
