"""What a benchmark prints about the causes of a low score of Lighthouse."""

from __future__ import annotations

from bench.dashboard.causes import causes

RESULT = {
    "audits": {
        "layout-shifts": {
            "details": {"items": [{"score": 0.1454, "node": {"snippet": "<table>"}}, {"score": 0.01}]}
        },
        "long-tasks": {
            "details": {"items": [{"startTime": 1200.4, "duration": 180.2, "url": "https://sho.rt/main.js"}]}
        },
        "mainthread-work-breakdown": {"details": {"items": [{"duration": 300.2, "groupLabel": "Style"}]}},
    }
}


def test_causes_are_what_moved_and_what_took_long() -> None:
    assert list(causes(RESULT)) == [
        "moved by 0.145: <table>",
        "moved by 0.010: an element",
        "task of 180 ms at 1200 ms: https://sho.rt/main.js",
        "in all 300 ms: Style",
    ]


def test_a_run_without_causes_has_none() -> None:
    audits = {name: {} for name in ("layout-shifts", "long-tasks", "mainthread-work-breakdown")}
    assert list(causes({"audits": audits})) == []
