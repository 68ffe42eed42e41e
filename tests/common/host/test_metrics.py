from __future__ import annotations

from bisect import bisect_left

import pytest

from common.host import metrics
from common.host.metrics import REDIRECT_BUCKETS, REGISTRY


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_added_sums_are_exported_like_single_counts() -> None:
    durations = [0.000_005, 0.000_01, 0.000_011, 0.3, 7.0]
    counts = [0] * (len(REDIRECT_BUCKETS) + 1)
    for seconds in durations:
        metrics.observe_redirect("one by one", "302", seconds)
        counts[bisect_left(REDIRECT_BUCKETS, seconds)] += 1
    metrics.count_redirects("at once", "302", len(durations))
    metrics.observe_redirects("at once", counts, sum(durations))

    for lane in ("one by one", "at once"):
        assert value("shortener_redirects_total", lane=lane, outcome="302") == 5
        assert value("shortener_redirect_seconds_count", lane=lane) == 5
        assert value("shortener_redirect_seconds_sum", lane=lane) == pytest.approx(sum(durations))
        buckets = {
            le: value("shortener_redirect_seconds_bucket", lane=lane, le=le)
            for le in ("1e-05", "2.5e-05", "0.25", "1.0", "+Inf")
        }
        assert buckets == {"1e-05": 2, "2.5e-05": 3, "0.25": 3, "1.0": 4, "+Inf": 5}


def test_lookups_are_counted_by_result() -> None:
    before = [value("shortener_destination_lookups_total", result=result) for result in ("hit", "miss")]
    metrics.count_lookups(hits=70, misses=3)
    metrics.count_lookups(hits=1)
    after = [value("shortener_destination_lookups_total", result=result) for result in ("hit", "miss")]
    assert [after[0] - before[0], after[1] - before[1]] == [71, 3]


def test_api_requests_are_counted_by_route_and_status_class() -> None:
    metrics.observe_api_request("/api/for/this/test", 201, 0.004)
    metrics.observe_api_request("/api/for/this/test", 200, 0.04)
    metrics.observe_api_request("/api/for/this/test", 404, 0.4)
    labels = {"route": "/api/for/this/test"}
    assert value("shortener_api_request_seconds_count", **labels, status="2xx") == 2
    assert value("shortener_api_request_seconds_bucket", **labels, status="2xx", le="0.005") == 1
    assert value("shortener_api_request_seconds_count", **labels, status="4xx") == 1
