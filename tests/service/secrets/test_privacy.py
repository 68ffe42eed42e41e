from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, eventually

pytestmark = pytest.mark.slow

VISITOR = "203.0.113.77"


def test_no_file_contains_a_visitor_address_after_clicks_are_counted(
    make_service: Callable[..., Service],
) -> None:
    service = make_service(TRUSTED_PROXIES="127.0.0.1/32", **LONG_TIMEOUTS)
    service.start()
    key = service.owner.api_key
    links = [
        service.create_link(key, **fields)
        for fields in ({}, {"restrictions": {"maxClicks": 9}}, {"password": "x"})
    ]
    statuses = [
        service.call("GET", f"/{code}", X_Forwarded_For=VISITOR).status
        for code in (*(link["shortCode"] for link in links), "nothing")
    ]
    assert statuses == [302, 302, 401, 404]
    segments = list((service.var_dir / "clicks").glob("*.segment"))
    assert [segment.stat().st_mode & 0o777 for segment in segments] == [0o600] * len(segments)

    def reported() -> list[int]:
        reports = [
            service.call("GET", f"/api/analytics/{link['_id']}", X_API_Key=key).json()["data"]
            for link in links
        ]
        return [report["totalClicks"] + report["refused"].get("password", 0) for report in reports]

    eventually(lambda: reported() == [1, 1, 1])
    # The journal is overwritten after the transaction that counts it.
    eventually(lambda: not naming(service))
    assert service.stop() == 0
    assert naming(service) == []


def naming(service: Service) -> list[str]:
    """The files that contain the visitor's address, including those of the database and the service's output."""
    paths = []
    for folder, _, names in os.walk(service.folder):
        for path in (Path(folder, name) for name in names):
            # The database renames and removes files while it runs.
            with suppress(FileNotFoundError):
                if path.is_file() and VISITOR.encode() in path.read_bytes():
                    paths.append(str(path))
    return paths
