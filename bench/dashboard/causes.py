"""What lowered the score of performance in a run of Lighthouse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Result = Mapping[str, Any]

METRICS = (
    "first-contentful-paint",
    "largest-contentful-paint",
    "speed-index",
    "total-blocking-time",
    "cumulative-layout-shift",
)


def metrics(result: Result) -> str:
    audits = result["audits"]
    return ", ".join(f"{audits[name]['title']} {audits[name]['displayValue']}" for name in METRICS)


def causes(result: Result) -> Iterator[str]:
    """The elements that moved, and the tasks that kept the page from reacting, with the script that began each.

    The times are those of the emulated phone.
    """
    for shift in _items(result, "layout-shifts"):
        yield f"moved by {shift['score']:.3f}: {shift.get('node', {}).get('snippet', 'an element')}"
    for task in _items(result, "long-tasks"):
        yield f"task of {task['duration']:.0f} ms at {task['startTime']:.0f} ms: {task['url']}"
    for group in _items(result, "mainthread-work-breakdown"):
        yield f"in all {group['duration']:.0f} ms: {group['groupLabel']}"


def _items(result: Result, audit: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = result["audits"][audit].get("details", {}).get("items", [])
    return items
