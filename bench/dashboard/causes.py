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
    """The elements that moved, and the tasks that kept the page from reacting, with the time of each kind of work.

    The times are those of the emulated phone.
    """
    for shift in _items(result, "layout-shifts"):
        yield f"moved by {shift['score']:.3f}: {shift.get('node', {}).get('snippet', 'an element')}"
    details = result["audits"]["long-tasks"].get("details", {}).get("debugData", {})
    for task in details.get("tasks", []):
        kinds = {kind: time for kind, time in task.items() if kind not in _NO_KINDS and time >= 1}
        work = ", ".join(
            f"{kind} {time:.0f}" for kind, time in sorted(kinds.items(), key=lambda item: -item[1])
        )
        yield f"task of {task['duration']:.0f} ms at {task['startTime']:.0f} ms: {work}"
    for group in _items(result, "mainthread-work-breakdown"):
        yield f"in all {group['duration']:.0f} ms: {group['groupLabel']}"


_NO_KINDS = frozenset({"urlIndex", "startTime", "duration"})


def _items(result: Result, audit: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = result["audits"][audit].get("details", {}).get("items", [])
    return items
